//! Imports and exports of a part of the roster.

use std::collections::BTreeSet;
use std::io::Cursor;

use lyceum_core::random::RandomStream;
use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::csv::{CsvReport, ExportContent, ImportOptions, export};
use lyceum_roster::kinds;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::random_roster::{ORGS, populate};

use crate::binding::breaches;
use crate::csv_files::{Package, dump, import_all, import_at, import_zip, now};
use crate::kit::both;

fn part(db: &Db, reach: &Reach) -> (Vec<u8>, BTreeSet<String>) {
    let content = (ExportContent::Standard, reach);
    let (report, out) = export(db, content, Cursor::new(Vec::new()), &mut |_, _| {}).unwrap();
    assert_eq!(report.left_out.len() as u64, report.left_out_count);
    let named = report
        .left_out
        .iter()
        .filter_map(|one| one.problem.to_string().split('\'').nth(1).map(str::to_owned));
    (out.into_inner(), named.collect())
}

/// The kind and sourcedId of each record that an empty store has after the import.
fn imported(zip: &[u8]) -> BTreeSet<(&'static str, String)> {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::Sqlite(folder.path().join("part.db"));
    let db = Db::open(&location, lyceum_roster::MIGRATIONS).unwrap();
    import_zip(&db, zip);
    let records = dump(&db).into_iter();
    records.map(|(kind, record)| (kind, record["sourcedId"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn an_export_of_organizations_is_a_valid_package_of_what_belongs_to_them() {
    both(|db| {
        let mut random = RandomStream::seeded(5);
        populate(db, &mut random);
        let whole = WholeRoster::read(db);
        let all = imported(&part(db, &Reach::Everything).0);
        for org in 0..ORGS {
            let reach = Reach::organizations([format!("o-{org}")]).unwrap();
            let (zip, left_out) = part(db, &reach);
            assert_eq!(breaches(&zip), Vec::<String>::new());
            let found = imported(&zip);
            for (kind, id) in &found {
                assert!(whole.seen(kind, &reach).contains(id), "{kind} {id} {reach:?}");
            }
            for kind in kinds::ALL {
                let expected = whole.seen(kind.one, &reach).into_iter().map(|id| (kind.one, id));
                let expected =
                    expected.filter(|one| all.contains(one) && !left_out.contains(&one.1));
                let missing: Vec<_> = expected.filter(|one| !found.contains(one)).collect();
                assert!(missing.is_empty(), "{missing:?} {reach:?}");
            }
        }
        let complete = (ExportContent::Complete, &Reach::organizations(["o-1"]).unwrap());
        let refused = export(db, complete, Cursor::new(Vec::new()), &mut |_, _| {});
        assert_eq!(refused.map(drop).unwrap_err().kind, ProblemKind::Invalid);
    });
}

/// Two districts with a school, a course and a user each.
fn districts() -> Package {
    let mut package = Package::default();
    package.set(
        "orgs",
        &[
            "d1,,,District 1,district,D-1,",
            "s1,,,School 1,school,S-1,d1",
            "d2,,,District 2,district,D-2,",
            "s2,,,School 2,school,S-2,d2",
        ],
    );
    package.set("academicSessions", &["y,,,Year,schoolYear,2026-08-24,2027-06-11,,2027"]);
    package.set("courses", &["c1,,,y,Course 1,C-1,,s1,,", "c2,,,y,Course 2,C-2,,s2,,"]);
    package.set(
        "users",
        &["p1,,,true,ana,,Ana,N,,,,,,,05,,,,,,s1,", "p2,,,true,ben,,Ben,N,,,,,,,05,,,,,,s2,"],
    );
    package.set("roles", &["r1,,,p1,primary,student,,,s1,", "r2,,,p2,primary,student,,,s2,"]);
    package.with_manifest("bulk")
}

/// The lines of the errors in each file.
fn lines(report: &CsvReport) -> Vec<String> {
    report.faults.iter().map(|fault| format!("{}:{}", fault.file, fault.line)).collect()
}

#[test]
fn an_import_with_a_limit_names_the_rows_that_change_something_else() {
    both(|db| {
        import_all(db, &districts());
        let before = dump(db);
        let options = ImportOptions {
            reach: Reach::organizations(["d1"]).unwrap(),
            ..ImportOptions::default()
        };
        // What is not changed may be in the file.
        let report = import_at(db, &districts(), &options, now());
        assert!(report.committed, "{:#?}", report.faults);
        assert_eq!(dump(db), before);

        let mut package = districts();
        let replace = |package: &mut Package, file: &str, from: &str, to: &str| {
            let text = package.0[file].replace(from, to);
            assert_ne!(package.0[file], text);
            package.0.insert(file.to_owned(), text);
        };
        replace(&mut package, "orgs", "School 1", "School One");
        replace(&mut package, "orgs", "School 2", "School Two");
        replace(&mut package, "academicSessions", "y,,,Year", "y,,,The year");
        replace(&mut package, "courses", "Course 1", "Course One");
        replace(&mut package, "courses", "Course 2", "Course Two");
        replace(&mut package, "users", "Ana", "Anna");
        replace(&mut package, "users", "Ben", "Benno");
        let report = import_at(db, &package, &options, now());
        assert!(!report.committed);
        let expected_value =
            ["orgs.csv:5", "academicSessions.csv:2", "courses.csv:3", "users.csv:3"];
        assert_eq!(lines(&report), expected_value, "{:#?}", report.faults);
        let text = report.faults[3].to_string();
        let expected = "users.csv line 3, sourcedId 'p2': the user does not belong only to the organization 'd1' and all \
                        below it; remove the row, or import it without the limit to organizations";
        assert_eq!(text, expected);
        assert_eq!(dump(db), before);

        // Into the organization, out of it, and a new record with a reference to the outside.
        let mut package = districts();
        replace(&mut package, "roles", "p2,primary,student,,,s2", "p2,primary,student,,,s1");
        replace(&mut package, "orgs", "School 1,school,S-1,d1", "School 1,school,S-1,d2");
        replace(&mut package, "courses", "c2,,,y,Course 2,C-2,,s2", "c3,,,y,Course 3,C-3,,s2");
        let report = import_at(db, &package, &options, now());
        assert_eq!(
            lines(&report),
            ["orgs.csv:3", "courses.csv:3", "users.csv:3"],
            "{:#?}",
            report.faults
        );
        assert_eq!(dump(db), before);

        // With a file for them, the other rows are imported.
        let folder = tempfile::tempdir().unwrap();
        let rejects = Some(folder.path().join("rejected.csv"));
        let mut package = districts();
        replace(&mut package, "users", "Ana", "Anna");
        replace(&mut package, "users", "Ben", "Benno");
        let options = ImportOptions { rejects, ..options };
        let report = import_at(db, &package, &options, now());
        assert!(report.committed, "{:#?}", report.faults);
        let name = |id: &str| {
            let user = dump(db).into_iter().find(|(_, record)| record["sourcedId"] == id);
            user.unwrap().1["givenName"].as_str().unwrap().to_owned()
        };
        assert_eq!((name("p1"), name("p2")), ("Anna".to_owned(), "Ben".to_owned()));
    });
}

/// When the rows of a delta were changed.
const CHANGED: &str = "2026-08-01T00:00:00.000Z";

#[test]
fn imports_that_reach_the_same_organizations_wait_for_each_other() {
    both(|db| {
        import_all(db, &districts());
        let import = |number: usize| {
            let mut package = Package::default();
            let school = 1 + number % 2;
            package.set(
                "users",
                &[&format!(
                    "u{number},active,{CHANGED},true,u{number},,U,N,,,,,,,05,,,,,,s{school},"
                )],
            );
            let role = format!("r{number},active,{CHANGED},u{number},primary,student,,,s{school},");
            package.set("roles", &[&role]);
            let options = ImportOptions {
                reach: Reach::organizations(["d1", "d2"]).unwrap(),
                ..ImportOptions::default()
            };
            import_at(db, &package.with_manifest("delta"), &options, now())
        };
        let reports: Vec<CsvReport> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|number| scope.spawn(move || import(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for report in &reports {
            assert!(report.committed, "{:#?}", report.faults);
        }
        let users = dump(db).into_iter().filter(|(kind, _)| *kind == "user").count();
        assert_eq!(users, 2 + 8);
    });
}
