//! Blobs on disk and in a bucket: stored completely or not at all, and found by their content.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod bucket;

use std::fs;
use std::io::{Read, Write};
use std::time::Duration;

use lyceum_blob::{Blobs, Digest, SweepReport};
use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use tempfile::TempDir;

fn store() -> (TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::on_disk(folder.path()).unwrap();
    (folder, blobs)
}

/// Names of all files below the folder.
pub(crate) fn files(folder: &TempDir) -> Vec<String> {
    let mut folders = vec![folder.path().to_owned()];
    let mut files = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_blob_is_found_by_its_digest() {
    let (folder, blobs) = store();
    let abc = Digest::of(b"abc");
    let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(abc.to_string(), text);
    assert_eq!(text.parse::<Digest>().unwrap(), abc);
    assert!(text.to_uppercase().parse::<Digest>().is_err());
    assert!("../../etc/passwd".parse::<Digest>().is_err());

    assert!(!blobs.has(&abc).unwrap());
    assert_eq!(blobs.put(&abc, &b"abc"[..]).unwrap(), 3);
    assert_eq!(blobs.put(&abc, &b"abc"[..]).unwrap(), 3);
    assert_eq!(files(&folder), [text]);
    assert!(folder.path().join("blobs/ba/78").join(text).is_file());

    let again = Blobs::on_disk(folder.path()).unwrap();
    assert!(again.has(&abc).unwrap());
    let mut blob = again.open(&abc).unwrap().unwrap();
    assert_eq!(blob.size, 3);
    again.remove(&abc).unwrap();
    again.remove(&abc).unwrap();
    assert!(again.open(&abc).unwrap().is_none());
    let mut bytes = String::new();
    blob.file.read_to_string(&mut bytes).unwrap();
    assert_eq!(bytes, "abc", "an open blob stays readable");
}

#[test]
fn a_damaged_blob_is_not_read() {
    let (folder, blobs) = store();
    let digest = Digest::of(b"abc");
    blobs.put(&digest, &b"abc"[..]).unwrap();
    let name = digest.to_string();
    fs::write(folder.path().join("blobs").join(&name[..2]).join(&name[2..4]).join(&name), "")
        .unwrap();
    assert_eq!(blobs.read(&digest).unwrap_err().kind, ProblemKind::Internal);
}

#[test]
fn bytes_with_another_digest_leave_no_file() {
    let (folder, blobs) = store();
    let problem = blobs.put(&Digest::of(b"abc"), &b"abd"[..]).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Invalid);
    assert!(problem.message.contains("and not ba7816bf"), "{problem}");
    let mut writer = blobs.writer().unwrap();
    writer.write_all(b"given up").unwrap();
    drop(writer);
    assert!(files(&folder).is_empty());
}

#[test]
fn an_upload_continues_where_it_stopped() {
    let (folder, blobs) = store();
    assert_eq!(blobs.upload_size("u-1").unwrap(), None);
    assert_eq!(blobs.append("u-1", 0, b"hello ").unwrap(), 6);
    let again = Blobs::on_disk(folder.path()).unwrap();
    assert_eq!(again.upload_size("u-1").unwrap(), Some(6));
    for offset in [0, 5, 7] {
        let problem = again.append("u-1", offset, b"x").unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Conflict);
        assert!(problem.message.contains("continue at 6"), "{problem}");
    }
    assert_eq!(again.append("u-1", 6, b"world").unwrap(), 11);
    let digest = Digest::of(b"hello world");
    assert_eq!(again.finish("u-1", &digest).unwrap(), 11);
    assert_eq!(blobs.read(&digest).unwrap().unwrap(), b"hello world");
    assert_eq!(blobs.upload_size("u-1").unwrap(), None);
    assert_eq!(blobs.finish("u-1", &digest).unwrap_err().kind, ProblemKind::NotFound);
}

#[test]
fn an_upload_with_wrong_bytes_is_deleted() {
    let (folder, blobs) = store();
    blobs.append("u", 0, b"abd").unwrap();
    let problem = blobs.finish("u", &Digest::of(b"abc")).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Invalid);
    assert!(files(&folder).is_empty());
}

#[test]
fn the_id_of_an_upload_cannot_be_a_path() {
    let (_folder, blobs) = store();
    for id in ["", "..", "../x", "a/b", "a\0b", ".hidden", &"x".repeat(65)] {
        assert_eq!(blobs.append(id, 0, b"x").unwrap_err().kind, ProblemKind::Invalid, "'{id}'");
    }
}

#[test]
fn a_sweep_removes_unneeded_blobs_that_were_not_used_lately() {
    let (folder, blobs) = store();
    let [wanted, orphan] = [b"wanted", b"orphan"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, &bytes[..]).unwrap();
        digest
    });
    blobs.append("left", 0, b"half").unwrap();
    let now = fs::metadata(folder.path()).unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let at = |after_s: i64| {
        Timestamp::from_milliseconds(i64::try_from(now).unwrap()).plus_seconds(after_s)
    };
    let hour = Duration::from_hours(1);
    let sweep = |now| blobs.sweep(now, hour, |digest| *digest == wanted).unwrap();
    assert_eq!(sweep(at(600)), SweepReport::default());
    assert_eq!(sweep(at(4000)), SweepReport { blobs: 1, uploads: 1 });
    assert!(blobs.has(&wanted).unwrap() && !blobs.has(&orphan).unwrap());
}

#[test]
fn an_upload_that_became_a_blob_is_no_longer_written() {
    let (_folder, blobs) = store();
    let (start, more) = (vec![b'a'; 400_000], vec![b'b'; 400_000]);
    let digest = Digest::of(&start);
    for round in 0..20 {
        let upload = format!("u{round}");
        blobs.append(&upload, 0, &start).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(blobs.finish(&upload, &digest)));
            scope.spawn(|| drop(blobs.append(&upload, start.len() as u64, &more)));
        });
        if let Some(kept) = blobs.read(&digest).unwrap() {
            assert_eq!(Digest::of(&kept), digest, "round {round}");
            blobs.remove(&digest).unwrap();
        }
        blobs.discard(&upload).unwrap();
    }
}
