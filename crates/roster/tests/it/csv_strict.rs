//! The standard's strictness: what is exported, the demo, and imports with `--strict`.

use std::io::Cursor;

use lyceum_core::Reach;
use lyceum_demo::generate;
use lyceum_roster::csv::{CsvReport, ExportContent, ImportOptions, export};
use lyceum_roster::{kinds, repository};
use lyceum_store::Db;
use serde_json::json;

use crate::binding::breaches;
use crate::csv_files::{Package, dump, import_all, import_at, import_zip, now};
use crate::kit::{both, create};

fn demo(content: ExportContent) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    generate(160, 5, content, &mut out, |_| {}).unwrap();
    out.into_inner()
}

fn import_strictly(db: &Db, zip: &[u8]) -> CsvReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.zip");
    std::fs::write(&path, zip).unwrap();
    let options = ImportOptions { strict: true, ..ImportOptions::default() };
    lyceum_roster::csv::import(db, &path, &options, now(), &mut |_| {}).unwrap()
}

/// The errors of a strict reader, without those about the files of the platform.
fn without_ours(zip: &[u8]) -> Vec<String> {
    let mut breaches = breaches(zip);
    let ours =
        ["courseComponents", "componentResources", "assessmentLineItems", "assessmentResults"];
    breaches.retain(|breach| {
        let is_file = ours.iter().any(|name| breach.starts_with(&format!("{name}.csv: no file")));
        let is_line =
            ours.iter().any(|name| breach.ends_with(&format!("no property ext.file.{name}")));
        !is_file && !is_line
    });
    breaches
}

#[test]
fn a_strict_reader_accepts_the_demo() {
    assert_eq!(breaches(&demo(ExportContent::Standard)), Vec::<String>::new());
    assert_eq!(without_ours(&demo(ExportContent::Complete)), Vec::<String>::new());
    assert_eq!(
        breaches(&demo(ExportContent::Complete)).len(),
        8,
        "four files and their four lines"
    );
}

#[test]
fn a_strict_reader_accepts_our_export() {
    both(|db| {
        import_zip(db, &demo(ExportContent::Complete));
        add_records_of_the_platform(db);
        let out = Cursor::new(Vec::new());
        let (exported, out) =
            export(db, (ExportContent::Standard, &Reach::Everything), out, &mut |_, _| {}).unwrap();
        let zip = out.into_inner();
        assert_eq!(breaches(&zip), Vec::<String>::new());
        let left_out: Vec<String> = exported.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(exported.left_out_count, 1, "{left_out:#?}");
        assert!(left_out[0].contains("'odd id'"), "{left_out:#?}");
        let report = import_strictly(db, &zip);
        assert!(report.committed, "{:#?}", report.faults);
        let (_, out) = export(
            db,
            (ExportContent::Complete, &Reach::Everything),
            Cursor::new(Vec::new()),
            &mut |_, _| {},
        )
        .unwrap();
        // Ids stay as they are in a complete export.
        let found = without_ours(&out.into_inner()).join("; ");
        assert_eq!(found.matches("odd id").count(), 1, "{found}");
        assert_eq!(found.matches("https://reader.example.org/u").count(), 2, "{found}");
        assert_eq!(found.split("; ").count(), 3, "{found}");
    });
}

/// Adds records that clients of the platform store and the binding does not have: fields left out, line breaks, times
/// of day, deleted records that others refer to.
fn add_records_of_the_platform(db: &Db) {
    for (path, value) in [
        ("orgs", json!({"sourcedId": "odd id", "name": "Odd", "type": "school"})),
        ("orgs", json!({"sourcedId": "gone", "name": "Gone", "type": "school"})),
        ("courses", json!({"sourcedId": "plain", "title": "Two\r\nlines"})),
        (
            "users",
            json!({
                "sourcedId": "u", "enabledUser": true, "givenName": "U", "familyName": "V",
                "email": "u@example.org", "primaryOrg": {"sourcedId": "gone"},
                "roles": [
                    {"roleType": "primary", "role": "student", "org": {"sourcedId": "org-d001"},
                     "userProfile": "https://reader.example.org/u"},
                    {"roleType": "secondary", "role": "aide", "org": {"sourcedId": "gone"}},
                ],
                "userProfiles": [{
                    "profileId": "https://reader.example.org/u", "profileType": "t", "vendorId": "v",
                    "credentials": [{"type": "password", "username": "u"}],
                }],
            }),
        ),
    ] {
        create(db, path, value);
    }
    db.write_blocking(|tx| {
        repository::delete(
            tx,
            kinds::by_name("org").unwrap(),
            "gone",
            now(),
            true,
            &Reach::Everything,
        )
    })
    .unwrap();
}

