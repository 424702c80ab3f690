//! Backups contain what they should, and damage is found and located.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lyceum_blob::{BucketInstallations, Digest, FileLocation};
use lyceum_core::ProblemKind;
use lyceum_core::config::{S3Settings, Secret};
use lyceum_core::time::Timestamp;
use lyceum_hosting::backup::{
    self, Backup, BackupCover, BackupFile, BackupKey, BackupReport, NamedFiles, OpenBackup,
};

fn at(path: &Path) -> BackupFile {
    let location = FileLocation::Folder(path.parent().unwrap().to_owned());
    BackupFile { location, name: path.file_name().unwrap().to_str().unwrap().to_owned(), key: None }
}

fn open(path: &Path) -> OpenBackup {
    at(path).open().unwrap().unwrap()
}

fn check(path: &Path) -> lyceum_core::Result<BackupReport> {
    backup::check(open(path), path.parent().unwrap(), |_| ())
}

/// A backup of a data folder with a blob, another blob that an import has, and a project with a database and keys.
fn write_backup(data: &Path, to: &Path) -> (Digest, backup::WrittenBackup) {
    let blobs =
        lyceum_hosting::blobs(data, &S3Settings::default(), &BucketInstallations::default())
            .unwrap();
    let [digest, other] = [&b"a river runs"[..], b"rows"].map(|bytes| {
        let digest = Digest::of(bytes);
        blobs.put(&digest, bytes).unwrap();
        digest
    });
    let folder = data.join("hosting/projects/rivers");
    fs::create_dir_all(&folder).unwrap();
    lyceum_project::schema::fill(
        &folder.join("d1.sqlite"),
        "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x');",
    )
    .unwrap();
    fs::write(folder.join("kv.sqlite"), "").unwrap();
    let files = ["d1.sqlite", "kv.sqlite"].map(str::to_owned).to_vec();
    let named = NamedFiles {
        projects: [("rivers".to_owned(), files)].into(),
        blobs: [digest].into(),
        others: [other].into(),
        ..NamedFiles::default()
    };
    let now = Timestamp::from_milliseconds(0);
    let begun = Backup::begin(data, &S3Settings::default(), now).unwrap();
    assert!(Backup::begin(data, &S3Settings::default(), now).is_err(), "one at a time");
    fs::write(begun.database(), "the database").unwrap();
    assert_eq!(begun.stage(&named).unwrap(), [""; 0]);
    // The backup contains files that are deleted meanwhile, and databases as they were when it began.
    blobs.remove(&digest).unwrap();
    lyceum_project::schema::fill(&folder.join("d1.sqlite"), "DROP TABLE t").unwrap();
    let cover = BackupCover {
        format: backup::FORMAT,
        release: "1".into(),
        made_at: now.to_string(),
        store: "postgresql".into(),
        has_database: true,
        node: String::new(),
        projects: vec!["rivers".into()],
        elsewhere: [].into(),
        s3_bucket: None,
    };
    (digest, begun.write(&at(to), cover, (&named, Vec::new()), |_| ()).unwrap())
}

fn unpacked(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(fs::File::open(file).unwrap()).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn pack(bytes: &[u8], to: &Path) {
    let mut packed = zstd::Encoder::new(fs::File::create(to).unwrap(), 1).unwrap();
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap();
}

#[test]
fn a_restore_brings_back_what_was_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("all.backup"));
    fs::create_dir(&data).unwrap();
    let (digest, written) = write_backup(&data, &file);
    assert_eq!((written.files, written.missing.len()), (7, 0));
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600,
        "for its owner alone"
    );
    let left: Vec<_> = fs::read_dir(data.join("hosting")).unwrap().flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().starts_with("backup-")));
    let checked = check(&file).unwrap();
    assert_eq!((checked.faults, checked.files), (Vec::<String>::new(), 7));

    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let draft = backup::unpack(open(&file), &elsewhere, |_| ()).unwrap();
    assert_eq!(fs::read_to_string(draft.database()).unwrap(), "the database");
    draft.install(&elsewhere, Timestamp::from_milliseconds(0)).unwrap();
    drop(draft);
    let blobs =
        lyceum_hosting::blobs(&elsewhere, &S3Settings::default(), &BucketInstallations::default())
            .unwrap();
    assert_eq!(blobs.read(&digest).unwrap().as_deref(), Some(&b"a river runs"[..]));
    let restored = elsewhere.join("hosting/projects/rivers");
    assert!(
        lyceum_project::schema::read(&restored.join("d1.sqlite"))
            .unwrap()
            .ddl()
            .contains("CREATE TABLE t")
    );
    assert!(restored.join("kv.sqlite").exists() && !elsewhere.join("restore.partial").exists());
}

