//! Packages go in and come out equal.

use std::io::Cursor;
use std::sync::Mutex;

use lyceum_core::Reach;
use lyceum_demo::generate;
use lyceum_roster::csv::{ExportContent, FileMode, ImportOptions, files};
use lyceum_roster::record::members;
use lyceum_roster::{kinds, repository};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::csv_files::{
    Package, assert_same, check, dump, exported, import_all, import_at, import_zip, now,
};
use crate::kit::{both, create};

fn record(db: &Db, kind: &str, id: &str) -> Value {
    let kind = kinds::by_name(kind).unwrap();
    let found = db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap();
    let found = found.unwrap_or_else(|| panic!("no {} {id}", kind.one));
    Value::Object(members(&found.body, found.extra.as_deref()).unwrap())
}

fn ids(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one["sourcedId"].as_str().unwrap()).collect()
}

#[test]
fn every_file_becomes_records() {
    both(|db| {
        let report = import_all(db, &Package::whole());
        for file in files::ALL {
            let one = report.files.iter().find(|one| one.file == file.name).unwrap();
            assert!(one.rows > 0 && one.rejected == 0, "{one:?}");
            assert_eq!(one.created, if file.part.is_none() { one.rows } else { 0 }, "{one:?}");
        }
        let user = record(db, "user", "p1");
        assert_eq!(user["dateLastModified"], now().to_string(), "not the time of the file");
        assert_eq!(user["userIds"][1], json!({"type": "SIS", "identifier": "7"}));
        assert_eq!(user["preferredFirstName"], "Anita");
        assert_eq!(user["roles"][0]["org"]["sourcedId"], "s1");
        assert_eq!(user["roles"][0]["userProfile"], "urn:p:1");
        assert_eq!(user["userProfiles"][0]["credentials"][0]["username"], "ana");
        assert!(!user.to_string().contains("secret"), "a password is kept");
        assert_eq!(ids(&user["agents"]), ["g1"]);
        assert_eq!(ids(&user["resources"]), ["r1"]);
        let class = record(db, "class", "k5");
        assert_eq!(ids(&class["terms"]), ["y", "t1"]);
        assert_eq!(ids(&class["resources"]), ["r1"]);
        let item = record(db, "lineItem", "li1");
        assert_eq!(item["description"], "All of\nunit 1");
        assert_eq!(item["scoreScale"]["sourcedId"], "ss1");
        assert_eq!(item["learningObjectiveSet"][0]["learningObjectiveIds"], json!(["guid-1"]));
        let result = record(db, "result", "re1");
        assert_eq!(result["score"], 101.5);
        let objective = &result["learningObjectiveSet"][0]["learningObjectiveResults"][0];
        assert_eq!(
            objective,
            &json!({"learningObjectiveId": "guid-1", "score": 0.5, "textScore": "B"})
        );
        assert_eq!(record(db, "courseComponent", "l1")["parent"]["sourcedId"], "u1");
        check(db);
    });
}

#[test]
fn the_same_import_again_changes_nothing() {
    both(|db| {
        import_all(db, &Package::whole());
        let before = dump(db);
        let later = now().plus_seconds(3600);
        let report = import_at(db, &Package::whole(), &ImportOptions::default(), later);
        assert!(report.committed, "{:?}", report.faults);
        for one in &report.files {
            assert_eq!((one.created, one.updated, one.deleted), (0, 0, 0), "{one:?}");
        }
        assert_same(&dump(db), &before);
    });
}

#[test]
fn export_import_export_gives_the_same_bytes() {
    let mut out = Cursor::new(Vec::new());
    let students = if lyceum_testkit::full_size() { 100 } else { 40 };
    generate(students, 5, ExportContent::Complete, &mut out, |_| {}).unwrap();
    let network = out.into_inner();
    let exports = Mutex::new(Vec::new());
    both(|db| {
        import_zip(db, &network);
        add_what_cells_cannot_say(db);
        let export = exported(db);
        // Into the store that it came from, it changes nothing.
        let before = dump(db);
        for one in import_zip(db, &export).files {
            assert_eq!((one.created, one.updated, one.deleted), (0, 0, 0), "{one:?}");
        }
        assert_same(&dump(db), &before);
        exports.lock().unwrap().push((export, before));
    });
    let exports = exports.into_inner().unwrap();
    let (export, records) = &exports[0];
    assert!(exports.iter().all(|(other, _)| other == export), "the stores differ");
    both(|db| {
        import_zip(db, export);
        assert_same(&dump(db), records);
        assert!(exported(db) == *export, "the bytes differ");
        check(db);
    });
}

