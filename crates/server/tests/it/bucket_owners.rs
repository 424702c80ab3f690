//! A server and a copy of it with the same S3 bucket: only one deletes objects there.

use std::fs;
use std::path::Path;

use lyceum_access::Role;
use lyceum_hosting::installations;
use lyceum_hosting::owners::{self, OwnerState};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::s3::Bucket;
use lyceum_testserver::server::{Setup, TestServer};
use tempfile::TempDir;

use crate::homes::{copy_folder, deploy, hosting, named};
use crate::people;

/// A server on SQLite with a project, and the folder of its database.
fn original(bucket: &Bucket) -> (TempDir, TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = named("oak");
    setup.config.s3 = bucket.settings.clone();
    let server = TestServer::start_as(&database(folder.path()), setup);
    deploy(&server, "one", "notes");
    (folder, server)
}

fn database(folder: &Path) -> StoreLocation {
    StoreLocation::Sqlite(folder.join("lyceum.db"))
}

/// A copy of everything that a stopped server has on its disk.
fn copied(folder: &TempDir, server: &TestServer) -> (TempDir, Setup) {
    let (copy, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy_folder(folder.path(), copy.path());
    copy_folder(&server.setup().config.store.data, data.path());
    let mut setup = Setup { folder: Some(data.into()), ..server.setup().clone() };
    setup.listen_anew();
    (copy, setup)
}

/// The number of objects of the project in the bucket.
fn objects(bucket: &Bucket) -> usize {
    let folder = bucket.folder.path().join("files/school/projects/rivers");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

fn owner(server: &TestServer) -> OwnerState {
    let store = owners::store(&server.setup().config).unwrap().unwrap();
    let (stored, is_in_doubt) = (store.owner().unwrap(), store.is_owner_in_doubt().unwrap());
    server.db().read_blocking(|tx| owners::state(tx, stored.as_ref(), is_in_doubt)).unwrap()
}

#[test]
#[ignore = "rest"]
fn the_first_server_of_a_bucket_owns_it_and_deletes_nothing_before_the_proof() {
    let bucket = Bucket::start();
    let (_folder, server) = original(&bucket);
    assert_eq!((objects(&bucket), owner(&server)), (1, OwnerState::Own));
    server.client().delete("/api/projects/rivers").expect(204);
    assert_eq!(objects(&bucket), 1);
    assert!(!hosting(&server).join("projects/rivers").exists());
}

#[test]
#[ignore = "rest"]
fn a_restored_copy_deletes_no_objects_of_its_original() {
    let bucket = Bucket::start();
    let (folder, mut oak) = original(&bucket);
    oak.stop();
    let (copy, setup) = copied(&folder, &oak);
    let target = database(copy.path());
    let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
    db.write_blocking(|tx| installations::end(tx, setup.clock.now())).unwrap();
    drop(db);
    oak.restart();
    let trial = TestServer::start_as(&target, setup);
    assert!(matches!(owner(&trial), OwnerState::Other(_)));
    people::person(&trial, "ada@example.org", "Ada", Role::Administrator);
    let cookie = people::signed_in(&trial, "ada@example.org");
    let page = trial.anonymous().get("/console/system").header("cookie", &cookie).expect(200);
    assert!(page.text().contains("nothing is deleted there"), "{}", page.text());
    assert_eq!(owner(&oak), OwnerState::Own);
    trial.client().delete("/api/projects/rivers").expect(204);
    assert_eq!(objects(&bucket), 1);
    let object = oak.client().get("/api/projects/rivers/bucket/object?key=map").expect(200);
    assert_eq!(object.text(), "a map");
    assert!(!hosting(&trial).join("projects/rivers").exists());
}

#[test]
#[ignore = "rest"]
fn a_copy_that_claims_to_be_the_original_leaves_the_owner_in_doubt() {
    let bucket = Bucket::start();
    let (folder, mut oak) = original(&bucket);
    oak.stop();
    let (copy, setup) = copied(&folder, &oak);
    oak.restart();
    let trial = TestServer::start_as(&database(copy.path()), setup);
    trial.client().delete("/api/projects/rivers").expect(204);
    assert_eq!(objects(&bucket), 1);
    // Nobody knows which of the two is the original, so an operator decides.
    assert_eq!(owner(&oak), OwnerState::InDoubt);
}
