use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use lyceum_store::Target;

use crate::{open, wait, with_target};

/// Where the writer of [`acknowledged_writes_outlive_their_process`] writes.
const TARGET: &str = "LYCEUM_TEST_WRITER_TARGET";
const ROUND: &str = "LYCEUM_TEST_WRITER_ROUND";
const WRITES_PER_ROUND: usize = 400;

#[test]
fn acknowledged_writes_outlive_their_process() {
    with_target(|target| {
        let address = match target {
            Target::Sqlite(path) => path.to_str().unwrap(),
            Target::Postgres(url) => url,
        };
        let mut acknowledged = BTreeSet::new();
        for round in 0..3 {
            let mut writer = Command::new(std::env::current_exe().unwrap())
                .args(["durability::writer", "--exact", "--ignored", "--nocapture"])
                .env(TARGET, address)
                .env(ROUND, round.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
            let ids = lines.by_ref().map(Result::unwrap).filter(|line| line.starts_with("thing-"));
            acknowledged.extend(ids.take(WRITES_PER_ROUND));
            writer.kill().unwrap();
            writer.wait().unwrap();
            let rest = lines.map(Result::unwrap).filter(|line| line.starts_with("thing-"));
            // The last line may be cut short by the kill, so its id may be another's prefix.
            acknowledged.extend(rest.filter(|line| line.ends_with('.')));
        }
        let mut stored = BTreeSet::new();
        open(target)
            .read_blocking(|tx| {
                tx.query("SELECT id FROM things", &[], |row| {
                    stored.insert(row.text(0)?.to_owned());
                    Ok(true)
                })
            })
            .unwrap();
        assert!(acknowledged.len() >= 3 * WRITES_PER_ROUND);
        let lost: Vec<_> = acknowledged.difference(&stored).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
    });
}

/// The other process of the test above: writes for ever, prints each id that was acknowledged.
#[test]
#[ignore = "runs only as a child of acknowledged_writes_outlive_their_process"]
fn writer() {
    #[expect(clippy::disallowed_methods, reason = "a child process is told so what to do")]
    let (Ok(address), Ok(round)) = (std::env::var(TARGET), std::env::var(ROUND)) else { return };
    let target = if address.starts_with("postgres") {
        Target::Postgres(address)
    } else {
        Target::Sqlite(address.into())
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
