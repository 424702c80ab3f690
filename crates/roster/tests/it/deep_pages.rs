//! Pages at random offsets of callers who are limited to organizations, against the naive rule, on rosters whose numbers
//! lie in several blocks of the counts.

use std::thread;

use lyceum_core::random::RandomStream;
use lyceum_core::{ProblemKind, Reach, Result};
use lyceum_roster::kinds::{CLASS, USER};
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, RecordPage};
use lyceum_roster::write;
use lyceum_store::{Db, SqlDialect, Tx};
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::random_roster::{ORGS, move_organization, populate, reach};
use serde_json::{Value, json};

use crate::kit::{BASE, both, collection, create, ids, object, rules};
use crate::reach::{is_consistent, listed};

/// The collections whose records are counted for each organization.
const COUNTED: [&str; 6] = ["users", "students", "teachers", "classes", "enrollments", "lineItems"];

fn refer(id: &str) -> Value {
    json!({ "sourcedId": id })
}

fn some_org(random: &mut RandomStream) -> Value {
    refer(&format!("o-{}", random.below(ORGS)))
}

fn user(id: &str, random: &mut RandomStream) -> Value {
    let mut roles = Vec::new();
    for role_type in ["primary", "secondary"].iter().take(1 + usize::from(random.below(3) == 0)) {
        let role = *random.pick(&["student", "teacher", "aide"]);
        roles.push(json!({ "roleType": role_type, "role": role, "org": some_org(random) }));
    }
    json!({ "sourcedId": id, "enabledUser": true, "givenName": "A", "familyName": "B", "roles": roles })
}

fn class(id: &str, school: &Value) -> Value {
    json!({ "sourcedId": id, "title": "G", "course": refer("c-0"), "school": school, "terms": [refer("t")] })
}

fn line_item(id: &str, class: &str, school: &Value) -> Value {
    json!({ "sourcedId": id, "title": "I", "class": refer(class), "school": school, "category": refer("k"),
            "assignDate": "2026-01-01T00:00:00Z", "dueDate": "2026-02-01T00:00:00Z" })
}

fn enrollment(id: &str, class: &str, school: &Value) -> Value {
    json!({ "sourcedId": id, "user": refer("u-0"), "class": refer(class), "school": school, "role": "student" })
}

/// Lets the next record of the kind have a number that is larger by `numbers`: behind the deleted record that is given.
pub(crate) fn leave_gap(db: &Db, path: &str, mut deleted: Value, numbers: i64) {
    let kind = collection(path).kind;
    let id = deleted["sourcedId"].as_str().unwrap().to_owned();
    deleted["status"] = "tobedeleted".into();
    create(db, path, deleted);
    let find = format!("SELECT seq FROM {} WHERE sourced_id = $1", kind.table);
    let renumber = format!("UPDATE {} SET seq = seq + $1 WHERE sourced_id = $2", kind.table);
    let relink = format!(
        "UPDATE roster_link SET owner = owner + $1 WHERE owner = $2 AND field LIKE '{}.%'",
        kind.one
    );
    let moved = db.write_blocking(|tx| {
        let seq = tx.query_one(&find, &[(&id).into()], |row| row.int(0))?.unwrap();
        tx.send(&renumber, &[numbers.into(), (&id).into()])?;
        tx.send(&relink, &[numbers.into(), seq.into()])?;
        if tx.dialect() == SqlDialect::Postgres {
            tx.take_numbers(kind.table, "seq", usize::try_from(numbers).unwrap())?;
        }
        Ok(())
    });
    moved.unwrap();
}

/// Adds records of each counted kind behind a gap, `round` by `round`.
fn add_behind_gaps(db: &Db, round: u64, random: &mut RandomStream) {
    let school = some_org(random);
    let mut gap = |path: &str, record: Value| {
        let numbers = i64::try_from(1 + random.below(150_000)).unwrap();
        leave_gap(db, path, record, numbers);
    };
    gap("users", user(&format!("gap-{round}"), &mut RandomStream::seeded(round)));
    gap("classes", class(&format!("gap-{round}"), &school));
    gap("lineItems", line_item(&format!("gap-{round}"), "g-0", &school));
    gap("enrollments", enrollment(&format!("gap-{round}"), "g-0", &school));
    for n in 0..6 {
        let (id, school) = (format!("n-{round}-{n}"), some_org(random));
        create(db, "users", user(&id, random));
        create(db, "classes", class(&id, &school));
        create(db, "lineItems", line_item(&id, &id, &school));
        create(db, "enrollments", enrollment(&id, &id, &school));
    }
}

