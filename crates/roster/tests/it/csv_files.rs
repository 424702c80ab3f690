//! Tools for tests of CSV: packages in memory, imports into a database, dumps.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use lyceum_core::Reach;
use lyceum_core::time::Timestamp;
use lyceum_roster::csv::{CsvReport, ExportContent, ImportOptions, export, files, import};
use lyceum_roster::record::{Object, members};
use lyceum_roster::{kinds, repository};
use lyceum_store::Db;

/// Files of a package: name without `.csv` → text.
#[derive(Clone, Default)]
pub(crate) struct Package(pub(crate) BTreeMap<String, String>);

impl Package {
    /// A small roster in which every file has at least one row.
    pub(crate) fn whole() -> Self {
        let mut package = Self::default();
        for (file, rows) in WHOLE {
            package.set(file, rows);
        }
        package.with_manifest("bulk")
    }

    /// Sets the rows of a file under its standard header.
    pub(crate) fn set(&mut self, file: &str, rows: &[&str]) {
        let known = files::by_name(file).expect("the test names a file");
        let header = known.headers().collect::<Vec<_>>().join(",");
        let lines: Vec<&str> =
            std::iter::once(header.as_str()).chain(rows.iter().copied()).collect();
        self.0.insert(file.to_owned(), lines.join("\r\n") + "\r\n");
    }

    /// Adds a manifest that announces all files in that mode.
    pub(crate) fn with_manifest(mut self, mode: &str) -> Self {
        let lines: String = self.0.keys().map(|file| format!("file.{file},{mode}\n")).collect();
        let head = "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\n";
        self.0.insert("manifest".into(), format!("{head}{lines}"));
        self
    }

    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("package.zip");
        std::fs::write(&path, self.zip()).unwrap();
        path
    }

    pub(crate) fn zip(&self) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (file, text) in &self.0 {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("{file}.csv"), options).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}

pub(crate) fn now() -> Timestamp {
    crate::kit::rules().now
}

pub(crate) fn import_at(
    db: &Db,
    package: &Package,
    options: &ImportOptions,
    now: Timestamp,
) -> CsvReport {
    let folder = tempfile::tempdir().unwrap();
    let path = package.write(folder.path());
    import(db, &path, options, now, &mut |_| {}).unwrap()
}

pub(crate) fn import_all(db: &Db, package: &Package) -> CsvReport {
    let report = import_at(db, package, &ImportOptions::default(), now());
    assert!(report.committed, "{:#?}", report.faults.iter().take(5).collect::<Vec<_>>());
    report
}

/// Every record of the store: its kind and all its members.
pub(crate) fn dump(db: &Db) -> Vec<(&'static str, Object)> {
    let mut all = Vec::new();
    db.read_blocking(|tx| {
        for kind in kinds::ALL {
            repository::each(tx, kind, |body, extra| {
                all.push((kind.one, members(body, extra)?));
                Ok(())
            })?;
        }
        Ok(())
    })
    .unwrap();
    all
}

/// Fails with the first record that differs.
pub(crate) fn assert_same(is: &[(&'static str, Object)], was: &[(&'static str, Object)]) {
    for (is, was) in is.iter().zip(was) {
        assert_eq!(is, was);
    }
    assert_eq!(is.len(), was.len());
}

pub(crate) fn exported(db: &Db) -> Vec<u8> {
    let (_, out) = export(
        db,
        (ExportContent::Complete, &Reach::Everything),
        Cursor::new(Vec::new()),
        &mut |_, _| {},
    )
    .unwrap();
    out.into_inner()
}

/// Imports a zip that is in memory.
pub(crate) fn import_zip(db: &Db, zip: &[u8]) -> CsvReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    std::fs::write(&path, zip).unwrap();
    let report = import(db, &path, &ImportOptions::default(), now(), &mut |_| {}).unwrap();
    assert!(report.committed, "{:#?}", report.faults.iter().take(5).collect::<Vec<_>>());
    report
}

/// Expects that `lyceum admin check` finds nothing.
pub(crate) fn check(db: &Db) {
    let checked = db.write_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
    assert_eq!(checked.faults, Vec::<String>::new());
}

