//! A bulk file is the complete set of its type: what an import does with stored records that it does not contain.

use std::fmt::Write;

use lyceum_core::Reach;
use lyceum_core::config::AbsentRecords;
use lyceum_roster::csv::{AbsentPolicy, CsvReport, FileCoverage, FileReport, ImportOptions};
use lyceum_roster::{kinds, repository, write};
use lyceum_store::Db;
use serde_json::json;

use crate::csv_files::{Package, dump, import_all, import_at, now};
use crate::kit::{both, collection, create, object, rules};

/// Two schools, each with a class, a teacher and that many students.
fn schools(students: usize) -> Package {
    let mut package = Package::default();
    let (mut users, mut roles, mut enrollments) = (Vec::new(), Vec::new(), Vec::new());
    for school in ["s1", "s2"] {
        for number in 0..students {
            let user = format!("u{number}-{school}");
            users.push(format!("{user},,,true,{user},,Ann,Ames,,,,,,,05,,,,,,{school},"));
            roles.push(format!("r-{user},,,{user},primary,student,,,{school},"));
            enrollments.push(format!("e-{user},,,c-{school},{school},{user},student,,,"));
        }
    }
    let set = |package: &mut Package, file: &str, rows: &[String]| {
        package.set(file, &rows.iter().map(String::as_str).collect::<Vec<_>>());
    };
    package.set("orgs", &["s1,,,School 1,school,,", "s2,,,School 2,school,,"]);
    package.set("academicSessions", &["y,,,Year,schoolYear,2026-08-24,2027-06-11,,2027"]);
    package.set("courses", &["k,,,,Course,K,,s1,,"]);
    package.set(
        "classes",
        &["c-s1,,,One,,k,,scheduled,,s1,y,,,", "c-s2,,,Two,,k,,scheduled,,s2,y,,,"],
    );
    set(&mut package, "users", &users);
    set(&mut package, "roles", &roles);
    set(&mut package, "enrollments", &enrollments);
    package.with_manifest("bulk")
}

/// The package without the rows of a file that begin with one of the texts.
fn without(mut package: Package, file: &str, beginnings: &[&str]) -> Package {
    let text = package.0.get_mut(file).unwrap();
    let is_kept = |line: &&str| !beginnings.iter().any(|beginning| line.starts_with(beginning));
    *text = text.lines().filter(is_kept).fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    });
    package
}

fn ending() -> ImportOptions {
    let absent = AbsentPolicy { records: AbsentRecords::End, allows_many: false };
    ImportOptions { absent, ..ImportOptions::default() }
}

fn of<'r>(report: &'r CsvReport, file: &str) -> &'r FileReport {
    report.files.iter().find(|one| one.file == file).unwrap()
}

fn notices(report: &CsvReport) -> Vec<String> {
    report.notices.iter().map(ToString::to_string).collect()
}

fn coverage(stored: u64, in_file: u64, imported: u64, ended: u64) -> FileCoverage {
    FileCoverage { stored, in_file, imported, ended }
}

fn status(db: &Db, id: &str) -> String {
    let found = dump(db).into_iter().find(|(_, record)| record["sourcedId"] == id);
    found.unwrap().1["status"].as_str().unwrap().to_owned()
}

#[test]
fn absent_records_stay_by_default_and_the_report_counts_them() {
    both(|db| {
        let first = import_all(db, &schools(10));
        assert_eq!(of(&first, "enrollments").coverage, None, "nothing was stored");
        assert_eq!(notices(&first), [""; 0]);
        let before = dump(db);
        let package = without(schools(10), "enrollments", &["e-u0-s1", "e-u1-s1", "e-u2-s2"]);
        let report = import_all(db, &package);
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(20, 17, 3, 0)));
        assert_eq!(of(&report, "users").coverage, Some(coverage(20, 20, 0, 0)));
        assert_eq!(of(&report, "roles").coverage, None);
        let expected = "enrollments.csv: 17 of 20 stored enrollments are in the file; 3 are not; they stay; `--absent end` \
                        would end those that an import wrote last (3)";
        assert_eq!(notices(&report), [expected]);
        assert_eq!(report.warning_count, 0);
        assert_eq!(dump(db), before);
        let empty = without(schools(10), "enrollments", &["e-"]);
        assert_eq!(
            of(&import_all(db, &empty), "enrollments").coverage,
            Some(coverage(20, 0, 20, 0))
        );
    });
}