/// Creates, moves, deletes and restores users and classes, and purges some of the deleted ones.
fn change(db: &Db, name: &str, random: &mut RandomStream) {
    for _ in 0..12 {
        let mut id = format!("{name}-{}", random.below(6));
        let (path, mut record) = match random.below(4) {
            0 => ("classes", class(&id, &some_org(random))),
            // With its line item and enrollment.
            1 => {
                id = format!("n-0-{}", random.below(6));
                ("classes", class(&id, &some_org(random)))
            }
            _ => ("users", user(&id, random)),
        };
        if id.starts_with(name) && random.below(3) == 0 {
            record["status"] = "tobedeleted".into();
        }
        write_until_it_succeeds(db, |tx| {
            let record = object(record.clone());
            write::put(tx, collection(path), &id, record, None, true, &rules()).map(drop)
        });
    }
    for kind in [&USER, &CLASS] {
        let later = rules().now.plus_seconds(1);
        write_until_it_succeeds(db, |tx| {
            repository::purge(tx, kind, (later, later), i64::MIN, 3).map(drop)
        });
    }
}

/// PostgreSQL refuses a write that met others too often.
fn write_until_it_succeeds(db: &Db, mut write: impl FnMut(&mut Tx<'_>) -> Result<()>) {
    loop {
        match db.write_blocking(&mut write) {
            Ok(()) => return,
            Err(problem) if problem.kind == ProblemKind::Unavailable => {}
            Err(problem) => panic!("{problem:?}"),
        }
    }
}

fn page(db: &Db, path: &str, reach: &Reach, offset: u64, limit: u64) -> RecordPage {
    let (offset, limit) = (offset.to_string(), limit.to_string());
    let parameters =
        ListParameters { limit: Some(&limit), offset: Some(&offset), ..ListParameters::default() };
    let list_query =
        query(collection(path), None, reach.clone(), &parameters, db.dialect()).unwrap();
    let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
    db.read_blocking(|tx| repository::list(tx, &list_query, &view)).unwrap()
}

/// Pages of the reach are parts of the list that an unlimited caller reads, without the records outside of the reach.
fn pages_agree(db: &Db, reach: &Reach, random: &mut RandomStream) {
    let whole = WholeRoster::read(db);
    for path in COUNTED {
        let seen = whole.seen(collection(path).kind.one, reach);
        let (mut expected, _) = listed(db, path, &Reach::Everything, "100");
        expected.retain(|id| seen.contains(id));
        let total = expected.len() as u64;
        for _ in 0..6 {
            let (offset, limit) = (random.below(total + 3), 1 + random.below(6));
            let page = page(db, path, reach, offset, limit);
            let found = ids(&page);
            let from = expected.len().min(usize::try_from(offset).unwrap());
            let to = expected.len().min(from + usize::try_from(limit).unwrap());
            assert_eq!(found, expected[from..to], "{path} {reach:?} offset {offset} limit {limit}");
            assert_eq!(
                (page.total, page.next.is_some()),
                (total, to < expected.len()),
                "{path} {reach:?}"
            );
        }
    }
}

#[test]
fn pages_at_any_offset_agree_with_the_naive_rule_while_records_change() {
    both(|db| {
        let mut random = RandomStream::seeded(11);
        populate(db, &mut random);
        for round in 0..4 {
            add_behind_gaps(db, round, &mut random);
            // On PostgreSQL, each thread has its own connection and so its own shard.
            thread::scope(|scope| {
                for name in ["a", "b", "c"] {
                    let seed = random.below(u64::MAX);
                    scope.spawn(move || change(db, name, &mut RandomStream::seeded(seed)));
                }
            });
            move_organization(db, &mut random);
            is_consistent(db);
            for _ in 0..4 {
                pages_agree(db, &reach(&mut random), &mut random);
            }
        }
    });
}
