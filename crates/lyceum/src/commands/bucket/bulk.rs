//! `lyceum bucket bulk`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use clap::Args;
use ignore::WalkBuilder;
use lyceum_deploy::{is_same, media_of};
use lyceum_hosting::buckets::BucketObjectDescription;
use serde_json::json;

use super::target::Target;
use super::{show, size_of};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::project::ProjectDataArgs;

/// Files that are uploaded at the same time.
const AT_ONCE: usize = 8;

#[derive(Args)]
pub(crate) struct Bulk {
    /// The folder. Its name is not part of the keys. Hidden files and files in `.gitignore` are skipped
    folder: PathBuf,
    /// Prefix of all keys
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Delete objects with this prefix that are not in the folder
    #[arg(long)]
    delete: bool,
    /// Show what would be uploaded and deleted, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project_data: ProjectDataArgs,
}

/// A file to upload as an object.
struct Job {
    key: String,
    file: PathBuf,
    size: u64,
}

impl Bulk {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let target = Target::open(&self.project_data, printer)?;
        let files = collect(&self.folder, &self.prefix)?;
        let etags = target.all(&self.prefix)?;
        let mut jobs = Vec::new();
        for (key, file) in &files {
            let is_stored = match etags.get(key) {
                Some(etag) => is_same(file, etag)?,
                None => false,
            };
            if !is_stored {
                jobs.push(Job { key: key.clone(), file: file.clone(), size: size_of(file)? });
            }
        }
        let surplus: Vec<String> = match self.delete {
            true => etags.into_keys().filter(|key| !files.contains_key(key)).collect(),
            false => Vec::new(),
        };
        let (same, bytes) = (files.len() - jobs.len(), jobs.iter().map(|job| job.size).sum());
        let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
        if self.dry_run {
            let line = |mark: &str, key: &String| format!("{mark} {key}\n");
            printer.answer(
                || {
                    let puts = keys.iter().map(|key| line("put", key));
                    puts.chain(surplus.iter().map(|key| line("delete", key))).collect()
                },
                || json!({ "put": keys, "delete": surplus, "unchanged": same, "bytes": bytes }),
            );
            return Ok(());
        }
        let sent = send(&target, &jobs, bytes, printer)?;
        for keys in surplus.chunks(1000) {
            target.delete(keys)?;
        }
        printer.answer(
            String::new,
            || json!({ "put": keys, "deleted": surplus, "unchanged": same, "uploadedBytes": sent }),
        );
        let (files, name) = (counted(jobs.len(), "file"), target.name());
        let size = show::bytes(bytes);
        printer.done(&format!("✔ Uploaded {files} ({size}) to {name}; unchanged: {same}"));
        Ok(())
    }
}

/// Uploads the files in parallel. After the first failure, no further file is started.
fn send(target: &Target, jobs: &[Job], bytes: u64, printer: &Printer) -> Result<u64> {
    let bar = printer.progress("Uploading", bytes);
    let (sent, next) = (AtomicU64::new(0), Mutex::new(jobs.iter()));
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let work = || {
        loop {
            let job = next.lock().expect("nobody panics").next();
            let Some(Job { key, file, .. }) = job else { return };
            if failed.lock().expect("nobody panics").is_some() {
                return;
            }
            let content_type = Some(media_of(key));
            let about =
                BucketObjectDescription { content_type, ..BucketObjectDescription::default() };
            match target.put(key, file, &about, |count| bar.inc(count)) {
                Ok(count) => drop(sent.fetch_add(count, Relaxed)),
                Err(mut failure) => {
                    failure.message = format!("'{key}': {}", failure.message);
                    *failed.lock().expect("nobody panics") = Some(failure);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(jobs.len()) {
            scope.spawn(work);
        }
    });
    bar.finish_and_clear();
    match failed.into_inner().expect("nobody panics") {
        Some(failure) => Err(failure.hint("run the command again: it continues where it stopped")),
        None => Ok(sent.into_inner()),
    }
}

/// The files of a folder by key, without hidden files and files that a `.gitignore` in the folder or
/// above it excludes.
fn collect(folder: &Path, prefix: &str) -> Result<BTreeMap<String, PathBuf>> {
    let unreadable = |error: ignore::Error| {
        Failure::new(Code::NotFound, format!("'{}' cannot be read: {error}", folder.display()))
    };
    if !folder.is_dir() {
        let message = format!("there is no folder '{}'", folder.display());
        return Err(Failure::new(Code::NotFound, message));
    }
    let mut walk = WalkBuilder::new(folder);
    walk.ignore(false).git_global(false).git_exclude(false).require_git(false);
    let mut files = BTreeMap::new();
    for entry in walk.build() {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.is_some_and(|kind| kind.is_dir()) {
            continue;
        }
        if !kind.is_some_and(|kind| kind.is_file()) {
            let message = format!("'{}' is not a regular file", path.display());
            return Err(Failure::failed(message).hint("replace the link with the file itself"));
        }
        let within = path.strip_prefix(folder).unwrap_or(path).to_str().ok_or_else(|| {
            Failure::failed(format!("the name of '{}' is not UTF-8; rename it", path.display()))
        })?;
        files.insert(format!("{prefix}{within}"), path.to_owned());
    }
    Ok(files)
}
