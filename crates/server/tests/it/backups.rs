//! Backups that the server makes by itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_core::config::{Config, Secret};
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_hosting::backup::BackupFile;
use lyceum_hosting::backup::runs::{self, BackupRun, BackupState, CheckMethod};
use lyceum_store::{SqlDialect, StoreLocation, Tx};
use lyceum_testkit::both_stores;
use lyceum_testserver::server::{Setup, TestServer};

use crate::projects::{build, deploy};

fn setup(place: &Path) -> Setup {
    let mut setup = Setup::default();
    setup.config.backup.to = place.display().to_string();
    setup.config.backup.key = Some(Secret::new("07".repeat(32)));
    setup
}

/// The runs of all nodes, the newest one first, as soon as they are as wanted.
fn runs_when(server: &TestServer, is_wanted: impl Fn(&[BackupRun]) -> bool) -> Vec<BackupRun> {
    let since = Instant::now();
    loop {
        let now = server.setup().clock.now();
        let runs = server.db().read_blocking(|tx| runs::newest(tx, now, 10)).unwrap();
        if is_wanted(&runs) {
            return runs;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{runs:#?}");
        sleep(Duration::from_millis(50));
    }
}

fn both(body: impl Fn(&StoreLocation, &Path)) {
    both_stores(&lyceum_api::migrations(), |target| {
        body(target, tempfile::tempdir().unwrap().path());
    });
}

#[test]
#[ignore = "rest"]
fn a_server_backs_itself_up_encrypted_and_restores_the_backup_as_a_trial() {
    both(|target, place| {
        let server = TestServer::start_as(target, setup(place));
        let run = runs_when(&server, |runs| runs.iter().any(|run| run.checked.is_some())).remove(0);
        assert_eq!((run.state, run.error, run.check_error), (BackupState::Done, None, None));
        assert_eq!(run.check_method, Some(CheckMethod::Restored));
        assert!(run.has_database && run.due.is_some_and(|due| due <= run.began));
        let bytes = fs::read(&run.file).unwrap();
        assert!(bytes.starts_with(b"LYCEUM") && bytes.len() as u64 == run.bytes);
        assert_eq!(Path::new(&run.file).parent(), Some(place));
        let mut config = server.setup().config.clone();
        let open = |config: &Config| BackupFile::parse(&run.file, config).unwrap().open();
        assert!(open(&config).unwrap().is_some());
        for (key, refusal) in [("08", "a key other than"), ("", "set 'backup.key'")] {
            config.backup.key = Some(key.repeat(32)).filter(|key| !key.is_empty()).map(Secret::new);
            let problem = open(&config).err().unwrap();
            assert!(problem.message.contains(refusal), "{problem}");
        }
        if server.db().dialect() == SqlDialect::Postgres {
            let name = format!("lyceum_trial_{}", &run.node_id[24..]);
            let sql = "SELECT COUNT(*) FROM pg_database WHERE datname = $1";
            let count = |tx: &mut Tx<'_>| tx.query_one(sql, &[(&name).into()], |row| row.int(0));
            let trials = server.db().read_blocking(count);
            assert_eq!(trials.unwrap(), Some(0), "the temporary database is dropped");
        }
        let left: Vec<_> = fs::read_dir(&server.setup().config.store.data).unwrap().collect();
        let left = left.iter().flatten().map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(left.filter(|name| name.starts_with("backup-")).count(), 0);
    });
}

#[test]
#[ignore = "rest"]
fn a_server_removes_outdated_and_interrupted_backups() {
    both(|target, place| {
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let mut setup = setup(place);
        setup.clock = Arc::<ManualClock>::clone(&clock);
        let server = TestServer::start_as(target, setup);
        let first = runs_when(&server, |runs| runs.iter().any(|run| run.checked.is_some()));
        let name = Path::new(&first[0].file).file_name().unwrap().to_str().unwrap().to_owned();
        // A node's id has 36 characters.
        let end = &name[name.len() - 36 - ".backup".len()..];
        let partial = place.join(format!("lyceum-2026-01-01T02-00-00-000Z-{end}.partial"));
        let old = place.join(format!("lyceum-2026-01-01T02-00-00-000Z-{end}"));
        let foreign = place.join("lyceum-2026-01-01T02-00-00-000Z-other.backup");
        for file in [&partial, &old, &foreign] {
            fs::write(file, "x").unwrap();
        }
        clock.advance_milliseconds(86_400_000);
        runs_when(&server, |runs| runs.iter().filter(|run| run.checked.is_some()).count() == 2);
        let since = Instant::now();
        while old.exists() && since.elapsed() < Duration::from_secs(10) {
            sleep(Duration::from_millis(20));
        }
        assert!(!old.exists() && !partial.exists() && foreign.exists());
        assert_eq!(fs::read_dir(place).unwrap().count(), 3, "the backups of both days");
    });
}

#[test]
fn servers_of_a_database_share_the_work_of_a_backup() {
    both_stores(&lyceum_api::migrations(), |target| {
        if matches!(target, StoreLocation::Sqlite(_)) {
            return; // it has one server
        }
        let place = tempfile::tempdir().unwrap();
        let first = TestServer::start_as(target, Setup::default());
        deploy(&first.client(), &build("one"), &[]);
        let mut setups = [setup(place.path()), setup(place.path())];
        setups[0].folder.clone_from(&first.setup().folder);
        for setup in &mut setups {
            setup.master = first.setup().master.clone();
        }
        drop(first);
        let [oak, elm] = setups.map(|setup| TestServer::start_as(target, setup));
        let done = |runs: &[BackupRun]| runs.iter().filter(|run| run.checked.is_some()).count();
        let is_done = |runs: &[BackupRun]| {
            let is_over = |run: &BackupRun| run.state == BackupState::Done;
            runs.len() == 2 && runs.iter().all(is_over) && done(runs) > 0
        };
        let runs = runs_when(&elm, is_done);
        let with_database: Vec<_> = runs.iter().filter(|run| run.has_database).collect();
        assert_eq!(with_database.len(), 1, "{runs:#?}");
        let nodes = [&runs[0], &runs[1]].map(|run| run.node_id.clone());
        assert_ne!(nodes[0], nodes[1]);
        // The node without projects has nothing to back up but the database.
        let files = runs.iter().filter(|run| !run.file.is_empty()).count();
        assert!((1..=2).contains(&files) && !with_database[0].file.is_empty(), "{runs:#?}");
        drop(oak);
    });
}
