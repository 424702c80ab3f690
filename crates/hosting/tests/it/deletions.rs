//! Deletions of projects whose objects are in S3.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use lyceum_blob::{Blobs, DeletionRight, Digest};
use lyceum_hosting::deletion;
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

#[test]
fn objects_of_a_deleted_project_are_deleted_once_the_server_may_delete() {
    let (bucket, folder) = (Bucket::start(), tempfile::tempdir().unwrap());
    let node = node(&folder);
    let project = project(&node);
    let s3 = &bucket.settings;
    let objects = project.join("bucket/objects");
    let (digest, bytes) = (Digest::of(b"a map"), &b"a map"[..]);
    Blobs::in_s3(&objects, s3, "projects/maths").unwrap().put(&digest, bytes).unwrap();
    let object = bucket.folder.path().join(format!("files/school/projects/maths/{digest}"));

    let right = DeletionRight::default();
    deletion::move_aside(&node, "maths").unwrap().discard(s3, &right).unwrap();
    assert!(object.exists());
    let mut left = deletion::left_aside(&node).unwrap();
    let aside = left.pop().unwrap();
    assert_eq!((aside.slug(), left.len()), ("maths", 0));
    let rest = walk(&folder.path().join("deleted"));
    assert!(rest.iter().all(|file| !file.is_file()), "{rest:?}");
    aside.resume(false, s3, &right).unwrap();
    assert!(object.exists());

    right.give(Duration::from_mins(1));
    let aside = deletion::left_aside(&node).unwrap().pop().unwrap();
    aside.resume(false, s3, &right).unwrap();
    assert!(!object.exists() && deletion::left_aside(&node).unwrap().is_empty());
}

#[test]
fn the_rest_of_the_objects_stays_if_the_right_is_withdrawn_during_a_deletion() {
    let (bucket, folder) = (Bucket::start(), tempfile::tempdir().unwrap());
    let node = node(&folder);
    let objects = project(&node).join("bucket/objects");
    let s3 = &bucket.settings;
    let blobs = Blobs::in_s3(&objects, s3, "projects/maths").unwrap();
    for bytes in [b"one", b"two", b"six"] {
        blobs.put(&Digest::of(bytes), &bytes[..]).unwrap();
    }
    let stored = bucket.folder.path().join("files/school/projects/maths");
    let count = || fs::read_dir(&stored).map_or(0, Iterator::count);
    let right = DeletionRight::given();
    bucket.hold_writes_to(Some("projects/maths"));
    let aside = deletion::move_aside(&node, "maths").unwrap();
    let before = bucket.reads();
    thread::scope(|scope| {
        let discarding = scope.spawn(|| aside.discard(s3, &right));
        // It lists the objects and looks at the first one, whose deletion waits.
        while bucket.reads() < before + 2 {
            thread::sleep(Duration::from_millis(10));
        }
        right.withdraw();
        bucket.hold_writes_to(None);
        discarding.join().unwrap().unwrap();
    });
    assert!(count() >= 2, "{} objects", count());
    let aside = deletion::left_aside(&node).unwrap().pop().unwrap();
    right.give(Duration::from_mins(1));
    aside.resume(false, s3, &right).unwrap();
    assert!(count() == 0 && deletion::left_aside(&node).unwrap().is_empty());
}

#[test]
fn a_restart_puts_back_the_folder_of_the_present_project_and_not_an_emptied_one() {
    let (bucket, right) = (Bucket::start(), DeletionRight::default());
    let s3 = &bucket.settings;
    for is_reversed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&folder);
        project(&node);
        deletion::move_aside(&node, "maths").unwrap().discard(s3, &right).unwrap();
        // The slug is deployed again, and the server dies before it deletes the rows.
        let project = project(&node);
        deletion::move_aside(&node, "maths").unwrap();
        let mut left = deletion::left_aside(&node).unwrap();
        assert_eq!((left.len(), project.exists()), (2, false));
        if is_reversed {
            left.reverse();
        }
        for aside in left {
            aside.recover(true, s3, &right).unwrap();
        }
        assert!(project.join("d1.sqlite").exists() && project.join("bucket/index.sqlite").exists());
        for aside in deletion::left_aside(&node).unwrap() {
            aside.recover(true, s3, &right).unwrap();
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
