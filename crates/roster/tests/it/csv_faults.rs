//! Every sort of broken row names its file, line, column and value, and says how to fix it.

use lyceum_roster::csv::{CsvError, CsvReport, ImportOptions, RowOutcome, import, notes_of_file};
use serde_json::json;

use crate::csv_files::{Package, dump, import_at, now};
use crate::kit::{both, create};

/// An error in a broken package: its file, the row that is added or changed, and where the fault is expected:
/// line, column, value, words of the problem, words of the remedy.
type Case =
    (&'static str, &'static str, (u64, &'static str, &'static str, &'static str, &'static str));

const CASES: &[Case] = &[
    ("orgs", "x,,,,school,,", (4, "name", "", "required", "fill the cell")),
    ("orgs", "x,,,X,castle,,", (4, "type", "castle", "one of", "department, district")),
    (
        "orgs",
        "x,,,X,school,,x",
        (4, "parentSourcedId", "x", "is below this one", "write the sourcedId"),
    ),
    ("orgs", "x,gone,,X,school,,", (4, "status", "gone", "active", "active or tobedeleted")),
    (
        "orgs",
        "x,,yesterday,X,school,,",
        (4, "dateLastModified", "yesterday", "instant", "2026-01-15T08:00:00Z"),
    ),
    ("orgs", ",,,X,school,,", (4, "sourcedId", "", "required", "fill the cell")),
    ("orgs", "s1,,,Again,school,,", (4, "sourcedId", "s1", "earlier row", "remove one")),
    ("orgs", "x,,,X,school", (4, "", "", "5 fields, but the header has 7", "missing comma")),
    ("orgs", "x,,,\"X \"Y\",school,,", (4, "", "", "quoted field", "twice")),
    ("orgs", "x,,,\"X,school,,", (4, "", "", "never closed", "close the quote")),
    (
        "academicSessions",
        "x,,,X,term,26-08-24,2027-01-15,,2027",
        (4, "startDate", "26-08-24", "date", "2026-01-15"),
    ),
    (
        "academicSessions",
        "x,,,X,age,2026-08-24,2027-01-15,,2027",
        (4, "type", "age", "one of", "gradingPeriod"),
    ),
    ("resources", "x,,,,X,student,primary,,", (3, "vendorResourceId", "", "required", "fill")),
    (
        "resources",
        "x,,,v,X,\"student,king\",primary,,",
        (3, "roles", "student,king", "one of", "student, teacher"),
    ),
    ("resources", "x,,,v,X,,third,,", (3, "importance", "third", "one of", "primary, secondary")),
    ("courses", "x,,,,,X,05,d1,,", (3, "title", "", "required", "fill")),
    (
        "courses",
        "x,,,,X,X,\"05,\"\"06\",d1,,",
        (3, "grades", "05,\"06", "never closed", "close the quote"),
    ),
    (
        "courseResources",
        "x,,,Book,c1,nothing",
        (3, "resourceSourcedId", "nothing", "no resource", "resources.csv"),
    ),
    ("courseResources", "x,,,Book,,r1", (3, "courseSourcedId", "", "required", "fill")),
    (
        "courseResources",
        "x,,,Book,c9,r1",
        (3, "courseSourcedId", "c9", "no course with the sourcedId 'c9'", "courses.csv"),
    ),
    (
        "courseComponents",
        "x,,,X,c1,,first,,,",
        (4, "sortOrder", "first", "not a number", "whole number"),
    ),
    (
        "courseComponents",
        "x,,,X,c1,,1.5,,,",
        (4, "sortOrder", "1.5", "whole number", "whole number"),
    ),
    (
        "courseComponents",
        "x,,,X,c1,,1,,SOME,",
        (4, "prerequisiteCriteria", "SOME", "one of", "ALL, ANY"),
    ),
    (
        "componentResources",
        "x,,,X,l1,r9,1,quiz",
        (3, "resourceSourcedId", "r9", "no resource", "resources.csv"),
    ),
    (
        "componentResources",
        "x,,,X,l1,r1,1,exam",
        (3, "lessonType", "exam", "one of", "powerpath-100"),
    ),
    (
        "classes",
        "x,,,X,05,c9,X,scheduled,,s1,y,,,",
        (3, "courseSourcedId", "c9", "no course with the sourcedId 'c9'", "courses.csv"),
    ),
    ("classes", "x,,,X,05,c1,X,scheduled,,s1,,,,", (3, "termSourcedIds", "", "required", "fill")),
    (
        "classes",
        "x,,,X,05,c1,X,scheduled,,s1,\"y,t9\",,,",
        (3, "termSourcedIds", "t9", "no academicSession with the sourcedId 't9'", "fix the cell"),
    ),
    (
        "classResources",
        "x,,,Book,k5,r9",
        (3, "resourceSourcedId", "r9", "no resource", "resources.csv"),
    ),
    ("users", "p1x,,,yes,x,,X,Y,,,,,,,,,,,,,,", (5, "enabledUser", "yes", "true", "true or false")),
    (
        "users",
        "p1x,,,true,x,LDAP:x,X,Y,,,,,,,,,,,,,,",
        (5, "userIds", "LDAP:x", "begin with an opening brace", "{type:identifier}"),
    ),
    ("users", "p1x,,,true,x,,X,Y,,,,,,,,,,,,,,", (5, "", "", "no row in roles.csv", "add a row")),
    ("users", "p1x,,,true,x,,X,Y,,,,,,g9,,,,,,,,", (5, "", "", "no row in roles.csv", "add a row")),
    (
        "roles",
        "x,,,p1,first,student,,,s1,",
        (6, "roleType", "first", "one of", "primary, secondary"),
    ),
    ("roles", "x,,,p1,primary,king,,,s1,", (6, "role", "king", "one of", "principal")),
    (
        "roles",
        "x,,,p1,primary,student,,,s9,",
        (6, "orgSourcedId", "s9", "no org with the sourcedId 's9'", "orgs.csv"),
    ),
    ("roles", "x,,,p1,primary,student,soon,,s1,", (6, "beginDate", "soon", "date", "2026-01-15")),
    (
        "roles",
        "x,,,p9,primary,student,,,s1,",
        (6, "userSourcedId", "p9", "no user with the sourcedId 'p9'", "users.csv"),
    ),
    ("roles", "x,,,p1,,student,,,s1,", (6, "roleType", "", "required", "fill")),
    ("userProfiles", "x,,,p1,,acme,,,password,u,", (3, "profileType", "", "required", "fill")),
    ("userProfiles", "x,,,p1,learner,acme,,,,u,", (3, "credentialType", "", "required", "fill")),
    (
        "userResources",
        "x,,,p1,,,r9",
        (3, "resourceSourcedId", "r9", "no resource", "resources.csv"),
    ),
    (
        "demographics",
        "g1,,,2015-13-01,female,,,,,,,,,,,",
        (3, "birthDate", "2015-13-01", "date", "2026-01-15"),
    ),
    (
        "demographics",
        "g1,,,,,maybe,,,,,,,,,,",
        (3, "americanIndianOrAlaskaNative", "maybe", "true", "true or false"),
    ),
    (
        "enrollments",
        "x,,,k5,s1,p9,student,,,",
        (4, "userSourcedId", "p9", "no user with the sourcedId 'p9'", "users.csv"),
    ),
    (
        "enrollments",
        "x,,,k9,s1,p1,student,,,",
        (4, "classSourcedId", "k9", "no class with the sourcedId 'k9'", "classes.csv"),
    ),
    ("enrollments", "x,,,k5,s1,p1,king,,,", (4, "role", "king", "one of", "student, teacher")),
    ("categories", "x,,,X,heavy", (3, "weight", "heavy", "number", "92.5")),
    (
        "scoreScales",
        "x,,,X,letter,,c1,k5,A-90",
        (
            3,
            "scoreScaleValue",
            "A-90",
            "begin with an opening brace",
            "{itemValueLHS:itemValueRHS}",
        ),
    ),
    (
        "lineItems",
        "x,,,X,,soon,2026-09-08,k5,q1,t1,,,s1",
        (4, "assignDate", "soon", "instant", "write the date as 2026-01-15"),
    ),
    (
        "lineItems",
        "x,,,X,,2026-09-01,2026-09-08,k5,q9,t1,,,s1",
        (4, "categorySourcedId", "q9", "no category", "categories.csv"),
    ),
    (
        "lineItems",
        "x,,,X,,2026-09-01,2026-09-08,k5,q1,t1,low,,s1",
        (4, "resultValueMin", "low", "number", "92.5"),
    ),
    (
        "lineItemLearningObjectiveIds",
        "x,,,li1,CASE,g2",
        (3, "source", "CASE", "one of", "case, unknown"),
    ),
    (
        "lineItemScoreScales",
        "x,,,,li1,ss9",
        (3, "scoreScaleSourcedId", "ss9", "no scoreScale", "scoreScales.csv"),
    ),
    (
        "results",
        "x,,,li1,p1,graded,9,2026-09-09,,,,,,,",
        (3, "scoreStatus", "graded", "one of", "fully graded"),
    ),
    (
        "results",
        "x,,,li1,p1,fully graded,ninety,2026-09-09,,,,,,,",
        (3, "score", "ninety", "number", "92.5"),
    ),
    (
        "results",
        "x,,,li9,p1,fully graded,9,2026-09-09,,,,,,,",
        (3, "lineItemSourcedId", "li9", "no lineItem", "lineItems.csv"),
    ),
    ("resultLearningObjectiveIds", "x,,,re1,case,g2,half,", (3, "score", "half", "number", "92.5")),
    (
        "resultLearningObjectiveIds",
        "x,,,re9,case,g2,,",
        (3, "resultSourcedId", "re9", "no result with the sourcedId 're9'", "results.csv"),
    ),
    (
        "resultScoreScales",
        "x,,,,re1,ss9",
        (3, "scoreScaleSourcedId", "ss9", "no scoreScale", "scoreScales.csv"),
    ),
    ("assessmentLineItems", "x,,,,,k5,,,,,,,", (4, "title", "", "required", "fill")),
    (
        "assessmentResults",
        "x,,,al1,p1,fully graded,9,soon,,,,,,,,",
        (3, "scoreDate", "soon", "date", "2026-01-15"),
    ),
];

