//! Valid zips become files. Invalid zips are refused with a message that names the error.

use std::io::{Cursor, Write};

use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Problem, ProblemKind};
use lyceum_hosting::archive::unpack;
use lyceum_hosting::deployments::FrontendFiles;
use lyceum_hosting::limits;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Uploads the bytes as a zip and unpacks it.
fn taken(bytes: &[u8]) -> (tempfile::TempDir, Blobs, Result<FrontendFiles, Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::on_disk(folder.path()).unwrap();
    let digest = Digest::of(bytes);
    blobs.put(&digest, bytes).unwrap();
    let manifest = unpack(&blobs, &digest);
    (folder, blobs, manifest)
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn refused(bytes: &[u8]) -> Problem {
    let (folder, _, manifest) = taken(bytes);
    let problem = manifest.unwrap_err();
    assert_eq!(folder.path().join("uploads").read_dir().unwrap().count(), 0, "nothing is left");
    problem
}

#[test]
fn a_build_becomes_files_with_types() {
    let bytes = zip(&[
        ("index.html", b"<h1>"),
        ("assets/", b""),
        ("assets/app.js", b"run()"),
        ("assets/größe.png", b"png"),
        ("data", b"?"),
    ]);
    let (_folder, blobs, manifest) = taken(&bytes);
    let files = manifest.unwrap().0;
    let types: Vec<_> =
        files.iter().map(|(path, file)| (path.as_str(), file.size, file.media.as_str())).collect();
    let expected = [
        ("assets/app.js", 5, "text/javascript; charset=utf-8"),
        ("assets/größe.png", 3, "image/png"),
        ("data", 1, "application/octet-stream"),
        ("index.html", 4, "text/html; charset=utf-8"),
    ];
    assert_eq!(types, expected);
    assert_eq!(blobs.read(&files["index.html"].sha256).unwrap().unwrap(), b"<h1>");
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    for name in [
        "../index.html",
        "a/../../b",
        "/etc/passwd",
        "C:/windows",
        "a\\b",
        "a//b",
        "./a",
        "a\u{0}b",
        "a\nb",
        &"x".repeat(limits::FRONTEND_PATH_MAX_BYTES + 1),
    ] {
        let problem = refused(&zip(&[("index.html", b""), (name, b"")]));
        assert_eq!(problem.kind, ProblemKind::Invalid, "{name}");
        assert!(problem.message.contains("in the zip"), "{}", problem.message);
    }
}

#[test]
fn symbolic_links_are_refused() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("index.html", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let problem = refused(&zip.finish().unwrap().into_inner());
    assert!(problem.message.contains("symbolic link"), "{}", problem.message);
}

#[test]
fn too_many_files_are_refused_before_any_is_read() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for number in 0..=limits::FRONTEND_FILES_MAX_COUNT {
        zip.start_file(number.to_string(), options).unwrap();
    }
    let problem = refused(&zip.finish().unwrap().into_inner());
    assert_eq!(problem.kind, ProblemKind::TooLarge);
}

#[test]
fn files_that_are_not_zips_are_refused() {
    for bytes in [&b""[..], b"PK", b"hello", &[0; 4096]] {
        assert!(refused(bytes).message.contains("cannot be read as a zip"));
    }
    let whole = zip(&[("index.html", b"text that is long enough to be cut")]);
    for cut in [10, 40, whole.len() - 1] {
        refused(&whole[..cut]);
    }
    // Changed bytes must not make the reader panic.
    for at in (0..whole.len()).step_by(3) {
        let mut bent = whole.clone();
        bent[at] ^= 0xff;
        drop(taken(&bent));
    }
    let problem = refused(&zip(&[("dist/index.html", b"")]));
    assert!(problem.message.contains("zip the contents of that folder"), "{}", problem.message);
}

#[test]
fn a_zip_needs_exactly_one_list_of_files_in_the_place_that_its_end_names() {
    let good = zip(&[("index.html", b"seen")]);
    let other = zip(&[("index.html", b"not seen")]);
    let (start, size) = (good.len() - 22 - 56, good.len());
    assert!(good[start..].starts_with(b"PK\x01\x02"));
    let bent = |at: usize, bytes: &[u8]| {
        let mut bent = good.clone();
        bent[at..at + bytes.len()].copy_from_slice(bytes);
        bent
    };
    // Another zip after the first one's comment or inside it; the first zip before another one.
    let mut commented = bent(size - 2, &u16::try_from(other.len()).unwrap().to_le_bytes());
    commented.extend(&other);
    for bytes in [[good.clone(), other.clone()].concat(), commented, [b"junk", &good[..]].concat()]
    {
        let problem = refused(&bytes);
        assert!(problem.message.contains("the list of its files is misplaced"), "{problem}");
    }
    // Fields that tell readers to look for the list elsewhere.
    for (field, bytes) in [(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4)] {
        let problem = refused(&bent(size - 22 + field, &[0xff; 4][..bytes]));
        assert!(problem.message.contains("Zip64"), "{field}: {problem}");
    }
    // A zip among the files is an ordinary file.
    let mut outer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [("index.html", &b"page"[..]), ("inner.zip", &good)] {
        outer.start_file(name, stored).unwrap();
        outer.write_all(bytes).unwrap();
    }
    let (_folder, _, manifest) = taken(&outer.finish().unwrap().into_inner());
    assert_eq!(manifest.unwrap().0.len(), 2);
}
