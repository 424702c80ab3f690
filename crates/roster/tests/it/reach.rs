//! Callers who are limited to organizations or classes, against the naive rule, on random rosters.

use std::time::Duration;

use lyceum_core::random::RandomStream;
use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::collections::all;
use lyceum_roster::csv::{ImportOptions, import};
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::render::RecordView;
use lyceum_roster::{kinds, repository};
use lyceum_store::Db;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::random_roster::{ORGS, move_organization, populate, reach};

use crate::csv_files::{Package, now};
use crate::kit::{BASE, both, collection, records, rules};

/// The sourcedIds of the list of a whole collection, read in pages.
pub(crate) fn listed(db: &Db, path: &str, reach: &Reach, limit: &str) -> (Vec<String>, u64) {
    let mut ids = Vec::new();
    let mut cursor = Some(String::new());
    let mut total = None;
    while let Some(at) = cursor {
        let parameters = ListParameters {
            limit: Some(limit),
            cursor: Some(&at).filter(|at| !at.is_empty()).map(String::as_str),
            ..ListParameters::default()
        };
        let list_query =
            query(collection(path), None, reach.clone(), &parameters, db.dialect()).unwrap();
        let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
        let page = db.read_blocking(|tx| repository::list(tx, &list_query, &view)).unwrap();
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
        let mut expected = whole.seen(kind.one, reach);
        for limit in ["3", "100"] {
            let (mut found, total) = listed(db, kind.path, reach, limit);
            assert_eq!(total, expected.len() as u64, "{} {reach:?}", kind.one);
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{} {reach:?}", kind.one);
        }
        for id in whole.seen(kind.one, &Reach::Everything) {
            let own_collection = collection(kind.path);
            let read = db
                .read_blocking(|tx| repository::find_in(tx, &own_collection, &id, reach))
                .unwrap();
            assert_eq!(read.is_some(), expected.contains(&id), "{} {id} {reach:?}", kind.one);
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
                move_organization(db, &mut random);
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

#[test]
fn an_import_while_schools_move_leaves_exact_lists() {
    both(|db| {
        let mut random = RandomStream::seeded(9);
        populate(db, &mut random);
        let mut package = Package::default();
        let org = |n: u64| format!("o-{}", n % ORGS);
        let users: Vec<String> = (0..1500)
            .map(|n| format!("n-{n},,,true,u{n},,Ana,N,,,,,,,05,,,,,,{},", org(n)))
            .collect();
        let roles: Vec<String> =
            (0..1500).map(|n| format!("r-{n},,,n-{n},primary,student,,,{},", org(n))).collect();
        let school = format!("new-school,,,New,school,N-1,{}", org(3));
        package.set("orgs", &[&school]);
        package.set("users", &users.iter().map(String::as_str).collect::<Vec<_>>());
        package.set("roles", &roles.iter().map(String::as_str).collect::<Vec<_>>());
        let package = package.with_manifest("bulk");
        let folder = tempfile::tempdir().unwrap();
        let path = package.write(folder.path());
        // PostgreSQL refuses an import whose schools moved since it began.
        let import_once = || {
            let options = ImportOptions::default();
            match import(db, &path, &options, now(), &mut |_| {}) {
                Ok(report) => report.committed,
                Err(problem) if problem.kind == ProblemKind::Unavailable => false,
                Err(problem) => panic!("{problem:?}"),
            }
        };
        std::thread::scope(|scope| {
            let importing = scope.spawn(|| while !import_once() {});
            while !importing.is_finished() {
                move_organization(db, &mut random);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        is_consistent(db);
        let whole = WholeRoster::read(db);
        for _ in 0..4 {
            let reach = reach(&mut random);
            let mut expected = whole.seen("user", &reach);
            let (mut found, total) = listed(db, "users", &reach, "100");
            expected.sort();
            found.sort();
            assert_eq!((total, found), (expected.len() as u64, expected), "{reach:?}");
        }
    });
}
