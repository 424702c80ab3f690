//! An enrollment has the course of its class, whether the enrollment or the class was written last.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, ProblemKind};
use lyceum_roster::csv::ImportOptions;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{ASSESSMENT_RESULT, CLASS, ENROLLMENT, RESULT};
use lyceum_roster::query::ListParameters;
use lyceum_roster::record::members;
use lyceum_roster::repository;
use lyceum_roster::write::{self, WriteRules};
use lyceum_roster::{MIGRATIONS, bulk};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::csv_files::{Package, import_all, import_at, now};
use crate::kit::{both, collection, create, ids, list, object, rules};

fn school_with_classes(db: &Db) {
    for id in ["s", "annex"] {
        create(db, "orgs", json!({"sourcedId": id, "name": id, "type": "school"}));
    }
    for id in ["maths", "art"] {
        create(db, "courses", json!({"sourcedId": id, "title": id, "org": {"sourcedId": "s"}}));
    }
    create(
        db,
        "academicSessions",
        json!({"sourcedId": "t", "title": "t", "type": "term", "schoolYear": "2026",
        "startDate": "2026-01-01", "endDate": "2026-06-30"}),
    );
    for (id, course) in [("k-maths", "maths"), ("k-art", "art")] {
        create(
            db,
            "classes",
            json!({"sourcedId": id, "title": id, "course": {"sourcedId": course},
            "school": {"sourcedId": "s"}, "terms": [{"sourcedId": "t"}]}),
        );
    }
    create(
        db,
        "users",
        json!({"sourcedId": "u", "enabledUser": true, "givenName": "A", "familyName": "B",
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}),
    );
}

fn enrollment(id: &str, class: &str) -> Value {
    json!({"sourcedId": id, "user": {"sourcedId": "u"}, "class": {"sourcedId": class},
        "school": {"sourcedId": "s"}, "role": "student"})
}

fn csv(rows: &[&str]) -> Package {
    let mut package = Package::default();
    package.set("enrollments", rows);
    package.with_manifest("bulk")
}

fn of_course(db: &Db, course: &str) -> Vec<String> {
    let filter = format!("course.sourcedId='{course}'");
    let parameters = ListParameters { filter: Some(&filter), ..ListParameters::default() };
    ids(&list(db, "enrollments", None, &parameters).unwrap())
}

fn stored(db: &Db, kind: &RecordKind, id: &str) -> Value {
    let stored = db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap().unwrap();
    let mut fields = members(&stored.body, stored.extra.as_deref()).unwrap();
    fields.insert("version".into(), stored.version.into());
    fields.into()
}

fn patch(db: &Db, path: &str, id: &str, change: &Value, rules: &WriteRules) {
    let change = object(change.clone());
    db.write_blocking(|tx| write::patch(tx, collection(path), id, &change, None, rules)).unwrap();
}

fn later() -> WriteRules {
    let now: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
    WriteRules { now, ..rules() }
}

#[test]
fn the_filter_by_course_finds_enrollments_of_every_interface() {
    both(|db| {
        school_with_classes(db);
        create(db, "enrollments", enrollment("platform", "k-maths"));
        let standard = WriteRules { dialect: PayloadDialect::Standard, ..rules() };
        let sent = || object(enrollment("standard", "k-maths"));
        db.write_blocking(|tx| write::create(tx, collection("enrollments"), sent(), &standard))
            .unwrap();
        let lines = [(1, Ok(enrollment("bulk", "k-maths"))), (2, Ok(enrollment("drawn", "k-art")))];
        db.write_blocking(|tx| bulk::load(tx, collection("enrollments"), &lines, true, &standard))
            .unwrap();
        let rows = csv(&["file,,,k-maths,s,u,student,,,"]);
        import_all(db, &rows);
        assert_eq!(of_course(db, "maths"), ["platform", "standard", "bulk", "file"]);
        assert_eq!(of_course(db, "art"), ["drawn"]);

        let again = import_all(db, &rows);
        assert_eq!(again.files[0].unchanged, 1, "{again:?}");
        import_all(db, &csv(&["file,,,k-art,s,u,student,,,"]));
        assert_eq!(of_course(db, "art"), ["drawn", "file"]);
    });
}