#[test]
fn the_export_into_its_own_store_keeps_times_of_day() {
    both(|db| {
        import_all(db, &Package::whole());
        let (_, out) = export(
            db,
            (ExportContent::Standard, &Reach::Everything),
            Cursor::new(Vec::new()),
            &mut |_, _| {},
        )
        .unwrap();
        import_zip(db, &out.into_inner());
        let item = dump(db).into_iter().find(|(_, record)| record["sourcedId"] == "li1").unwrap();
        assert_eq!(item.1["assignDate"], "2026-09-01T08:00:00.000Z");
    });
}

/// A package that holds to the binding.
fn strict_package() -> Package {
    let mut package = Package::default();
    package.set("orgs", &["s1,,,School,school,S-1,"]);
    package.set("users", &["p1,,,true,ana,,Ana,N,,,,,,,05,,,,,,s1,"]);
    package.set("roles", &["r1,,,p1,primary,student,,,s1,"]);
    package.set("demographics", &["p1,,,2015-05-05,female,,,,,,,,,,,"]);
    let standard = lyceum_roster::csv::files::ALL
        .iter()
        .filter(|file| !lyceum_roster::csv::files::BEYOND_THE_STANDARD.contains(&file.name));
    let lines: String = standard
        .map(|file| {
            let mode = if package.0.contains_key(file.name) { "bulk" } else { "absent" };
            format!("file.{},{mode}\n", file.name)
        })
        .collect();
    let head = "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\n";
    package.0.insert("manifest".into(), format!("{head}{lines}"));
    package
}

/// Texts that `--strict` refuses and an import takes: file, what stands in it instead, column of the fault.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,active,,School,school,S-1,\n",
        "status",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,,2026-08-01T00:00:00.000Z,School,school,S-1,\n",
        "dateLastModified",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,type,name,identifier,parentSourcedId\ns1,,,school,School,S-1,\n",
        "type",
    ),
    ("orgs", "sourcedId,name,type\ns1,School,school\n", "name"),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId,colour\ns1,,,School,school,S-1,,red\n",
        "colour",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,,,School,school,S-1,,,\n",
        "",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,,,School,school,S-1,\na:b,,,Two,school,,\n",
        "sourcedId",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,,,School,school,S-1,nowhere\n",
        "parentSourcedId",
    ),
    (
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\ns1,,,\"A\nB\",school,S-1,\n",
        "name",
    ),
    (
        "users",
        "sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns\np1,,,true,,,Ana,N,,,,,,,05,,,,,,s1,\n",
        "username",
    ),
    (
        "roles",
        "sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId\nr1,,,p1,primary,student,,,s1,none\n",
        "userProfileSourcedId",
    ),
    (
        "manifest",
        "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\nfile.orgs,bulk\nfile.users,bulk\nfile.roles,bulk\nfile.demographics,bulk\n",
        "file.academicSessions",
    ),
    ("extra", "a\nb\n", ""),
];

#[test]
fn strict_mode_refuses_what_the_binding_forbids_and_a_normal_import_accepts_it() {
    both(|db| {
        let strict = ImportOptions { strict: true, ..ImportOptions::default() };
        let report = import_at(db, &strict_package(), &strict, now());
        assert!(report.committed, "{:#?}", report.faults);
        for (file, text, column) in FORBIDDEN {
            let mut package = strict_package();
            package.0.insert((*file).to_owned(), (*text).to_owned());
            let report = import_at(db, &package, &ImportOptions::default(), now());
            assert!(report.committed, "{file}: {:#?}", report.faults);
            let report = import_at(db, &package, &strict, now());
            assert!(!report.committed, "{file} {text}");
            let fault = &report.faults[0];
            assert_eq!((&fault.file, &*fault.column), (&format!("{file}.csv"), *column), "{fault}");
            assert!(
                !fault.problem.template().is_empty() && !fault.remedy.template().is_empty(),
                "{fault}"
            );
        }
    });
}

#[test]
fn strict_mode_accepts_only_packages_that_the_strict_reader_accepts() {
    let zip = strict_package().zip();
    assert_eq!(breaches(&zip), Vec::<String>::new());
    for (file, text, _) in FORBIDDEN {
        let mut package = strict_package();
        package.0.insert((*file).to_owned(), (*text).to_owned());
        assert!(!breaches(&package.zip()).is_empty(), "{file} {text}");
    }
}

