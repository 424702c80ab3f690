//! Facts from outside: exact after `kill -9` under load, and equal to what a rebuild gives.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lyceum_core::random::Stream;
use lyceum_store::{Db, Target};
use lyceum_testkit::client::TestClient;
use lyceum_testkit::full_size;
use serde_json::{Value, json};

use crate::http::Http;
use crate::python::run;
use crate::served::{Served, Store, on_both_stores};

/// Clients that send at once.
const SENDERS: u64 = 8;
/// Events of one envelope.
const EVENTS: u64 = 20;
/// Students that they share, so that envelopes meet in the same rows.
const STUDENTS: u64 = 200;
/// The longest time between the start of the load and the kill.
const KILL_MAX_MS: u64 = 400;

on_both_stores!(
    acknowledged_events_count_once_after_every_kill,
    the_published_client_reads_analytics,
);

fn acknowledged_events_count_once_after_every_kill(store: Store) {
    let kills = if full_size() { 50 } else { 5 };
    let address = match &store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    };
    let mut served = Served::start(store);
    let mut random = Stream::seeded(23);
    let mut acknowledged = BTreeSet::new();
    for round in 0..kills {
        let api = api(&served);
        let least = Duration::from_millis(random.below(KILL_MAX_MS));
        acknowledged.extend(send_and_kill(&api, round, least, &mut served));
        let target = match &address {
            Some(address) => Target::Postgres(address.clone()),
            None => Target::Sqlite(served.file("data").join("lyceum.db")),
        };
        check(&target, &acknowledged, round == kills - 1, &served);
        served = served.again();
    }
    println!("{kills} kills, {} events acknowledged", acknowledged.len());
}

fn api(served: &Served) -> TestClient {
    let key = served.client("platform", &[]);
    let http = Http::sign_in(&served.base, &key, None);
    TestClient::new(&served.base).with_token(http.token())
}

/// Sends envelopes from many clients until the server is killed; the ids of acknowledged events.
fn send_and_kill(
    api: &TestClient,
    round: u64,
    least: Duration,
    served: &mut Served,
) -> Vec<String> {
    let acknowledged = Mutex::new(Vec::new());
    let killed = AtomicBool::new(false);
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (acknowledged, killed) = (&acknowledged, &killed);
            scope.spawn(move || {
                let mut random = Stream::seeded(round * SENDERS + sender);
                for number in 0.. {
                    let base = ((round * SENDERS + sender) * 10_000 + number) * EVENTS;
                    let (envelope, ids) = envelope(&mut random, base);
                    match api.post("/caliper/event").json(&envelope).try_send() {
                        Ok(reply) if reply.status == 200 => {
                            acknowledged.lock().unwrap().extend(ids);
                        }
                        Ok(reply) if !killed.load(Ordering::SeqCst) => {
                            panic!("refused with {}: {}", reply.status, reply.text());
                        }
                        _ => return,
                    }
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 200 {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(least);
        killed.store(true, Ordering::SeqCst);
        served.kill();
    });
    acknowledged.into_inner().unwrap()
}

/// An envelope of new events, each of one XP, every third of them spread over bounds of buckets.
fn envelope(random: &mut Stream, base: u64) -> (Value, Vec<String>) {
    let ids: Vec<String> = (base..base + EVENTS)
        .map(|number| format!("urn:uuid:00000000-0000-4000-8000-{number:012}"))
        .collect();
    let data: Vec<Value> = ids.iter().map(|id| event(random, id)).collect();
    let envelope = json!({
        "sensor": "https://app.example.org/sensors/1",
        "sendTime": "2026-03-20T00:00:00.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": data,
    });
    (envelope, ids)
}

fn event(random: &mut Stream, id: &str) -> Value {
    let hour = 1 + random.below(20);
    json!({
        "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "id": id,
        "type": "ActivityEvent",
        "action": "Completed",
        "profile": "TimebackProfile",
        "eventTime": format!("2026-03-19T{hour:02}:00:00.000Z"),
        "actor": {
            "id": format!("https://lyceum.example.org/users/student-{}", random.below(STUDENTS)),
            "type": "TimebackUser",
            "email": "someone@example.org",
        },
        "object": {
            "id": "https://app.example.org/activities/1",
            "type": "TimebackActivityContext",
            "subject": "Math",
            "app": {"name": "Abacus"},
        },
        "generated": {
            "id": "https://app.example.org/metrics/1",
            "type": "TimebackActivityMetricsCollection",
            "items": [{"type": "xpEarned", "value": 1}, {"type": "totalQuestions", "value": 3}],
        },
    })
}

/// Every acknowledged event is there once, and the facts are those of the log.
fn check(target: &Target, acknowledged: &BTreeSet<String>, rebuild: bool, served: &Served) {
    let db = Db::open(target, &lyceum_server::migrations()).unwrap();
    let (mut ids, mut rows) = (BTreeSet::new(), 0);
    db.read_blocking(|tx| {
        lyceum_events::scan(tx, 0, i64::MAX, |logged| {
            ids.insert(logged.event.id.clone());
            rows += 1;
            Ok(())
        })
    })
    .unwrap();
    assert_eq!(ids.len(), rows, "an event is there twice");
    let lost: Vec<&String> = acknowledged.difference(&ids).collect();
    assert!(lost.is_empty(), "{} are lost: {lost:?}", lost.len());
    let (before, xp) = facts(&db);
    assert_eq!(xp, i64::try_from(rows).unwrap() * 1000, "one XP an event");
    if rebuild {
        println!("{}", served.run(&["events", "rebuild", "--json"]).trim());
        assert!(facts(&db).0 == before, "a rebuild gives other rows");
    }
}

/// The rows of the facts, and the sum of their XP.
fn facts(db: &Db) -> (Vec<String>, i64) {
    let sql = "SELECT CAST(sum(xp) AS BIGINT), CAST(sum(events) AS BIGINT), \
               CAST(sum(total_questions) AS BIGINT), CAST(sum(correct_questions) AS BIGINT), \
               CAST(sum(mastered_units) AS BIGINT), CAST(sum(active) AS BIGINT), \
               CAST(sum(inactive) AS BIGINT), CAST(sum(waste) AS BIGINT), CAST(sum(unknown) AS \
               BIGINT), CAST(sum(anti_pattern) AS BIGINT), actor, bucket, context FROM facts \
               GROUP BY actor, bucket, context ORDER BY actor, bucket, context";
    let (mut rows, mut xp) = (Vec::new(), 0);
    db.read_blocking(|tx| {
        tx.query(sql, &[], |row| {
            xp += row.int(0)?;
            let cells: Result<Vec<i64>, _> = (0..13).map(|at| row.int(at)).collect();
            rows.push(format!("{:?}", cells?));
            Ok(true)
        })
    })
    .unwrap();
    (rows, xp)
}

fn the_published_client_reads_analytics(store: Store) {
    let served = Served::start(store);
    let key = served.client("platform", &[]);
    println!("{}", run(&served, &key, "clients", "analytics.py", &[]));
}