const WHOLE: &[(&str, &[&str])] = &[
    (
        "orgs",
        &[
            "d1,active,2026-08-01T00:00:00.000Z,District,district,D-1,",
            "s1,active,2026-08-01T00:00:00.000Z,\"School, the first\",school,S-1,d1",
        ],
    ),
    (
        "academicSessions",
        &[
            "y,active,2026-08-01T00:00:00.000Z,Year,schoolYear,2026-08-24,2027-06-11,,2027",
            "t1,active,2026-08-01T00:00:00.000Z,Fall,term,2026-08-24,2027-01-15,y,2027",
        ],
    ),
    (
        "resources",
        &["r1,active,2026-08-01T00:00:00.000Z,v-1,Book,\"student,teacher\",primary,acme,app"],
    ),
    ("courses", &["c1,active,2026-08-01T00:00:00.000Z,y,Math 5,M5,05,d1,Math,02000"]),
    ("courseResources", &["cr1,active,2026-08-01T00:00:00.000Z,Book,c1,r1"]),
    (
        "courseComponents",
        &[
            "u1,active,2026-08-01T00:00:00.000Z,Unit 1,c1,,1,,,",
            "l1,active,2026-08-01T00:00:00.000Z,Lesson 1,c1,u1,1,u1,ALL,2026-09-01T00:00:00.000Z",
        ],
    ),
    ("componentResources", &["k1,active,2026-08-01T00:00:00.000Z,Quiz,l1,r1,1,quiz"]),
    (
        "classes",
        &[
            "k5,active,2026-08-01T00:00:00.000Z,Math 5 A,05,c1,M5-A,scheduled,Room 1,s1,\"y,t1\",Math,02000,\"1,2\"",
        ],
    ),
    ("classResources", &["xr1,active,2026-08-01T00:00:00.000Z,Book,k5,r1"]),
    (
        "users",
        &[
            "p1,active,2026-08-01T00:00:00.000Z,true,ana,\"{LDAP:ana},{SIS:7}\",Ana,Núñez,,S7,ana@example.org,,,g1,05,,m-1,Anita,,,s1,she/her",
            "g1,active,2026-08-01T00:00:00.000Z,true,eva,,Eva,Núñez,,,eva@example.org,,555-0100,,,,,,,,,",
            "w1,active,2026-08-01T00:00:00.000Z,false,kim,,Kim,Osei,,,kim@example.org,,,,,,,,,,s1,",
        ],
    ),
    (
        "roles",
        &[
            "ro1,active,2026-08-01T00:00:00.000Z,p1,primary,student,2026-08-24,,s1,urn:p:1",
            "ro2,active,2026-08-01T00:00:00.000Z,g1,primary,guardian,,,s1,",
            "ro3,active,2026-08-01T00:00:00.000Z,w1,primary,teacher,,,s1,",
            "ro4,active,2026-08-01T00:00:00.000Z,w1,secondary,aide,,,d1,",
        ],
    ),
    (
        "userProfiles",
        &["urn:p:1,active,2026-08-01T00:00:00.000Z,p1,learner,acme,app,Reader,password,ana,secret"],
    ),
    ("userResources", &["ur1,active,2026-08-01T00:00:00.000Z,p1,s1,k5,r1"]),
    (
        "demographics",
        &[
            "p1,active,2026-08-01T00:00:00.000Z,2015-05-05,female,false,true,false,false,false,false,true,US,NM,Alder Falls,",
        ],
    ),
    (
        "enrollments",
        &[
            "e1,active,2026-08-01T00:00:00.000Z,k5,s1,p1,student,false,2026-08-24,2027-06-11",
            "e2,active,2026-08-01T00:00:00.000Z,k5,s1,w1,teacher,true,,",
        ],
    ),
    ("categories", &["q1,active,2026-08-01T00:00:00.000Z,Tests,40"]),
    (
        "scoreScales",
        &["ss1,active,2026-08-01T00:00:00.000Z,Letters,letter,,c1,k5,\"{A:90-100},{F:0-89}\""],
    ),
    (
        "lineItems",
        &[
            "li1,active,2026-08-01T00:00:00.000Z,Test 1,\"All of\nunit 1\",2026-09-01T08:00:00.000Z,2026-09-08T08:00:00.000Z,k5,q1,t1,0,100.5,s1",
        ],
    ),
    ("lineItemLearningObjectiveIds", &["lo1,active,2026-08-01T00:00:00.000Z,li1,case,guid-1"]),
    ("lineItemScoreScales", &["ls1,active,2026-08-01T00:00:00.000Z,,li1,ss1"]),
    (
        "results",
        &[
            "re1,active,2026-09-09T00:00:00.000Z,li1,p1,fully graded,101.5,2026-09-09,\"Good \"\"work\"\"\",A,k5,false,false,true,false",
        ],
    ),
    ("resultLearningObjectiveIds", &["rl1,active,2026-09-09T00:00:00.000Z,re1,case,guid-1,0.5,B"]),
    ("resultScoreScales", &["rs1,active,2026-09-09T00:00:00.000Z,,re1,ss1"]),
    (
        "assessmentLineItems",
        &[
            "al1,active,2026-08-01T00:00:00.000Z,Lesson,,k5,,ss1,0,100,c1,l1,k1",
            "al2,active,2026-08-01T00:00:00.000Z,Question,,,al1,,0,1,,,",
        ],
    ),
    (
        "assessmentResults",
        &[
            "ar1,active,2026-09-09T00:00:00.000Z,al1,p1,fully graded,92,2026-09-09,,A,88.5,ss1,false,false,false,false",
        ],
    ),
];
