//! Only one sandbox uses a database file.

use std::fs;
use std::path::Path;

use lyceum_core::ProblemKind;
use lyceum_sandbox::DatabaseFile;
use tempfile::tempdir;

#[test]
fn a_file_belongs_to_one_sandbox_at_a_time() {
    let folder = tempdir().unwrap();
    let file = folder.path().join(".lyceum/sandbox.db");
    let mut first = DatabaseFile::on_disk(&file, false).unwrap();
    let refusal = || DatabaseFile::on_disk(&file, false).unwrap_err();
    assert_eq!(refusal().kind, ProblemKind::Conflict);
    assert!(refusal().message.contains("used by a sandbox that is starting"), "{}", refusal());
    first.publish_address("http://localhost:4321");
    let owner = format!("the sandbox of process {} at http://localhost:4321", std::process::id());
    assert!(refusal().message.contains(&owner), "{}", refusal());
    drop(first);
    let again = DatabaseFile::on_disk(&file, false).unwrap();
    assert_eq!(again.file(), Some(file.as_path()));
    // The folder's own file keeps it out of commits.
    assert_eq!(fs::read_to_string(folder.path().join(".lyceum/.gitignore")).unwrap(), "*\n");
}

#[test]
fn a_new_start_deletes_database_and_deployed_projects() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let names = ["sandbox.db", "sandbox.db-wal", "sandbox.db-shm", "sandbox.db.data/rivers/a"];
    let write_files = || {
        fs::create_dir_all(folder.path().join("sandbox.db.data/rivers")).unwrap();
        for name in names.iter().chain(&["other.db"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
    };
    let there = |name: &str| folder.path().join(name).exists();
    write_files();
    drop(DatabaseFile::on_disk(&file, false).unwrap());
    assert!(names.iter().all(|name| there(name)));
    let anew = DatabaseFile::on_disk(&file, true).unwrap();
    assert!(!names.iter().any(|name| there(name)));
    assert!(there("other.db") && !there(".gitignore"));
    // A sandbox that does not get the file deletes nothing.
    write_files();
    DatabaseFile::on_disk(&file, true).unwrap_err();
    assert!(names.iter().all(|name| there(name)));
    drop(anew);
}

#[test]
fn a_database_in_memory_leaves_nothing() {
    let [one, other] = [(), ()].map(|()| DatabaseFile::in_memory().unwrap());
    assert_eq!((one.file(), other.file()), (None, None));
    let folders = [&one, &other].map(|file| file.data().parent().unwrap().to_owned());
    assert_ne!(folders[0], folders[1]);
    assert!(folders.iter().all(|folder| folder.is_dir()));
    drop(one);
    assert_eq!(folders.each_ref().map(|folder| Path::exists(folder)), [false, true]);
}
