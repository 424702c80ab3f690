//! Backups that the server makes by itself, at the times and into the place that the settings name.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lyceum_blob::FileLocation;
use lyceum_core::config::Secret;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_hosting::backup::runs::{self, BackupCheck, CheckMethod, ClaimedBackup};
use lyceum_hosting::backup::{BackupFile, BackupKey, UnpackedBackup, remove_unfinished_checks};
use lyceum_http::trace;
use lyceum_store::Tx;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::check::{TrialPlace, check_backup};
use super::schedule::{self, Schedule};
use super::{BackupSource, create};
use crate::{App, limits};

/// Makes backups until the server stops, if the settings name a place for them.
pub async fn work(app: App) {
    let node = Arc::clone(&app.cluster.node);
    if let Err(problem) = app.db.write(move |tx| runs::interrupt(tx, &node)).await {
        tracing::warn!(%problem, "backups that were interrupted are still shown as running");
    }
    if app.config.backup.to.is_empty() {
        return;
    }
    let data = app.config.store.data.clone();
    if let Err(problem) = detached(move || remove_unfinished_checks(&data)).await {
        tracing::warn!(%problem, "files of an interrupted trial remain in the data folder");
    }
    let schedule = Schedule::new(&app.config);
    loop {
        let pause_ms = match next(&app, &schedule).await {
            Ok(()) => limits::BACKUP_POLL_MS,
            Err(problem) => {
                tracing::error!(%problem, "a scheduled backup failed; trying again later");
                limits::BACKUP_REPORT_MS
            }
        };
        sleep(Duration::from_millis(pause_ms)).await;
    }
}

/// Makes the backup that is due, if this node has something to do for it.
async fn next(app: &App, schedule: &Schedule) -> Result<()> {
    let now = app.clock.now();
    let due = schedule.last_due(now);
    let node = Arc::clone(&app.cluster.node);
    if app.db.read(move |tx| runs::due_part(tx, now, &node, due)).await?.is_none() {
        return Ok(());
    }
    let node = Arc::clone(&app.cluster.node);
    let claimed = app.db.write(move |tx| runs::claim(tx, now, &node, due)).await?;
    let Some(claimed) = claimed else { return Ok(()) };
    let path = trace::job("backup", run(app, claimed)).await?;
    // A backup that cannot be restored must not replace older ones.
    if !path.is_empty()
        && !trace::job("backup trial", check_restorable(app, claimed.id, path)).await?
    {
        return Ok(());
    }
    let before = now.plus_seconds(-app.config.privacy.history_days * 86_400);
    let (own, schedule) = (Arc::clone(app), schedule.clone());
    detached(move || delete_outdated(&own, &schedule)).await?;
    app.db.write(move |tx| runs::forget(tx, before)).await
}

/// Reads the backup from its place, restores its database in a temporary one and records the result. Returns whether it
/// can be restored.
async fn check_restorable(app: &App, id: i64, path: String) -> Result<bool> {
    let own = Arc::clone(app);
    let trying = detached(move || {
        let config = &own.config;
        let opened = BackupFile::parse(&path, config)?.open()?;
        let backup = opened.ok_or_else(|| {
            Problem::new(ProblemKind::NotFound, message!("there is no file '{path}'"))
        })?;
        let name = format!("lyceum_trial_{}", own.cluster.node.tag());
        let address = config.store.database.as_ref().map(Secret::reveal);
        let trial = address.map(|address| TrialPlace { address, name: &name });
        check_backup(backup, &config.store.data, trial, |_| ())
    });
    let check = match trying.await {
        Ok(report) => BackupCheck { method: Some(report.method), error: first_of(&report.faults) },
        Err(problem) => BackupCheck { method: None, error: Some(problem.message) },
    };
    match (&check.error, check.method) {
        (Some(error), _) => tracing::error!(%error, "the backup cannot be restored"),
        (None, Some(CheckMethod::Restored)) => tracing::info!("restored the backup as a trial"),
        (None, _) => tracing::info!(
            "compared the checksums of the backup; a role that may create databases lets the server restore it as a \
             trial"
        ),
    }
    let (now, is_good) = (app.clock.now(), check.error.is_none());
    app.db.write(move |tx| runs::check(tx, now, id, &check)).await?;
    Ok(is_good)
}

