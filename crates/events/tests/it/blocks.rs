//! Events that come together stand in blocks, and are read as those that came alone.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_events::limits::{EVENT_BLOCK_MAX_BYTES, EVENT_BLOCK_MAX_RECORDS};
use lyceum_events::repository::{
    Accepted, EventFilter, EventOrder, EventOrderKey, Follow, accept, finished_job, list, read,
    take_jobs,
};
use lyceum_events::{Envelope, Event, LoggedEvent, append, of_actor, scan};
use lyceum_store::{Db, Tx};
use lyceum_testkit::both_stores;

use crate::log::{EARLY, LATE, both, event, send};

/// Texts that are packed, and two that are too long for it: one is as long as a block, one is longer.
fn events() -> Vec<Event> {
    let names = ["a", "ä\u{1f600}\u{301}\"\\\n\t\u{0}", "\u{10ffff}\u{feff}", ""];
    (0..80)
        .map(|number| {
            let name = match number {
                40 => "x".repeat(EVENT_BLOCK_MAX_BYTES - 600),
                50 => "y".repeat(EVENT_BLOCK_MAX_BYTES),
                _ => format!("{} {number}", names[number as usize % names.len()]),
            };
            let mut event = event(number, &name, EARLY);
            event.sensor = format!("https://app.example.org/sensors/{}", number % 5);
            event.time = event.time.plus_seconds(i64::from(number * 7919 % 100_000));
            event
        })
        .collect()
}

/// All that is read of the log, in each way that there is.
fn all_reads(tx: &mut Tx<'_>) -> Result<Vec<LoggedEvent>> {
    let mut found = Vec::new();
    let filters = [
        EventFilter::default(),
        EventFilter {
            sensor: Some("https://app.example.org/sensors/2".into()),
            ..EventFilter::default()
        },
        EventFilter {
            actor_id: Some("https://example.org/users/1".into()),
            ..EventFilter::default()
        },
        EventFilter {
            start: Some(event(0, "", EARLY).time.plus_seconds(9000)),
            ..EventFilter::default()
        },
    ];
    for filter in &filters {
        for by in [EventOrderKey::Arrival, EventOrderKey::Time, EventOrderKey::Sensor] {
            for is_reversed in [false, true] {
                let order = EventOrder { by, is_reversed };
                found.extend(
                    list(tx, filter, &lyceum_events::ActorFilter::Everyone, order, 100, 3)?.events,
                );
            }
        }
    }
    let mut keep = |logged| {
        found.push(logged);
        Ok(())
    };
    assert_eq!(scan(tx, 0, 1000, &mut keep)?, None);
    for actor in 1..=3 {
        of_actor(tx, actor, i64::MIN / 2..i64::MAX / 2, &mut keep)?;
    }
    for number in 0..80 {
        found.extend(read(
            tx,
            &event(number, "", EARLY).id,
            &lyceum_events::ActorFilter::Everyone,
        )?);
    }
    Ok(found)
}

fn blocks(db: &Db) -> usize {
    let count =
        |tx: &mut Tx<'_>| tx.query_one("SELECT COUNT(*) FROM event_blocks", &[], |row| row.int(0));
    usize::try_from(db.read_blocking(count).unwrap().unwrap()).unwrap()
}

/// Reads of the log after events were appended so many at a time, and some of them corrected.
fn reads(db: &Db, together: usize) -> Vec<LoggedEvent> {
    let events = events();
    events.chunks(together).for_each(|chunk| drop(send(db, "app", chunk)));
    send(db, "app", &[event(7, "corrected", LATE), event(41, "corrected", LATE)]);
    send(db, "app", &events);
    db.read_blocking(all_reads).unwrap()
}

#[test]
fn events_in_blocks_are_read_as_those_in_rows() {
    both(|db| {
        let alone = reads(db, 8);
        assert_eq!(blocks(db), 0, "few at a time stand in their rows");
        both_stores(lyceum_events::MIGRATIONS, |target| {
            let db = Db::open(target, lyceum_events::MIGRATIONS).unwrap();
            let packed = reads(&db, 80);
            let texts = blocks(&db);
            assert!(texts >= 80 / EVENT_BLOCK_MAX_RECORDS, "{texts} blocks");
            assert_eq!(packed.len(), alone.len());
            for (packed, alone) in packed.iter().zip(&alone) {
                assert!(packed.event == alone.event, "{}", packed.event.id);
            }
            let sent = events();
            let kept = |logged: &&LoggedEvent| {
                sent.iter().any(|event| event.body() == logged.event.body())
            };
            assert!(packed.iter().filter(kept).count() > 500, "the texts are those that were sent");
        });
    });
}

