//! The installation that owns the S3 bucket.

use lyceum_core::time::Timestamp;
use lyceum_hosting::installations;
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_hosting::replicas::ReplicaStore;
use lyceum_store::Db;

use crate::screens::both;

fn now() -> Timestamp {
    "2030-01-15T08:00:00Z".parse().unwrap()
}

/// Looks at the owner as a server does, and replaces its mark if the installation owns the bucket.
fn check(db: &Db, store: &ReplicaStore, at: Timestamp) -> OwnerState {
    let (stored, is_in_doubt) = (store.owner().unwrap(), store.is_owner_in_doubt().unwrap());
    let known = stored.clone();
    let state = db.read_blocking(move |tx| owners::state(tx, known.as_ref(), is_in_doubt)).unwrap();
    if matches!(state, OwnerState::Own | OwnerState::Free) {
        let renewed =
            db.write_blocking(move |tx| owners::renewed(tx, at, stored.as_ref(), false)).unwrap();
        if let Some(owner) = renewed {
            store.set_owner(&owner).unwrap();
        }
    }
    state
}

/// Makes the database forget the last mark that it stored, as if it was copied before.
fn make_copy(db: &Db) {
    let sql = "DELETE FROM bucket_marks \
               WHERE made_ms = (SELECT max(made_ms) FROM bucket_marks)";
    assert_eq!(db.write_blocking(|tx| tx.execute(sql, &[])).unwrap(), 1);
}

fn take_over(db: &Db, store: &ReplicaStore, at: Timestamp) -> u64 {
    let (owner, replaced) = db.write_blocking(move |tx| owners::take_over(tx, at)).unwrap();
    store.set_owner(&owner).unwrap();
    store.set_owner_in_doubt(false).unwrap();
    replaced
}

#[test]
fn the_first_installation_owns_a_bucket_and_a_restored_one_only_after_a_take_over() {
    both(|db| {
        let folder = tempfile::tempdir().unwrap();
        let store = ReplicaStore::in_folder(folder.path()).unwrap();
        assert_eq!(check(db, &store, now()), OwnerState::Free);
        let first = store.owner().unwrap().unwrap();
        assert_eq!(check(db, &store, now().plus_seconds(59)), OwnerState::Own);
        assert_eq!(store.owner().unwrap().unwrap(), first, "its mark is recent");
        for day in 1..4 {
            let at = now().plus_seconds(day * 24 * 60 * 60);
            assert_eq!(check(db, &store, at), OwnerState::Own, "also after a long stop");
            assert_ne!(store.owner().unwrap().unwrap().mark, first.mark);
        }
        let marks = db.read_blocking(|tx| tx.all("SELECT mark FROM bucket_marks", &[], |_| Ok(())));
        assert!(marks.unwrap().len() <= 2, "old marks are forgotten");

        db.write_blocking(|tx| installations::end(tx, now())).unwrap();
        let owner = OwnerState::Other(first.installation);
        assert_eq!(check(db, &store, now()), owner);
        db.write_blocking(|tx| installations::present(tx, now())).unwrap();
        assert_eq!(check(db, &store, now()), owner);
        let empty = tempfile::tempdir().unwrap();
        let empty = ReplicaStore::in_folder(empty.path()).unwrap();
        assert_eq!(check(db, &empty, now()), OwnerState::Unclaimed);
        assert_eq!(take_over(db, &store, now()), 1);
        assert_eq!(check(db, &store, now()), OwnerState::Own);
        assert_eq!(check(db, &empty, now()), OwnerState::Free, "its original never runs again");
    });
}

#[test]
fn a_database_that_was_restored_before_it_had_an_installation_is_a_copy() {
    both(|db| {
        let folder = tempfile::tempdir().unwrap();
        let store = ReplicaStore::in_folder(folder.path()).unwrap();
        db.write_blocking(|tx| installations::end(tx, now())).unwrap();
        assert_eq!(check(db, &store, now()), OwnerState::Unclaimed);
        assert_eq!(take_over(db, &store, now()), 1);
        assert_eq!(check(db, &store, now()), OwnerState::Own);
    });
}

#[test]
fn the_owner_is_in_doubt_once_a_copy_of_the_database_uses_the_bucket() {
    both(|db| {
        let folder = tempfile::tempdir().unwrap();
        let store = ReplicaStore::in_folder(folder.path()).unwrap();
        check(db, &store, now());
        check(db, &store, now().plus_seconds(60));
        make_copy(db);
        let before = store.owner().unwrap();
        assert_eq!(check(db, &store, now().plus_seconds(90)), OwnerState::InDoubt);
        assert_eq!(store.owner().unwrap(), before, "the copy stores no mark");
        store.set_owner_in_doubt(true).unwrap();
        assert_eq!(take_over(db, &store, now().plus_seconds(100)), 0);
        assert_eq!(check(db, &store, now().plus_seconds(100)), OwnerState::Own);
        store.set_owner_in_doubt(true).unwrap();
        assert_eq!(check(db, &store, now().plus_seconds(110)), OwnerState::InDoubt);
    });
}