fn with_row(file: &str, row: &str) -> Package {
    let mut package = Package::whole();
    package.0.get_mut(file).unwrap().push_str(&format!("{row}\n"));
    package
}

#[test]
fn a_broken_row_in_any_file_is_reported_and_nothing_is_stored() {
    both(|db| {
        for (file, row, (line, column, value, problem, remedy)) in CASES {
            let report = import_at(db, &with_row(file, row), &ImportOptions::default(), now());
            let fault = report.faults.iter().find(|fault| fault.file == format!("{file}.csv"));
            let fault = fault.unwrap_or_else(|| panic!("{file} {row}: {:#?}", report.faults));
            assert_eq!((fault.line, fault.column.as_str()), (*line, *column), "{row}: {fault:?}");
            assert_eq!(fault.value, *value, "{row}: {fault:?}");
            assert!(fault.problem.contains(problem), "{row}: {fault:?}");
            assert!(fault.remedy.contains(remedy), "{row}: {fault:?}");
            assert!(!report.committed);
            assert!(dump(db).is_empty(), "{row}: something is kept");
        }
    });
}

#[test]
fn every_file_has_a_case() {
    for file in lyceum_roster::csv::files::ALL {
        assert!(CASES.iter().any(|(name, ..)| *name == file.name), "{}", file.name);
    }
}

