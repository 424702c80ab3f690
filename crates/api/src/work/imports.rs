//! Runs the imports that were sent in the console or over HTTP. If the server stops in the middle, nothing was changed,
//! and the import starts again later.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, header};
use lyceum_access::audit::AuditChange;
use lyceum_blob::{Blobs, Digest};
use lyceum_bridge::settle::SettledUsers;
use lyceum_core::config::AbsentRecords;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::{Body, trace};
use lyceum_roster::csv::{self, AbsentPolicy, CsvReport, ErasedUsers, ImportOptions};
use lyceum_roster::imports::{self, Import, ImportOutcome, ImportProgress, ImportState, NewImport};
use lyceum_store::jobs::ClaimedJob;
use lyceum_store::limits::JOB_MAX_ATTEMPTS;
use lyceum_store::{Db, Tx, run_blocking};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::bridge::settle_users;
use crate::{App, hosted, limits};

/// The progress of the import that this server is running.
#[derive(Default)]
pub struct RunningImport {
    progress: Mutex<HashMap<i64, ImportProgress>>,
    added: Notify,
}

impl RunningImport {
    /// Wakes the worker when there is a new import.
    pub fn wake(&self) {
        self.added.notify_one();
    }

    /// The progress of an import; `None` if this server is not running it.
    pub fn progress(&self, id: i64) -> Option<ImportProgress> {
        self.progress_by_import().get(&id).cloned()
    }

    fn progress_by_import(&self) -> std::sync::MutexGuard<'_, HashMap<i64, ImportProgress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores a file for an import. Blocks.
fn store_file(blobs: &Blobs, bytes: &[u8]) -> Result<Digest> {
    let digest = Digest::of(bytes);
    blobs.put(&digest, bytes)?;
    Ok(digest)
}

/// A file that somebody sends.
pub struct SentFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub body: Bytes,
    /// The e-mail address of the person who sends it, or the id of the client.
    pub who: String,
    /// The part of the roster that its rows may change.
    pub reach: Reach,
    /// How it is stored; `None` to only check it. See [`imports::add_confirmed`].
    pub keep_going: Option<bool>,
}

/// Adds an import of the file, with an entry in the audit log, and returns its number.
pub async fn send(app: &App, sent: SentFile) -> Result<i64> {
    let SentFile { name, body, who, reach, keep_going } = sent;
    let (blobs, bytes, now) = (app.blobs.clone(), body.len(), app.clock.now());
    let bytes = i64::try_from(bytes).map_err(Problem::internal)?;
    let digest = run_blocking(move || store_file(&blobs, &body)).await?.to_string();
    let add = move |tx: &mut Tx<'_>| {
        let new = NewImport { name: &name, bytes, file: &digest, who: &who, reach: &reach };
        let id = match keep_going {
            None => imports::add(tx, now, &new)?,
            Some(keep_going) => imports::add_confirmed(tx, now, &new, keep_going)?,
        };
        let change = AuditChange { who: &who, what: "import.send", subject: &id.to_string() };
        change.note(tx, now, &json!({ "file": name, "sha256": digest }))?;
        Ok(id)
    };
    let id = app.db.write(add).await?;
    app.imports.wake();
    Ok(id)
}

/// The decision of an owner about a checked import.
#[derive(Clone)]
pub enum Decision {
    /// Store its records within the reach that the owner has now.
    Start(Reach),
    /// Store nothing.
    Discard,
}

/// Stores the owner's decision about an import, and records it in the audit log. Errors: `NotFound`; `Conflict`.
pub async fn decide(app: &App, who: String, id: i64, decision: Decision) -> Result<()> {
    let now = app.clock.now();
    let decide = move |tx: &mut Tx<'_>| {
        let what = match &decision {
            Decision::Start(reach) => imports::start(tx, id, reach).map(|()| "import.begin"),
            Decision::Discard => imports::discard(tx, id).map(|()| "import.discard"),
        }?;
        AuditChange { who: &who, what, subject: &id.to_string() }.note(tx, now, &Value::Null)
    };
    app.db.write(decide).await?;
    app.imports.wake();
    Ok(())
}

/// The rejected rows of an import, as a CSV file to save. Errors: `NotFound`.
pub async fn rejected_rows(app: &App, import: &Import) -> Result<Answer> {
    let id = import.id;
    let missing =
        || Problem::new(ProblemKind::NotFound, message!("the import {id} refused no rows"));
    let digest = import.rejects.as_ref().ok_or_else(missing)?.parse()?;
    let blobs = app.blobs.clone();
    let bytes = run_blocking(move || blobs.read(&digest)).await?.ok_or_else(missing)?;
    let media = HeaderValue::from_static("text/csv; charset=utf-8");
    let name = format!("attachment; filename=\"import-{id}-refused.csv\"");
    Ok(Answer::typed(media, Body::from(bytes)).header(header::CONTENT_DISPOSITION, name))
}

/// Runs imports as they are added, until the server stops.
pub async fn work(app: App) {
    let mut changes = app.db.changes();
    loop {
        match next(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(problem) => {
                tracing::warn!(%problem, "an import failed; trying again later");
            }
        }
        let pause = Duration::from_millis(limits::IMPORT_POLL_MS);
        tokio::select! {
            () = changes.wait_for_job(&app.db, imports::KIND, pause) => {}
            () = app.imports.added.notified() => {}
        }
    }
}

