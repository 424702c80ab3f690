//! When servers with databases of their own may delete objects of one bucket.

use std::time::{Duration, Instant};

use lyceum_blob::{Blobs, DeletionRight, Digest};
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;
use lyceum_hosting::{installations, owners};
use lyceum_replica::{BucketOwner, ReplicaStore};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::s3::Bucket;
use tempfile::TempDir;

use super::OwnerWatch;
use crate::limits::{BUCKET_OWNER_PROOF_S, INSTALLATION_CHECK_EVERY_S};

const PROOF_S: u64 = BUCKET_OWNER_PROOF_S;
/// Seconds between two looks.
const LOOK_S: u64 = INSTALLATION_CHECK_EVERY_S;

/// It starts a runtime, which no runtime allows on its own threads.
fn start_bucket() -> Bucket {
    std::thread::spawn(Bucket::start).join().unwrap()
}

/// Waits for so many requests that read.
async fn bucket_is_read(bucket: &Bucket, times: u64) {
    while bucket.reads() < times {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A server with a new database.
struct Watching {
    _folder: TempDir,
    db: Db,
    store: ReplicaStore,
    watch: OwnerWatch,
    right: DeletionRight,
    begun: Instant,
}

impl Watching {
    fn new(bucket: &Bucket) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = StoreLocation::Sqlite(folder.path().join("lyceum.db"));
        let db = Db::open(&target, lyceum_hosting::MIGRATIONS).unwrap();
        let mut config = Config::defaults();
        config.s3 = bucket.settings.clone();
        let store = owners::store(&config).unwrap().unwrap();
        let right = DeletionRight::default();
        let watch = OwnerWatch::new(store.clone(), right.clone());
        Self { _folder: folder, db, store, watch, right, begun: Instant::now() }
    }

    /// Looks so many seconds after the start. Returns whether the server may delete objects from then on.
    async fn look(&self, seconds: u64) -> bool {
        let now = 1_800_000_000_000 + i64::try_from(seconds).unwrap() * 1000;
        let at = self.begun + Duration::from_secs(seconds);
        self.watch.check(&self.db, Timestamp::from_milliseconds(now), || at).await;
        self.right.is_given()
    }
}

#[tokio::test]
async fn a_server_deletes_only_after_it_has_owned_a_bucket_with_files_for_the_time_of_the_proof() {
    let bucket = start_bucket();
    // A server of a former release stored it, and named no owner.
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::in_s3(folder.path(), &bucket.settings, "hosting").unwrap();
    blobs.put(&Digest::of(b"abc"), &b"abc"[..]).unwrap();
    let server = Watching::new(&bucket);
    for seconds in [0, LOOK_S, PROOF_S - 1] {
        assert!(!server.look(seconds).await, "after {seconds} s");
    }
    assert!(server.look(PROOF_S).await);
    // Without an answer, another server may have claimed the bucket.
    bucket.set_down(true);
    assert!(!server.look(PROOF_S + LOOK_S).await);
    bucket.set_down(false);
    let again = PROOF_S + 2 * LOOK_S;
    for seconds in [again, again + PROOF_S - 1] {
        assert!(!server.look(seconds).await, "after {seconds} s");
    }
    assert!(server.look(again + PROOF_S).await);
    server.store.set_owner_in_doubt(true).unwrap();
    assert!(!server.look(again + PROOF_S + LOOK_S).await);
}

#[tokio::test]
async fn of_two_servers_that_claim_an_empty_bucket_at_once_only_the_owner_deletes() {
    let bucket = start_bucket();
    bucket.hold_writes_to(Some("owner.json"));
    let servers = [Watching::new(&bucket), Watching::new(&bucket)];
    let both_have_read = async {
        // Each reads the owner and the doubt.
        bucket_is_read(&bucket, 4).await;
        bucket.hold_writes_to(None);
    };
    let (one, other, ()) = tokio::join!(servers[0].look(0), servers[1].look(0), both_have_read);
    assert!(!one && !other, "nobody has a proof yet");
    for (seconds, count) in [(LOOK_S, 0), (PROOF_S - 1, 0), (PROOF_S, 1)] {
        let may = [servers[0].look(seconds).await, servers[1].look(seconds).await];
        let deleting = may.iter().filter(|may| **may).count();
        assert_eq!(deleting, count, "after {seconds} s");
    }
}

#[tokio::test]
async fn a_server_whose_bucket_does_not_answer_in_time_deletes_nothing() {
    let bucket = start_bucket();
    let mut server = Watching::new(&bucket);
    assert!(!server.look(0).await);
    assert!(server.look(PROOF_S).await);
    server.watch.check_max = Duration::from_millis(100);
    bucket.set_delay(Duration::from_secs(2));
    assert!(!server.look(PROOF_S + LOOK_S).await);
}

#[tokio::test]
async fn a_bucket_that_is_taken_over_during_a_check_does_not_get_in_doubt() {
    let bucket = start_bucket();
    let server = Watching::new(&bucket);
    assert!(!server.look(0).await);
    // A server with a copy of the database replaced the mark.
    let copied = BucketOwner {
        mark: installations::new_mark(Timestamp::from_milliseconds(0)),
        ..server.store.owner().unwrap().unwrap()
    };
    server.store.set_owner(&copied).unwrap();
    let before = bucket.reads();
    bucket.set_delay(Duration::from_secs(2));
    let take_over = async {
        // The first check has read the owner and the doubt, and reads the owner again.
        bucket_is_read(&bucket, before + 3).await;
        bucket.set_delay(Duration::ZERO);
        let now = Timestamp::from_milliseconds(0);
        let taken = server.db.write(move |tx| owners::take_over(tx, now)).await;
        server.store.set_owner(&taken.unwrap().0).unwrap();
    };
    tokio::join!(server.look(LOOK_S), take_over);
    assert!(!server.store.is_owner_in_doubt().unwrap());
    assert!(!server.look(2 * LOOK_S).await);
    assert!(server.look(2 * LOOK_S + PROOF_S).await);
    // Without an operator, the bucket gets in doubt.
    server.store.set_owner(&copied).unwrap();
    assert!(!server.look(3 * LOOK_S + PROOF_S).await);
    assert!(server.store.is_owner_in_doubt().unwrap());
}
