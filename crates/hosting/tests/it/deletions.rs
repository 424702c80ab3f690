//! Deletions of projects whose objects are in S3.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use lyceum_blob::{Blobs, BucketInstallations, Digest, InstallationIds};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::deletion;
use lyceum_hosting::limits::BUCKET_SPARED_S;
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_testkit::s3::Bucket;
use tempfile::TempDir;

fn node(folder: &TempDir) -> Node {
    let about = NodeSettings { name: "oak", address: "", shares_blobs: true };
    Node::of_folder(folder.path(), &about).unwrap().0
}

/// Writes the files of the project 'maths', and returns its folder.
fn project(node: &Node) -> PathBuf {
    let project = node.folder_of("maths");
    fs::create_dir_all(project.join("bucket")).unwrap();
    for file in ["d1.sqlite", "bucket/index.sqlite"] {
        fs::write(project.join(file), "rows about people").unwrap();
    }
    project
}

/// The objects of the project in S3, below keys of the installation `oak`.
fn objects(bucket: &Bucket) -> usize {
    let stored = bucket.folder.path().join("files/school/objects/oak/projects/maths");
    fs::read_dir(stored).map_or(0, Iterator::count)
}

#[test]
fn objects_of_a_deleted_project_are_deleted_a_day_later_once_the_server_may_delete() {
    let (bucket, folder) = (Bucket::start(), tempfile::tempdir().unwrap());
    let node = node(&folder);
    let project = project(&node);
    let s3 = &bucket.settings;
    let ids = InstallationIds { present: "oak".to_owned(), ..InstallationIds::default() };
    let oak = BucketInstallations::new(ids);
    let blobs = Blobs::in_s3(project.join("bucket/objects"), s3, "projects/maths", oak.clone());
    for bytes in [b"one", b"two", b"six"] {
        blobs.as_ref().unwrap().put(&Digest::of(bytes), &bytes[..]).unwrap();
    }
    deletion::move_aside(&node, "maths").unwrap().discard(s3).unwrap();
    let rest = walk(&folder.path().join("deleted"));
    assert!(rest.iter().all(|file| !file.is_file()), "{rest:?}");
    let now = SystemClock.now();
    let resume = |seconds| {
        let mut left = deletion::left_aside(&node).unwrap();
        let aside = left.pop().unwrap();
        assert_eq!((aside.slug(), left.len()), ("maths", 0));
        aside.resume(now.plus_seconds(seconds), false, s3, &oak).unwrap();
    };
    resume(BUCKET_SPARED_S + 60);
    assert_eq!(objects(&bucket), 3);
    oak.prove(Duration::from_mins(1));
    resume(BUCKET_SPARED_S - 60);
    assert_eq!(objects(&bucket), 3);

    // It lists the objects and looks at the first one, whose deletion waits.
    bucket.hold_writes_to(Some("projects/maths"));
    let before = bucket.reads();
    thread::scope(|scope| {
        let resuming = scope.spawn(|| resume(BUCKET_SPARED_S + 60));
        while bucket.reads() < before + 2 {
            thread::sleep(Duration::from_millis(10));
        }
        oak.withdraw();
        bucket.hold_writes_to(None);
        resuming.join().unwrap();
    });
    assert!(objects(&bucket) >= 2, "{} objects", objects(&bucket));
    oak.prove(Duration::from_mins(1));
    resume(BUCKET_SPARED_S + 60);
    assert!(objects(&bucket) == 0 && deletion::left_aside(&node).unwrap().is_empty());
}

#[test]
fn a_restart_puts_back_the_folder_of_the_present_project_and_not_an_emptied_one() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    for is_reversed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&folder);
        project(&node);
        deletion::move_aside(&node, "maths").unwrap().discard(s3).unwrap();
        // The slug is deployed again, and the server dies before it deletes the rows.
        let project = project(&node);
        deletion::move_aside(&node, "maths").unwrap();
        let mut left = deletion::left_aside(&node).unwrap();
        assert_eq!((left.len(), project.exists()), (2, false));
        if is_reversed {
            left.reverse();
        }
        for aside in left {
            aside.recover(true, s3).unwrap();
        }
        assert!(project.join("d1.sqlite").exists() && project.join("bucket/index.sqlite").exists());
        for aside in deletion::left_aside(&node).unwrap() {
            aside.recover(true, s3).unwrap();
        }
        assert!(project.join("d1.sqlite").exists());
        assert!(deletion::left_aside(&node).unwrap().is_empty());
    }
}

#[test]
fn an_empty_folder_is_removed_at_a_start_only_because_a_deletion_may_use_it() {
    let folder = tempfile::tempdir().unwrap();
    let node = node(&folder);
    let empty = folder.path().join("deleted/01934567-89ab-7def-8123-456789abcdef");
    fs::create_dir_all(&empty).unwrap();
    assert!(deletion::left_aside(&node).unwrap().is_empty() && empty.exists());
    deletion::remove_empty(&node).unwrap();
    assert!(!empty.exists());
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.extend(walk(&entry.path()));
        found.push(entry.path());
    }
    found
}
