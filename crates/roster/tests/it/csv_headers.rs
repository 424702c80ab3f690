//! Headers, manifests and files that cannot be read.

use lyceum_roster::csv::{CsvError, ImportOptions, import};

use crate::csv_faults::keep_going;
use crate::csv_files::{Package, assert_same, dump, import_at, now};
use crate::kit::both;

fn fault_of(package: &Package) -> CsvError {
    let folder = tempfile::tempdir().unwrap();
    let target = lyceum_store::StoreLocation::Sqlite(folder.path().join("test.db"));
    let db = lyceum_store::Db::open(&target, lyceum_roster::MIGRATIONS).unwrap();
    let report = import_at(&db, package, &ImportOptions::default(), now());
    assert!(!report.committed);
    report.faults.into_iter().next().unwrap()
}

#[test]
fn headers_and_manifests_are_checked() {
    let with = |file: &str, text: &str| {
        let mut package = Package::whole();
        package.0.insert(file.into(), text.into());
        fault_of(&package)
    };
    let fault = with("orgs", "sourcedId,name,typ\nx,X,school\n");
    assert_eq!((fault.line, fault.column.as_str()), (1, "type"));
    assert_eq!(fault.remedy, "rename the column 'typ' to 'type'");
    let fault = with("orgs", "sourcedId,name,type,name\nx,X,school,Y\n");
    assert!(fault.problem.contains("twice"), "{fault:?}");
    let fault = with("orgs", "sourcedId,name\nx,X\n");
    assert_eq!(
        (fault.column.as_str(), fault.remedy.to_string().as_str()),
        ("type", "add the column 'type'")
    );
    let fault = with("orgs", "");
    assert!(fault.problem.contains("no header"), "{fault:?}");
    let fault = with("manifest", "propertyName,value\noneroster.version,2.0\nfile.orgs,bulk\n");
    assert_eq!((fault.file.as_str(), fault.line, fault.value.as_str()), ("manifest.csv", 2, "2.0"));
    let fault = with("manifest", "propertyName,value\nfile.orgs,some\n");
    assert_eq!((fault.column.as_str(), fault.value.as_str()), ("file.orgs", "some"));
    let mut package = Package::whole();
    package.0.remove("orgs");
    let fault = fault_of(&package);
    assert!(fault.problem.contains("lists orgs.csv"), "{fault:?}");
    let mut delta = Package::default();
    delta.0.insert("orgs".into(), "sourcedId,name,type\nx,X,school\n".into());
    let fault = fault_of(&delta.with_manifest("delta"));
    assert_eq!(fault.column, "status");
}

#[test]
fn a_near_miss_in_a_header_is_named_with_the_number_of_its_values() {
    both(|db| {
        let mut package = Package::whole();
        let classes = package.0.get_mut("classes").unwrap();
        *classes = classes.replacen("subjects", "subject", 1);
        let roles = package.0.get_mut("roles").unwrap();
        *roles = roles.replacen("beginDate", "beginDte", 1);
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert!(report.committed, "{:#?}", report.faults);
        let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
        let expected = [
            "classes.csv line 1, subject 'subject': is not a column of this file; values that are not read: 1; rename it \
             to 'subjects'",
            "roles.csv line 1, beginDte 'beginDte': is not a column of this file; values that are not read: 1; rename \
             it to 'beginDate'",
        ];
        assert_eq!(warnings, expected);
    });
}

#[test]
fn a_required_column_that_is_a_near_miss_is_the_only_error() {
    both(|db| {
        let mut package = Package::whole();
        let classes = package.0.get_mut("classes").unwrap();
        *classes = classes.replacen("courseSourcedId", "courseSourceId", 1);
        let report = import_at(db, &package, &ImportOptions::default(), now());
        let errors: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        let expected = "classes.csv line 1, courseSourcedId 'courseSourcedId': the column is missing, and the rows of the \
                        file are not read; rename the column 'courseSourceId' to 'courseSourcedId'";
        assert_eq!(errors, [expected]);
        assert_eq!(report.fault_count, 1);
        let problem = report.warnings[0].problem.to_string();
        assert!(problem.ends_with("values that are not read: 1"), "{problem}");
    });
}

