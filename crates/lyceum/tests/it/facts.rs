//! Facts from outside: exact after `kill -9` under load, and equal to what a rebuild gives.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;
use lyceum_events::facts::{self, Measure};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::client::TestClient;
use lyceum_testkit::full_size;
use serde_json::{Value, json};

use crate::http::Http;
use crate::python::run;
use crate::served::{Key, Served, Store, on_both_stores};

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
    let mut random = RandomStream::seeded(23);
    let mut acknowledged = BTreeSet::new();
    for round in 0..kills {
        let api = api(&served);
        let least = Duration::from_millis(random.below(KILL_MAX_MS));
        acknowledged.extend(send_and_kill(&[api], round, least, &mut served));
        let target = match &address {
            Some(address) => StoreLocation::Postgres(address.clone()),
            None => StoreLocation::Sqlite(served.file("data").join("lyceum.db")),
        };
        let db = Db::open(&target, &lyceum_server::migrations()).unwrap();
        if address.is_some() {
            wait_for_commits(&db);
        }
        check(&db, &acknowledged);
        if round == kills - 1 {
            let before = counted(&db).0;
            println!("{}", served.run(&["events", "rebuild", "--json"]).trim());
            assert!(counted(&db).0 == before, "a rebuild gives other rows");
            check_sums(&db);
        }
        served = served.again();
    }
    println!("{kills} kills, {} events acknowledged", acknowledged.len());
}

fn api(served: &Served) -> TestClient {
    signed_in(served, &served.client("platform", &[]))
}

/// Servers on one database each keep the promises while one of them is killed, which also moves ids and facts of all.
#[test]
fn acknowledged_events_count_once_when_one_of_three_servers_is_killed() {
    let kills = if full_size() { 50 } else { 4 };
    let store = Store::postgres();
    let Store::Postgres(address) = &store else { unreachable!("the store is PostgreSQL") };
    let target = StoreLocation::Postgres(address.clone());
    let first = Served::start(store);
    let mut servers = vec![first.beside(), first.beside(), first];
    let key = servers[2].client("platform", &[]);
    let mut random = RandomStream::seeded(29);
    let mut acknowledged = BTreeSet::new();
    for round in 0..kills {
        // The server that is killed comes first, and each of them once in three rounds.
        let apis: Vec<TestClient> = servers.iter().map(|served| signed_in(served, &key)).collect();
        let least = Duration::from_millis(random.below(KILL_MAX_MS));
        acknowledged.extend(send_and_kill(&apis, round, least, &mut servers[0]));
        let db = Db::open(&target, &lyceum_server::migrations()).unwrap();
        wait_for_commits(&db);
        check(&db, &acknowledged);
        if round == kills - 1 {
            let before = counted(&db).0;
            println!("{}", servers[1].run(&["events", "rebuild", "--json"]).trim());
            assert!(counted(&db).0 == before, "a rebuild gives other rows");
            check_sums(&db);
        }
        let killed = servers.remove(0);
        servers.push(killed.again());
    }
    println!("{kills} kills, {} events acknowledged", acknowledged.len());
}

fn signed_in(served: &Served, key: &Key) -> TestClient {
    let http = Http::sign_in(&served.base, key, None);
    TestClient::new(&served.base).with_token(http.token())
}

