//! Writes of callers who are limited to organizations.

use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::kinds::COURSE;
use lyceum_roster::limits::ORG_TREE_MAX_LEVELS;
use lyceum_roster::write::{self, WriteRules};
use lyceum_roster::{bulk, repository};
use lyceum_store::Db;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::race;
use serde_json::{Value, json};

use crate::kit::{both, collection, create, object, rules};
use crate::reach::is_consistent;

/// A limited write of the record, which is not there before if `before` is missing.
fn put(db: &Db, path: &str, record: &Value, reach: &Reach) -> Result<(), ProblemKind> {
    let rules = WriteRules { reach: reach.clone(), ..rules() };
    let id = record["sourcedId"].as_str().unwrap();
    let sent = object(record.clone());
    let put = db.write_blocking(|tx| {
        write::put(tx, collection(path), id, sent.clone(), None, true, &rules).map(drop)
    });
    put.map_err(|problem| problem.kind)
}

#[test]
fn a_limited_client_writes_only_what_it_sees_before_and_after() {
    both(|db| {
        for (id, parent) in [("d", None), ("s", Some("d")), ("t", Some("d")), ("x", None)] {
            let mut org = json!({ "sourcedId": id, "name": id, "type": "school" });
            if let Some(parent) = parent {
                org["parent"] = json!({ "sourcedId": parent });
            }
            create(db, "orgs", org);
        }
        let user = |id: &str, orgs: &[&str]| {
            let role = |org: &&str| json!({ "roleType": "primary", "role": "student", "org": { "sourcedId": org } });
            let roles: Vec<Value> = orgs.iter().map(role).collect();
            json!({ "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X", "roles": roles })
        };
        create(db, "users", user("foreign", &["x"]));
        create(db, "users", user("shared", &["s", "x"]));
        create(db, "users", user("near", &["t"]));
        let district = Reach::organizations(["d"]).unwrap();
        let school = Reach::organizations(["s"]).unwrap();
        let put_user =
            |id: &str, orgs: &[&str], reach: &Reach| put(db, "users", &user(id, orgs), reach);
        assert_eq!(put_user("ann", &["s"], &school), Ok(()));
        assert_eq!(put_user("ann", &["t"], &school), Err(ProblemKind::Invalid), "moves out");
        assert_eq!(put_user("ann", &["t"], &district), Ok(()), "moves inside of the district");
        assert_eq!(put_user("ann", &["s"], &school), Err(ProblemKind::NotFound), "moves in");
        assert_eq!(put_user("bob", &["x"], &district), Err(ProblemKind::Invalid));
        assert_eq!(put_user("foreign", &["s"], &district), Err(ProblemKind::NotFound));
        assert_eq!(put_user("shared", &["s"], &district), Err(ProblemKind::Forbidden));
        let teacher = Reach::ClassesOf("near".into());
        assert_eq!(put_user("new", &["s"], &teacher), Err(ProblemKind::Invalid));
        // Organizations: inside of the reach they move, and the root stays where it is.
        let org = |id: &str, parent: Option<&str>| {
            let parent = parent.map(|parent| json!({ "sourcedId": parent }));
            json!({ "sourcedId": id, "name": "renamed", "type": "school", "parent": parent })
        };
        assert_eq!(put(db, "orgs", &org("t", Some("s")), &district), Ok(()));
        assert_eq!(put(db, "orgs", &org("t", Some("d")), &school), Err(ProblemKind::Invalid));
        assert_eq!(put(db, "orgs", &org("s", Some("d")), &school), Ok(()), "renames itself");
        assert_eq!(put(db, "orgs", &org("s", Some("x")), &school), Err(ProblemKind::Invalid));
        assert_eq!(put(db, "orgs", &org("s", None), &school), Err(ProblemKind::Forbidden));
        assert_eq!(put(db, "orgs", &org("n", Some("s")), &school), Ok(()));
        assert_eq!(put(db, "orgs", &org("o", None), &school), Err(ProblemKind::Forbidden));
        // Shared data are read by all and changed by nobody who is limited.
        let category = json!({ "sourcedId": "k", "title": "Homework" });
        assert_eq!(put(db, "categories", &category, &district), Err(ProblemKind::Forbidden));
        is_consistent(db);
    });
}