#[test]
fn another_separator_than_commas_is_one_error() {
    both(|db| {
        for (file, separator, name) in [
            ("users", ";", "semicolons"),
            ("users", "\t", "tabs"),
            ("users", "\";\"", "semicolons"),
            ("roles", ";", "semicolons"),
            ("classes", "\t", "tabs"),
        ] {
            let mut package = Package::whole();
            let text = package.0.get_mut(file).unwrap();
            *text = text.replace(',', separator);
            let report = import_at(db, &package, &ImportOptions::default(), now());
            let errors: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
            let expected = format!(
                "{file}.csv line 1: columns are separated by commas, but the file has {name}; save the file with commas \
                 between the columns"
            );
            assert_eq!(errors, [expected]);
            assert_eq!(report.fault_count, 1);
            let of_file = report.files.iter().find(|one| one.file == file).unwrap();
            assert!(of_file.rows > 0 && of_file.rejected == of_file.rows, "{of_file:?}");
        }
        let mut package = Package::whole();
        let manifest = package.0.get_mut("manifest").unwrap();
        *manifest = manifest.replace(',', ";");
        let folder = tempfile::tempdir().unwrap();
        let path = package.write(folder.path());
        let refused = import(db, &path, &ImportOptions::default(), now(), &mut |_| {});
        let message = refused.unwrap_err().message.to_string();
        assert!(message.starts_with("manifest.csv line 1: columns are separated"), "{message}");
        assert!(dump(db).is_empty());
    });
}

#[test]
fn parts_in_a_file_that_cannot_be_read_stay_as_they_are_stored() {
    both(|db| {
        import_at(db, &Package::whole(), &ImportOptions::default(), now());
        let before = dump(db);
        let mut package = Package::whole();
        for file in ["userProfiles", "roles"] {
            let text = package.0.get_mut(file).unwrap();
            *text = text.replace(',', ";");
        }
        let (report, _) = keep_going(&package, db);
        assert_eq!((report.committed, report.fault_count), (true, 2), "{:#?}", report.faults);
        assert_same(&dump(db), &before);
    });
}

#[test]
fn files_that_are_not_read_are_named() {
    both(|db| {
        let mut package = Package::whole();
        let manifest = package.0.get_mut("manifest").unwrap();
        *manifest = manifest.replace("file.enrollments,bulk", "file.enrollments,absent");
        package.0.insert("enrolments".to_owned(), "sourcedId\n".to_owned());
        let report = import_at(db, &package, &ImportOptions::default(), now());
        let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
        let expected = [
            "enrollments.csv: is not read, because the manifest does not list it; write 'file.enrollments,bulk' into \
             manifest.csv, or remove the file",
            "enrolments.csv: is not a OneRoster file and is not read; rename it to 'enrollments.csv', or remove it",
        ];
        assert_eq!(warnings, expected);
    });
}

#[test]
fn encodings_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let target = lyceum_store::StoreLocation::Sqlite(folder.path().join("test.db"));
    let db = lyceum_store::Db::open(&target, lyceum_roster::MIGRATIONS).unwrap();
    let roster = folder.path().join("roster");
    std::fs::create_dir(&roster).unwrap();
    std::fs::write(roster.join("orgs.csv"), b"sourcedId,name,type\nx,Caf\xe9,school\ny,B,school\n")
        .unwrap();
    let report = import(&db, &roster, &ImportOptions::default(), now(), &mut |_| {}).unwrap();
    let fault = &report.faults[0];
    assert_eq!(
        (fault.line, fault.column.as_str(), fault.value.as_str()),
        (2, "name", "Caf\u{fffd}")
    );
    assert!(fault.remedy.contains("UTF-8"));
    std::fs::write(roster.join("orgs.csv"), b"\xff\xfes\0o\0u\0r\0").unwrap();
    let report = import(&db, &roster, &ImportOptions::default(), now(), &mut |_| {}).unwrap();
    assert!(report.faults[0].problem.contains("UTF-16"), "{:?}", report.faults);
}