/// Sends envelopes to servers from many clients until the first server is killed; the ids of acknowledged events. Some
/// envelopes are sent again, to any server.
fn send_and_kill(
    apis: &[TestClient],
    round: u64,
    least: Duration,
    first: &mut Served,
) -> Vec<String> {
    let (acknowledged, refused) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (killed, sent) = (AtomicBool::new(false), Mutex::new(Vec::<(Value, Vec<String>)>::new()));
    thread::scope(|scope| {
        for (sender, api) in (0..SENDERS).zip(apis.iter().cycle()) {
            let (acknowledged, refused) = (&acknowledged, &refused);
            let (killed, sent) = (&killed, &sent);
            let is_of_first = std::ptr::eq(api, &raw const apis[0]);
            scope.spawn(move || {
                let mut random = RandomStream::seeded(round * SENDERS + sender);
                for number in 0.. {
                    if !is_of_first && killed.load(Ordering::SeqCst) {
                        return;
                    }
                    let base = ((round * SENDERS + sender) * 10_000 + number) * EVENTS;
                    let (envelope, ids) = match &sent.lock().unwrap()[..] {
                        repeated if !repeated.is_empty() && random.below(8) == 0 => {
                            random.pick(repeated).clone()
                        }
                        _ => envelope(&mut random, base),
                    };
                    sent.lock().unwrap().push((envelope.clone(), ids.clone()));
                    match api.post("/caliper/event").json(&envelope).try_send() {
                        Ok(reply) if reply.status == 200 => {
                            acknowledged.lock().unwrap().extend(ids);
                        }
                        // A busy store may say so: its sender knows that nothing was kept.
                        Ok(reply) if reply.status == 503 && !killed.load(Ordering::SeqCst) => {}
                        Ok(reply) => {
                            let said = format!("{}: {}", reply.status, reply.text());
                            return refused.lock().unwrap().push(said);
                        }
                        Err(error) if !is_of_first || !killed.load(Ordering::SeqCst) => {
                            return refused.lock().unwrap().push(error.to_string());
                        }
                        Err(_) => return,
                    }
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 200 && refused.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(least);
        killed.store(true, Ordering::SeqCst);
        first.kill();
    });
    let refused = refused.into_inner().unwrap();
    assert!(refused.is_empty(), "envelopes were refused: {refused:?}");
    acknowledged.into_inner().unwrap()
}

/// Waits for the processes of the database that served the killed server: each ends what it was told
/// last, which may be a commit, and notices only then that nobody listens. On a busy machine that
/// lasts, and what is read meanwhile grows between two reads. Those of other servers are idle.
fn wait_for_commits(db: &Db) {
    let sql = "SELECT count(*) FROM pg_stat_activity \
               WHERE datname = current_database() AND backend_type = 'client backend' \
               AND state <> 'idle' AND pid <> pg_backend_pid()";
    let since = Instant::now();
    while db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap() != Some(0) {
        assert!(since.elapsed() < Duration::from_mins(1), "the database still works for the dead");
        thread::sleep(Duration::from_millis(10));
    }
}

/// An envelope of new events, each of one XP, every third of them spread over bounds of buckets.
fn envelope(random: &mut RandomStream, base: u64) -> (Value, Vec<String>) {
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

fn event(random: &mut RandomStream, id: &str) -> Value {
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

/// Every acknowledged event is there once, and has its facts.
fn check(db: &Db, acknowledged: &BTreeSet<String>) {
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
    assert_eq!(counted(db).1, i64::try_from(rows).unwrap() * 1000, "one XP an event");
}

/// When all facts are summed, plain SQL finds as much as the API.
fn check_sums(db: &Db) {
    let end = db.write_blocking(facts::sum_young).unwrap().unwrap();
    while db.write_blocking(|tx| facts::sum_runs(tx, end)).unwrap() {}
    let sql = "SELECT CAST(SUM(xp) AS BIGINT) FROM event_sums";
    let xp = db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap();
    assert_eq!(xp, Some(counted(db).1));
}

/// The facts, and the sum of their XP.
fn counted(db: &Db) -> (Vec<String>, i64) {
    let (mut rows, mut xp) = (Vec::new(), 0);
    db.read_blocking(|tx| {
        let actors: Vec<i64> = (1..=lyceum_events::last_actor(tx)?).collect();
        facts::read(tx, &actors, i64::MIN..i64::MAX, |actor, at, context, sums| {
            xp += sums.of(Measure::Xp);
            rows.push(format!("{actor} {at} {context:?} {sums:?}"));
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
