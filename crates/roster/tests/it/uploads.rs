//! Uploaded imports: their files when a person is erased.

use lyceum_core::Reach;
use lyceum_core::time::Timestamp;
use lyceum_roster::imports::{self, Import, ImportOutcome, ImportState, NewImport};
use lyceum_store::Db;
use lyceum_store::jobs::ClaimedJob;
use serde_json::{Value, json};

use crate::kit::both;

const NOW: Timestamp = Timestamp::from_milliseconds(1_768_464_000_000);

fn upload(db: &Db, file: &str) -> i64 {
    let new = NewImport {
        name: "roster.zip",
        bytes: 9,
        file,
        who: "ada@example.org",
        reach: &Reach::Everything,
    };
    db.write_blocking(|tx| imports::add(tx, NOW, &new)).unwrap()
}

fn claim(db: &Db) -> (ClaimedJob, Import) {
    db.write_blocking(imports::claim).unwrap().unwrap()
}

fn report(is_committed: bool) -> Value {
    json!({
        "committed": is_committed, "fault_count": 1, "warning_count": 0, "warnings": [], "ignored": [], "files": [],
        "noted": "notes",
        "faults": [{
            "file": "users.csv", "line": 3, "column": "birthDate", "value": "13.12.2011",
            "problem": "is not a date", "remedy": "write 2011-12-13",
        }],
    })
}

/// Ends an import. Returns the files to remove.
fn end(db: &Db, (job, import): &(ClaimedJob, Import), is_committed: bool) -> Vec<String> {
    let report = report(is_committed);
    let outcome = ImportOutcome { report: Some(&report), rejects: Some("rejects"), error: None };
    db.write_blocking(|tx| imports::store_outcome(tx, NOW, job, import, &outcome)).unwrap()
}

fn find(db: &Db, id: i64) -> Import {
    db.read_blocking(|tx| imports::find(tx, id)).unwrap()
}

fn forget(db: &Db) -> Vec<String> {
    db.write_blocking(imports::forget_files).unwrap()
}

fn is_forgotten(import: &Import) {
    assert_eq!((import.outcomes_sha256(), import.rejects.as_deref()), (None, None));
    let report = import.report.as_ref().unwrap();
    assert_eq!((&report["faults"], &report["fault_count"]), (&json!([]), &json!(1)));
}

#[test]
fn files_of_ended_and_waiting_imports_are_forgotten_at_once() {
    both(|db| {
        let ended = upload(db, "file-1");
        assert_eq!(end(db, &claim(db), false), Vec::<String>::new());
        db.write_blocking(|tx| imports::start(tx, ended, &Reach::Everything)).unwrap();
        assert_eq!(end(db, &claim(db), true), Vec::<String>::new());
        let waiting = upload(db, "file-2");
        end(db, &claim(db), false);
        let mut files = forget(db);
        files.sort();
        assert_eq!(files, ["file-1", "file-2", "notes", "notes", "rejects", "rejects"]);
        let (ended, waiting) = (find(db, ended), find(db, waiting));
        assert_eq!((ended.state, ended.error.clone()), (ImportState::Done, None));
        assert_eq!(waiting.state, ImportState::Discarded);
        let error = waiting.error.clone().unwrap().to_string();
        assert!(error.contains("send the file again"), "{error}");
        is_forgotten(&ended);
        is_forgotten(&waiting);
        assert_eq!(db.read_blocking(imports::files).unwrap(), Vec::<String>::new());
    });
}

#[test]
fn files_of_an_import_that_is_being_read_are_forgotten_at_its_end() {
    both(|db| {
        let id = upload(db, "file-1");
        end(db, &claim(db), false);
        db.write_blocking(|tx| imports::start(tx, id, &Reach::Everything)).unwrap();
        let importing = claim(db);
        let checking = upload(db, "file-2");
        let checked = claim(db);
        assert_eq!(forget(db), Vec::<String>::new());
        assert!(db.read_blocking(imports::files).unwrap().contains(&"file-1".to_owned()));

        assert_eq!(end(db, &importing, true), ["file-1", "notes", "rejects"]);
        assert_eq!(find(db, id).state, ImportState::Done);
        is_forgotten(&find(db, id));
        assert_eq!(end(db, &checked, false), ["file-2", "notes", "rejects"]);
        assert_eq!(find(db, checking).state, ImportState::Discarded);
        is_forgotten(&find(db, checking));

        let next = upload(db, "file-3");
        assert_eq!(end(db, &claim(db), false), Vec::<String>::new(), "later files stay");
        assert_eq!(find(db, next).state, ImportState::Checked);
    });
}
