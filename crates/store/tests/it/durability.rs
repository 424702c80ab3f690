use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use lyceum_store::StoreLocation;

use crate::{count, open, wait, with_target};

/// Where the process of a [`Writer`] writes.
const TARGET: &str = "LYCEUM_TEST_WRITER_TARGET";
const ROUND: &str = "LYCEUM_TEST_WRITER_ROUND";
const WRITES_PER_ROUND: usize = 400;

/// Another process that writes to the target until it is killed.
struct Writer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Writer {
    fn start(target: &StoreLocation, round: usize) -> Self {
        let address = match target {
            StoreLocation::Sqlite(path) => path.to_str().unwrap(),
            StoreLocation::Postgres(url) => url,
        };
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["durability::writer", "--exact", "--nocapture"])
            .env(TARGET, address)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next ids that were acknowledged to the process; fewer when it has ended. The last one
    /// of a killed process may be cut short, which its missing end shows.
    fn acknowledged(&mut self, most: usize) -> Vec<String> {
        let lines = self.lines.by_ref().map(Result::unwrap);
        lines.filter(|line| line.starts_with("thing-") && line.ends_with('.')).take(most).collect()
    }

    fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.acknowledged(usize::MAX)
    }
}

fn assert_stored(target: &StoreLocation, acknowledged: &BTreeSet<String>) {
    let mut stored = BTreeSet::new();
    open(target)
        .read_blocking(|tx| {
            tx.query("SELECT id FROM things", &[], |row| {
                stored.insert(row.text(0)?.to_owned());
                Ok(true)
            })
        })
        .unwrap();
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

#[test]
fn acknowledged_writes_outlive_their_process() {
    with_target(|target| {
        let mut acknowledged = BTreeSet::new();
        for round in 0..3 {
            let mut writer = Writer::start(target, round);
            acknowledged.extend(writer.acknowledged(WRITES_PER_ROUND));
            acknowledged.extend(writer.kill());
        }
        assert!(acknowledged.len() >= 3 * WRITES_PER_ROUND);
        assert_stored(target, &acknowledged);
    });
}

#[test]
fn two_processes_write_one_database() {
    with_target(|target| {
        let mut writers = [1, 2].map(|round| Writer::start(target, round));
        let mut acknowledged = BTreeSet::new();
        for _ in 0..4 {
            for writer in &mut writers {
                let ids = writer.acknowledged(WRITES_PER_ROUND / 8);
                assert_eq!(ids.len(), WRITES_PER_ROUND / 8, "a writer gave up");
                acknowledged.extend(ids);
            }
        }
        acknowledged.extend(writers.into_iter().flat_map(Writer::kill));
        assert_stored(target, &acknowledged);
    });
}

/// A commit is seen before the disk has it. Who waits for the sync has it durable.
#[test]
fn reads_are_synced_before_they_are_returned() {
    with_target(|target| {
        let db = open(target);
        // PostgreSQL shows a commit once it is durable.
        let Some(turn) = db.sync_turn() else { return wait(db.synced()).unwrap() };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let held = turn.lock().unwrap();
        let (of_writer, of_reader) = (db.clone(), db.clone());
        let sql = "INSERT INTO things (id) VALUES ('seen')";
        let write = runtime.spawn(async move { of_writer.write(|tx| tx.execute(sql, &[])).await });
        while count(&db) == 0 {
            std::thread::yield_now();
        }
        let read = runtime.spawn(async move { of_reader.synced().await });
        std::thread::sleep(Duration::from_millis(200));
        assert!(!read.is_finished() && !write.is_finished(), "the disk does not have it yet");
        drop(held);
        runtime.block_on(read).unwrap().unwrap();
        assert_eq!(runtime.block_on(write).unwrap().unwrap(), 1);
    });
}

/// The process of a [`Writer`]: writes for ever, prints each id that was acknowledged. Run as a
/// test like any other, it is told no target and has nothing to do.
#[test]
fn writer() {
    #[expect(clippy::disallowed_methods, reason = "a child process is told so what to do")]
    let (Ok(address), Ok(round)) = (std::env::var(TARGET), std::env::var(ROUND)) else { return };
    let target = if address.starts_with("postgres") {
        StoreLocation::Postgres(address)
    } else {
        StoreLocation::Sqlite(address.into())
    };
    let db = open(&target);
    wait(async {
        let writers = (0..8).map(|writer| {
            let (db, round) = (db.clone(), round.clone());
            tokio::spawn(async move {
                for n in 0.. {
                    let id = format!("thing-{round}-{writer}-{n}.");
                    let line = format!("{id}\n");
                    let sql = "INSERT INTO things (id) VALUES ($1)";
                    db.write(move |tx| tx.execute(sql, &[(&id).into()])).await.unwrap();
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    });
}
