//! Blobs in an S3 bucket.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use lyceum_blob::limits::{S3_LARGE_PART_BYTES, S3_PART_BYTES};
use lyceum_blob::{Blobs, BucketInstallations, Digest, FileLocation, InstallationIds, SweepReport};
use lyceum_core::ProblemKind;
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_testkit::s3::{Bucket, settings};
use tempfile::TempDir;

use crate::files;

/// An installation that may delete its objects for an hour.
fn installation(id: &str) -> BucketInstallations {
    let ids = InstallationIds { present: id.to_owned(), ..InstallationIds::default() };
    let installations = BucketInstallations::new(ids);
    installations.prove(Duration::from_hours(1));
    installations
}

/// The folder of a server of the installation `oak` that uses the bucket.
fn server(s3: &S3Settings) -> (TempDir, Blobs) {
    server_of(s3, &installation("oak"))
}

fn server_of(s3: &S3Settings, installations: &BucketInstallations) -> (TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::in_s3(folder.path(), s3, "hosting", installations.clone()).unwrap();
    (folder, blobs)
}

/// The time that many seconds after the folder was last changed.
fn after(folder: &TempDir, seconds: i64) -> Timestamp {
    let changed = fs::metadata(folder.path().join("uploads")).unwrap().modified().unwrap();
    let changed = changed.duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp::from_milliseconds(i64::try_from(changed).unwrap()).plus_seconds(seconds)
}

/// The file of an object of the installation `oak`.
fn object(bucket: &Bucket, digest: &Digest) -> PathBuf {
    bucket.folder.path().join(format!("files/school/objects/oak/hosting/{digest}"))
}

fn is_in(bucket: &Bucket, digest: &Digest) -> bool {
    object(bucket, digest).is_file()
}

/// Stores blobs as if that was some hours ago.
fn stored_hours_ago<const N: usize>(
    bucket: &Bucket,
    blobs: &Blobs,
    contents: [&[u8]; N],
) -> [Digest; N] {
    contents.map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, bytes).unwrap();
        let file = fs::File::options().write(true).open(object(bucket, &digest)).unwrap();
        let long_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_hours(5);
        file.set_modified(long_ago).unwrap();
        digest
    })
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
    assert!(is_in(&bucket, &digest), "a sweep removes it later");
    let (now, hour) = (after(&two, 4000), Duration::from_hours(1));
    assert_eq!(first.sweep(now, hour, |_| false).unwrap().blobs, 1);
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
    let blobs = Blobs::in_s3(folder.path(), s3, "hosting", installation("oak")).unwrap();
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
    let other = folder.path().join("other");
    let other = Blobs::in_s3(other, s3, "projects/a", installation("oak")).unwrap();
    other.put(&orphan, &b"orphan"[..]).unwrap();
    let hour = Duration::from_hours(1);
    let sweep = |at| blobs.sweep(at, hour, |digest| *digest == wanted).unwrap();
    assert_eq!(sweep(after(&folder, 600)), SweepReport::default());
    assert!(blobs.has(&asked).unwrap());
    assert_eq!(sweep(after(&folder, 4000)).blobs, 1, "no request in the last hour");
    assert_eq!(sweep(after(&folder, 4300)).blobs, 2, "unneeded since the first sweep");
    assert!(is_in(&bucket, &wanted) && !is_in(&bucket, &orphan) && !is_in(&bucket, &asked));
    assert_eq!(other.read(&orphan).unwrap().unwrap(), b"orphan");
}

#[test]
fn nothing_is_deleted_without_a_proof_that_no_copy_uses_the_installation() {
    let bucket = Bucket::start();
    let oak = installation("oak");
    let (folder, blobs) = server_of(&bucket.settings, &oak);
    let digests = stored_hours_ago(&bucket, &blobs, [b"one", b"two", b"six"]);
    let sweep = |seconds, is_wanted: &dyn Fn(&Digest) -> bool| {
        blobs.sweep(after(&folder, seconds), Duration::from_hours(1), is_wanted).unwrap().blobs
    };
    assert_eq!(sweep(0, &|_| false), 0, "the hour begins");
    oak.prove(Duration::ZERO);
    assert!(!blobs.may_delete());
    assert_eq!(sweep(4000, &|_| false), 0);
    oak.prove(Duration::from_mins(1));
    let withdrawing = |digest: &Digest| {
        if *digest != digests[0] {
            oak.withdraw();
        }
        false
    };
    assert!(sweep(4000, &withdrawing) <= 1);
    assert!(digests[1..].iter().all(|digest| is_in(&bucket, digest)));
    oak.prove(Duration::from_mins(1));
    sweep(4000, &|_| false);
    assert!(!digests.iter().any(|digest| is_in(&bucket, digest)));
}

