//! Whatever bytes come, the parsers answer: no panic, no endless work.

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, ProblemKind};
use lyceum_roster::csv::rows::{CsvRow, CsvRows};
use lyceum_roster::csv::{ImportOptions, files, import};
use lyceum_roster::record::{ModifiedTime, Record};
use lyceum_roster::render::RecordView;
use lyceum_roster::{filter, kinds};
use lyceum_store::{Db, Sql, SqlDialect, StoreLocation};
use serde_json::Value;

use crate::csv_files::{Package, check, exported, import_all, now};

#[test]
fn filters() {
    let corpus: &[&[u8]] = &[
        b"title='Algebra' AND status='active'",
        b"(role='teacher' OR role='aide') AND user.sourcedId!='u''1'",
        b"score>=90.5 AND metadata.a.b~'x'",
        b"grades='03,04' or subjects~'Math'",
        b"((((enabledUser=true))))",
    ];
    lyceum_testkit::fuzz::run("filter", corpus, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let Ok(expr) = lyceum_core::filter::parse(text) else { return };
        for kind in kinds::ALL {
            if let Ok(bound) = filter::bind(kind, &expr) {
                for store in [SqlDialect::Sqlite, SqlDialect::Postgres] {
                    bound.push_to(&mut Sql::new(store)).expect("what was bound compiles");
                }
            }
        }
    });
}

#[test]
fn records() {
    let corpus: &[&[u8]] = &[
        br#"{"sourcedId":"a","title":"x","courseCode":"c","org":{"sourcedId":"o","type":"org"},"grades":["03",4]}"#,
        br#"{"sourcedId":"a","enabledUser":true,"givenName":"G","familyName":"F","roles":[{"roleType":"primary","role":"student","org":{"sourcedId":"o"}}],"metadata":{"x":[1,{"y":null}]}}"#,
        br#"{"sourcedId":"r","lineItem":{"sourcedId":"l"},"student":{"sourcedId":"s"},"scoreStatus":"fully graded","score":1e300,"scoreDate":"2026-01-15T00:00:00Z"}"#,
        br#"{"sourcedId":"t","title":"\u00e9\\\"\t","startDate":"2026-01-01","endDate":"2026-12-31","type":"ext:x","schoolYear":2026}"#,
    ];
    let now = ModifiedTime::Source(Timestamp::from_milliseconds(0));
    lyceum_testkit::fuzz::run("record", corpus, |bytes| {
        let Ok(Value::Object(object)) = serde_json::from_slice(bytes) else { return };
        for kind in kinds::ALL {
            for dialect in [PayloadDialect::Platform, PayloadDialect::Standard] {
                let Ok(record) = Record::parse(kind, &object, dialect, now) else { continue };
                let extra = record.extra.as_deref();
                let again = Record::stored(kind, &record.body, extra).expect("it was valid");
                assert_eq!(again.body, record.body);
                let view = RecordView { base_url: "http://localhost", dialect, fields: None };
                let mut shown = String::new();
                view.render(&record.body, extra, &mut shown).expect("it is shown");
                serde_json::from_str::<Value>(&shown).expect("what is shown is JSON");
            }
        }
    });
}

/// The first line of an input names the file, the rest is its text. References find what the
/// whole package holds.
#[test]
fn csv() {
    let package = Package::whole();
    let folder = tempfile::tempdir().unwrap();
    let db =
        Db::open(&StoreLocation::Sqlite(folder.path().join("fuzz.db")), lyceum_roster::MIGRATIONS)
            .unwrap();
    import_all(&db, &package);
    let corpus: Vec<Vec<u8>> =
        package.0.iter().map(|(name, text)| format!("{name}\n{text}").into_bytes()).collect();
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let mut kept = 0_u64;
    lyceum_testkit::fuzz::run("csv", &corpus, |bytes| {
        let (name, text) = bytes.split_at(bytes.iter().position(|b| *b == b'\n').unwrap_or(0));
        rise(text);
        let name = std::str::from_utf8(name).ok().filter(|name| files::by_name(name).is_some());
        let source = tempfile::tempdir_in(folder.path()).unwrap();
        let file = source.path().join(name.unwrap_or("users")).with_extension("csv");
        std::fs::write(file, text.get(1..).unwrap_or_default()).unwrap();
        match import(&db, source.path(), &ImportOptions::default(), now(), &mut |_| {}) {
            Ok(report) => {
                assert_eq!(report.committed, report.fault_count == 0, "{report:?}");
                let lines = text.split(|b| matches!(b, b'\n' | b'\r')).count() as u64;
                assert!(report.faults.iter().all(|fault| fault.line <= lines), "{report:?}");
                kept += u64::from(report.committed);
            }
            Err(problem) => assert_eq!(problem.kind, ProblemKind::Invalid, "{problem:?}"),
        }
    });
    assert!(kept > 0, "some mutations are good rows");
    check(&db);
    exported(&db);
}

/// Rows come to an end, each on a later line.
fn rise(text: &[u8]) {
    let mut rows = CsvRows::new(text);
    let mut row = CsvRow::default();
    let mut line = 0;
    while let Some(next) = rows.next(&mut row).expect("memory can be read") {
        let found = next.map_or_else(|broken| broken.line, |()| row.line);
        assert!(found > line, "line {found} after line {line}");
        line = found;
    }
}