/// Cells that are read past or left out: file, row, column and value of the warning.
const WARNINGS: &[(&str, &str, (u64, &str, &str))] = &[
    ("orgs", "x,,,X,school,,nowhere", (4, "parentSourcedId", "nowhere")),
    ("courses", "x,,,y2,X,X,05,d1,,", (3, "schoolYearSourcedId", "y2")),
    ("courseComponents", "x,,,X,c1,u9,1,,,", (4, "parentSourcedId", "u9")),
    ("assessmentLineItems", "x,,,X,,,al9,,,,,,", (4, "parentAssessmentLineItemSourcedId", "al9")),
    ("userResources", "x,,,p1,s9,,r1", (3, "orgSourcedId", "s9")),
    ("userResources", "x,,,p1,,k9,r1", (3, "classSourcedId", "k9")),
    ("scoreScales", "x,,,X,letter,s9,c1,k5,{A:90-100}", (3, "orgSourcedId", "s9")),
    ("roles", "x,,,p1,secondary,student,,,d1,nobody", (6, "userProfileSourcedId", "nobody")),
    ("results", "x,,,li1,p1,fully graded,9,2026-09-09,,,k9,,,,", (3, "classSourcedId", "k9")),
    ("orgs", "x,,,X,school,,d1,,,", (4, "", "")),
];

#[test]
fn a_dangling_optional_reference_is_left_out_with_a_warning() {
    both(|db| {
        for (file, row, (line, column, value)) in WARNINGS {
            let mut package = Package::whole();
            package.0.get_mut(*file).unwrap().push_str(&format!("{row}\n"));
            let report = import_at(db, &package, &ImportOptions::default(), now());
            assert!(report.committed, "{row}: {:#?}", report.faults);
            assert_eq!(report.warning_count, 1, "{row}: {:#?}", report.warnings);
            let warning = &report.warnings[0];
            assert_eq!(warning.file, format!("{file}.csv"));
            let place = (warning.line, &*warning.column, &*warning.value);
            assert_eq!(place, (*line, *column, *value), "{row}: {warning}");
        }
        crate::csv_files::check(db);
    });
}

/// Changes that are imported with a warning and refused with `--strict`: a change of the strict package and the
/// warning.
const SUSPICIOUS: &[(&str, &str, &str, &str)] = &[
    (
        "courses",
        "\"Math,Science\",02000",
        "\"Math,Science\",\"02000,03000\"",
        "courses.csv line 2: the row has another number of subjects (2) than of subjectCodes (1); write a code for each \
         subject, in the same order",
    ),
    (
        "classes",
        "Math,\"02000,03000\"",
        "Math,02000",
        "classes.csv line 2: the row has another number of subjects (1) than of subjectCodes (2); write a code for each \
         subject, in the same order",
    ),
    (
        "users",
        "p2,,,true,ANA",
        "p2,,,true,ben",
        "users.csv line 3, username 'ANA': the users 'p1' and 'p2' have the username 'ANA'; only the older of their \
         accounts signs in with it; give one of the users another username",
    ),
];

/// The strict package with a course, a class and a second user.
fn strict_package_with_class() -> Package {
    let mut package = strict_package();
    let own = |package: &mut Package, file: &str, rows: &[&str]| {
        package.set(file, rows);
        let manifest = package.0.get_mut("manifest").unwrap();
        *manifest = manifest.replace(&format!("file.{file},absent"), &format!("file.{file},bulk"));
    };
    own(&mut package, "academicSessions", &["y,,,Year,schoolYear,2026-08-24,2027-06-11,,2027"]);
    own(&mut package, "courses", &["c1,,,y,Math 5,M5,05,s1,\"Math,Science\",\"02000,03000\""]);
    own(&mut package, "classes", &["k5,,,Math 5 A,05,c1,M5-A,scheduled,,s1,y,Math,02000,1"]);
    let users =
        ["p1,,,true,ana,,Ana,N,,,,,,,05,,,,,,s1,", "p2,,,true,ben,,Ben,N,,,,,,,05,,,,,,s1,"];
    own(&mut package, "users", &users);
    let roles = ["r1,,,p1,primary,student,,,s1,", "r2,,,p2,primary,student,,,s1,"];
    own(&mut package, "roles", &roles);
    package
}