pub(crate) fn keep_going(
    package: &Package,
    db: &lyceum_store::Db,
) -> (CsvReport, Vec<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = package.write(folder.path());
    let rejects = folder.path().join("package-rejected.csv");
    let notes = folder.path().join("notes.csv");
    let options = ImportOptions {
        rejects: Some(rejects.clone()),
        notes: Some(notes.clone()),
        ..ImportOptions::default()
    };
    let report = import(db, &path, &options, now(), &mut |_| {}).unwrap();
    assert_eq!(report.rejects.is_some(), rejects.exists());
    are_noted(&report, &std::fs::read(notes).unwrap());
    let mut rows = Vec::new();
    if rejects.exists() {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&rejects).unwrap();
        rows.extend(reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()));
    }
    (report, rows)
}

/// Each number of the report is that of the rows of which it is noted, and so is the number of rows.
fn are_noted(report: &CsvReport, notes: &[u8]) {
    for file in &report.files {
        let rows = notes_of_file(notes, &file.file).unwrap();
        if rows.iter().any(|row| row.line == 1) {
            assert_eq!(file.rejected, file.rows, "the rows of the file are not read: {file:?}");
            continue;
        }
        let count_of = |came| rows.iter().filter(|row| row.came == came).count() as u64;
        let counted = [
            RowOutcome::Created,
            RowOutcome::Updated,
            RowOutcome::Unchanged,
            RowOutcome::Deleted,
            RowOutcome::Rejected,
        ];
        let counts = [file.created, file.updated, file.unchanged, file.deleted, file.rejected];
        assert_eq!(counted.map(count_of), counts, "{file:?}: {rows:?}");
        let rows_count = rows.iter().filter(|row| row.line > 1).count() as u64;
        assert_eq!(rows_count, file.rows, "{file:?}: {rows:?}");
    }
}

