//! Rules that read other records: at every door, and among concurrent writers.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use lyceum_core::{Problem, ProblemKind, Reach, Result};
use lyceum_roster::csv::ImportOptions;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{CLASS, COURSE_COMPONENT, ORG, USER};
use lyceum_roster::record::{ModifiedTime, Record, members};
use lyceum_roster::repository::{self, WriteOutcome};
use lyceum_roster::structure;
use lyceum_roster::{bulk, write};
use lyceum_store::{Db, Tx};
use lyceum_testkit::race;
use serde_json::{Value, json};

use crate::csv_files::{Package, import_all, import_at, now};
use crate::kit::{both, collection, create, object, rules};

const COMPONENTS: &str = "courses/components";

fn network(db: &Db) {
    for (id, ty) in [("s", "school"), ("d", "department"), ("x", "ext:campus")] {
        create(db, "orgs", json!({"sourcedId": id, "name": id, "type": ty}));
    }
    for id in ["c", "other"] {
        create(db, "courses", json!({"sourcedId": id, "title": id, "org": {"sourcedId": "s"}}));
    }
    create(
        db,
        "academicSessions",
        json!({"sourcedId": "t", "title": "t", "type": "term", "schoolYear": "2026",
        "startDate": "2026-01-01", "endDate": "2026-06-30"}),
    );
    create(
        db,
        "users",
        json!({"sourcedId": "u", "enabledUser": true, "givenName": "A", "familyName": "B",
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}),
    );
}

fn component(id: &str, course: &str, parent: Option<&str>) -> Value {
    let parent = parent.map(|parent| json!({"sourcedId": parent}));
    json!({"sourcedId": id, "title": id, "course": {"sourcedId": course}, "parent": parent})
}

fn class(id: &str, school: &str) -> Value {
    json!({"sourcedId": id, "title": id, "course": {"sourcedId": "c"}, "school": {"sourcedId": school},
        "terms": [{"sourcedId": "t"}]})
}

fn id(value: &Value) -> &str {
    value["sourcedId"].as_str().unwrap()
}

/// The problems of each way to send the record: POST where it is new, else PUT and PATCH; then bulk and structure.
fn told_at_every_door(db: &Db, path: &str, value: &Value, is_new: bool) -> Vec<Problem> {
    let (of, rules) = (collection(path), &rules());
    let id = id(value);
    let mut problems = Vec::new();
    let mut tell = |result: Result<()>| problems.push(result.unwrap_err());
    let sent = || object(value.clone());
    if is_new {
        tell(db.write_blocking(|tx| write::create(tx, of, sent(), rules).map(drop)));
    } else {
        tell(db.write_blocking(|tx| write::put(tx, of, id, sent(), None, false, rules).map(drop)));
        tell(db.write_blocking(|tx| write::patch(tx, of, id, &sent(), None, rules).map(drop)));
    }
    let lines = [(1, Ok(value.clone()))];
    tell(db.write_blocking(|tx| bulk::load(tx, of, &lines, true, rules).map(drop)));
    let outcomes = db.write_blocking(|tx| bulk::load(tx, of, &lines, false, rules)).unwrap();
    tell(outcomes.into_iter().next().unwrap().result.map(drop));
    problems
}

fn refused_everywhere(db: &Db, path: &str, value: &Value, is_new: bool, fault: &str) {
    for problem in told_at_every_door(db, path, value, is_new) {
        assert_eq!(problem.kind, ProblemKind::Invalid, "{value}: {problem:?}");
        assert!(problem.details[0].path.ends_with(fault), "{value}: {problem:?}");
    }
}

fn delete(db: &Db, path: &str, id: &str) {
    let now = rules().now;
    db.write_blocking(|tx| {
        write::delete(tx, collection(path), id, now, false, None, &Reach::Everything)
    })
    .unwrap();
}

fn put(db: &Db, path: &str, value: &Value) -> Result<WriteOutcome> {
    let (of, rules) = (collection(path), &rules());
    let sent = || object(value.clone());
    let put = db.write_blocking(|tx| write::put(tx, of, id(value), sent(), None, false, rules));
    put.map(|put| put.outcome)
}

