//! Creating, replacing, changing and deleting.

use lyceum_core::{PayloadDialect, ProblemKind, Reach};
use lyceum_roster::kinds::{CLASS, COURSE, ENROLLMENT};
use lyceum_roster::query::ListParameters;
use lyceum_roster::record::members;
use lyceum_roster::repository::{self, WriteOutcome};
use lyceum_roster::write;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::kit::{both, collection, create, ids, list, object, rules};

fn school(db: &Db) {
    create(db, "orgs", json!({"sourcedId": "s", "name": "School", "type": "school"}));
    create(db, "courses", json!({"sourcedId": "c", "title": "Maths", "org": {"sourcedId": "s"}}));
    for (id, role) in [("ann", "student"), ("tom", "teacher")] {
        create(
            db,
            "users",
            json!({
                "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X",
                "roles": [{"roleType": "primary", "role": role, "org": {"sourcedId": "s"}}],
            }),
        );
    }
}

fn stored(db: &Db, kind: &'static lyceum_roster::kind::RecordKind, id: &str) -> Value {
    let stored = db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap().unwrap();
    members(&stored.body, stored.extra.as_deref()).unwrap().into()
}

fn refusal(db: &Db, path: &str, value: Value) -> lyceum_core::Problem {
    db.write_blocking(|tx| write::create(tx, collection(path), object(value.clone()), &rules()))
        .map(|created| panic!("{value} was accepted: {created:?}"))
        .unwrap_err()
}

#[test]
fn a_safe_retry_is_not_a_conflict() {
    both(|db| {
        school(db);
        let again = json!({"sourcedId": "c", "title": "Maths", "org": {"sourcedId": "s"}});
        let put = db
            .write_blocking(|tx| {
                write::create(tx, collection("courses"), object(again.clone()), &rules())
            })
            .unwrap();
        assert_eq!(put.put.outcome, WriteOutcome::Unchanged);
        let other = json!({"sourcedId": "c", "title": "Physics", "org": {"sourcedId": "s"}});
        assert_eq!(refusal(db, "courses", other).kind, ProblemKind::Conflict);
    });
}

#[test]
fn errors_name_their_paths() {
    both(|db| {
        school(db);
        for (path, value, fault) in [
            ("courses", json!({"title": "x"}), "course.sourcedId"),
            ("courses", json!({"sourcedId": "x"}), "course.title"),
            (
                "courses",
                json!({"sourcedId": "x", "title": "x", "org": {"sourcedId": "no"}}),
                "course.org.sourcedId",
            ),
            (
                "courses",
                json!({"sourcedId": "x", "title": "x", "org": {"sourcedId": "s", "type": "user"}}),
                "course.org.type",
            ),
            ("courses", json!({"sourcedId": "x", "title": "x", "org": "s"}), "course.org"),
            ("courses", json!({"sourcedId": "x", "title": "x", "grades": "03"}), "course.grades"),
            ("courses", json!({"sourcedId": "x", "title": "x", "status": "gone"}), "course.status"),
            ("courses", json!({"sourcedId": "x", "title": "a\u{0}b"}), "course.title"),
            ("courses", json!({"sourcedId": "x", "title": "x", "metadata": []}), "course.metadata"),
            (
                "users",
                json!({"sourcedId": "x", "enabledUser": true, "givenName": "x", "familyName": "x",
                "roles": [{"role": "student", "org": {"sourcedId": "s"}}]}),
                "user.roles[0].roleType",
            ),
            (
                "users",
                json!({"sourcedId": "x", "enabledUser": "yes", "givenName": "x", "familyName": "x",
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}),
                "user.enabledUser",
            ),
            (
                "users",
                json!({"sourcedId": "x", "enabledUser": true, "givenName": "x", "familyName": "x",
                "roles": []}),
                "user.roles",
            ),
        ] {
            let problem = refusal(db, path, value.clone());
            assert_eq!(problem.kind, ProblemKind::Invalid, "{value}");
            let paths: Vec<&str> = problem.details.iter().map(|d| d.path.as_str()).collect();
            assert!(paths.contains(&fault), "{value}: {paths:?}");
        }
    });
}

#[test]
fn the_standard_dialect_is_closed() {
    both(|db| {
        school(db);
        let standard = write::WriteRules { dialect: PayloadDialect::Standard, ..rules() };
        let value = json!({"sourcedId": "x", "title": "x", "courseCode": "x", "colour": "red"});
        let try_it = |value: &Value| {
            db.write_blocking(|tx| {
                write::create(tx, collection("courses"), object(value.clone()), &standard)
            })
        };
        let problem = try_it(&value).unwrap_err();
        assert_eq!(problem.details[0].path, "course.colour");
        create(db, "courses", value);
        assert_eq!(stored(db, &COURSE, "x")["colour"], "red", "the platform keeps it");
        let problem = try_it(&json!({"sourcedId": "y", "title": "y"})).unwrap_err();
        assert_eq!(problem.details[0].path, "course.courseCode");
    });
}