#[test]
fn only_records_that_an_import_wrote_last_end() {
    both(|db| {
        import_all(db, &schools(10));
        let enrollment = |id: &str, role: &str| {
            json!({"sourcedId": id, "role": role, "class": {"sourcedId": "c-s1"},
                   "school": {"sourcedId": "s1"}, "user": {"sourcedId": "u0-s1"}})
        };
        create(db, "enrollments", enrollment("by-hand", "proctor"));
        create(
            db,
            "classes",
            json!({"sourcedId": "of-a-track", "title": "T", "classType": "scheduled",
            "course": {"sourcedId": "k"}, "school": {"sourcedId": "s1"}, "terms": [{"sourcedId": "y"}]}),
        );
        let patch = |id: &str, change: serde_json::Value| {
            let patched = db.write_blocking(|tx| {
                let patch = object(change.clone());
                write::patch(tx, collection("enrollments"), id, &patch, None, &rules())
            });
            patched.unwrap();
        };
        patch("e-u1-s1", json!({"primary": true}));
        // A file that says nothing about the change is the last writer again.
        patch("e-u2-s1", json!({"metadata": {"dailyXp": 20}}));
        import_all(db, &without(schools(10), "enrollments", &["e-u1-s1"]));
        let gone = ["e-u0-s1", "e-u1-s1", "e-u2-s1"];
        let report = import_at(db, &without(schools(10), "enrollments", &gone), &ending(), now());
        assert!(report.committed, "{:#?}", report.faults);
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(21, 17, 2, 2)));
        assert_eq!(of(&report, "enrollments").deleted, 2);
        assert_eq!(of(&report, "classes").coverage, Some(coverage(3, 2, 0, 0)));
        let expected = [
            "classes.csv: 2 of 3 stored classes are in the file; 1 is not; they stay, because no import wrote them last",
            "enrollments.csv: 17 of 21 stored enrollments are in the file; 4 are not; those that an import wrote last are \
             now marked as deleted (2)",
        ];
        assert_eq!(notices(&report), expected);
        let statuses = ["e-u0-s1", "e-u1-s1", "e-u2-s1", "by-hand", "of-a-track", "e-u3-s1"];
        let statuses = statuses.map(|id| status(db, id));
        let (ended, active) = ("tobedeleted", "active");
        assert_eq!(statuses, [ended, active, ended, active, active, active]);
        crate::csv_files::check(db);
    });
}

#[test]
fn a_limited_import_ends_only_records_of_its_organizations() {
    both(|db| {
        import_all(db, &schools(10));
        let package = without(schools(10), "enrollments", &["e-u0-", "e-u1-"]);
        let reach = Reach::organizations(["s2"]).unwrap();
        let report = import_at(db, &package, &ImportOptions { reach, ..ending() }, now());
        assert!(report.committed, "{:#?}", report.faults);
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(10, 8, 2, 2)));
        assert_eq!(of(&report, "academicSessions").coverage, Some(coverage(0, 0, 0, 0)));
        let statuses = ["e-u0-s1", "e-u1-s1", "e-u0-s2", "e-u1-s2"].map(|id| status(db, id));
        assert_eq!(statuses, ["active", "active", "tobedeleted", "tobedeleted"]);
    });
}

#[test]
fn ending_more_than_a_fifth_is_refused_unless_it_is_allowed() {
    both(|db| {
        import_all(db, &schools(15));
        let before = dump(db);
        let six = ["e-u0-", "e-u1-", "e-u2-"];
        let seven = ["e-u0-", "e-u1-", "e-u2-", "e-u3-s1"];
        let report = import_at(db, &without(schools(15), "enrollments", &seven), &ending(), now());
        assert!(!report.committed);
        let errors: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        let expected = "enrollments.csv: 23 of 30 stored enrollments are in the file; 7 are not; send the complete file, or \
                        allow the import to end 7 of them with `--allow-removals`";
        assert_eq!(errors, [expected]);
        assert_eq!(of(&report, "enrollments").rejected, 0);
        assert_eq!(dump(db), before);
        // The other rows are imported if the import goes on with errors.
        let folder = tempfile::tempdir().unwrap();
        let rejects = Some(folder.path().join("rejected.csv"));
        let mut package = without(schools(15), "enrollments", &seven);
        let orgs = package.0.get_mut("orgs").unwrap();
        *orgs = orgs.replace("School 1", "School One");
        let report = import_at(db, &package, &ImportOptions { rejects, ..ending() }, now());
        assert_eq!((report.committed, report.fault_count), (true, 1));
        assert_eq!(of(&report, "orgs").updated, 1);
        assert_eq!(status(db, "e-u0-s1"), "active");

        let report = import_at(db, &without(schools(15), "enrollments", &six), &ending(), now());
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(30, 24, 6, 6)));
        let mut options = ending();
        options.absent.allows_many = true;
        let report = import_at(db, &without(schools(15), "enrollments", &["e-"]), &options, now());
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(24, 0, 24, 24)));
    });
}