/// Records of the platform that test the limits of cells.
fn add_what_cells_cannot_say(db: &Db) {
    for (path, value) in [
        (
            "orgs",
            json!({"sourcedId": "odd \"id\", with\u{e9}", "name": "A\r\nB", "type": "ext:x", "identifier": ""}),
        ),
        (
            "orgs",
            json!({"sourcedId": "=1+1", "name": " spaced ", "type": "school", "vendor": {"a": [1, null]}}),
        ),
        (
            "courses",
            json!({
                "sourcedId": "c-odd", "title": "Odd", "courseCode": "", "grades": [], "org": {"sourcedId": "=1+1"},
                "subjects": ["Reading, Writing", "", " x ", "\"q\""],
                "metadata": {"z": 1, "a": "json:x", "": 2, " b": "", "goals": {"dailyXp": 10}, "n": null, "t": ""},
            }),
        ),
        (
            "courses/components",
            json!({"sourcedId": "cc-a", "title": "A", "course": {"sourcedId": "c-odd"}}),
        ),
        (
            "courses/components",
            json!({
                "sourcedId": "cc-b", "title": "B", "course": {"sourcedId": "c-odd"}, "sortOrder": 3,
                "parent": {"sourcedId": "cc-a"}, "prerequisites": ["cc-a"], "metadata": {},
            }),
        ),
        (
            "users",
            json!({
                "sourcedId": "u-odd", "enabledUser": true, "givenName": "O", "familyName": "D", "email": "o@example.org",
                "roles": [
                    {"roleType": "primary", "role": "student", "org": {"sourcedId": "=1+1"}, "note": "kept"},
                ],
                "userIds": [{"type": "a:b", "identifier": "c}d"}],
                "agents": [],
            }),
        ),
        (
            "users",
            json!({
                "sourcedId": "u-two", "enabledUser": true, "givenName": "T", "familyName": "W",
                "roles": [
                    {"roleType": "primary", "role": "student", "org": {"sourcedId": "=1+1"}},
                    {"roleType": "primary", "role": "student", "org": {"sourcedId": "=1+1"}},
                ],
                "userProfiles": [{"profileId": "x", "profileType": "y", "vendorId": "z", "credentials": [
                    {"type": "a", "username": "b"}, {"type": "c", "username": "d"}]}],
            }),
        ),
    ] {
        create(db, path, value);
    }
    db.write_blocking(|tx| {
        repository::delete(
            tx,
            kinds::by_name("user").unwrap(),
            "u-two",
            now(),
            false,
            &Reach::Everything,
        )
    })
    .unwrap();
}