/// Rows are written before it is known whose ids are taken.
#[test]
fn repeated_events_add_neither_rows_nor_blocks() {
    both(|db| {
        let all = |numbers: std::ops::Range<u32>| {
            numbers.map(|number| event(number, "a", EARLY)).collect::<Vec<_>>()
        };
        for numbers in [0..100, 0..100, 50..150, 130..200, 0..30, 199..200] {
            send(db, "app", &all(numbers));
        }
        let counts = db.read_blocking(|tx| {
            let sql = "SELECT (SELECT COUNT(*) FROM event_log), (SELECT COUNT(*) FROM event_blocks b \
                       WHERE NOT EXISTS (SELECT 1 FROM event_log l WHERE l.block = b.id))";
            let counts = tx.query_one(sql, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
            let mut texts = 0;
            scan(tx, 0, i64::MAX, |logged| {
                texts += usize::from(logged.event.body().contains("Document"));
                Ok(())
            })?;
            Ok((counts.unwrap(), texts))
        });
        assert_eq!(counts.unwrap(), ((200, 0), 200));
    });
}

#[test]
fn events_in_blocks_reach_followers_and_have_the_ids_of_their_job() {
    both(|db| {
        let events = events();
        let now = Timestamp::from_milliseconds(0);
        let envelope = Envelope {
            sensor: String::new(),
            send_time: now,
            events: events.clone(),
            entities: vec![],
        };
        let job = db.write_blocking(|tx| {
            let appended = append(tx, now, "app", &events)?;
            let job = take_jobs(tx, 1)?[0];
            let (client, envelope, appended) = ("app", &envelope, &appended[..]);
            accept(tx, now, &[Accepted { job, client, envelope, appended }])?;
            Ok(job)
        });
        let job = job.unwrap();
        let done = db
            .read_blocking(|tx| finished_job(tx, job, &lyceum_events::ActorFilter::Everyone))
            .unwrap()
            .unwrap();
        let ids = |events: Vec<String>| events.join(" ");
        let sent = ids(events.iter().map(|event| event.id.clone()).collect());
        assert_eq!(ids(done.events.into_iter().map(|(_, id)| id).collect()), sent);
        let look =
            |tx: &mut Tx<'_>| Follow::from(0).look(tx, now, &lyceum_events::ActorFilter::Everyone);
        let mut followed = db.read_blocking(look).unwrap();
        while followed.0.waits() {
            followed = db.read_blocking(look).unwrap();
        }
        assert_eq!(ids(followed.1.into_iter().map(|logged| logged.event.id).collect()), sent);
    });
}

#[test]
fn a_damaged_block_is_an_error_and_not_a_panic() {
    both(|db| {
        send(db, "app", &events());
        let read_all = || db.read_blocking(|tx| scan(tx, 0, 1000, |_| Ok(())));
        read_all().unwrap();
        let bomb = zstd::bulk::compress(&vec![0; 100 * EVENT_BLOCK_MAX_BYTES], 1).unwrap();
        let cut = zstd::bulk::compress(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, b'{'], 1).unwrap();
        let other = zstd::bulk::compress(&[0, 0, 0, 0, 0, 9, 9, 9, 0, 0, 0, 1, b'{'], 1).unwrap();
        for broken in [&b""[..], b"no zstd", &bomb, &cut, &other] {
            let set = |tx: &mut Tx<'_>| {
                tx.execute("UPDATE event_blocks SET packed = $1", &[broken.into()])
            };
            db.write_blocking(set).unwrap();
            assert!(read_all().is_err(), "{broken:.20?}");
        }
        db.write_blocking(|tx| tx.execute("DELETE FROM event_blocks", &[])).unwrap();
        assert!(read_all().is_err(), "no block at all");
    });
}
