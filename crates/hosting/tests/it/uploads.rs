//! Uploads whose last piece is there.

use lyceum_blob::{Blobs, Digest};
use lyceum_hosting::uploads::{Upload, begin};

/// Begins an upload, and leaves bytes there as a server does that is killed before it makes the file
/// whole. Answers what the next one finds, and whether the file is here.
fn left(announced: [u8; 5], sent: [u8; 5]) -> (Upload, bool) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::on_disk(folder.path()).unwrap();
    let sha256 = Digest::of(&announced);
    let upload = begin(&blobs, "ann", sha256, 5).unwrap();
    blobs.append(&upload.id, 0, &sent).unwrap();
    let found = begin(&blobs, "ann", sha256, 5).unwrap();
    (found, blobs.has(&sha256).unwrap())
}

#[test]
fn a_file_whose_bytes_are_all_there_is_made_whole_by_who_asks_for_it() {
    let (found, is_here) = left(*b"river", *b"river");
    assert_eq!((found.offset, found.complete, is_here), (5, true, true));
}

#[test]
fn bytes_that_are_not_those_of_the_file_are_sent_anew() {
    let (found, is_here) = left(*b"river", *b"rover");
    assert_eq!((found.offset, found.complete, is_here), (0, false, false));
}