#[test]
fn keep_going_keeps_the_good_rows_and_writes_the_others() {
    both(|db| {
        for (file, row, (line, column, ..)) in CASES {
            let (report, rows) = keep_going(&with_row(file, row), db);
            assert!(report.committed);
            assert!(!rows.is_empty(), "{file} {row}: {:?}", report.files);
            assert_eq!(rows[0], ["file", "line", "column", "value", "problem", "remedy", "row"]);
            let there = rows[1..].iter().any(|cells| {
                cells[0] == format!("{file}.csv")
                    && cells[1] == line.to_string()
                    && cells[2] == *column
            });
            assert!(there, "{row}: {rows:?}");
            assert_eq!(rows.len() as u64 - 1, report.fault_count, "{row}: {rows:?}");
        }
        // All of the whole package is there, whatever was broken beside it.
        let whole: Vec<_> = dump(db);
        for id in [
            "s1", "t1", "r1", "c1", "l1", "k1", "k5", "w1", "e2", "q1", "ss1", "li1", "re1", "al2",
            "ar1",
        ] {
            assert!(whole.iter().any(|(_, record)| record["sourcedId"] == id), "{id} is missing");
        }
        crate::csv_files::check(db);
    });
}

#[test]
fn rows_that_refer_to_a_refused_row_are_refused_with_the_reason() {
    both(|db| {
        let mut package = with_row("users", "bad,,,maybe,x,,X,Y,,,,,,,,,,,,,,");
        package.0.get_mut("roles").unwrap().push_str("x,,,bad,primary,student,,,s1,\n");
        package.0.get_mut("enrollments").unwrap().push_str("x,,,k5,s1,bad,student,,,\n");
        let (report, rows) = keep_going(&package, db);
        assert!(report.committed);
        assert_eq!(report.fault_count, 2, "{rows:#?}");
        let fault: &CsvError = &report.faults[1];
        assert_eq!((fault.file.as_str(), fault.line), ("enrollments.csv", 4));
        assert!(
            fault.problem.contains("the row of the user 'bad' in users.csv is rejected"),
            "{fault:?}"
        );
        assert!(rows[1].last().unwrap().starts_with("bad,,,maybe,x,,X,Y"), "{rows:?}");
    });
}

#[test]
fn trees_have_no_cycles() {
    both(|db| {
        let mut package = Package::whole();
        package
            .0
            .get_mut("orgs")
            .unwrap()
            .push_str("a,,,A,local,,b\nb,,,B,local,,c\nc,,,C,local,,a\nd,,,D,local,,a\n");
        let report = import_at(db, &package, &ImportOptions::default(), now());
        let lines: Vec<u64> = report.faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [4, 5, 6, 7], "{:#?}", report.faults);
        assert!(
            report.faults[0].problem.contains("parents of each other"),
            "{:?}",
            report.faults[0]
        );
        // A cycle that only the stored records close.
        create(db, "orgs", json!({"sourcedId": "up", "name": "U", "type": "local"}));
        create(
            db,
            "orgs",
            json!({"sourcedId": "low", "name": "L", "type": "local", "parent": {"sourcedId": "up"}}),
        );
        let mut package = Package::default();
        package.set("orgs", &["up,,,U,local,,low"]);
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert_eq!(report.faults.len(), 1, "{:#?}", report.faults);
        assert_eq!(
            (report.faults[0].line, report.faults[0].column.as_str()),
            (2, "parentSourcedId")
        );
    });
}