#[test]
fn a_blob_stays_for_a_time_after_the_last_need_of_it() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let digests = stored_hours_ago(&bucket, &blobs, [b"spared", b"orphan", b"needed"]);
    let sweep = |seconds, wanted: &[Digest]| {
        let at = after(&folder, seconds);
        let swept = blobs.sweep(at, Duration::from_hours(1), |digest| wanted.contains(digest));
        (swept.unwrap().blobs, digests.map(|digest| is_in(&bucket, &digest)))
    };
    blobs.spare(&digests[0]).unwrap();
    assert_eq!(sweep(-3500, &[digests[2]]), (0, [true; 3]));
    assert_eq!(sweep(200, &[digests[2]]), (1, [true, false, true]));
    assert_eq!(sweep(3700, &[digests[2]]), (1, [false, false, true]));
    assert_eq!(sweep(7000, &[]).0, 0, "it was needed until now");
    assert_eq!(sweep(10_500, &[]).0, 0);
    assert_eq!(sweep(10_700, &[]).0, 1);
}

#[test]
fn a_blob_that_is_stored_again_is_spared_like_a_new_one() {
    let bucket = Bucket::start();
    let (folder, blobs) = server(&bucket.settings);
    let digests = stored_hours_ago(&bucket, &blobs, [b"again", b"other"]);
    let sweep = |seconds| blobs.sweep(after(&folder, seconds), Duration::from_hours(1), |_| false);
    assert_eq!(sweep(-3600).unwrap().blobs, 0);
    blobs.put(&digests[0], &b"again"[..]).unwrap();
    assert_eq!(sweep(600).unwrap().blobs, 1);
    assert_eq!(digests.map(|digest| is_in(&bucket, &digest)), [true, false]);
}

#[test]
fn objects_of_former_installations_are_read_and_never_deleted() {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    let (_oak, oak) = server(s3);
    let contents: [&[u8]; 2] = [b"abc", b"def"];
    let digests = stored_hours_ago(&bucket, &oak, contents);
    // An object from before keys contained an id.
    let earlier = Digest::of(b"earlier");
    let folder = bucket.folder.path().join("files/school/hosting");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(earlier.to_string()), "earlier").unwrap();

    let ids = InstallationIds {
        present: "elm".to_owned(),
        former: vec!["oak".to_owned()],
        ..InstallationIds::default()
    };
    let elm = BucketInstallations::new(ids.clone());
    elm.prove(Duration::from_mins(1));
    let (folder, copy) = server_of(s3, &elm);
    for (digest, bytes) in [(digests[0], "abc"), (digests[1], "def"), (earlier, "earlier")] {
        assert_eq!(copy.read(&digest).unwrap().unwrap(), bytes.as_bytes());
    }
    let keys = copy.read_only_keys(&digests[0]).unwrap();
    assert_eq!(keys, [format!("school/objects/oak/hosting/{}", digests[0])]);
    // What a new row will name is copied, because the original may delete its object.
    assert!(copy.has(&digests[0]).unwrap());
    let of_elm = bucket.folder.path().join("files/school/objects/elm/hosting");
    assert_eq!(fs::read(of_elm.join(digests[0].to_string())).unwrap(), b"abc");
    let sweep = |seconds| copy.sweep(after(&folder, seconds), Duration::from_hours(1), |_| false);
    sweep(-3600).unwrap();
    assert_eq!(sweep(4000).unwrap().blobs, 1, "its own copy");
    assert!(digests.iter().all(|digest| is_in(&bucket, digest)));
    assert!(copy.read(&earlier).unwrap().is_some());

    elm.set(InstallationIds { adopted: vec!["oak".to_owned()], former: Vec::new(), ..ids });
    assert!(copy.read_only_keys(&digests[0]).unwrap().is_empty());
    assert_eq!(sweep(4000).unwrap().blobs + sweep(8000).unwrap().blobs, 2);
    assert!(!digests.iter().any(|digest| is_in(&bucket, digest)));
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
        let blobs = Blobs::in_s3(&root, &s3, "hosting", installation("oak")).unwrap();
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