#[test]
fn a_course_that_contradicts_the_class_is_refused_in_every_interface() {
    both(|db| {
        school_with_classes(db);
        create(db, "enrollments", enrollment("old", "k-maths"));
        let (of, rules) = (collection("enrollments"), &rules());
        let wrong = |id: &str| {
            let mut wrong = enrollment(id, "k-maths");
            wrong["course"] = json!({"sourcedId": "art"});
            wrong
        };
        let course = object(json!({"course": {"sourcedId": "art"}}));
        let line = [(1, Ok(wrong("new")))];
        let problems = [
            db.write_blocking(|tx| write::create(tx, of, object(wrong("new")), rules).map(drop)),
            db.write_blocking(|tx| {
                write::put(tx, of, "old", object(wrong("old")), None, false, rules).map(drop)
            }),
            db.write_blocking(|tx| write::patch(tx, of, "old", &course, None, rules).map(drop)),
            db.write_blocking(|tx| {
                bulk::load(tx, of, &line, false, rules)?.remove(0).result.map(drop)
            }),
        ];
        for problem in problems {
            let problem = problem.unwrap_err();
            assert_eq!(problem.kind, ProblemKind::Invalid, "{problem:?}");
            assert_eq!(problem.details[0].path, "enrollment.course.sourcedId");
            let message = "must be 'maths', the course of the class 'k-maths' (got 'art')";
            assert!(problem.details[0].message.to_string().starts_with(message), "{problem:?}");
        }
        let mut package = csv(&[]);
        let header = "sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,metadata.lyceum.record";
        let row = r#"new,,,k-maths,s,u,student,"{""course"":{""sourcedId"":""art""}}""#;
        package.0.insert("enrollments".into(), format!("{header}\n{row}\n"));
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert!(!report.committed, "{report:?}");
        assert!(report.faults[0].problem.contains("must be 'maths'"), "{:?}", report.faults);
        assert_eq!(of_course(db, "maths"), ["old"]);
    });
}

