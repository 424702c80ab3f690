//! The zip of a build is the same for the same files.

use std::fs::{self, File};
use std::io::Read;

use lyceum_core::ProblemKind;
use lyceum_deploy::{FrontendZip, artifact_of};
use tempfile::tempdir;
use zip::ZipArchive;

use crate::{refused, write};

#[test]
fn equal_files_result_in_equal_zips() {
    let [one, other] = [(), ()].map(|()| tempdir().unwrap());
    let files = [("index.html", "<h1>Hi</h1>"), ("assets/app.js", "let a = 1;"), ("empty", "")];
    for (name, text) in files {
        write(one.path(), name, text);
    }
    for (name, text) in files.iter().rev() {
        write(other.path(), name, text);
    }
    let [one_zip, other_zip] =
        [&one, &other].map(|folder| FrontendZip::of(folder.path(), |_, _| ()).unwrap());
    assert_eq!(one_zip.artifact, other_zip.artifact);
    assert_eq!(one_zip.artifact, artifact_of(one_zip.path()).unwrap());
    let mut archive = ZipArchive::new(File::open(one_zip.path()).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["assets/app.js", "empty", "index.html"]);
    let mut text = String::new();
    archive.by_name("assets/app.js").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "let a = 1;");

    write(other.path(), "index.html", "<h1>Ho</h1>");
    assert_ne!(
        FrontendZip::of(other.path(), |_, _| ()).unwrap().artifact.sha256,
        one_zip.artifact.sha256
    );
    // A zip is sent as it is, and is not deleted like the temporary zip of a folder.
    let (copied, temporary) = (one.path().join("build.zip"), one_zip.path().to_owned());
    fs::copy(&temporary, &copied).unwrap();
    let as_it_is = FrontendZip::of(&copied, |_, _| ()).unwrap();
    assert_eq!((as_it_is.path(), &as_it_is.artifact), (copied.as_path(), &one_zip.artifact));
    drop((one_zip, as_it_is));
    assert_eq!((temporary.exists(), copied.exists()), (false, true));
}

#[test]
fn a_build_that_cannot_be_sent_is_refused() {
    let folder = tempdir().unwrap();
    let (kind, message) = refused(FrontendZip::of(&folder.path().join("dist"), |_, _| ()));
    assert_eq!(kind, ProblemKind::NotFound);
    assert!(message.contains("build the project first"), "{message}");
    let (kind, message) = refused(FrontendZip::of(folder.path(), |_, _| ()));
    assert!(kind == ProblemKind::Invalid && message.contains("is empty"), "{message}");
    write(folder.path(), "index.html", "not a zip");
    let (kind, message) = refused(FrontendZip::of(&folder.path().join("index.html"), |_, _| ()));
    assert!(kind == ProblemKind::Invalid && message.contains("is not a zip"), "{message}");
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    let (kind, message) = refused(FrontendZip::of(folder.path(), |_, _| ()));
    assert!(kind == ProblemKind::Invalid && message.contains("is not a regular file"), "{message}");
}
