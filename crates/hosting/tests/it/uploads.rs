//! Uploads whose last piece has arrived, and uploads while the bucket does not answer.

use lyceum_blob::{Blobs, BucketInstallations, Digest};
use lyceum_core::ProblemKind;
use lyceum_hosting::uploads::{FileUpload, begin, find};
use lyceum_testkit::s3::Bucket;

/// Begins an upload and stores bytes, as a server does that is killed before it completes the file. Returns what the
/// next request finds, and whether the file is complete.
fn left(announced: [u8; 5], sent: [u8; 5]) -> (FileUpload, bool) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::on_disk(folder.path()).unwrap();
    let sha256 = Digest::of(&announced);
    let upload = begin(&blobs, "ann", sha256, 5).unwrap();
    blobs.append(&upload.id, 0, &sent).unwrap();
    let found = begin(&blobs, "ann", sha256, 5).unwrap();
    (found, blobs.has(&sha256).unwrap())
}

#[test]
fn the_next_request_completes_a_file_whose_bytes_have_all_arrived() {
    let (found, is_here) = left(*b"river", *b"river");
    assert_eq!((found.offset, found.complete, is_here), (5, true, true));
}

#[test]
fn an_upload_with_wrong_bytes_starts_over() {
    let (found, is_here) = left(*b"river", *b"rover");
    assert_eq!((found.offset, found.complete, is_here), (0, false, false));
}

#[test]
fn an_upload_is_known_while_the_bucket_does_not_answer() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::start());
    let blobs =
        lyceum_hosting::blobs(folder.path(), &bucket.settings, &BucketInstallations::default())
            .unwrap();
    let id = begin(&blobs, "ann", Digest::of(b"river"), 5).unwrap().id;
    let kind = |client: &str| find(&blobs, client, &id).map_err(|problem| problem.kind);
    bucket.set_down(true);
    assert_eq!(kind("ann").unwrap_err(), ProblemKind::Unavailable);
    bucket.set_down(false);
    assert_eq!(kind("ann").unwrap().id, id);
    assert_eq!(kind("bob").unwrap_err(), ProblemKind::NotFound);
}