#[test]
fn a_parent_belongs_to_the_same_course_in_every_interface() {
    both(|db| {
        network(db);
        create(db, COMPONENTS, component("top", "c", None));
        create(db, COMPONENTS, component("foreign", "other", None));
        let path = "courseComponent.parent.sourcedId";
        refused_everywhere(db, COMPONENTS, &component("new", "c", Some("foreign")), true, path);
        refused_everywhere(db, COMPONENTS, &component("top", "c", Some("foreign")), false, path);
        create(db, COMPONENTS, component("child", "c", Some("top")));
        let path = "courseComponent.course.sourcedId";
        refused_everywhere(db, COMPONENTS, &component("top", "other", None), false, path);
        delete(db, COMPONENTS, "child");
        put(db, COMPONENTS, &component("top", "other", Some("foreign"))).unwrap();
        let mut restored = component("child", "c", Some("top"));
        restored["status"] = "active".into();
        refused_everywhere(db, COMPONENTS, &restored, false, ".parent.sourcedId");
    });
}

#[test]
fn deleted_records_get_no_new_children_in_any_interface() {
    both(|db| {
        network(db);
        create(db, COMPONENTS, component("top", "c", None));
        create(db, COMPONENTS, component("old", "c", Some("top")));
        create(db, "resources", json!({"sourcedId": "r", "title": "r", "vendorResourceId": "r"}));
        let lesson = |id: &str, component: &str| {
            json!({"sourcedId": id, "title": id, "courseComponent": {"sourcedId": component},
                "resource": {"sourcedId": "r"}})
        };
        create(db, "classes", class("k", "s"));
        delete(db, COMPONENTS, "top");
        refused_everywhere(
            db,
            COMPONENTS,
            &component("new", "c", Some("top")),
            true,
            ".parent.sourcedId",
        );
        let under = lesson("l", "top");
        refused_everywhere(
            db,
            "courses/component-resources",
            &under,
            true,
            ".courseComponent.sourcedId",
        );
        delete(db, "courses", "c");
        refused_everywhere(db, COMPONENTS, &component("new", "c", None), true, ".course.sourcedId");
        refused_everywhere(db, "classes", &class("new", "s"), true, "class.course.sourcedId");
        let enrollment = json!({"sourcedId": "e", "user": {"sourcedId": "u"}, "class": {"sourcedId": "k"},
            "course": {"sourcedId": "c"}});
        refused_everywhere(db, "enrollments", &enrollment, true, "enrollment.course.sourcedId");

        let mut kept = component("old", "c", Some("top"));
        kept["title"] = "Renamed".into();
        assert_eq!(
            put(db, COMPONENTS, &kept).unwrap(),
            WriteOutcome::Updated,
            "it stays editable where it is"
        );
        delete(db, COMPONENTS, "old");
        let restored = put(db, COMPONENTS, &kept).unwrap_err();
        assert_eq!(restored.details.len(), 2, "it comes back under the rules: {restored:?}");
    });
}

#[test]
fn demographics_belong_to_a_user_in_every_interface() {
    both(|db| {
        network(db);
        let record = |user: &str| json!({"sourcedId": user, "birthDate": "2015-03-01"});
        refused_everywhere(db, "demographics", &record("nobody"), true, "demographics.sourcedId");
        create(db, "demographics", record("u"));
    });
}

