//! Blobs in an S3 bucket.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use lyceum_blob::limits::{S3_LARGE_PART_BYTES, S3_PART_BYTES};
use lyceum_blob::{Blobs, DeletionRight, Digest, FileLocation, SweepReport};
use lyceum_core::ProblemKind;
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_testkit::s3::{Bucket, settings};
use tempfile::TempDir;

use crate::files;

/// The folder of a server that uses the bucket.
fn server(s3: &S3Settings) -> (TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::in_s3(folder.path(), s3, "hosting").unwrap();
    (folder, blobs.with_right(DeletionRight::given()))
}

/// The time that many seconds after the folder was last changed.
fn after(folder: &TempDir, seconds: i64) -> Timestamp {
    let changed = fs::metadata(folder.path().join("uploads")).unwrap().modified().unwrap();
    let changed = changed.duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp::from_milliseconds(i64::try_from(changed).unwrap()).plus_seconds(seconds)
}

fn is_in(bucket: &Bucket, digest: &Digest) -> bool {
    bucket.folder.path().join(format!("files/school/hosting/{digest}")).is_file()
}

#[test]
fn a_blob_of_one_server_is_read_by_another() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let (_one, first) = server(s3);
    let (two, second) = server(s3);
    let digest = Digest::of(b"abc");
    assert!(!first.has(&digest).unwrap() && first.open(&digest).unwrap().is_none());
    assert_eq!(first.put(&digest, &b"abc"[..]).unwrap(), 3);
    assert!(is_in(&bucket, &digest), "a stored blob is in the bucket");
    assert!(second.has(&digest).unwrap());
    assert_eq!(second.read(&digest).unwrap().unwrap(), b"abc");
    assert!(
        files(&two).contains(&digest.to_string()),
        "a copy of a blob that was read stays on disk"
    );
    let mut open = second.open(&digest).unwrap().unwrap();
    first.remove(&digest).unwrap();
    first.remove(&digest).unwrap();
    assert!(!is_in(&bucket, &digest) && !second.has(&digest).unwrap());
    let mut bytes = String::new();
    open.file.read_to_string(&mut bytes).unwrap();
    assert_eq!(bytes, "abc", "an open blob stays readable");
}

#[test]
fn a_damaged_copy_is_replaced() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let digest = Digest::of(b"abc");
    blobs.put(&digest, &b"abc"[..]).unwrap();
    let name = digest.to_string();
    let copy = folder.path().join("copies").join(&name[..2]).join(&name[2..4]).join(&name);
    for damaged in ["", "abd"] {
        fs::write(&copy, damaged).unwrap();
        assert_eq!(blobs.read(&digest).unwrap().unwrap(), b"abc");
        assert_eq!(fs::read(&copy).unwrap(), b"abc");
    }
}

#[test]
fn a_large_blob_is_sent_in_parts_and_its_upload_continues_after_a_crash() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let size = usize::try_from(S3_PART_BYTES).unwrap() * 2 + 5;
    let bytes: Vec<u8> = (0..=250).cycle().take(size).collect();
    let digest = Digest::of(&bytes);
    let (folder, blobs) = server(s3);
    let half = size / 2;
    blobs.append("u-1", 0, &bytes[..half]).unwrap();
    // The server is killed and starts again with the same folder.
    drop(blobs);
    let blobs = Blobs::in_s3(folder.path(), s3, "hosting").unwrap();
    assert_eq!(blobs.upload_size("u-1").unwrap(), Some(half as u64));
    blobs.append("u-1", half as u64, &bytes[half..]).unwrap();
    assert!(!is_in(&bucket, &digest), "half of a blob is not a blob");
    assert_eq!(blobs.finish("u-1", &digest).unwrap(), size as u64);
    assert!(is_in(&bucket, &digest));
    let (_other, other) = server(s3);
    let mut blob = other.open(&digest).unwrap().unwrap();
    let mut read = Vec::new();
    blob.file.read_to_end(&mut read).unwrap();
    assert!(read == bytes && blob.size == size as u64);
    blobs.append("u-2", 0, b"abd").unwrap();
    assert_eq!(blobs.finish("u-2", &Digest::of(b"abc")).unwrap_err().kind, ProblemKind::Invalid);
    assert!(!is_in(&bucket, &Digest::of(b"abc")));
}

