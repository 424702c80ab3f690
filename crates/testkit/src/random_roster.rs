//! Random rosters, for tests of callers who are limited to a part.

use lyceum_core::random::RandomStream;
use lyceum_core::{ProblemKind, Reach};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::records;

/// The number of organizations: `o-0`, `o-1` and so on.
pub const ORGS: u64 = 9;
const USERS: u64 = 24;
const COURSES: u64 = 6;
const CLASSES: u64 = 10;

fn reference(kind: &str, number: u64) -> Value {
    json!({ "sourcedId": format!("{kind}-{number}") })
}

/// Creates a tree of organizations with users, courses, classes and their gradebooks, drawn from the stream.
pub fn populate(db: &Db, random: &mut RandomStream) {
    for n in 0..ORGS {
        let mut org = json!({ "sourcedId": format!("o-{n}"), "name": "Org", "type": "school" });
        if n > 0 && random.below(5) > 0 {
            org["parent"] = reference("o", random.below(n));
        }
        records::create(db, "orgs", &org);
    }
    records::create(
        db,
        "academicSessions",
        &json!({ "sourcedId": "t", "title": "T", "type": "term", "schoolYear": "2026",
                "startDate": "2026-01-01", "endDate": "2026-06-30" }),
    );
    records::create(db, "categories", &json!({ "sourcedId": "k", "title": "Homework" }));
    records::create(
        db,
        "resources",
        &json!({ "sourcedId": "r", "title": "R", "vendorResourceId": "r" }),
    );
    for n in 0..USERS {
        records::create(db, "users", &user(n, random));
        if n % 4 == 0 {
            records::create(
                db,
                "demographics",
                &json!({ "sourcedId": format!("u-{n}"), "sex": "other" }),
            );
        }
    }
    for n in 0..COURSES {
        let mut course = json!({ "sourcedId": format!("c-{n}"), "title": "C", "courseCode": "c" });
        if n % 3 > 0 {
            course["org"] = reference("o", random.below(ORGS));
        }
        records::create(db, "courses", &course);
        let unit =
            json!({ "sourcedId": format!("m-{n}"), "title": "U", "course": reference("c", n) });
        records::create(db, "courses/components", &unit);
        let lesson = json!({ "sourcedId": format!("l-{n}"), "title": "L",
            "courseComponent": reference("m", n), "resource": { "sourcedId": "r" } });
        records::create(db, "courses/component-resources", &lesson);
    }
    for n in 0..CLASSES {
        class(db, n, random);
    }
}

fn user(n: u64, random: &mut RandomStream) -> Value {
    let mut role = || {
        let org = reference("o", random.below(ORGS));
        let role = *random.pick(&["student", "teacher"]);
        json!({ "roleType": "primary", "role": role, "org": org })
    };
    let mut roles = vec![role()];
    if n.is_multiple_of(5) {
        let mut second = role();
        second["roleType"] = "secondary".into();
        roles.push(second);
    }
    let mut user = json!({ "sourcedId": format!("u-{n}"), "enabledUser": true, "givenName": "A",
        "familyName": "B", "roles": roles });
    if n.is_multiple_of(7) {
        user["primaryOrg"] = roles[0]["org"].clone();
    }
    if n % 11 == 3 {
        user["status"] = "tobedeleted".into();
    }
    user
}

fn class(db: &Db, n: u64, random: &mut RandomStream) {
    let school = reference("o", random.below(ORGS));
    let own = reference("g", n);
    records::create(
        db,
        "classes",
        &json!({ "sourcedId": format!("g-{n}"), "title": "G", "course": reference("c", random.below(COURSES)),
                "school": school, "terms": [{ "sourcedId": "t" }] }),
    );
    records::create(
        db,
        "lineItems",
        &json!({ "sourcedId": format!("i-{n}"), "title": "I", "class": own, "school": school,
                "category": { "sourcedId": "k" }, "assignDate": "2026-01-01T00:00:00Z",
                "dueDate": "2026-02-01T00:00:00Z" }),
    );
    let steps = json!([{ "itemValueLHS": "A", "itemValueRHS": "90" }]);
    let scale = json!({ "sourcedId": format!("s-{n}"), "title": "S", "type": "t", "class": own,
        "scoreScaleValue": steps });
    records::create(db, "scoreScales", &scale);
    let mut test = json!({ "sourcedId": format!("a-{n}"), "title": "A" });
    if n.is_multiple_of(2) {
        test["class"] = own.clone();
    }
    records::create(db, "assessmentLineItems", &test);
    for place in 0..3 {
        let user = active_user(random);
        let id = format!("e-{n}-{place}");
        let role = if place == 0 { "teacher" } else { "student" };
        records::create(
            db,
            "enrollments",
            &json!({ "sourcedId": id, "user": user, "class": own, "school": school, "role": role }),
        );
        let score = json!({ "scoreStatus": "fully graded", "score": 1, "scoreDate": "2026-01-15",
            "sourcedId": id, "student": user });
        let mut of_class = score.clone();
        of_class["lineItem"] = reference("i", n);
        records::create(db, "results", &of_class);
        let mut of_test = score;
        of_test["assessmentLineItem"] = reference("a", n);
        records::create(db, "assessmentResults", &of_test);
    }
}

fn active_user(random: &mut RandomStream) -> Value {
    loop {
        let n = random.below(USERS);
        if n % 11 != 3 {
            return reference("u", n);
        }
    }
}

/// Draws a limited reach.
pub fn reach(random: &mut RandomStream) -> Reach {
    match random.below(4) {
        0 => Reach::ClassesOf(format!("u-{}", random.below(USERS))),
        number => {
            let roots = (0..number).map(|_| format!("o-{}", random.below(ORGS)));
            Reach::organizations(roots.collect::<Vec<_>>()).expect("there are roots")
        }
    }
}

/// Moves some organization below another one, or to the top. A move below itself is refused, or one
/// that meets an import, and changes nothing.
pub fn move_organization(db: &Db, random: &mut RandomStream) {
    let id = format!("o-{}", random.below(ORGS));
    let parent = match random.below(3) {
        0 => Value::Null,
        _ => reference("o", random.below(ORGS)),
    };
    let moved = records::patch(db, "orgs", &id, &json!({ "parent": parent }));
    if let Err(problem) = moved {
        let is_refused = matches!(problem.kind, ProblemKind::Invalid | ProblemKind::Unavailable);
        assert!(is_refused, "{problem:?}");
    }
}