#[test]
fn a_structure_cannot_replace_deleted_records() {
    both(|db| {
        network(db);
        create(db, "resources", json!({"sourcedId": "r", "title": "r", "vendorResourceId": "r"}));
        let body = |course: &str, id: &str| {
            json!({"course": {"sourcedId": course, "title": course, "org": {"sourcedId": "s"}},
                "courseStructure": {"subComponents": [{"sourcedId": id, "title": "a", "componentResources":
                    [{"sourcedId": format!("{id}-l"), "title": "l", "resource": {"sourcedId": "r"}}]}]}})
        };
        let make = |body: Value| {
            let read = structure::read(&body.to_string(), &rules())?;
            db.write_blocking(|tx| read.create(tx, &Reach::Everything))
        };
        make(body("c", "a")).unwrap();
        delete(db, "resources", "r");
        let refused = make(body("other", "b")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
        let path = "courseStructure.subComponents[0].componentResources[0].resource.sourcedId";
        assert_eq!(refused.details[0].path, path);
        assert_eq!(
            make(body("c", "a")).unwrap(),
            WriteOutcome::Unchanged,
            "a retry adds a reference"
        );
        delete(db, "courses", "c");
        let refused = make(body("c", "a")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Conflict);
        assert!(refused.message.contains("is deleted; restore it"), "{}", refused.message);
    });
}

#[test]
fn a_school_is_an_organization_of_that_type_in_every_interface() {
    both(|db| {
        network(db);
        refused_everywhere(db, "classes", &class("k", "d"), true, "class.school.sourcedId");
        create(db, "classes", class("campus", "x"));
        create(db, "classes", class("k", "s"));
        refused_everywhere(db, "classes", &class("k", "d"), false, "class.school.sourcedId");
        let enrollment = json!({"sourcedId": "e", "user": {"sourcedId": "u"}, "class": {"sourcedId": "k"},
            "school": {"sourcedId": "d"}});
        refused_everywhere(db, "enrollments", &enrollment, true, "enrollment.school.sourcedId");
        create(db, "categories", json!({"sourcedId": "g", "title": "g"}));
        let item = json!({"sourcedId": "i", "title": "i", "class": {"sourcedId": "k"}, "school": {"sourcedId": "d"},
            "category": {"sourcedId": "g"}, "assignDate": "2026-01-01", "dueDate": "2026-01-02"});
        refused_everywhere(db, "lineItems", &item, true, "lineItem.school.sourcedId");
        let department = json!({"sourcedId": "s", "name": "s", "type": "department"});
        refused_everywhere(db, "orgs", &department, false, "org.type");
        let district = json!({"sourcedId": "d", "name": "d", "type": "district"});
        put(db, "orgs", &district).unwrap();
    });
}

#[test]
fn the_default_class_of_a_course_belongs_to_the_org_of_the_course() {
    both(|db| {
        network(db);
        create(db, "orgs", json!({"sourcedId": "north", "name": "North", "type": "district"}));
        create(
            db,
            "courses",
            json!({"sourcedId": "n", "title": "n", "org": {"sourcedId": "north"}}),
        );
        let enrollment = |id: &str, course: &str| json!({"sourcedId": id, "user": {"sourcedId": "u"}, "course": {"sourcedId": course}});
        create(db, "enrollments", enrollment("e", "n"));
        let mut class = class("k", "north");
        refused_everywhere(db, "classes", &class, true, "class.school.sourcedId");
        create(db, "courses", json!({"sourcedId": "m", "title": "m", "org": {"sourcedId": "d"}}));
        create(db, "enrollments", enrollment("f", "m"));
        let mut named = enrollment("g", "n");
        named["school"] = json!({"sourcedId": "d"});
        refused_everywhere(db, "enrollments", &named, true, ".school.sourcedId");
        class["school"] = json!({"sourcedId": "s"});
        create(db, "classes", class);
    });
}

#[test]
fn imported_files_obey_the_rules_of_stored_records() {
    both(|db| {
        network(db);
        let classes = |rows: &[&str]| {
            let mut package = Package(BTreeMap::new());
            package.set("classes", rows);
            package.with_manifest("bulk")
        };
        let sound = "k2,,,K2,,c,,scheduled,,s,t,,,";
        let package = classes(&["k1,,,K1,,c,,scheduled,,d,t,,,", sound]);
        let mut report = import_at(db, &package, &ImportOptions::default(), now());
        report.in_english();
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(report.fault_count, 1, "{text}");
        assert!(
            text.contains("schoolSourcedId") && text.contains("has the type 'department'"),
            "{text}"
        );
        import_all(db, &classes(&[sound]));
    });
}

#[test]
fn an_id_of_a_deleted_record_is_refused_with_a_way_to_restore_it() {
    both(|db| {
        network(db);
        let make = |path: &str, value: Value| {
            db.write_blocking(|tx| {
                write::create(tx, collection(path), object(value.clone()), &rules())
            })
        };
        create(db, COMPONENTS, component("a", "c", None));
        create(db, "classes", class("k", "s"));
        for (path, value) in [(COMPONENTS, component("a", "c", None)), ("classes", class("k", "s"))]
        {
            let again = make(path, value.clone()).unwrap();
            assert_eq!(again.put.outcome, WriteOutcome::Unchanged);
            let mut other = value.clone();
            other["title"] = "another".into();
            let exists = make(path, other).unwrap_err();
            assert_eq!(exists.kind, ProblemKind::Conflict);
            assert!(
                exists.message.contains("exists already with other values"),
                "{}",
                exists.message
            );
            delete(db, path, id(&value));
            let gone = make(path, value.clone()).unwrap_err();
            assert_eq!(gone.kind, ProblemKind::Conflict);
            assert!(gone.message.contains("is deleted; restore it with PATCH"), "{}", gone.message);
            assert!(gone.details[0].path.ends_with(".sourcedId"));
            let status = object(json!({"status": "active"}));
            db.write_blocking(|tx| {
                write::patch(tx, collection(path), id(&value), &status, None, &rules())
            })
            .unwrap();
            assert_eq!(
                make(path, value).unwrap().put.outcome,
                WriteOutcome::Unchanged,
                "the way back leads back"
            );
        }
    });
}

/// The id in a reference of a stored record, whether that is in use.
fn stored(db: &Db, kind: &'static RecordKind, id: &str, field: &str) -> Option<String> {
    let stored = db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap()?;
    let object = members(&stored.body, stored.extra.as_deref()).unwrap();
    Some(object.get(field)?.get("sourcedId")?.as_str()?.to_owned())
}

/// Runs two writes at the same moment.
fn at_once(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    let start = &Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(move || {
            start.wait();
            one();
        });
        scope.spawn(move || {
            start.wait();
            other();
        });
    });
}

