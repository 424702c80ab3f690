//! Callers who are limited to organizations or classes, against the naive rule, on random rosters.

use lyceum_core::random::RandomStream;
use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::collections::all;
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::render::RecordView;
use lyceum_roster::write;
use lyceum_roster::{kinds, repository};
use lyceum_store::Db;
use lyceum_testkit::naive_reach::WholeRoster;
use serde_json::{Value, json};

use crate::kit::{BASE, both, collection, create, object, records, rules};

const ORGS: u64 = 9;
const USERS: u64 = 24;
const COURSES: u64 = 6;
const CLASSES: u64 = 10;

fn reference(kind: &str, number: u64) -> Value {
    json!({ "sourcedId": format!("{kind}-{number}") })
}

/// A tree of organizations with users, courses, classes and their gradebooks, drawn from the stream.
fn populate(db: &Db, random: &mut RandomStream) {
    for n in 0..ORGS {
        let mut org = json!({ "sourcedId": format!("o-{n}"), "name": "Org", "type": "school" });
        if n > 0 && random.below(5) > 0 {
            org["parent"] = reference("o", random.below(n));
        }
        create(db, "orgs", org);
    }
    create(
        db,
        "academicSessions",
        json!({ "sourcedId": "t", "title": "T", "type": "term", "schoolYear": "2026",
                "startDate": "2026-01-01", "endDate": "2026-06-30" }),
    );
    create(db, "categories", json!({ "sourcedId": "k", "title": "Homework" }));
    create(db, "resources", json!({ "sourcedId": "r", "title": "R", "vendorResourceId": "r" }));
    for n in 0..USERS {
        create(db, "users", user(n, random));
        if n % 4 == 0 {
            create(db, "demographics", json!({ "sourcedId": format!("u-{n}"), "sex": "other" }));
        }
    }
    for n in 0..COURSES {
        let mut course = json!({ "sourcedId": format!("c-{n}"), "title": "C", "courseCode": "c" });
        if n % 3 > 0 {
            course["org"] = reference("o", random.below(ORGS));
        }
        create(db, "courses", course);
        let unit =
            json!({ "sourcedId": format!("m-{n}"), "title": "U", "course": reference("c", n) });
        create(db, "courses/components", unit);
        let lesson = json!({ "sourcedId": format!("l-{n}"), "title": "L",
            "courseComponent": reference("m", n), "resource": { "sourcedId": "r" } });
        create(db, "courses/component-resources", lesson);
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
    create(
        db,
        "classes",
        json!({ "sourcedId": format!("g-{n}"), "title": "G", "course": reference("c", random.below(COURSES)),
                "school": school, "terms": [{ "sourcedId": "t" }] }),
    );
    create(
        db,
        "lineItems",
        json!({ "sourcedId": format!("i-{n}"), "title": "I", "class": own, "school": school,
                "category": { "sourcedId": "k" }, "assignDate": "2026-01-01T00:00:00Z",
                "dueDate": "2026-02-01T00:00:00Z" }),
    );
    let steps = json!([{ "itemValueLHS": "A", "itemValueRHS": "90" }]);
    let scale = json!({ "sourcedId": format!("s-{n}"), "title": "S", "type": "t", "class": own,
        "scoreScaleValue": steps });
    create(db, "scoreScales", scale);
    let mut test = json!({ "sourcedId": format!("a-{n}"), "title": "A" });
    if n.is_multiple_of(2) {
        test["class"] = own.clone();
    }
    create(db, "assessmentLineItems", test);
    for place in 0..3 {
        let user = active_user(random);
        let id = format!("e-{n}-{place}");
        let role = if place == 0 { "teacher" } else { "student" };
        create(
            db,
            "enrollments",
            json!({ "sourcedId": id, "user": user, "class": own, "school": school, "role": role }),
        );
        let score = json!({ "scoreStatus": "fully graded", "score": 1, "scoreDate": "2026-01-15",
            "sourcedId": id, "student": user });
        let mut of_class = score.clone();
        of_class["lineItem"] = reference("i", n);
        create(db, "results", of_class);
        let mut of_test = score;
        of_test["assessmentLineItem"] = reference("a", n);
        create(db, "assessmentResults", of_test);
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

fn reach(random: &mut RandomStream) -> Reach {
    match random.below(4) {
        0 => Reach::ClassesOf(format!("u-{}", random.below(USERS))),
        number => {
            let roots = (0..number).map(|_| format!("o-{}", random.below(ORGS)));
            Reach::organizations(roots.collect::<Vec<_>>()).unwrap()
        }
    }
}

/// The sourcedIds of the list of a whole collection, read in pages.
fn listed(db: &Db, path: &str, reach: &Reach, limit: &str) -> (Vec<String>, u64) {
    let mut ids = Vec::new();
    let mut cursor = Some(String::new());
    let mut total = None;
    while let Some(at) = cursor {
        let parameters = ListParameters {
            limit: Some(limit),
            cursor: Some(&at).filter(|at| !at.is_empty()).map(String::as_str),
            ..ListParameters::default()
        };
        let asked =
            query(collection(path), None, reach.clone(), &parameters, db.dialect()).unwrap();
        let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
        let page = db.read_blocking(|tx| repository::list(tx, &asked, &view)).unwrap();
        let page_ids =
            records(&page).into_iter().map(|one| one["sourcedId"].as_str().unwrap().to_owned());
        ids.extend(page_ids);
        assert_eq!(*total.get_or_insert(page.total), page.total, "{path} {reach:?}");
        cursor = page.next;
    }
    (ids, total.unwrap_or_default())
}

fn agrees(db: &Db, reach: &Reach) {
    let whole = WholeRoster::read(db);
    for kind in kinds::ALL {
        let mut due = whole.seen(kind.one, reach);
        for limit in ["3", "100"] {
            let (mut found, total) = listed(db, kind.path, reach, limit);
            assert_eq!(total, due.len() as u64, "{} {reach:?}", kind.one);
            found.sort();
            due.sort();
            assert_eq!(found, due, "{} {reach:?}", kind.one);
        }
        for id in whole.seen(kind.one, &Reach::Everything) {
            let of = collection(kind.path);
            let read = db.read_blocking(|tx| repository::find_in(tx, &of, &id, reach)).unwrap();
            assert_eq!(read.is_some(), due.contains(&id), "{} {id} {reach:?}", kind.one);
        }
    }
}

pub(crate) fn is_consistent(db: &Db) {
    let report = db.read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
    assert_eq!(report.faults, Vec::<String>::new());
}

#[test]
fn lists_and_reads_agree_with_the_naive_rule_also_after_schools_move() {
    both(|db| {
        let mut random = RandomStream::seeded(7);
        populate(db, &mut random);
        for _ in 0..4 {
            for _ in 0..2 {
                agrees(db, &reach(&mut random));
            }
            for _ in 0..3 {
                // A move below itself is refused, and changes nothing.
                let id = format!("o-{}", random.below(ORGS));
                let parent = match random.below(3) {
                    0 => Value::Null,
                    _ => reference("o", random.below(ORGS)),
                };
                let to = object(json!({ "parent": parent }));
                let moved = db.write_blocking(|tx| {
                    write::patch(tx, collection("orgs"), &id, &to, None, &rules()).map(drop)
                });
                if let Err(problem) = moved {
                    assert_eq!(problem.kind, ProblemKind::Invalid, "{problem:?}");
                }
            }
            is_consistent(db);
        }
    });
}

#[test]
fn every_collection_and_part_is_limited() {
    both(|db| {
        let mut random = RandomStream::seeded(3);
        populate(db, &mut random);
        let reach = Reach::organizations(["o-1"]).unwrap();
        let whole = WholeRoster::read(db);
        for part in all() {
            let seen = whole.seen(part.kind.one, &reach);
            let (found, _) = listed(db, part.path, &reach, "100");
            assert!(found.iter().all(|id| seen.contains(id)), "{}", part.path);
        }
    });
}