#[test]
fn suspicious_rows_are_warnings_and_strict_mode_refuses_them() {
    both(|db| {
        let strict = ImportOptions { strict: true, ..ImportOptions::default() };
        let sound = strict_package_with_class();
        let report = import_at(db, &sound, &strict, now());
        assert!(report.committed, "{:#?}", report.faults);
        for (file, text, sound_text, warning) in SUSPICIOUS {
            let mut package = sound.clone();
            let rows = package.0.get_mut(*file).unwrap();
            *rows = rows.replace(sound_text, text);
            assert_ne!(package.0, sound.0, "{file}");
            let report = import_at(db, &package, &strict, now());
            assert!(!report.committed);
            assert_eq!(report.faults[0].to_string(), *warning);
            let report = import_at(db, &package, &ImportOptions::default(), now());
            assert!(report.committed, "{:#?}", report.faults);
            assert_eq!(report.warnings[0].to_string(), *warning);
            assert_eq!(report.warning_count, 1);
            import_all(db, &sound);
        }
    });
}

#[test]
fn other_versions_in_the_manifest_are_warnings_and_strict_mode_refuses_them() {
    both(|db| {
        for version in ["1.1", "1.2.1"] {
            let mut package = strict_package();
            let manifest = package.0.get_mut("manifest").unwrap();
            *manifest =
                manifest.replace("oneroster.version,1.2", &format!("oneroster.version,{version}"));
            let report = import_all(db, &package);
            let expected = format!(
                "manifest.csv line 3, oneroster.version '{version}': is not the version 1.2 that OneRoster 1.2 requires \
                 here; the files are read as 1.2; write 1.2"
            );
            let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
            assert_eq!(warnings, [expected]);
            let strict = ImportOptions { strict: true, ..ImportOptions::default() };
            let report = import_at(db, &package, &strict, now());
            assert_eq!((report.committed, report.fault_count), (false, 1));
        }
    });
}

#[test]
fn a_user_with_an_unknown_agent_is_imported_without_it() {
    both(|db| {
        let mut package = Package::whole();
        let users = package.0.get_mut("users").unwrap();
        *users = users.replace(",g1,05,", ",\"g1,nobody\",05,");
        let report = import_all(db, &package);
        assert_eq!(report.warning_count, 1, "{:#?}", report.warnings);
        assert!(report.warnings[0].problem.contains("left out"), "{}", report.warnings[0]);
        let all = dump(db);
        let ana = all.iter().find(|(_, record)| record["sourcedId"] == "p1").unwrap();
        assert_eq!(ana.1["agents"], json!([{"sourcedId": "g1", "type": "user"}]));
        assert!(
            all.iter().any(|(_, record)| record["sourcedId"] == "e1"),
            "the enrollment is there"
        );
    });
}

#[test]
fn unknown_columns_and_commas_at_the_end_are_warnings() {
    both(|db| {
        let mut package = Package::default();
        let text = "sourcedId,name,type,colour,,\ns1,School,school,red,,\ns2,Two,school,blue\n";
        package.0.insert("orgs".into(), text.into());
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert!(report.committed, "{:#?}", report.faults);
        let columns: Vec<&str> = report.warnings.iter().map(|it| it.column.as_str()).collect();
        assert_eq!(columns, ["", "colour"], "{:#?}", report.warnings);
        assert_eq!(dump(db).len(), 2);
    });
}

#[test]
fn demographics_of_an_unknown_user_are_refused() {
    both(|db| {
        let mut package = Package::whole();
        package.0.get_mut("demographics").unwrap().push_str("nobody,,,2015-05-05,,,,,,,,,,,,\n");
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert!(!report.committed);
        let fault = &report.faults[0];
        assert_eq!((fault.line, &*fault.column, &*fault.value), (3, "sourcedId", "nobody"));
        assert!(fault.problem.contains("no user with the sourcedId 'nobody'"), "{fault}");
    });
}

#[test]
fn a_role_of_1_1_is_refused_with_the_known_roles() {
    both(|db| {
        let mut package = Package::default();
        package.set("orgs", &["s1,,,School,school,S-1,"]);
        let text = "sourcedId,enabledUser,orgSourcedIds,role,givenName,familyName\np1,true,s1,pupil,Ana,N\n";
        package.0.insert("users".into(), text.into());
        let report = import_at(db, &package, &ImportOptions::default(), now());
        let fault = &report.faults[0];
        assert_eq!((&*fault.column, &*fault.value), ("role", "pupil"));
        assert!(fault.remedy.to_string().starts_with("write one of: aide, counselor"), "{fault}");
    });
}
