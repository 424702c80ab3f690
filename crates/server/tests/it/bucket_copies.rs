//! A server and a copy of it with the same S3 bucket: neither deletes what the other needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use lyceum_access::Scope;
use lyceum_api::hosted::files_of_no_project;
use lyceum_core::PayloadDialect;
use lyceum_hosting::installations;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::postgres::on_postgres;
use lyceum_testkit::s3::Bucket;
use lyceum_testkit::{fresh_database, records};
use lyceum_testserver::server::{Setup, TestServer};
use serde_json::Value;
use tempfile::TempDir;

use crate::homes::{copy_folder, deploy, hosting, named};
use crate::imports::{ORGS, import, package};

/// A server with a project, whose files are in the bucket.
fn original(bucket: &Bucket, target: &StoreLocation) -> TestServer {
    let mut setup = named("oak");
    setup.config.s3 = bucket.settings.clone();
    let server = TestServer::start_as(target, setup);
    deploy(&server, "one", "notes");
    server
}

/// The setup of a server with the same settings, on another machine.
fn elsewhere(server: &TestServer) -> Setup {
    let folder = Some(tempfile::tempdir().unwrap().into());
    let mut setup = Setup { folder, ..server.setup().clone() };
    setup.listen_anew();
    setup
}

/// The files of objects below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn objects(bucket: &Bucket) -> Vec<PathBuf> {
    files(&bucket.folder.path().join("files/school/objects"))
}

fn installation(db: &Db) -> String {
    db.read_blocking(installations::id).unwrap().expect("a server has started")
}

/// Removes what the database does not need, as servers do in the next days.
fn sweep_for_days(server: &TestServer) {
    let config = &server.setup().config;
    let now = server.setup().clock.now();
    let bucket = installations::in_bucket(server.db(), config, now).unwrap();
    bucket.prove(Duration::from_mins(1));
    let blobs = lyceum_hosting::blobs(&config.store.data, &config.s3, &bucket).unwrap();
    for day in 2..6 {
        let at = now.plus_seconds(day * 86_400);
        let spared = Duration::from_hours(24);
        lyceum_hosting::sweep(server.db(), &blobs, at, spared, files_of_no_project).unwrap();
    }
}

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().expect("PostgreSQL's client tools");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The events between the copying of the database and the start of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The original goes on.
    OriginalRuns,
    /// The original is stopped. The copy starts first.
    CopyFirst,
    /// The original is killed before it replaces its mark. The copy starts first, and takes itself for the original.
    CopyFirstAfterCrash,
}

#[test]
#[ignore = "rest"]
fn a_database_that_was_copied_with_pg_restore_deletes_nothing_of_its_original() {
    for order in [Order::OriginalRuns, Order::CopyFirst, Order::CopyFirstAfterCrash] {
        on_postgres(&lyceum_api::migrations(), |target| {
            let (bucket, folder) = (Bucket::start(), tempfile::tempdir().unwrap());
            let mut oak = original(&bucket, target);
            let copied = fresh_database(&[]);
            let (StoreLocation::Postgres(from), StoreLocation::Postgres(to)) = (target, &copied)
            else {
                panic!("{target:?}");
            };
            let dump = folder.path().join("dump");
            let dump = dump.to_str().unwrap();
            run("pg_dump", &["--format=custom", "--no-owner", "--file", dump, from]);
            run("pg_restore", &["--no-owner", "--exit-on-error", "--dbname", to, dump]);
            // The copy does not name these.
            deploy(&oak, "two", "marks");
            let stored = objects(&bucket);
            assert!(stored.len() > 3, "{stored:?}");

            let setup = elsewhere(&oak);
            let mut copy = match order {
                Order::OriginalRuns => TestServer::start_as(&copied, setup),
                Order::CopyFirst => {
                    oak.stop();
                    TestServer::start_as(&copied, setup)
                }
                Order::CopyFirstAfterCrash => {
                    let setup_of_oak = oak.setup().clone();
                    drop(oak);
                    let copy = TestServer::start_as(&copied, setup);
                    oak = TestServer::start_as(target, setup_of_oak);
                    copy
                }
            };
            // Each compares the marks again.
            oak.restart();
            copy.restart();
            assert_ne!(installation(oak.db()), installation(copy.db()), "{order:?}");
            sweep_for_days(&copy);
            sweep_for_days(&oak);
            let left = objects(&bucket);
            let lost: Vec<_> = stored.iter().filter(|object| !left.contains(object)).collect();
            assert!(lost.is_empty(), "{order:?}: {lost:?}");
            // Not a copy on disk.
            fs::remove_dir_all(hosting(&oak).join("copies")).unwrap();
            fs::remove_dir_all(hosting(&oak).join("projects/rivers/bucket/objects/copies"))
                .unwrap();
            oak.restart();
            let page = oak.anonymous().get("/_projects/rivers/").expect(200);
            assert_eq!(page.text(), "two", "{order:?}");
            let object = oak.client().get("/api/projects/rivers/bucket/object?key=map").expect(200);
            assert_eq!(object.text(), "a map", "{order:?}");
        });
    }
}

/// A copy of everything that a stopped server on SQLite has on its disk, which was then restored.
fn restored(folder: &TempDir, server: &TestServer) -> (TempDir, TestServer) {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder.path(), copy.path());
    let setup = elsewhere(server);
    copy_folder(&server.setup().config.store.data, setup.folder.as_ref().unwrap().path());
    let target = StoreLocation::Sqlite(copy.path().join("lyceum.db"));
    let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
    db.write_blocking(|tx| installations::end(tx, setup.clock.now())).unwrap();
    drop(db);
    let trial = TestServer::start_as(&target, setup);
    (copy, trial)
}

/// Erases a person. Returns the state at the end.
fn erase(server: &TestServer, id: &str) -> Value {
    let client = server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform);
    client.post(&format!("/api/people/{id}/erase")).expect(202);
    for _ in 0..1000 {
        let erasure: Value = client.get(&format!("/api/people/{id}/erasure")).expect(200).json();
        if !erasure["ended"].is_null() {
            return erasure;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("the erasure does not end");
}

#[test]
#[ignore = "rest"]
fn a_restored_copy_deletes_no_objects_of_its_original() {
    let bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let mut oak = original(&bucket, &StoreLocation::Sqlite(folder.path().join("lyceum.db")));
    let id = installation(oak.db());
    records::school(oak.db(), "s", "s");
    records::student(oak.db(), "ann", "s", "01");
    import(&oak.client(), "?check=true", &package(&[("orgs", ORGS)]));
    oak.stop();
    let (_copy, trial) = restored(&folder, &oak);
    oak.restart();
    assert_ne!(installation(trial.db()), id);
    assert_eq!(installation(oak.db()), id, "a restored database never used it");
    let stored = objects(&bucket);
    trial.client().delete("/api/projects/rivers").expect(204);
    let erased = erase(&trial, "ann");
    let kept = erased["objects"].as_array().unwrap();
    let is_of_oak = |key: &Value| key.as_str().unwrap().contains(&format!("objects/{id}/hosting/"));
    assert!(!kept.is_empty() && kept.iter().all(is_of_oak), "{erased}");
    sweep_for_days(&trial);
    let left = objects(&bucket);
    assert!(stored.iter().all(|object| left.contains(object)), "{stored:?} {left:?}");
    let object = oak.client().get("/api/projects/rivers/bucket/object?key=map").expect(200);
    assert_eq!(object.text(), "a map");
    // What was deleted on the original is its own.
    oak.client().delete("/api/projects/rivers").expect(204);
    sweep_for_days(&oak);
    assert!(objects(&bucket).len() < stored.len());
}