#[test]
fn damage_is_found_and_its_entry_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("all.backup"));
    fs::create_dir(&data).unwrap();
    let (digest, _) = write_backup(&data, &file);
    let bytes = unpacked(&file);
    let find = |text: &[u8]| bytes.windows(text.len()).position(|part| part == text).unwrap();
    let damaged = folder.path().join("damaged.backup");
    for (text, place) in [
        (&b"a river runs"[..], format!("blobs/{digest}: its bytes have the SHA-256")),
        (b"the database", "database: it has 12 bytes with the SHA-256".to_owned()),
        (b"SQLite format 3", "projects/rivers/d1.sqlite: ".to_owned()),
    ] {
        let mut changed = bytes.clone();
        changed[find(text)] ^= 1;
        pack(&changed, &damaged);
        let faults = check(&damaged).unwrap().faults;
        assert!(faults.iter().any(|fault| fault.starts_with(&place)), "{place}: {faults:?}");
        let refused = backup::unpack(open(&damaged), folder.path(), |_| ()).unwrap_err();
        assert!(refused.message.contains("nothing was restored"), "{refused}");
        assert!(!folder.path().join("restore.partial").exists());
    }
    // An entry is missing, and the end of the archive is missing.
    let blob = find(format!("blobs/{digest}").as_bytes());
    let without = [&bytes[..blob], &bytes[blob + 1024..]].concat();
    pack(&without, &damaged);
    let faults = check(&damaged).unwrap().faults;
    assert!(
        faults.iter().any(|fault| fault.starts_with("manifest.json: it lists 2")),
        "{faults:?}"
    );
    fs::write(&damaged, &fs::read(&file).unwrap()[..200]).unwrap();
    let faults = check(&damaged).unwrap().faults;
    assert!(!faults.is_empty());
}

#[test]
fn entries_cannot_leave_the_folder_of_a_restore() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.backup");
    for path in
        ["projects/rivers/..", "projects/../x/y", "projects/rivers/a/b/c", "hosting/node.json"]
    {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(1);
        header.set_cksum();
        let mut tar = tar::Builder::new(Vec::new());
        tar.append(&header, &b"x"[..]).unwrap();
        pack(&tar.into_inner().unwrap(), &file);
        let faults = check(&file).unwrap().faults;
        assert_eq!(faults[0], format!("{path}: a backup cannot have such an entry"));
    }
}

#[test]
fn a_long_name_of_an_entry_is_not_read_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.backup");
    let long = vec![b'x'; 5000];
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(long.len() as u64);
    header.set_cksum();
    let mut tar = tar::Builder::new(Vec::new());
    tar.append(&header, &long[..]).unwrap();
    pack(&tar.into_inner().unwrap(), &file);
    let faults = check(&file).unwrap().faults;
    assert!(faults[0].contains("the name of an entry has 5000 bytes"), "{faults:?}");
}

#[test]
fn a_check_unpacks_the_backup_next_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("all.backup"));
    fs::create_dir(&data).unwrap();
    write_backup(&data, &file);
    let checked = check(&file).unwrap();
    assert!(checked.database.unwrap().starts_with(folder.path()));
}

#[test]
fn files_in_s3_are_not_part_of_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("all.backup"));
    fs::create_dir(&data).unwrap();
    // Nothing listens at this address.
    let s3 = S3Settings {
        bucket: "files".into(),
        endpoint: "http://127.0.0.1:9".into(),
        ..S3Settings::default()
    };
    let begun = Backup::begin(&data, &s3, Timestamp::from_milliseconds(0)).unwrap();
    fs::write(begun.database(), "the database").unwrap();
    let named = NamedFiles { blobs: [Digest::of(b"a river runs")].into(), ..NamedFiles::default() };
    assert_eq!(begun.stage(&named).unwrap(), [""; 0]);
    let cover = BackupCover {
        format: backup::FORMAT,
        release: "1".into(),
        made_at: String::new(),
        store: "postgresql".into(),
        has_database: true,
        node: String::new(),
        projects: Vec::new(),
        elsewhere: [].into(),
        s3_bucket: Some(s3.bucket),
    };
    let written = begun.write(&at(&file), cover, (&named, Vec::new()), |_| ()).unwrap();
    assert_eq!((written.files, written.missing), (3, Vec::new()));
    let checked = check(&file).unwrap();
    assert_eq!(checked.faults, Vec::<String>::new());
    assert_eq!(checked.cover.unwrap().s3_bucket.as_deref(), Some("files"));
    let draft = backup::unpack(open(&file), &data, |_| ()).unwrap();
    let other = S3Settings { bucket: "other".into(), ..S3Settings::default() };
    for (s3, expected) in
        [(S3Settings::default(), "names no bucket"), (other, "names the bucket 'other'")]
    {
        let refused = draft.require_bucket(&s3).unwrap_err();
        assert!(refused.message.contains(expected), "{refused}");
    }
    draft.require_bucket(&S3Settings { bucket: "files".into(), ..S3Settings::default() }).unwrap();
}

#[test]
fn a_backup_without_encryption_is_refused_if_there_is_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.backup");
    write_backup(folder.path(), &path);
    let key = Secret::new("5a".repeat(32));
    let key = BackupKey::from_setting(Some(&key)).unwrap();
    let refused = BackupFile { key, ..at(&path) }.open().err().unwrap();
    assert_eq!(refused.kind, ProblemKind::Invalid);
    assert!(refused.message.contains("is not encrypted"), "{}", refused.message);
    assert!(at(&path).open().unwrap().is_some());
}
