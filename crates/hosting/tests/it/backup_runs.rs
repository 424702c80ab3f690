//! The parts of a scheduled backup that each node makes.

use lyceum_core::Result;
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::time::Timestamp;
use lyceum_hosting::backup::runs::{
    self, BackupCheck, BackupPart, BackupState, CheckMethod, ClaimedBackup,
};
use lyceum_hosting::limits;
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_store::{Db, Tx};

use crate::screens;

fn both(body: impl Fn(&Db, &Node, &Node)) {
    screens::both(|db| {
        let folder = tempfile::tempdir().unwrap();
        let node = |name| {
            let about = NodeSettings { name, address: "", shares_blobs: false };
            Node::of_folder(&folder.path().join(name), &about).unwrap().0
        };
        body(db, &node("oak"), &node("elm"));
    });
}

fn due() -> Timestamp {
    "2026-11-26T02:00:00Z".parse().unwrap()
}

/// The instant so many seconds after the backup was due.
fn at(seconds: i64) -> Timestamp {
    due().plus_seconds(seconds)
}

fn write<T: Send>(db: &Db, work: impl FnMut(&mut Tx<'_>) -> Result<T> + Send) -> T {
    db.write_blocking(work).unwrap()
}

fn claim(db: &Db, seconds: i64, node: &Node) -> Option<ClaimedBackup> {
    write(db, |tx| runs::claim(tx, at(seconds), node, due()))
}

fn finish(db: &Db, seconds: i64, claimed: ClaimedBackup) {
    write(db, |tx| runs::finish(tx, at(seconds), claimed.id, "file", 5));
}

#[test]
fn one_node_backs_up_the_database_and_each_its_files_once() {
    both(|db, oak, elm| {
        let first = claim(db, 1, oak).unwrap();
        assert!(first.has_database);
        assert_eq!(claim(db, 2, oak), None, "it is making it");
        let second = claim(db, 2, elm).unwrap();
        assert!(!second.has_database);
        finish(db, 3, second);
        assert_eq!(
            write(db, runs::last_complete),
            None,
            "a backup without the database is not enough"
        );
        finish(db, 4, first);
        for node in [oak, elm] {
            assert_eq!(claim(db, 5, node), None);
            let part = write(db, |tx| runs::due_part(tx, at(6), node, at(6)));
            assert_eq!(part, Some(BackupPart::Database), "the next day");
        }
        let last = write(db, runs::last_complete).unwrap();
        assert_eq!((last.node_name.as_str(), last.began, last.bytes), ("oak", at(1), 5));
        assert_eq!(last.due, Some(due()));
    });
}

#[test]
fn another_node_takes_over_the_database_and_a_failed_backup_is_tried_again() {
    both(|db, oak, elm| {
        let first = claim(db, 0, oak).unwrap();
        finish(db, 1, claim(db, 1, elm).unwrap());
        write(db, |tx| runs::fail(tx, at(2), first.id, &"the disk is full".into()));
        let over = claim(db, 3, elm).unwrap();
        assert!(over.has_database, "the node that is done with its files takes the database over");
        assert_eq!(claim(db, 4, oak), None, "it waits before it tries again");
        let waited = 2 + limits::BACKUP_RETRY_S;
        write(db, |tx| runs::report(tx, at(waited - 10), over.id));
        assert!(!claim(db, waited, oak).unwrap().has_database, "elm is making the database's");
        // A server that stops reporting has stopped.
        let silent = waited - 10 + limits::BACKUP_LEASE_S;
        assert_eq!(claim(db, silent, elm), None);
        assert!(claim(db, silent + 1, elm).unwrap().has_database);
        let newest = write(db, |tx| runs::newest(tx, at(10_000), 10));
        assert!(newest.iter().all(|run| run.state != BackupState::Running));
        let errors = newest.iter().filter(|run| run.error.is_some()).count();
        assert_eq!((newest.len(), errors), (5, 4));
    });
}

/// Servers report by their own clocks, so the lease is longer than the time between two reports and the largest
/// difference together.
#[test]
fn a_server_that_is_ahead_does_not_take_a_backup_over_that_another_one_makes() {
    both(|db, oak, elm| {
        let (reports_every_s, ahead_s) = (30, CLOCK_DIFFERENCE_MAX_S);
        let of_oak = claim(db, 0, oak).unwrap();
        finish(db, 1, claim(db, 1, elm).unwrap());
        for reported in (0..10).map(|n| n * reports_every_s) {
            write(db, |tx| runs::report(tx, at(reported), of_oak.id));
            assert_eq!(claim(db, reported + reports_every_s + ahead_s, elm), None);
        }
    });
}

#[test]
fn a_restarted_server_repeats_its_interrupted_backup() {
    both(|db, oak, _| {
        claim(db, 0, oak).unwrap();
        write(db, |tx| runs::interrupt(tx, oak));
        let run = write(db, |tx| runs::newest(tx, at(1), 1)).remove(0);
        assert_eq!(run.state, BackupState::Failed);
        assert!(run.error.unwrap().contains("stopped"));
        assert_eq!(claim(db, 2, oak), None);
        let again = claim(db, limits::BACKUP_RETRY_S, oak).unwrap();
        finish(db, 1000, again);
        let check = BackupCheck { method: Some(CheckMethod::Listed), error: Some("torn".into()) };
        write(db, |tx| runs::check(tx, at(1001), again.id, &check));
        let checked = write(db, runs::last_checked).unwrap();
        assert_eq!((checked.check_method, checked.checked), (check.method, Some(at(1001))));
        assert_eq!(checked.check_error, Some("torn".into()));
        write(db, |tx| runs::forget(tx, at(1)));
        assert_eq!(write(db, |tx| runs::newest(tx, at(1), 9)).len(), 1, "the first one is gone");
    });
}