#[test]
fn a_deletion_stays_within_the_reach() {
    both(|db| {
        for id in ["s", "x"] {
            create(db, "orgs", json!({ "sourcedId": id, "name": id, "type": "school" }));
        }
        create(
            db,
            "courses",
            json!({ "sourcedId": "c", "title": "C", "courseCode": "", "org": { "sourcedId": "s" } }),
        );
        create(
            db,
            "academicSessions",
            json!({ "sourcedId": "t", "title": "T", "type": "term", "schoolYear": "2026",
                    "startDate": "2026-01-01", "endDate": "2026-06-30" }),
        );
        for (id, school) in [("g", "s"), ("h", "x")] {
            create(
                db,
                "classes",
                json!({ "sourcedId": id, "title": id, "course": { "sourcedId": "c" },
                        "school": { "sourcedId": school }, "terms": [{ "sourcedId": "t" }] }),
            );
        }
        let reach = Reach::organizations(["s"]).unwrap();
        let delete = |path: &str, id: &str, cascade: bool| {
            let at = rules().now;
            let deleted = db.write_blocking(|tx| {
                write::delete(tx, collection(path), id, at, cascade, None, &reach)
            });
            deleted.map_err(|problem| problem.kind)
        };
        assert_eq!(delete("classes", "h", false), Err(ProblemKind::NotFound));
        assert_eq!(
            delete("courses", "c", true),
            Err(ProblemKind::Forbidden),
            "a class of x is in the way"
        );
        assert_eq!(delete("academicSessions", "t", false), Err(ProblemKind::Forbidden));
        assert_eq!(delete("classes", "g", false), Ok(()));
        let whole = WholeRoster::read(db);
        assert_eq!(whole.seen("class", &Reach::Everything), ["h"]);
        assert_eq!(whole.seen("course", &Reach::Everything), ["c"]);
    });
}

#[test]
fn a_limited_client_creates_no_default_class_outside_of_its_reach() {
    both(|db| {
        for id in ["s", "x"] {
            create(db, "orgs", json!({ "sourcedId": id, "name": id, "type": "school" }));
            let org = json!({ "sourcedId": id });
            create(
                db,
                "courses",
                json!({ "sourcedId": format!("c-{id}"), "title": "C", "courseCode": "", "org": org }),
            );
        }
        let role = json!({ "roleType": "primary", "role": "student", "org": { "sourcedId": "s" } });
        create(
            db,
            "users",
            json!({ "sourcedId": "u", "enabledUser": true, "givenName": "A", "familyName": "B", "roles": [role] }),
        );
        let reach = Reach::organizations(["s"]).unwrap();
        let rules = WriteRules { reach, ..rules() };
        let line = |id: &str, course: &str, school: Option<&str>| {
            let school = school.map(|school| json!({ "sourcedId": school }));
            json!({ "sourcedId": id, "user": { "sourcedId": "u" }, "course": { "sourcedId": course },
                    "school": school })
        };
        let lines = [
            line("e-1", "c-x", None),
            line("e-2", "c-x", Some("s")),
            line("e-3", "c-s", Some("x")),
            line("e-4", "c-s", None),
        ];
        let lines: Vec<_> = (1..).zip(lines.map(Ok)).collect();
        let load = db
            .write_blocking(|tx| bulk::load(tx, collection("enrollments"), &lines, false, &rules));
        let is_ok: Vec<bool> = load.unwrap().iter().map(|one| one.result.is_ok()).collect();
        assert_eq!(is_ok, [false, false, false, true]);
        let classes = WholeRoster::read(db).seen("class", &Reach::Everything);
        assert_eq!(classes.len(), 1, "{classes:?}");
    });
}

#[test]
fn a_school_is_placed_correctly_when_its_parent_moves_at_the_same_moment() {
    both(|db| {
        for round in 0..5 {
            let org = |id: &str, parent: Option<String>| {
                let parent = parent.map(|parent| json!({ "sourcedId": parent }));
                json!({ "sourcedId": id, "name": id, "type": "district", "parent": parent })
            };
            let (state, district) = (format!("state-{round}"), format!("district-{round}"));
            create(db, "orgs", org(&state, None));
            create(db, "orgs", org(&district, None));
            let orgs = collection("orgs");
            let school = object(org(&format!("school-{round}"), Some(district.clone())));
            let to = object(json!({ "parent": { "sourcedId": state } }));
            let (created, moved) = race::at_once(
                db,
                move |tx| write::create(tx, orgs, school.clone(), &rules()),
                move |tx| write::patch(tx, orgs, &district, &to, None, &rules()),
            );
            created.unwrap();
            moved.unwrap();
            is_consistent(db);
        }
    });
}

