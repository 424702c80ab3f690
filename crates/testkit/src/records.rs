//! Roster records for tests that are about something else.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_roster::collections::at;
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Db;
use serde_json::{Value, json};

/// Creates a record in a collection such as `users`, in the platform dialect. Panics if it is refused.
pub fn create(db: &Db, collection: &str, record: &Value) {
    let object = record.as_object().expect("a record is an object");
    let collection = at(collection).expect("the test names a collection");
    let created =
        db.write_blocking(|tx| write::create(tx, collection, object.clone(), &rules()).map(drop));
    created.unwrap_or_else(|problem| panic!("{record}: {problem:?}"));
}

/// Changes members of a record.
pub fn patch(db: &Db, collection: &str, id: &str, changes: &Value) -> Result<()> {
    let changes = changes.as_object().expect("changes are an object");
    let collection = at(collection).expect("the test names a collection");
    db.write_blocking(|tx| write::patch(tx, collection, id, changes, None, &rules()).map(drop))
}

fn rules() -> WriteRules {
    WriteRules {
        dialect: PayloadDialect::Platform,
        now: Timestamp::from_milliseconds(1_768_464_000_000),
        allocate_missing_ids: false,
        reach: Reach::Everything,
    }
}

/// Creates a school with that sourcedId and name.
pub fn school(db: &Db, id: &str, name: &str) {
    create(db, "orgs", &json!({ "sourcedId": id, "name": name, "type": "school" }));
}

/// Creates a student of a school in a grade, called by the sourcedId.
pub fn student(db: &Db, id: &str, school: &str, grade: &str) {
    let role = json!({ "roleType": "primary", "role": "student", "org": { "sourcedId": school } });
    let user = json!({
        "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "Example", "username": id,
        "email": format!("{id}@example.org"), "grades": [grade], "roles": [role],
        "primaryOrg": { "sourcedId": school },
    });
    create(db, "users", &user);
}

/// Creates a course of a school in a subject.
pub fn course(db: &Db, id: &str, school: &str, subject: &str) {
    let course = json!({
        "sourcedId": id, "title": format!("Course {id}"), "courseCode": id, "subjects": [subject],
        "org": { "sourcedId": school },
    });
    create(db, "courses", &course);
}

/// Creates a term and a class of a course in it. The term's sourcedId is the class's with `-term`.
pub fn class(db: &Db, id: &str, course: &str, school: &str) {
    let term = json!({
        "sourcedId": format!("{id}-term"), "title": "Term", "type": "term", "schoolYear": "2026",
        "startDate": "2026-01-01", "endDate": "2026-12-31", "org": { "sourcedId": school },
    });
    create(db, "academicSessions", &term);
    let class = json!({
        "sourcedId": id, "title": format!("Class {id}"), "classType": "scheduled",
        "course": { "sourcedId": course }, "school": { "sourcedId": school },
        "terms": [{ "sourcedId": format!("{id}-term") }],
    });
    create(db, "classes", &class);
}

/// Enrolls a user in a class with a role.
pub fn enroll(db: &Db, user: &str, class: &str, school: &str, role: &str) {
    let enrollment = json!({
        "sourcedId": format!("{class}-{user}"), "user": { "sourcedId": user }, "role": role,
        "class": { "sourcedId": class }, "school": { "sourcedId": school },
    });
    create(db, "enrollments", &enrollment);
}