#[test]
fn a_delta_adds_changes_and_deletes() {
    both(|db| {
        import_all(db, &Package::whole());
        let mut delta = Package::default();
        delta.set("users", &[
            "p1,active,2026-10-01T00:00:00.000Z,true,ana,,Ana,Osei,,S7,ana@example.org,,,g1,06,,m-1,,,,s1,",
            "new,active,2026-10-01T00:00:00.000Z,true,new,,Neo,New,,,,,,,,,,,,,,",
            "g1,tobedeleted,2026-10-02T00:00:00.000Z,,,,,,,,,,,,,,,,,,,",
            "nobody,tobedeleted,2026-10-02T00:00:00.000Z,,,,,,,,,,,,,,,,,,,",
        ]);
        delta.set(
            "roles",
            &[
                "ro9,active,2026-10-01T00:00:00.000Z,new,primary,student,,,s1,",
                "ro4,tobedeleted,2026-10-01T00:00:00.000Z,w1,secondary,aide,,,d1,",
                "ro8,active,2026-10-01T00:00:00.000Z,w1,secondary,proctor,,,d1,",
            ],
        );
        let later = now().plus_seconds(60);
        let report = import_at(db, &delta.with_manifest("delta"), &ImportOptions::default(), later);
        assert!(report.committed, "{:#?}", report.faults);
        let users = report.files.iter().find(|one| one.file == "users").unwrap();
        assert_eq!(users.mode, FileMode::Delta);
        assert_eq!((users.rows, users.created, users.deleted), (4, 1, 1), "{users:?}");
        let ana = record(db, "user", "p1");
        assert_eq!(
            (ana["familyName"].as_str(), ana["grades"][0].as_str()),
            (Some("Osei"), Some("06"))
        );
        assert_eq!(ana["roles"][0]["role"], "student", "a delta without rows of roles keeps them");
        assert_eq!(ana["dateLastModified"], later.to_string());
        assert!(ana.get("userIds").is_none(), "an empty cell clears");
        let eva = record(db, "user", "g1");
        assert_eq!(
            (eva["status"].as_str(), eva["givenName"].as_str()),
            (Some("tobedeleted"), Some("Eva"))
        );
        let kim = record(db, "user", "w1");
        let roles: Vec<_> =
            kim["roles"].as_array().unwrap().iter().map(|r| r["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["teacher", "proctor"]);
        assert_eq!(kim["dateLastModified"], later.to_string());
        check(db);
    });
}

#[test]
fn a_row_is_skipped_if_the_stored_record_changed_later_than_it_says() {
    both(|db| {
        import_all(db, &Package::whole());
        let import_row = |date: &str, score: &str| {
            let mut delta = Package::default();
            delta.set(
                "results",
                &[&format!("re1,active,{date},li1,p1,fully graded,{score},2026-09-09,,,,,,,")],
            );
            let report = import_all(db, &delta.with_manifest("delta"));
            let file = report.files[0].clone();
            (
                file.updated,
                file.older,
                report.warnings,
                record(db, "result", "re1")["score"].clone(),
            )
        };
        let (updated, older, ..) = import_row("2026-11-02T00:00:00.000Z", "40");
        assert_eq!((updated, older), (1, 0));
        let (updated, older, warnings, score) = import_row("2026-11-01T00:00:00.000Z", "");
        assert_eq!((updated, older, score), (0, 1, json!(40)));
        assert!(warnings[0].to_string().contains("changed later, at 2026-11-02"), "{warnings:?}");
        // The source says the same later, so that what it said between is older.
        assert_eq!(import_row("2026-11-20T00:00:00.000Z", "40").0, 0);
        assert_eq!(import_row("2026-11-10T00:00:00.000Z", "50").1, 1);
        // A row without a date is never older; it counts as of the import.
        assert_eq!(import_row("", "60").0, 1);
        assert_eq!(import_row(&now().plus_seconds(-60).to_string(), "70").1, 1);
        assert_eq!(import_row(&now().plus_seconds(60).to_string(), "80").3, json!(80));
    });
}

#[test]
fn a_bulk_import_keeps_fields_and_records_that_its_files_lack() {
    both(|db| {
        import_all(db, &Package::whole());
        let text = "sourcedId,name,type,metadata.b\ns1,Renamed,school,\nd1,District,district,2\n";
        let mut package = Package::default();
        package.0.insert("orgs".into(), text.into());
        package.0.insert(
            "users".into(),
            "sourcedId,enabledUser,givenName,familyName\np1,true,Ana,Neu\n".into(),
        );
        create(db, "orgs", json!({"sourcedId": "other", "name": "Other", "type": "school"}));
        let report = import_at(db, &package, &ImportOptions::default(), now());
        assert!(report.committed, "{:#?}", report.faults);
        let school = record(db, "org", "s1");
        assert_eq!(
            (school["name"].as_str(), school["parent"]["sourcedId"].as_str()),
            (Some("Renamed"), Some("d1"))
        );
        assert_eq!(record(db, "org", "d1")["metadata"], json!({"b": "2"}));
        assert_eq!(record(db, "org", "other")["status"], "active");
        let ana = record(db, "user", "p1");
        assert_eq!(
            (ana["familyName"].as_str(), ana["roles"].as_array().unwrap().len()),
            (Some("Neu"), 1)
        );
        assert_eq!(ids(&ana["resources"]), ["r1"]);
    });
}

#[test]
fn one_roster_1_1_is_read() {
    both(|db| {
        let mut package = Package::whole();
        for gone in [
            "roles",
            "userProfiles",
            "userResources",
            "scoreScales",
            "lineItemScoreScales",
            "resultScoreScales",
        ] {
            package.0.remove(gone);
        }
        package.set("assessmentLineItems", &["al1,,,Lesson,,k5,,,0,100,c1,l1,k1"]);
        package.set("assessmentResults", &["ar1,,,al1,p1,fully graded,92,2026-09-09,,A,,,,,,"]);
        package.0.insert("users".into(), "\u{feff}sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password\n\
            p1,,,true,s1,student,ana,{LDAP:ana},Ana,N,,,,,,,05,x\n\
            w1,,,true,\"s1,d1\",administrator,kim,,Kim,O,,,,,,,,\n".into());
        package.0.insert("lineItems".into(), "sourcedId,status,dateLastModified,title,description,assignDate,dueDate,classSourcedId,categorySourcedId,gradingPeriodSourcedId,resultValueMin,resultValueMax,schoolSourcedId\n\
            li1,,,Test,,2026-09-01,2026-09-08,k5,q1,t1,0,100,s1\n".into());
        package.0.insert("results".into(), "sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment\n\
            re1,,,li1,p1,fully graded,9,2026-09-09,ok\n".into());
        package.0.remove("manifest");
        let report = import_all(db, &package);
        assert_eq!(report.fault_count, 0);
        let kim = record(db, "user", "w1");
        assert_eq!(kim["roles"][1]["org"]["sourcedId"], "d1");
        assert_eq!(kim["roles"][1]["role"], "siteAdministrator");
        assert_eq!(kim["dateLastModified"], now().to_string());
        assert_eq!(record(db, "lineItem", "li1")["gradingPeriod"]["sourcedId"], "t1");
        check(db);
    });
}

#[test]
fn rows_may_refer_to_later_rows() {
    both(|db| {
        let mut package = Package::default();
        // Trees of 7 levels, each row above its parent; batches end within trees.
        let parent = |n: u32| if n % 7 == 6 { String::new() } else { format!("o{}", n + 1) };
        let chain: Vec<String> =
            (0..2500).map(|n| format!("o{n},,,Org {n},local,,{}", parent(n))).collect();
        let mut rows: Vec<&str> = chain.iter().map(String::as_str).collect();
        rows.push("o2500,,,Top,local,,");
        package.set("orgs", &rows);
        let report = import_all(db, &package);
        assert_eq!(report.files[0].created, 2501);
        assert_eq!(record(db, "org", "o0")["parent"]["sourcedId"], "o1");
        check(db);
    });
}