const ROUNDS: usize = 40;

#[test]
fn two_concurrent_moves_create_no_cycle() {
    both(|db| {
        network(db);
        for (child, parent) in [("a1", None), ("a2", Some("a1")), ("b1", None), ("b2", Some("b1"))]
        {
            create(db, COMPONENTS, component(child, "c", parent));
        }
        for _ in 0..ROUNDS {
            // Neither writes what the other reads first: a cycle would go through all four.
            at_once(
                || drop(put(db, COMPONENTS, &component("a1", "c", Some("b2")))),
                || drop(put(db, COMPONENTS, &component("b1", "c", Some("a2")))),
            );
            let parents = ["a1", "b1"].map(|id| stored(db, &COURSE_COMPONENT, id, "parent"));
            assert!(!parents.iter().all(Option::is_some), "{parents:?}");
            for id in ["a1", "b1"] {
                put(db, COMPONENTS, &component(id, "c", None)).unwrap();
            }
        }
    });
}

#[test]
fn a_parent_that_moves_while_a_child_is_added_creates_no_tree_of_two_courses() {
    both(|db| {
        network(db);
        create(db, COMPONENTS, component("top", "c", None));
        for round in 0..ROUNDS {
            let child = format!("child-{round}");
            at_once(
                || {
                    let value = object(component(&child, "c", Some("top")));
                    let of = collection(COMPONENTS);
                    drop(db.write_blocking(|tx| write::create(tx, of, value.clone(), &rules())));
                },
                || drop(put(db, COMPONENTS, &component("top", "other", None))),
            );
            let course = stored(db, &COURSE_COMPONENT, "top", "course");
            if let Some(of_child) = stored(db, &COURSE_COMPONENT, &child, "course") {
                assert_eq!(course.as_ref(), Some(&of_child));
                delete(db, COMPONENTS, &child);
            }
            put(db, COMPONENTS, &component("top", "c", None)).unwrap();
        }
    });
}