/// The first of some errors, and how many more there are.
fn first_of(faults: &[String]) -> Option<Message> {
    match faults {
        [] => None,
        [fault] => Some(Message::untranslated(fault)),
        [first, more @ ..] => Some(message!("{first} (and {n} more)", n = more.len())),
    }
}

/// Makes a backup that a person asked for, where the schedule stores them or in the data folder. Returns its path or
/// address.
pub async fn back_up_now(app: &App) -> Result<String> {
    let (now, node) = (app.clock.now(), Arc::clone(&app.cluster.node));
    let claimed = app.db.write(move |tx| runs::begin(tx, now, &node)).await?;
    run(app, claimed).await
}

/// Makes a backup and records what became of it. Returns its path or address.
async fn run(app: &App, claimed: ClaimedBackup) -> Result<String> {
    let ClaimedBackup { id, has_database } = claimed;
    let (own, now) = (Arc::clone(app), app.clock.now());
    let making = detached(move || {
        if !has_database && !UnpackedBackup::is_taken(&own.config.store.data) {
            return Ok((String::new(), 0));
        }
        let file = new_file(&own, now)?;
        let source = BackupSource {
            db: &own.db,
            config: &own.config,
            node: &own.cluster.node,
            has_database,
        };
        let written = create(source, now, &file, |_| ())?;
        if let Some(first) = written.missing.first() {
            tracing::warn!(count = written.missing.len(), first, "files are missing in the backup");
        }
        Ok((file.path(), written.bytes))
    });
    match reporting(app, id, making).await {
        Ok((path, bytes)) => {
            let (now, file) = (app.clock.now(), path.clone());
            app.db.write(move |tx| runs::finish(tx, now, id, &file, bytes)).await?;
            tracing::info!(file = path, bytes, has_database, "made a backup");
            Ok(path)
        }
        Err(problem) => {
            let (now, error) = (app.clock.now(), problem.message.clone());
            app.db.write(move |tx| runs::fail(tx, now, id, &error)).await?;
            Err(problem)
        }
    }
}

/// The file of a backup that this node makes now.
fn new_file(app: &App, now: Timestamp) -> Result<BackupFile> {
    let (settings, data) = (&app.config.backup, &app.config.store.data);
    let location = match settings.to.as_str() {
        "" => FileLocation::Folder(data.join("backups")),
        to => FileLocation::parse(to, &app.config.s3)?,
    };
    let key = BackupKey::from_setting(settings.key.as_ref())?;
    Ok(BackupFile { location, name: schedule::name(now, app.cluster.node.id()), key })
}

/// Deletes the backups of this node that are not stored any longer.
fn delete_outdated(app: &App, schedule: &Schedule) -> Result<()> {
    let (now, node) = (app.clock.now(), app.cluster.node.id());
    let location = FileLocation::parse(&app.config.backup.to, &app.config.s3)?;
    let made = |name: &String| schedule::made_at(name, node);
    let stored = location.names()?.iter().filter_map(made).collect();
    for outdated in schedule.outdated(now, &stored) {
        let name = schedule::name(outdated, node);
        location.remove(&name)?;
        tracing::info!(file = location.path_of(&name), "deleted an old backup");
    }
    Ok(())
}

/// Reports regularly while slow work is done.
async fn reporting<T>(app: &App, id: i64, work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = sleep(Duration::from_millis(limits::BACKUP_REPORT_MS)) => {
                let now = app.clock.now();
                let report = move |tx: &mut Tx<'_>| runs::report(tx, now, id);
                if let Err(problem) = app.db.write(report).await {
                    tracing::debug!(%problem, "a running backup was not reported");
                }
            }
        }
    }
}

/// Runs slow work on a thread of its own. A server that stops does not wait for it.
async fn detached<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, receive) = oneshot::channel();
    let spawned = thread::Builder::new().name("backup".to_owned()).spawn(move || {
        let _ = send.send(work()); // an error: the server stops
    });
    spawned.map_err(Problem::internal)?;
    receive.await.map_err(|_| Problem::internal("a backup ended by a panic"))?
}
