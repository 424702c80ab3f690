//! Consumers that poll for changed records miss none.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_core::{Problem, Result};
use lyceum_store::{Db, Migration, StoreLocation, Tx};
use lyceum_testkit::both_stores;

use crate::wait;

const RECORDS: &[Migration] = &[Migration {
    version: 2,
    name: "records",
    sql: "CREATE TABLE records (
        id TEXT NOT NULL UNIQUE,
        version BIGINT NOT NULL,
        date_last_modified TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX records_modified ON records (date_last_modified);",
}];

/// The beginning of the next poll that a consumer sends.
#[derive(Clone, Copy, PartialEq)]
enum Watermark {
    GreatestSeen,
    CompleteUntil,
    TimeOfPoll,
}

/// A consumer, with the versions of records that it has seen.
struct Consumer {
    watermark: Watermark,
    since: Timestamp,
    seen: HashMap<String, i64>,
}

impl Consumer {
    async fn poll(&mut self, db: &Db, now: Timestamp) -> Result<()> {
        let until = db.records_complete_until(now).await?;
        // The record at the watermark itself was seen, except for the time of the last poll.
        let is_later = if self.watermark == Watermark::TimeOfPoll { ">=" } else { ">" };
        let sql = format!(
            "SELECT id, version, date_last_modified FROM records \
             WHERE date_last_modified {is_later} $1 AND date_last_modified <= $2"
        );
        let (since, until_text) = (self.since.to_string(), until.to_string());
        let found = db.read(move |tx| {
            let bounds = [since.as_str().into(), until_text.as_str().into()];
            tx.rows::<(String, i64, String)>(&sql, &bounds)
        });
        let mut greatest = self.since;
        for (id, version, stamp) in found.await? {
            greatest = greatest.max(stamp.parse().map_err(Problem::internal)?);
            self.seen.insert(id, version);
        }
        self.since = match self.watermark {
            Watermark::GreatestSeen => greatest,
            Watermark::CompleteUntil => until,
            Watermark::TimeOfPoll => now,
        };
        Ok(())
    }
}

fn put(tx: &mut Tx<'_>, id: &str, version: i64, now: Timestamp) -> Result<()> {
    let stamp = tx.stamp_rows("records", now)?.to_string();
    let body = format!("{{\"dateLastModified\":\"{stamp}\"}}");
    let sql = "INSERT INTO records (id, version, date_last_modified, body) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, \
         date_last_modified = excluded.date_last_modified, body = excluded.body";
    let row = [id.into(), version.into(), stamp.as_str().into(), body.as_str().into()];
    tx.execute(sql, &row).map(drop)
}

/// Creates records until it is told to stop, and changes some of them; some writes are slow, and some are refused.
fn write_records(db: &Db, writer: usize, stop: &AtomicBool, versions: &AtomicI64) {
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let version = versions.fetch_add(1, Ordering::Relaxed);
        let write = move |tx: &mut Tx<'_>| {
            let now = SystemClock.now();
            put(tx, &format!("{writer}-{round}"), version, now)?;
            if round % 5 == 0 {
                thread::sleep(Duration::from_millis(7));
                put(tx, &format!("{writer}-{}", round / 2), version, now)?;
            }
            if round % 7 == 0 { Err(Problem::internal("refused")) } else { Ok(()) }
        };
        let written = wait(db.write(write));
        assert_eq!(written.is_ok(), round % 7 != 0, "{written:?}");
    }
}

fn import_records(db: &Db, stop: &AtomicBool, versions: &AtomicI64) {
    let mut import = 0;
    while !stop.load(Ordering::Relaxed) {
        import += 1;
        let imported = db.write_blocking(|tx| {
            tx.stamp_at_end();
            for record in 0..20 {
                let version = versions.fetch_add(1, Ordering::Relaxed);
                put(tx, &format!("import-{import}-{record}"), version, SystemClock.now())?;
                thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        });
        imported.unwrap();
    }
}

#[test]
fn consumers_that_poll_see_the_last_version_of_every_record() {
    both_stores(RECORDS, |target: &StoreLocation| {
        let servers = [(); 2].map(|()| Db::open(target, RECORDS).unwrap());
        let (stop, versions) = (AtomicBool::new(false), AtomicI64::new(1));
        let watermarks = [Watermark::GreatestSeen, Watermark::CompleteUntil, Watermark::TimeOfPoll];
        let since = Timestamp::from_milliseconds(0);
        let consumer = |watermark| Consumer { watermark, since, seen: HashMap::new() };
        let consumers: Vec<Consumer> = thread::scope(|scope| {
            for writer in 0..4 {
                let (db, stop, versions) = (&servers[writer % 2], &stop, &versions);
                scope.spawn(move || write_records(db, writer, stop, versions));
            }
            scope.spawn(|| import_records(&servers[0], &stop, &versions));
            let polls = watermarks.map(|watermark| {
                let (db, stop) = (&servers[watermark as usize % 2], &stop);
                scope.spawn(move || {
                    let mut consumer = consumer(watermark);
                    while !stop.load(Ordering::Relaxed) {
                        wait(consumer.poll(db, SystemClock.now())).unwrap();
                    }
                    consumer
                })
            });
            thread::sleep(Duration::from_secs(2));
            stop.store(true, Ordering::Relaxed);
            polls.map(|poll| poll.join().unwrap()).into()
        });
        let read = |tx: &mut Tx<'_>| tx.rows("SELECT id, version FROM records", &[]);
        let stored: Vec<(String, i64)> = servers[0].read_blocking(read).unwrap();
        assert!(stored.len() > 100, "{} records", stored.len());
        for mut consumer in consumers {
            wait(consumer.poll(&servers[1], SystemClock.now())).unwrap();
            let missed = |(id, version): &&(String, i64)| consumer.seen.get(id) != Some(version);
            let missed: Vec<_> = stored.iter().filter(missed).collect();
            assert!(missed.is_empty(), "{} of {} missed: {missed:?}", missed.len(), stored.len());
        }
    });
}

#[test]
fn a_long_write_gets_a_stamp_behind_the_polls_during_it() {
    both_stores(RECORDS, |target: &StoreLocation| {
        let db = Db::open(target, RECORDS).unwrap();
        let begun = SystemClock.now();
        let mut polled = begun;
        let written = db.write_blocking(|tx| {
            tx.stamp_at_end();
            put(tx, "one", 1, begun)?;
            tx.note_removed(("thing", "gone"), None, begun)?;
            if matches!(target, StoreLocation::Postgres(_)) {
                polled = wait(db.records_complete_until(begun))?;
            }
            put(tx, "two", 1, begun)
        });
        written.unwrap();
        let read = |tx: &mut Tx<'_>| {
            let sql = "SELECT date_last_modified, body FROM records";
            let records: Vec<(String, String)> = tx.rows(sql, &[])?;
            let removed: Vec<i64> =
                tx.rows("SELECT stamp FROM removed_records WHERE kind <> ''", &[])?;
            Ok((records, removed))
        };
        let (records, removed) = db.read_blocking(read).unwrap();
        let stamp: Timestamp = records[0].0.parse().unwrap();
        assert!(stamp >= polled && stamp < begun.plus_seconds(60), "{stamp} {polled}");
        let body = format!("{{\"dateLastModified\":\"{stamp}\"}}");
        assert_eq!(records, [(stamp.to_string(), body.clone()), (stamp.to_string(), body)]);
        assert_eq!(removed, [stamp.milliseconds()]);
    });
}