#[test]
fn a_school_that_becomes_a_department_while_a_class_is_added_has_no_class() {
    both(|db| {
        network(db);
        for round in 0..ROUNDS {
            let (school, class_id) = (format!("s-{round}"), format!("k-{round}"));
            create(db, "orgs", json!({"sourcedId": school, "name": "x", "type": "school"}));
            at_once(
                || {
                    let value = object(class(&class_id, &school));
                    let of = collection("classes");
                    drop(db.write_blocking(|tx| write::create(tx, of, value.clone(), &rules())));
                },
                || {
                    let department =
                        json!({"sourcedId": school, "name": "x", "type": "department"});
                    drop(put(db, "orgs", &department));
                },
            );
            let org = db.read_blocking(|tx| repository::find(tx, &ORG, &school)).unwrap().unwrap();
            let is_school = org.body.contains("\"type\":\"school\"");
            assert!(is_school || stored(db, &CLASS, &class_id, "school").is_none(), "{round}");
        }
    });
}

#[test]
fn records_that_are_written_together_create_no_cycle() {
    both(|db| {
        network(db);
        for id in ["a", "b"] {
            create(db, COMPONENTS, component(id, "c", None));
        }
        let parsed = |id: &str, parent: &str| {
            let value = object(component(id, "c", Some(parent)));
            Record::parse(
                &COURSE_COMPONENT,
                &value,
                rules().dialect,
                ModifiedTime::Now(rules().now),
            )
            .unwrap()
        };
        let put = |records: &[Record]| {
            db.write_blocking(|tx| repository::put_all(tx, &COURSE_COMPONENT, records))
        };
        let problem = put(&[parsed("a", "b"), parsed("b", "a")]).unwrap_err();
        assert_eq!(problem.details[0].path, "courseComponent.parent.sourcedId");
        assert!(problem.message.contains("a tree has no cycles"), "{}", problem.message);
        // One that is new and one that changed.
        put(&[parsed("new", "a"), parsed("a", "new")]).unwrap_err();
        let outcomes = put(&[parsed("new", "a"), parsed("a", "b")]).unwrap();
        assert_eq!(outcomes, [WriteOutcome::Created, WriteOutcome::Updated]);
    });
}

#[test]
fn a_purge_keeps_a_record_to_which_a_new_one_refers() {
    both(|db| {
        network(db);
        for round in 0..5 {
            let (school, user) = (format!("purged-{round}"), format!("of-purged-{round}"));
            create(db, "orgs", json!({"sourcedId": school, "name": "x", "type": "school"}));
            delete(db, "orgs", &school);
            let later = rules().now.plus_seconds(1);
            let role =
                json!({"roleType": "primary", "role": "student", "org": {"sourcedId": school}});
            let new = object(json!({"sourcedId": user, "enabledUser": true, "givenName": "A",
                "familyName": "B", "roles": [role]}));
            let of = collection("users");
            let (_, purged) = race::at_once(
                db,
                move |tx| write::create(tx, of, new.clone(), &rules()),
                move |tx| repository::purge(tx, &ORG, (later, later), i64::MIN, 1000),
            );
            purged.unwrap();
            let has = |kind, id| db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap();
            let (user, org) = (has(&USER, &user), has(&ORG, &school));
            assert!(user.is_none() || org.is_some(), "round {round}");
        }
    });
}

#[test]
fn two_orgs_that_move_below_each_other_create_no_cycle() {
    both(|db| {
        network(db);
        for round in 0..5 {
            let org = |id: &str, parent: Option<&str>| {
                let parent = parent.map(|parent| json!({"sourcedId": parent}));
                json!({"sourcedId": id, "name": id, "type": "district", "parent": parent})
            };
            let (a, b) = (format!("a-{round}"), format!("b-{round}"));
            create(db, "orgs", org(&a, None));
            create(db, "orgs", org(&b, None));
            let below = |id: &str, parent: &str| {
                let (of, id) = (collection("orgs"), id.to_owned());
                let patch = object(json!({"parent": {"sourcedId": parent}}));
                move |tx: &mut Tx<'_>| write::patch(tx, of, &id, &patch, None, &rules())
            };
            let (one, other) = race::at_once(db, below(&a, &b), below(&b, &a));
            assert!(one.is_ok() != other.is_ok(), "round {round}");
        }
    });
}
