//! Restores a backup. It is unpacked next to the data first, and replaces the data only after all of it was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lyceum_blob::{Blobs, BucketInstallations, Digest, failed};
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use super::read::{ArchiveContent, walk, write};
use super::{BackupCover, BackupEntry, OpenBackup};
use crate::nodes::Node;
use crate::repository::leases;
use crate::{homes, installations, nodes};

/// An unpacked backup. Dropping it deletes the files.
#[derive(Debug)]
pub struct UnpackedBackup {
    folder: PathBuf,
    /// The content of the backup.
    pub cover: BackupCover,
    /// Entries that were missing on the server when the backup was made.
    pub missing: Vec<String>,
    /// The blobs in it; those of a bucket come with its project.
    kept: Vec<(Option<String>, Digest)>,
}

/// The result of a restore for existing files.
#[derive(Clone, Debug, Default)]
pub struct RestoreReport {
    /// The folders that existing files were moved to.
    pub moved: Vec<PathBuf>,
}

/// Unpacks a backup next to the data. Errors: `Invalid` with everything that is wrong with it.
pub fn unpack(backup: OpenBackup, data: &Path, on_read: impl FnMut(u64)) -> Result<UnpackedBackup> {
    let folder = data.join("restore.partial");
    let mut kept = Vec::new();
    let unpack_into = |folder: &Path| -> Result<ArchiveContent> {
        let hosting = folder.join(crate::FOLDER);
        let made = |path: &Path| {
            fs::create_dir_all(path).map_err(|fault| failed("write what a backup holds", &fault))
        };
        made(&hosting)?;
        let blobs = Blobs::on_disk(&hosting)?;
        let mut bucket: Option<(String, Blobs)> = None;
        walk(backup, on_read, |entry, reader| match entry {
            BackupEntry::Database => write(&folder.join("database"), reader),
            BackupEntry::File(slug, name) => {
                let file = hosting.join("projects").join(slug).join(name);
                made(file.parent().unwrap_or(&hosting))?;
                write(&file, reader)
            }
            BackupEntry::Object(slug, digest) => {
                if bucket.as_ref().is_none_or(|(known, _)| known != slug) {
                    let opened = Blobs::on_disk(objects_of(&hosting, slug))?;
                    bucket = Some((slug.clone(), opened));
                }
                let (_, objects) = bucket.as_ref().expect("it was opened above");
                kept.push((Some(slug.clone()), *digest));
                allow_damage(objects.put(digest, reader))
            }
            BackupEntry::Blob(digest) => {
                kept.push((None, *digest));
                allow_damage(blobs.put(digest, reader))
            }
            BackupEntry::Cover | BackupEntry::Manifest => Ok(()),
        })
    };
    remove_folder(&folder)?;
    let walked = unpack_into(&folder);
    let refuse = |faults: &[String]| {
        let more = match faults.len() {
            0 | 1 => String::new(),
            many => format!(" (and {} more)", many - 1),
        };
        let first = faults.first().map_or("it does not say what it contains", String::as_str);
        let message = message!("the backup is damaged: {first}{more}; nothing was restored");
        Problem::new(ProblemKind::Invalid, message)
    };
    let draft = walked.and_then(|walked| match walked {
        ArchiveContent { cover: Some(cover), faults, missing, .. } if faults.is_empty() => {
            Ok(UnpackedBackup { folder: folder.clone(), cover, missing, kept })
        }
        ArchiveContent { faults, .. } => Err(refuse(&faults)),
    });
    draft.inspect_err(|_| drop(remove_folder(&folder)))
}

/// Unpacks a blob. A damaged one is reported later by its checksum, with all other faults.
fn allow_damage(put: Result<u64>) -> Result<()> {
    match put {
        Err(problem) if problem.kind == ProblemKind::Invalid => Ok(()),
        put => put.map(drop),
    }
}

fn objects_of(hosting: &Path, slug: &str) -> PathBuf {
    hosting.join("projects").join(slug).join(homes::BUCKET).join("objects")
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove what an earlier restore left", &fault))
        }
        _ => Ok(()),
    }
}

/// Whether a data folder contains files of projects.
pub(crate) fn is_taken(data: &Path) -> bool {
    let has_some = |folder: &str| {
        let folder = data.join(crate::FOLDER).join(folder);
        fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    };
    has_some("projects") || has_some("blobs")
}