/// Runs the next import. Returns `false` if there is none.
async fn next(app: &App) -> Result<bool> {
    if !app.db.read(|tx| lyceum_store::jobs::is_due(tx, imports::KIND)).await? {
        return Ok(false);
    }
    let claimed = app.db.write(imports::claim).await?;
    let Some((job, import)) = claimed else { return Ok(false) };
    let keeping = tokio::spawn(keep_lease(app.clone(), job.clone(), import.id));
    let done = trace::job("import", read(app, &import)).await;
    if done.is_ok() && import.state != ImportState::Checking {
        // Tracks enroll the imported students immediately. If that fails, the periodic settling does it later.
        if let Err(problem) = settle_users(app, &SettledUsers::Everybody).await {
            tracing::warn!(%problem, "not all students of an import were enrolled; trying again later");
        }
    }
    keeping.abort();
    app.imports.progress_by_import().remove(&import.id);
    let now = app.clock.now();
    let unneeded = match done {
        Ok(ImportReport { report, rejects, noted }) => {
            let mut report = serde_json::to_value(&report).map_err(Problem::internal)?;
            report["noted"] = noted.to_string().into();
            let rejects = rejects.map(|digest| digest.to_string());
            app.db
                .write(move |tx| {
                    let outcome = ImportOutcome {
                        report: Some(&report),
                        rejects: rejects.as_deref(),
                        error: None,
                    };
                    imports::store_outcome(tx, now, &job, &import, &outcome)
                })
                .await?
        }
        // The file causes the problem, so trying again would not help; or it was tried often enough. The end of an
        // import removes its file.
        Err(problem) if problem.kind == ProblemKind::Invalid || job.attempt >= JOB_MAX_ATTEMPTS => {
            if problem.kind != ProblemKind::Invalid {
                tracing::error!(%problem, cause = ?problem.cause, "an import failed for good");
            }
            app.db
                .write(move |tx| {
                    let outcome =
                        ImportOutcome { error: Some(&problem.message), ..ImportOutcome::default() };
                    imports::store_outcome(tx, now, &job, &import, &outcome)
                })
                .await?
        }
        Err(problem) => {
            let message = problem.message.clone();
            app.db.write(move |tx| lyceum_store::jobs::fail(tx, &job, &message)).await?;
            return Err(problem);
        }
    };
    hosted::remove_files(&app.db, &app.blobs, unneeded).await?;
    Ok(true)
}

/// Periodically stores the progress, which tells other servers that this one is running the job. On SQLite, this waits
/// for the import's transaction, but no other server reads it there.
async fn keep_lease(app: App, job: ClaimedJob, id: i64) {
    let pause = Duration::from_millis(limits::IMPORT_TELL_MS);
    loop {
        tokio::time::sleep(pause).await;
        let (job, progress) = (job.clone(), app.imports.progress(id));
        let renew = move |tx: &mut Tx<'_>| imports::renew(tx, &job, progress.as_ref());
        let kept = app.db.write(renew).await;
        if kept.is_ok_and(|kept| !kept) {
            return;
        }
    }
}

/// The result of a check or an import, and the blobs with details of each row.
struct ImportReport {
    report: CsvReport,
    /// The refused rows.
    rejects: Option<Digest>,
    /// The outcomes of all rows.
    noted: Digest,
}

/// Reads the file of an import.
async fn read(app: &App, import: &Import) -> Result<ImportReport> {
    let (app, import, now) = (app.clone(), import.clone(), app.clock.now());
    run_blocking(move || {
        let report_progress = |progress: csv::CsvProgress| {
            let percent = progress.bytes.saturating_mul(100) / progress.total_bytes.max(1);
            let file = progress.file.to_owned();
            let progress = ImportProgress { file, rows: progress.rows, percent };
            app.imports.progress_by_import().insert(import.id, progress);
        };
        let erased = crate::work::erasure::key(&app).erased_users();
        let absent = app.config.roster.absent_records;
        run((&app.db, &app.blobs), (erased, absent), &import, now, report_progress)
    })
    .await
}

fn run(
    (db, blobs): (&Db, &Blobs),
    (erased, absent): (ErasedUsers, AbsentRecords),
    import: &Import,
    now: Timestamp,
    mut report_progress: impl FnMut(csv::CsvProgress),
) -> Result<ImportReport> {
    let folder = TempDir::new().map_err(Problem::internal)?;
    let [path, refused, notes] =
        ["import.zip", "refused.csv", "notes.csv"].map(|name| folder.path().join(name));
    let Some(mut blob) = blobs.open(&import.file.parse()?)? else {
        return Err(Problem::new(
            ProblemKind::Invalid,
            "the file no longer exists; upload it again",
        ));
    };
    let mut file = File::create(&path).map_err(Problem::internal)?;
    io::copy(&mut blob.file, &mut file).map_err(Problem::internal)?;
    let check = import.state == ImportState::Checking;
    let rejects = (check || import.keep_going).then(|| refused.clone());
    let options = ImportOptions {
        rejects,
        check,
        notes: Some(notes.clone()),
        erased: Some(erased),
        strict: false,
        absent: AbsentPolicy { records: absent, allows_many: false },
        reach: import.reach.clone(),
    };
    // The message shows the name that the uploader knows, not the path on this server.
    let by_name = |problem: Problem| {
        let message = problem.message.replaced(&path.display().to_string(), &import.name);
        Problem { message, ..problem }
    };
    let mut read = |options: &ImportOptions| {
        csv::import(db, &path, options, now, &mut report_progress).map_err(by_name)
    };
    let mut report = read(&options)?;
    if !check && !report.committed {
        // Nothing was stored. Reading the file again finds the rows to correct.
        let rejects = Some(refused);
        let options = ImportOptions { rejects, check: true, ..options };
        report = read(&options)?;
    }
    let store = |path| store_file(blobs, &std::fs::read(path).map_err(Problem::internal)?);
    let rejects = report.rejects.take().map(store).transpose()?;
    Ok(ImportReport { report, rejects, noted: store(notes)? })
}