#[test]
fn a_sweep_removes_unneeded_blobs_from_the_bucket_unless_they_were_requested() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let (folder, blobs) = server(s3);
    let [wanted, orphan, asked] = [b"wanted", b"orphan", b"asked!"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, &bytes[..]).unwrap();
        digest
    });
    // A writer that was never finished, and a file of another store.
    let mut writer = blobs.writer().unwrap();
    writer.write_all(b"sent").unwrap();
    writer.sync().unwrap();
    drop(writer);
    let other = Blobs::in_s3(folder.path().join("other"), s3, "projects/a").unwrap();
    other.put(&orphan, &b"orphan"[..]).unwrap();
    let hour = Duration::from_hours(1);
    let sweep = |at| blobs.sweep(at, hour, |digest| *digest == wanted).unwrap();
    assert_eq!(sweep(after(&folder, 600)), SweepReport::default());
    assert!(blobs.has(&asked).unwrap());
    assert_eq!(sweep(after(&folder, 4000)).blobs, 3, "no request in the last hour");
    assert!(is_in(&bucket, &wanted) && !is_in(&bucket, &orphan) && !is_in(&bucket, &asked));
    assert_eq!(other.read(&orphan).unwrap().unwrap(), b"orphan");
}

#[test]
fn nothing_in_the_bucket_is_deleted_without_the_right_to_delete() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let right = DeletionRight::default();
    let blobs = blobs.with_right(right.clone());
    let digest = Digest::of(b"abc");
    blobs.put(&digest, &b"abc"[..]).unwrap();
    let sweep = || blobs.sweep(after(&folder, 4000), Duration::from_hours(1), |_| false).unwrap();
    assert!(!blobs.may_delete());
    assert_eq!(sweep().blobs, 0);
    blobs.remove(&digest).unwrap();
    assert!(is_in(&bucket, &digest));
    right.give(Duration::from_mins(1));
    assert!(blobs.may_delete());
    assert_eq!(sweep().blobs, 1);
    right.withdraw();
    blobs.put(&digest, &b"abc"[..]).unwrap();
    blobs.remove(&digest).unwrap();
    assert_eq!(blobs.read(&digest).unwrap().unwrap(), b"abc", "it is still in the bucket");
}

#[test]
fn a_blob_that_is_spared_stays_as_long_as_a_new_one() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let digests = [b"spared", b"orphan"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, &bytes[..]).unwrap();
        let object = bucket.folder.path().join(format!("files/school/hosting/{digest}"));
        let object = File::options().write(true).open(object).unwrap();
        let written = object.metadata().unwrap().modified().unwrap();
        object.set_modified(written.checked_sub(Duration::from_hours(2)).unwrap()).unwrap();
        digest
    });
    blobs.spare(&digests[0]).unwrap();
    let sweep = |at| blobs.sweep(at, Duration::from_hours(1), |_| false).unwrap();
    assert_eq!(sweep(after(&folder, 600)).blobs, 1);
    assert_eq!(digests.map(|digest| is_in(&bucket, &digest)), [true, false]);
    assert_eq!(sweep(after(&folder, 4000)).blobs, 1);
}

#[test]
fn a_sweep_stops_deleting_when_the_right_is_withdrawn() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let right = DeletionRight::given();
    let blobs = blobs.with_right(right.clone());
    let digests = [b"one", b"two", b"six"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, &bytes[..]).unwrap();
        digest
    });
    let seen = Cell::new(0);
    let is_wanted = |_: &Digest| {
        seen.set(seen.get() + 1);
        if seen.get() >= 2 {
            right.withdraw();
        }
        false
    };
    let swept = blobs.sweep(after(&folder, 4000), Duration::from_hours(1), is_wanted).unwrap();
    assert_eq!((swept.blobs, seen.get()), (1, 3));
    let left = digests.iter().filter(|digest| is_in(&bucket, digest));
    assert_eq!(left.count(), 2);
}