impl UnpackedBackup {
    /// Whether a data folder contains files that a restore would replace.
    pub fn is_taken(data: &Path) -> bool {
        is_taken(data)
    }

    /// The database of the backup.
    pub fn database(&self) -> PathBuf {
        self.folder.join("database")
    }

    /// Refuses a server without the S3 bucket that the backup relies on. Errors: `Conflict`.
    pub fn require_bucket(&self, s3: &S3Settings) -> Result<()> {
        let Some(bucket) = self.cover.s3_bucket.as_deref().filter(|name| *name != s3.bucket) else {
            return Ok(());
        };
        let set = match s3.bucket.as_str() {
            "" => "names no bucket".to_owned(),
            other => format!("names the bucket '{other}'"),
        };
        let message = message!(
            "the files of the backup are in the S3 bucket '{bucket}', but [s3] in the settings {set}; nothing was \
             restored"
        );
        Err(Problem::new(ProblemKind::Conflict, message))
    }

    /// Puts the files of projects into the data folder. Existing files are moved aside.
    pub fn install(&self, data: &Path, now: Timestamp) -> Result<RestoreReport> {
        let mut restored = RestoreReport::default();
        let hosting = data.join(crate::FOLDER);
        let install = |restored: &mut RestoreReport| -> io::Result<()> {
            fs::create_dir_all(&hosting)?;
            for name in ["projects", "blobs", "copies"] {
                let (from, to) = (self.folder.join(crate::FOLDER).join(name), hosting.join(name));
                let is_taken = fs::read_dir(&to).is_ok_and(|mut all| all.next().is_some());
                if is_taken {
                    let aside = hosting.join(format!("{name}.before-{}", now.seconds()));
                    fs::rename(&to, &aside)?;
                    restored.moved.push(aside);
                }
                if from.exists() {
                    fs::rename(&from, &to)?;
                }
            }
            fs::File::open(&hosting)?.sync_all()
        };
        install(&mut restored)
            .map_err(|fault| failed("put restored files in their place", &fault))?;
        Ok(restored)
    }

    /// Copies the blobs to the S3 bucket, if the settings name one, as objects of the present installation.
    pub fn upload(&self, s3: &S3Settings, installations: &BucketInstallations) -> Result<()> {
        if s3.bucket.is_empty() {
            return Ok(());
        }
        let hosting = self.folder.join(crate::FOLDER);
        let copies = self.folder.join("copies");
        // Blobs of one bucket follow one another.
        for kept in self.kept.chunk_by(|one, next| one.0 == next.0) {
            let (here, name) = match kept.first().and_then(|(slug, _)| slug.as_ref()) {
                Some(slug) => (objects_of(&hosting, slug), format!("projects/{slug}")),
                None => (hosting.clone(), crate::FOLDER.to_owned()),
            };
            let there = Blobs::in_s3(&copies, s3, &name, installations.clone())?;
            let here = Blobs::on_disk(here)?;
            for (_, digest) in kept {
                let Some(blob) = here.open(digest)? else { continue };
                there.put(digest, blob.file)?;
                here.remove(digest)?;
            }
        }
        Ok(())
    }

    /// Records that this node holds the projects of the backup, and that the installation is the present one.
    pub fn adopt(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        (node, installation): (&Node, &str),
    ) -> Result<()> {
        nodes::note(tx, now, node)?;
        // The nodes of the backup may still run on the database from which it was made.
        leases::end_all(tx)?;
        // The original server may still write into the replicas of its installation.
        installations::begin_anew(tx, now, installation)?;
        self.cover.projects.iter().try_for_each(|slug| homes::restored(tx, node, slug))
    }

    /// Records that this node holds a project of the backup if the database was not restored. Errors: `NotFound`;
    /// `Conflict` if a node other than the backup's holds it, or the database names files that the backup
    /// does not have.
    pub fn adopt_beside(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        (node, blobs): (&Node, &Blobs),
        slug: &str,
    ) -> Result<()> {
        nodes::note(tx, now, node)?;
        homes::restored_beside(tx, (node, blobs), slug, &self.cover.node)
    }
}

impl Drop for UnpackedBackup {
    fn drop(&mut self) {
        // The next restore removes what remains.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