#[test]
fn five_records_of_a_small_school_may_always_end() {
    both(|db| {
        import_all(db, &schools(3));
        let five = ["e-u0-", "e-u1-", "e-u2-s1"];
        let report = import_at(db, &without(schools(3), "enrollments", &five), &ending(), now());
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(6, 1, 5, 5)));
    });
}

#[test]
fn rejected_rows_and_files_end_nothing() {
    both(|db| {
        import_all(db, &schools(10));
        let folder = tempfile::tempdir().unwrap();
        let import = |package: &Package| {
            let rejects = Some(folder.path().join("rejected.csv"));
            let report = import_at(db, package, &ImportOptions { rejects, ..ending() }, now());
            assert!(report.committed);
            report
        };
        let edited = |from: &str, to: &str| {
            let mut package = schools(10);
            let text = package.0.get_mut("enrollments").unwrap();
            *text = text.replace(from, to);
            package
        };
        let report =
            import(&edited("e-u0-s1,,,c-s1,s1,u0-s1,student", "e-u0-s1,,,c-s1,s1,u0-s1,king"));
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(20, 20, 0, 0)));
        // One row is missing, and it may be the one whose sourcedId cannot be read.
        let report = import(&edited("s1,u0-s1,student,,,", "s1,u0-s1,student,,,,one more"));
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(20, 19, 1, 0)));
        let expected = "enrollments.csv: 19 of 20 stored enrollments are in the file; 1 is not; they stay, because the \
                        sourcedId of a rejected row cannot be read";
        assert_eq!(notices(&report), [expected]);
        let report = import(&edited("classSourcedId", "classId"));
        assert_eq!(of(&report, "enrollments").coverage, None);
        assert_eq!(status(db, "e-u0-s1"), "active");
    });
}

#[test]
fn a_delta_says_nothing_about_records_that_it_does_not_contain() {
    both(|db| {
        import_all(db, &schools(10));
        let mut package = Package::default();
        package.set("enrollments", &["e-u0-s1,tobedeleted,2026-11-20T08:00:00Z,,,,,,,"]);
        let report = import_at(db, &package.with_manifest("delta"), &ending(), now());
        assert_eq!((of(&report, "enrollments").deleted, notices(&report).len()), (1, 0));
        assert_eq!(of(&report, "enrollments").coverage, None);
    });
}

#[test]
fn restored_records_are_counted_apart_from_updated_ones() {
    both(|db| {
        import_all(db, &schools(10));
        import_at(db, &without(schools(10), "enrollments", &["e-u0-s1"]), &ending(), now());
        let mut package = schools(10);
        let text = package.0.get_mut("enrollments").unwrap();
        *text = text.replace("c-s1,s1,u1-s1,student,", "c-s1,s1,u1-s1,student,false");
        let report = import_at(db, &package, &ending(), now().plus_seconds(86_400));
        let file = of(&report, "enrollments");
        assert_eq!((file.restored, file.updated, file.unchanged), (1, 1, 18));
        let day = now().date();
        let expected = format!(
            "enrollments.csv: 1 record is restored, which was deleted on {day}; remove their rows if they \
                        must stay deleted"
        );
        assert_eq!(notices(&report), [expected]);
        assert_eq!(status(db, "e-u0-s1"), "active");
    });
}

#[test]
fn a_new_record_with_the_number_of_a_purged_one_was_not_imported() {
    both(|db| {
        import_all(db, &schools(10));
        let last = without(schools(10), "enrollments", &["e-u9-s2"]);
        import_at(db, &last, &ending(), now());
        let kind = kinds::by_name("enrollment").unwrap();
        let later = now().plus_seconds(1);
        let purge =
            |tx: &mut lyceum_store::Tx<'_>| repository::purge(tx, kind, (later, later), 0, 10);
        assert_eq!(db.write_blocking(purge).unwrap().0.removed, 1);
        create(
            db,
            "enrollments",
            json!({"sourcedId": "by-hand", "role": "student", "class": {"sourcedId": "c-s2"},
            "school": {"sourcedId": "s2"}, "user": {"sourcedId": "u9-s2"}}),
        );
        let report = import_at(db, &last, &ending(), now());
        assert_eq!(of(&report, "enrollments").coverage, Some(coverage(20, 19, 0, 0)));
    });
}
