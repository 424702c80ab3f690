//! The forms of a package: a zip, a zip with one folder, a folder; and forms that are refused.

use std::io::{Cursor, Write};
use std::path::Path;

use lyceum_core::Problem;
use lyceum_roster::csv::{CsvReport, ImportOptions, import};
use lyceum_store::{Db, StoreLocation};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::csv_files::{Package, now};

const ORGS: &str = "sourcedId,name,type\nx,X,school\n";

/// Imports a path into a store of its own.
fn imported(path: &Path) -> Result<CsvReport, Problem> {
    let folder = tempfile::tempdir().unwrap();
    let target = StoreLocation::Sqlite(folder.path().join("test.db"));
    let db = Db::open(&target, lyceum_roster::MIGRATIONS).unwrap();
    import(&db, path, &ImportOptions::default(), now(), &mut |_| {})
}

fn zipped(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Result<CsvReport, Problem> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    fill(&mut zip);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.zip");
    std::fs::write(&path, zip.finish().unwrap().into_inner()).unwrap();
    imported(&path)
}

fn add(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, text: &str) {
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
}

#[track_caller]
fn refused(result: Result<CsvReport, Problem>, words: &str) {
    let problem = result.unwrap_err();
    assert!(problem.message.contains(words), "{}", problem.message);
}

#[test]
fn a_folder_and_a_zip_with_one_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in Package::whole().0 {
        std::fs::write(folder.path().join(format!("{file}.csv")), text).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "hello").unwrap();
    std::fs::write(folder.path().join("extra.csv"), "a\n").unwrap();
    let report = imported(folder.path()).unwrap();
    assert!(report.committed && report.files.len() > 20);
    assert_eq!(report.ignored, ["extra.csv"]);
    let report = zipped(|zip| {
        add(zip, "export/orgs.csv", ORGS);
        add(zip, "__MACOSX/export/orgs.csv", "garbage");
        add(zip, "export/readme.txt", "hello");
    });
    assert!(report.unwrap().committed);
}

#[test]
fn files_that_are_not_packages_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    refused(imported(&folder.path().join("none.zip")), "cannot be read");
    refused(imported(folder.path()), "neither manifest.csv nor a roster file");
    let text = folder.path().join("orgs.csv");
    std::fs::write(&text, ORGS).unwrap();
    refused(imported(&text), "is not a zip file");
    refused(
        zipped(|zip| {
            add(zip, "a/orgs.csv", ORGS);
            add(zip, "b/users.csv", ORGS);
        }),
        "several folders",
    );
}

#[test]
fn names_and_links_that_lead_out_of_the_folder_are_refused() {
    for name in ["../orgs.csv", "a/../../orgs.csv", "/orgs.csv", "a\\orgs.csv", "C:orgs.csv"] {
        refused(zipped(|zip| add(zip, name, ORGS)), "points outside");
    }
    refused(
        zipped(|zip| {
            add(zip, "users.csv", ORGS);
            zip.add_symlink("orgs.csv", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        }),
        "is a link",
    );
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("orgs.csv")).unwrap();
    refused(imported(folder.path()), "is a link");
}

#[test]
fn too_many_files_are_refused() {
    let many = || (0..=lyceum_roster::limits::ZIP_MAX_FILES).map(|n| format!("f{n}.csv"));
    refused(zipped(|zip| many().for_each(|name| add(zip, &name, "a\n"))), "more than 200 files");
    let folder = tempfile::tempdir().unwrap();
    many().for_each(|name| std::fs::write(folder.path().join(name), "a\n").unwrap());
    refused(imported(folder.path()), "more than 200 files");
}

#[test]
fn a_zip_bomb_is_stopped_early() {
    let line = vec![b'x'; 1024 * 1024 - 1];
    let began = std::time::Instant::now();
    refused(
        zipped(|zip| {
            add(zip, "orgs.csv", ORGS);
            for _ in 0..100 {
                zip.write_all(&line).unwrap();
                zip.write_all(b"\n").unwrap();
            }
        }),
        "unpacks to more than 300 times its size",
    );
    assert!(began.elapsed().as_secs() < 30);
}

#[test]
fn a_damaged_zip_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = Package::whole().write(folder.path());
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    refused(imported(&path), "is not a zip file");
    let mut damaged = whole.clone();
    // Inside the first file's packed bytes.
    damaged[80] ^= 0xff;
    damaged[81] ^= 0xff;
    std::fs::write(&path, damaged).unwrap();
    let result = imported(&path);
    assert!(!matches!(result, Ok(CsvReport { committed: true, .. })), "{result:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(150))]

    /// Whatever stands in the files, the import ends, and says what it did.
    #[test]
    fn any_bytes_in_files_are_imported_or_refused(
        file in 0..lyceum_roster::csv::files::ALL.len(),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        lines in proptest::collection::vec("[a-z0-9,\"{}:\\[\\]\\.; -]{0,60}", 0..6),
    ) {
        let file = &lyceum_roster::csv::files::ALL[file];
        let folder = tempfile::tempdir().unwrap();
        let header = file.headers().collect::<Vec<_>>().join(",");
        let text = format!("{header},metadata.x,metadata.lyceum.record\n{}\n", lines.join("\n"));
        let text = [text.as_bytes(), &bytes].concat();
        std::fs::write(folder.path().join(format!("{}.csv", file.name)), &text).unwrap();
        std::fs::write(folder.path().join("manifest.csv"), format!("file.{},bulk\n", file.name)).unwrap();
        let report = imported(folder.path()).unwrap();
        proptest::prop_assert_eq!(report.committed, report.fault_count == 0);
        std::fs::write(folder.path().join("manifest.csv"), &bytes).unwrap();
        let _ = imported(folder.path());
    }
}