#[test]
fn a_write_that_relies_on_the_district_of_a_school_blocks_its_move() {
    both(|db| {
        for round in 0..5 {
            let (near, far, school) =
                (format!("near-{round}"), format!("far-{round}"), format!("school-{round}"));
            for id in [&near, &far] {
                create(db, "orgs", json!({ "sourcedId": id, "name": id, "type": "district" }));
            }
            let parent = json!({ "sourcedId": near });
            create(
                db,
                "orgs",
                json!({ "sourcedId": school, "name": "S", "type": "school", "parent": parent }),
            );
            let id = format!("course-{round}");
            let course = json!({ "sourcedId": id, "title": "C", "courseCode": "", "org": { "sourcedId": school } });
            let limited = WriteRules { reach: Reach::organizations([near]).unwrap(), ..rules() };
            let (orgs, courses) = (collection("orgs"), collection("courses"));
            let to = object(json!({ "parent": { "sourcedId": far } }));
            let course = object(course);
            let (created, moved) = race::at_once(
                db,
                move |tx| write::create(tx, courses, course.clone(), &limited).map(drop),
                move |tx| match repository::find(tx, &COURSE, &id)? {
                    Some(_) => Ok(false),
                    None => write::patch(tx, orgs, &school, &to, None, &rules()).map(|_| true),
                },
            );
            assert!(created.is_ok() != moved.unwrap(), "round {round}");
        }
    });
}

#[test]
fn a_tree_of_organizations_has_a_limited_number_of_levels() {
    both(|db| {
        let org = |level: usize| {
            let parent =
                level.checked_sub(1).map(|above| json!({ "sourcedId": format!("o-{above}") }));
            json!({ "sourcedId": format!("o-{level}"), "name": "O", "type": "local", "parent": parent })
        };
        for level in 0..ORG_TREE_MAX_LEVELS {
            create(db, "orgs", org(level));
        }
        let deeper = object(org(ORG_TREE_MAX_LEVELS));
        let refused = db.write_blocking(move |tx| {
            write::create(tx, collection("orgs"), deeper.clone(), &rules()).map(drop)
        });
        assert_eq!(refused.map_err(|problem| problem.kind), Err(ProblemKind::Invalid));
        is_consistent(db);
        // In a list of records, each row has its own answer.
        create(db, "orgs", json!({ "sourcedId": "top", "name": "T", "type": "district" }));
        let below = json!({ "sourcedId": "top" });
        create(
            db,
            "orgs",
            json!({ "sourcedId": "low", "name": "L", "type": "school", "parent": below }),
        );
        let deepest = format!("o-{}", ORG_TREE_MAX_LEVELS - 1);
        let above = format!("o-{}", ORG_TREE_MAX_LEVELS - 2);
        let place = |id: &str, parent: &str| {
            Ok(
                json!({ "sourcedId": id, "name": "N", "type": "school", "parent": { "sourcedId": parent } }),
            )
        };
        let rows = [
            place("fits", &above),
            place("new", &deepest),
            place("top", &above),
            place("low", &above),
            place("also", "o-0"),
        ];
        let lines: Vec<_> = (1..).zip(rows).collect();
        let load = |reach: Reach| {
            let rules = WriteRules { reach, ..rules() };
            let load =
                db.write_blocking(|tx| bulk::load(tx, collection("orgs"), &lines, false, &rules));
            load.unwrap().iter().map(|one| one.result.is_ok()).collect::<Vec<_>>()
        };
        assert_eq!(load(Reach::organizations(["top"]).unwrap()), [false; 5]);
        assert_eq!(load(Reach::organizations(["o-0"]).unwrap()), [true, false, false, false, true]);
        assert_eq!(load(Reach::Everything), [true, false, false, true, true]);
        is_consistent(db);
    });
}