#[test]
fn a_blob_that_is_stored_again_is_spared_like_a_new_one() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let (folder, blobs) = server(s3);
    let digests = [b"again", b"other"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, &bytes[..]).unwrap();
        let object = bucket.folder.path().join(format!("files/school/hosting/{digest}"));
        let file = fs::File::options().write(true).open(object).unwrap();
        let long_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_hours(5);
        file.set_modified(long_ago).unwrap();
        digest
    });
    blobs.put(&digests[0], &b"again"[..]).unwrap();
    let swept = blobs.sweep(after(&folder, 600), Duration::from_hours(1), |_| false).unwrap();
    assert_eq!(swept.blobs, 1);
    assert_eq!(digests.map(|digest| is_in(&bucket, &digest)), [true, false]);
}

#[test]
fn nothing_is_stored_if_the_bucket_refuses_or_is_unreachable() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let wrong = settings(s3.endpoint.clone(), "wrong");
    let nowhere = settings("http://127.0.0.1:1".into(), "secret");
    let folder = tempfile::tempdir().unwrap();
    for (name, s3) in [("wrong", wrong), ("nowhere", nowhere)] {
        let root = folder.path().join(name);
        let blobs = Blobs::in_s3(&root, &s3, "hosting").unwrap();
        let problem = blobs.put(&Digest::of(b"abc"), &b"abc"[..]).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Unavailable, "{name}: {problem}");
        assert!(!problem.message.contains("secret") && !problem.message.contains("127.0"));
        assert!(is_empty(&root.join("copies")), "{name}");
        assert!(
            blobs.has(&Digest::of(b"abc")).is_err(),
            "{name}: an error is not the same as a missing blob"
        );
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn files_by_name_are_written_in_parts_and_appear_only_when_they_are_finished() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let folder = tempfile::tempdir().unwrap();
    let places = [folder.path().to_str().unwrap().to_owned(), "s3://files/some/place/".to_owned()];
    for place in places {
        let location = FileLocation::parse(&place, s3).unwrap();
        assert_eq!(location.names().unwrap(), [""; 0]);
        let bytes: Vec<u8> = (0..=250).cycle().take(S3_LARGE_PART_BYTES + 5).collect();
        let mut file = location.create("large").unwrap();
        file.write_all(&bytes).unwrap();
        assert!(location.open("large").unwrap().is_none(), "it is not finished");
        assert_eq!(location.names().unwrap(), [""; 0]);
        assert_eq!(file.finish().unwrap(), bytes.len() as u64);
        location.create("dropped").unwrap().write_all(b"x").unwrap();
        location.create("empty").unwrap().finish().unwrap();
        let mut names = location.names().unwrap();
        names.sort();
        assert_eq!(names, ["empty", "large"]);
        let (path, trimmed) = (location.path_of("large"), place.trim_end_matches('/'));
        assert_eq!(path, format!("{trimmed}/large"));
        let (location, name) = FileLocation::parse_file(&path, s3).unwrap();
        let mut opened = location.open(&name).unwrap().unwrap();
        let mut read = Vec::new();
        opened.reader.read_to_end(&mut read).unwrap();
        assert!(read == bytes && opened.size == bytes.len() as u64);
        for name in ["large", "empty", "none"] {
            location.remove(name).unwrap();
        }
        assert_eq!(location.names().unwrap(), [""; 0]);
    }
    assert!(FileLocation::parse("s3:///x", s3).is_err());
    assert!(FileLocation::parse_file("s3://files", s3).is_err());
}

#[test]
fn the_right_to_delete_ends_by_itself_and_for_all_clones() {
    let right = DeletionRight::default();
    let clone = right.clone();
    assert!(!clone.is_given());
    right.give(Duration::from_mins(1));
    assert!(clone.is_given());
    right.give(Duration::ZERO);
    assert!(!clone.is_given());
    clone.give(Duration::from_mins(1));
    right.withdraw();
    assert!(!clone.is_given());
}