#[test]
fn enrollments_follow_their_class_to_another_course_and_school() {
    both(|db| {
        school_with_classes(db);
        create(db, "enrollments", enrollment("e", "k-maths"));
        create(db, "enrollments", enrollment("ended", "k-maths"));
        let mut guest = enrollment("guest", "k-maths");
        guest["school"] = json!({"sourcedId": "annex"});
        create(db, "enrollments", guest);
        patch(db, "enrollments", "ended", &json!({"status": "tobedeleted"}), &rules());

        let moved = json!({"course": {"sourcedId": "art"}, "school": {"sourcedId": "annex"}});
        patch(db, "classes", "k-maths", &moved, &later());
        let class = stored(db, &CLASS, "k-maths");
        assert_eq!(class["org"], class["school"], "both ways of naming the school");
        assert_eq!(of_course(db, "art"), ["e", "guest"]);
        let e = stored(db, &ENROLLMENT, "e");
        assert_eq!(e["school"]["sourcedId"], "annex");
        assert_eq!(e["dateLastModified"], "2026-02-01T00:00:00.000Z");
        assert_eq!(
            (&e["version"], &stored(db, &ENROLLMENT, "ended")["version"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(stored(db, &ENROLLMENT, "guest")["school"]["sourcedId"], "annex");

        patch(db, "enrollments", "ended", &json!({"status": "active"}), &later());
        assert_eq!(of_course(db, "art"), ["e", "ended", "guest"]);
        let report = db.read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
        assert_eq!(report.faults, [""; 0]);
    });
}

#[test]
fn an_enrollment_that_changes_its_class_gets_the_course_and_school_of_the_new_one() {
    both(|db| {
        school_with_classes(db);
        patch(db, "classes", "k-art", &json!({"school": {"sourcedId": "annex"}}), &rules());
        create(db, "enrollments", enrollment("e", "k-maths"));
        patch(db, "enrollments", "e", &json!({"class": {"sourcedId": "k-art"}}), &later());
        assert_eq!(of_course(db, "art"), ["e"]);
        assert_eq!(stored(db, &ENROLLMENT, "e")["school"]["sourcedId"], "annex");
    });
}

#[test]
fn results_of_students_who_left_the_class_are_marked() {
    both(|db| {
        school_with_classes(db);
        for id in ["left", "ended"] {
            create(
                db,
                "users",
                json!({"sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "B",
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}),
            );
        }
        create(db, "enrollments", enrollment("e", "k-maths"));
        for (id, user, class) in [("elsewhere", "left", "k-art"), ("over", "ended", "k-maths")] {
            let mut enrollment = enrollment(id, class);
            enrollment["user"] = json!({"sourcedId": user});
            enrollment["endDate"] = json!("2026-01-14");
            create(db, "enrollments", enrollment);
        }
        create(db, "categories", json!({"sourcedId": "c", "title": "c"}));
        create(
            db,
            "lineItems",
            json!({"sourcedId": "l", "title": "l", "assignDate": "2026-01-01T00:00:00Z",
            "dueDate": "2026-02-01T00:00:00Z", "class": {"sourcedId": "k-maths"},
            "school": {"sourcedId": "s"}, "category": {"sourcedId": "c"}}),
        );
        let item = |id: &str, place: Value| {
            let mut item = json!({"sourcedId": id, "title": id});
            item.as_object_mut().unwrap().extend(object(place));
            create(db, "assessmentLineItems", item);
        };
        item("of-class", json!({"class": {"sourcedId": "k-maths"}}));
        item("of-course", json!({"course": {"sourcedId": "maths"}}));
        item("of-nothing", json!({}));
        let score = json!({"scoreStatus": "fully graded", "score": 1, "scoreDate": "2026-01-02"});
        let result = |path: &str, (field, item): (&str, &str), student: &str| {
            let id = format!("{item}-{student}");
            let mut result = json!({"sourcedId": id, "student": {"sourcedId": student}});
            result[field] = json!({"sourcedId": item});
            result.as_object_mut().unwrap().extend(object(score.clone()));
            create(db, path, result);
            id
        };
        for student in ["u", "left", "ended"] {
            result("results", ("lineItem", "l"), student);
            for item in ["of-class", "of-course", "of-nothing"] {
                result("assessmentResults", ("assessmentLineItem", item), student);
            }
        }
        let former = |kind: &'static RecordKind, ids: &[&str]| {
            let now = rules().now;
            db.read_blocking(|tx| repository::of_former_students(tx, now, kind, ids)).unwrap()
        };
        assert_eq!(former(&RESULT, &["l-u", "l-left", "l-ended"]), ["l-left", "l-ended"]);
        let ids =
            ["of-class-u", "of-class-left", "of-course-u", "of-course-ended", "of-nothing-left"];
        assert_eq!(former(&ASSESSMENT_RESULT, &ids), ["of-class-left", "of-course-ended"]);
    });
}

#[test]
fn enrollments_of_earlier_versions_get_the_course_of_their_class() {
    both(|db| {
        school_with_classes(db);
        let expected = ["bare", "noted", "moved"].map(|id| {
            let mut enrollment = enrollment(id, "k-maths");
            if id == "noted" {
                enrollment["note"] = "kept".into();
            }
            create(db, "enrollments", enrollment);
            stored(db, &ENROLLMENT, id)
        });
        let former = [
            ("bare", Value::Null, "NULL"),
            ("noted", Value::Null, "'{\"note\":\"kept\"}'"),
            ("moved", json!("art"), "replace(extra, '\"maths\"', '\"art\"')"),
        ];
        db.write_blocking(|tx| {
            for (id, course, extra) in &former {
                let sql = format!(
                    "UPDATE enrollments SET course_id = $1, extra = {extra} WHERE sourced_id = $2"
                );
                tx.execute(&sql, &[course.as_str().into(), (*id).into()])?;
            }
            let migration = MIGRATIONS.iter().find(|migration| migration.version == 17).unwrap();
            tx.execute(migration.sql.trim_end().trim_end_matches(';'), &[])
        })
        .unwrap();
        assert_eq!(of_course(db, "maths"), ["bare", "noted", "moved"]);
        for mut expected in expected {
            expected["version"] = 2.into();
            assert_eq!(stored(db, &ENROLLMENT, expected["sourcedId"].as_str().unwrap()), expected);
        }
        let report = db.read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
        assert_eq!(report.faults, [""; 0]);
    });
}