#[test]
fn enrolling_in_a_course_creates_class_term_and_year_once() {
    both(|db| {
        school(db);
        create(
            db,
            "enrollments",
            json!({
                "sourcedId": "e1", "user": {"sourcedId": "ann"}, "course": {"sourcedId": "c"},
            }),
        );
        create(
            db,
            "enrollments",
            json!({
                "sourcedId": "e2", "user": {"sourcedId": "tom"}, "course": {"sourcedId": "c"}, "role": "teacher",
            }),
        );
        let first = stored(db, &ENROLLMENT, "e1");
        assert_eq!(first["role"], "student");
        assert_eq!(first["school"]["sourcedId"], "s");
        assert_eq!(first["class"], stored(db, &ENROLLMENT, "e2")["class"]);
        let class = stored(db, &CLASS, first["class"]["sourcedId"].as_str().unwrap());
        assert_eq!(class["course"]["sourcedId"], "c");
        let count = |path: &str| list(db, path, None, &ListParameters::default()).unwrap().total;
        assert_eq!((count("classes"), count("terms"), count("academicSessions")), (1, 1, 2));
    });
}

#[test]
fn patches_are_merged_and_check_the_expected_version() {
    both(|db| {
        school(db);
        let patch = |value: Value, expected: Option<i64>| {
            db.write_blocking(|tx| {
                write::patch(
                    tx,
                    collection("courses"),
                    "c",
                    &object(value.clone()),
                    expected,
                    &rules(),
                )
            })
        };
        patch(json!({"metadata": {"a": {"b": 1}, "c": 2}}), Some(1)).unwrap();
        patch(json!({"metadata": {"a": {"d": 3}, "c": null}, "courseCode": "M1"}), Some(2))
            .unwrap();
        let course = stored(db, &COURSE, "c");
        assert_eq!(course["metadata"], json!({"a": {"b": 1, "d": 3}}));
        assert_eq!(course["courseCode"], "M1");
        let late = patch(json!({"title": "late"}), Some(2)).unwrap_err();
        assert_eq!(late.kind, ProblemKind::PreconditionFailed);
        let other = patch(json!({"sourcedId": "d"}), None).unwrap_err();
        assert_eq!(other.kind, ProblemKind::Invalid);
    });
}

#[test]
fn cycles_are_refused() {
    both(|db| {
        school(db);
        for (id, parent) in [("a", None), ("b", Some("a")), ("d", Some("b"))] {
            create(
                db,
                "courses/components",
                json!({
                    "sourcedId": id, "title": id, "course": {"sourcedId": "c"},
                    "parent": parent.map(|p| json!({"sourcedId": p})),
                }),
            );
        }
        let turn = json!({"parent": {"sourcedId": "d"}});
        let problem = db
            .write_blocking(|tx| {
                write::patch(
                    tx,
                    collection("courses/components"),
                    "a",
                    &object(turn.clone()),
                    None,
                    &rules(),
                )
            })
            .unwrap_err();
        assert_eq!(problem.details[0].path, "courseComponent.parent.sourcedId");
    });
}

#[test]
fn a_deletion_marks_records_and_a_purge_removes_them() {
    both(|db| {
        school(db);
        create(
            db,
            "enrollments",
            json!({
                "sourcedId": "e", "user": {"sourcedId": "ann"}, "course": {"sourcedId": "c"},
            }),
        );
        let now = rules().now.plus_seconds(60);
        let delete = |path: &str, id: &str, cascade: bool| {
            db.write_blocking(|tx| {
                write::delete(tx, collection(path), id, now, cascade, None, &Reach::Everything)
            })
        };
        delete("courses", "c", false).unwrap();
        let all = |path: &str| ids(&list(db, path, None, &ListParameters::default()).unwrap());
        assert_eq!(all("courses"), Vec::<String>::new());
        assert_eq!(all("enrollments"), ["e"], "referrers stay readable");
        assert_eq!(stored(db, &COURSE, "c")["status"], "tobedeleted");
        let since = rules().now.plus_seconds(1).to_string();
        let filter = format!("dateLastModified>'{since}'");
        let delta = ListParameters { filter: Some(&filter), ..ListParameters::default() };
        assert_eq!(ids(&list(db, "courses", None, &delta).unwrap()), ["c"], "delta sync sees it");

        let later = now.plus_seconds(3600);
        let purge = || {
            db.write_blocking(|tx| repository::purge(tx, &COURSE, (later, later), 0, 100))
                .unwrap()
                .0
        };
        let kept = purge();
        assert_eq!((kept.removed, kept.kept), (0, 1), "active records refer to it");
        delete("users", "ann", true).unwrap();
        assert_eq!(all("enrollments"), Vec::<String>::new(), "the cascade marked it");
        let class = stored(db, &ENROLLMENT, "e")["class"]["sourcedId"].as_str().unwrap().to_owned();
        delete("classes", &class, true).unwrap();
        let purged = purge();
        assert_eq!(
            (purged.removed, purged.kept),
            (3, 0),
            "its class and the enrollment go with it"
        );
        let gone = delete("courses", "c", false).unwrap_err();
        assert_eq!(gone.kind, ProblemKind::NotFound);
    });
}
