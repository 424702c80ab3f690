//! Facts from outside: exact after `kill -9` under load, and equal to what a rebuild gives.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;
use lyceum_events::facts::{self, FactContext, Measure, MeasureSums};
use lyceum_store::{Db, Row, StatementsSee, StoreLocation};
use lyceum_testkit::open_writes::wait;
use lyceum_testkit::{free_port, full_size};
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::http::Http;
use crate::python::run;
use crate::served::{Key, Served, Store, rest_on_both_stores};

/// Clients that send at once.
const SENDERS: u64 = 8;
/// Events of one envelope.
const EVENTS: u64 = 20;
/// Students that they share, so that envelopes meet in the same rows.
const STUDENTS: u64 = 200;
/// The longest time between the start of the load and the kill.
const KILL_MAX_MS: u64 = 400;
/// The longest time that a kill waits for a server that moves ids.
const MOVE_WAIT: Duration = Duration::from_secs(3);
/// Events that are stored before a server starts that sums their facts: more than it sums in two transactions.
const BACKLOG: u64 = 20_000;
/// The longest time between the first sums of a server and the kill.
const SUMMING_MAX_MS: u64 = 20;
/// No server is killed yet.
const NONE: usize = usize::MAX;

rest_on_both_stores!(
    acknowledged_events_count_once_after_every_kill,
    facts_stay_exact_when_the_server_that_sums_them_is_killed,
    the_published_client_reads_analytics,
);

fn kills(in_small_size: u64) -> u64 {
    if full_size() { 50 } else { in_small_size }
}

/// The database of a server.
fn open(served: &Served, address: Option<&String>) -> Db {
    let target = match address {
        Some(address) => StoreLocation::Postgres(address.clone()),
        None => StoreLocation::Sqlite(served.file("data").join("lyceum.db")),
    };
    let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
    if address.is_some() {
        wait_for_commits(&db);
    }
    db
}

fn address(store: &Store) -> Option<String> {
    match store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    }
}

fn acknowledged_events_count_once_after_every_kill(store: Store) {
    let (kills, address) = (kills(5), address(&store));
    let mut served = Served::start(store);
    let mut random = RandomStream::seeded(23);
    let mut acknowledged = BTreeSet::new();
    for round in 0..kills {
        let apis = [api(&served)];
        let least = Duration::from_millis(random.below(KILL_MAX_MS));
        let victim = || {
            thread::sleep(least);
            0
        };
        let servers = std::slice::from_mut(&mut served);
        acknowledged.extend(send_and_kill(servers, &apis, round, victim).1);
        let db = open(&served, address.as_ref());
        check(&db, &acknowledged);
        if round == kills - 1 {
            check_rebuild(&served, &db);
        }
        served = served.again();
    }
    check_api(&api(&served), &open(&served, address.as_ref()));
    println!("{kills} kills, {} events acknowledged", acknowledged.len());
}

fn api(served: &Served) -> TestClient {
    signed_in(served, &served.client("platform", &[]))
}

/// Servers on one database each keep the promises while one of them is killed: the one that is just moving ids and facts of
/// all into runs.
#[test]
#[ignore = "rest"]
fn acknowledged_events_count_once_when_one_of_three_servers_is_killed() {
    let kills = kills(4);
    let store = Store::postgres();
    let address = address(&store).unwrap();
    let named = |number: usize| format!("{address}?application_name=server-{number}");
    let first = Served::start(Store::Postgres(named(0)));
    let mut servers: Vec<Served> =
        (1..3).map(|number| first.beside_at(named(number), |_| ())).collect();
    servers.insert(0, first);
    let key = servers[0].client("platform", &[]);
    let db = open(&servers[0], Some(&address));
    let mut random = RandomStream::seeded(29);
    let (mut acknowledged, mut killed) = (BTreeSet::new(), [0; 3]);
    let mut moves = 0;
    for round in 0..kills {
        let apis: Vec<TestClient> = servers.iter().map(|served| signed_in(served, &key)).collect();
        let least = Duration::from_millis(random.below(KILL_MAX_MS));
        let victim = || {
            thread::sleep(least);
            let at = mover(&db);
            moves += u64::from(at.is_some());
            at.unwrap_or(usize::try_from(random.below(3)).unwrap())
        };
        let (victim, ids) = send_and_kill(&mut servers, &apis, round, victim);
        acknowledged.extend(ids);
        killed[victim] += 1;
        wait_for_commits(&db);
        check(&db, &acknowledged);
        if round == kills - 1 {
            check_rebuild(&servers[(victim + 1) % 3], &db);
        }
        let again = servers.remove(victim).again();
        servers.insert(victim, again);
    }
    check_api(&signed_in(&servers[0], &key), &db);
    println!(
        "{kills} kills of the servers {killed:?}, {moves} of them during a move; {} events acknowledged",
        acknowledged.len()
    );
    assert!(moves > 0, "no server was killed while it moved ids");
}

fn signed_in(served: &Served, key: &Key) -> TestClient {
    let http = Http::sign_in(&served.base, key, None);
    TestClient::new(&served.base).with_token(http.token())
}

/// The number of the server that is just moving ids into runs.
fn mover(db: &Db) -> Option<usize> {
    let sql = "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
               WHERE l.relation = 'event_id_chunks'::regclass AND l.mode = 'RowExclusiveLock' \
               AND a.datname = current_database()";
    let since = Instant::now();
    while since.elapsed() < MOVE_WAIT {
        let name = db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.string(0))).unwrap();
        if let Some(name) = name {
            return name.strip_prefix("server-")?.parse().ok();
        }
    }
    None
}

/// Sends envelopes to servers from many clients until the server that `victim` names is killed; that server, and the ids of
/// acknowledged events. Some envelopes are sent again, to any server.
fn send_and_kill(
    servers: &mut [Served],
    apis: &[TestClient],
    round: u64,
    victim: impl FnOnce() -> usize,
) -> (usize, Vec<String>) {
    let (acknowledged, refused) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (killed, sent) = (AtomicUsize::new(NONE), Mutex::new(Vec::<(Value, Vec<String>)>::new()));
    let victim = thread::scope(|scope| {
        for (sender, (at, api)) in (0..SENDERS).zip(apis.iter().enumerate().cycle()) {
            let (acknowledged, refused) = (&acknowledged, &refused);
            let (killed, sent) = (&killed, &sent);
            scope.spawn(move || {
                let mut random = RandomStream::seeded(round * SENDERS + sender);
                for number in 0.. {
                    if ![NONE, at].contains(&killed.load(Ordering::SeqCst)) {
                        return;
                    }
                    let base = ((round * SENDERS + sender) * 10_000 + number) * EVENTS;
                    let (envelope, ids) = match &sent.lock().unwrap()[..] {
                        repeated if !repeated.is_empty() && random.below(8) == 0 => {
                            random.pick(repeated).clone()
                        }
                        _ => envelope(&mut random, base, EVENTS),
                    };
                    sent.lock().unwrap().push((envelope.clone(), ids.clone()));
                    let failure = match api.post("/caliper/event").json(&envelope).try_send() {
                        Ok(reply) if reply.status == 200 => {
                            acknowledged.lock().unwrap().extend(ids);
                            continue;
                        }
                        // A busy store may say so: its sender knows that nothing was kept.
                        Ok(reply) if reply.status == 503 => continue,
                        Ok(reply) => format!("{}: {}", reply.status, reply.text()),
                        Err(_) if killed.load(Ordering::SeqCst) == at => return,
                        Err(error) => error.to_string(),
                    };
                    return refused.lock().unwrap().push(failure);
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 200 && refused.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        let victim = victim();
        killed.store(victim, Ordering::SeqCst);
        servers[victim].kill();
        victim
    });
    let refused = refused.into_inner().unwrap();
    assert!(refused.is_empty(), "envelopes were refused: {refused:?}");
    (victim, acknowledged.into_inner().unwrap())
}

/// A server that starts sums the facts of the events that are stored. Sums and places grow while facts that are not summed
/// go, so a kill that left only a part of that would show.
fn facts_stay_exact_when_the_server_that_sums_them_is_killed(store: Store) {
    let (kills, address) = (kills(3), address(&store));
    let mut served = Served::start(store);
    served.kill();
    let db = open(&served, address.as_ref());
    let summed = || {
        let sql = "SELECT CAST(COALESCE(SUM(events), 0) AS BIGINT) FROM event_sums";
        db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap()
    };
    let mut random = RandomStream::seeded(31);
    let mut unfinished = 0;
    for round in 0..kills {
        // Each envelope is a row of facts, and a step of the summing takes 512 rows.
        for base in (0..BACKLOG).step_by(10) {
            let (envelope, _) = envelope(&mut random, round * BACKLOG + base, 10);
            let now = "2026-03-20T00:00:00Z".parse().unwrap();
            let events = lyceum_events::parse(&envelope.to_string(), now).unwrap().events;
            db.write_blocking(|tx| lyceum_events::append(tx, now, "app", &events)).unwrap();
        }
        let (all, before) = (counted(&db).0, summed());
        let listen = format!("127.0.0.1:{}", free_port());
        let mut process = served.begin(&["serve", "--listen", &listen]);
        let since = Instant::now();
        while summed() == before {
            assert!(since.elapsed() < Duration::from_mins(1), "nothing is summed");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(random.below(SUMMING_MAX_MS)));
        process.kill().unwrap();
        process.wait().unwrap();
        if address.is_some() {
            wait_for_commits(&db);
        }
        assert!(counted(&db).0 == all, "sums and facts that are not summed give other facts");
        unfinished += u64::from(db.read_blocking(facts::count_unsummed).unwrap() > 0);
    }
    println!("{kills} kills, after {unfinished} of them some facts were not summed");
    assert!(unfinished > 0, "no server was killed while it summed");
    check_sums(&db);
    check_rebuild(&served, &db);
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
fn envelope(random: &mut RandomStream, base: u64, count: u64) -> (Value, Vec<String>) {
    let ids: Vec<String> = (base..base + count)
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

/// A rebuild gives the same facts. When they are summed, plain SQL finds the same.
fn check_rebuild(served: &Served, db: &Db) {
    let before = counted(db).0;
    println!("{}", served.run(&["events", "rebuild", "--json"]).trim());
    assert!(counted(db).0 == before, "a rebuild gives other facts");
    check_sums(db);
}

/// When all facts are summed, plain SQL finds each fact that the API reads.
fn check_sums(db: &Db) {
    // A live server may be summing at this moment.
    let since = Instant::now();
    while db.read_blocking(facts::count_unsummed).unwrap() > 0 {
        assert!(since.elapsed() < Duration::from_mins(1), "facts are not summed");
        wait(db.write_with_locks(StatementsSee::LatestCommits, facts::sum)).unwrap();
    }
    let sql = "SELECT s.actor, s.bucket * 900000, c.course, c.subject, c.app, s.events, s.xp, s.total_questions, \
               s.correct_questions, s.mastered_units, s.active, s.inactive, s.waste, s.unknown, s.anti_pattern \
               FROM event_sums s JOIN event_contexts c ON c.id = s.context";
    let read = |row: &Row<'_>| {
        let context =
            FactContext { course: row.string(2)?, subject: row.string(3)?, app: row.string(4)? };
        let mut sums = MeasureSums { events: row.int(5)?, ..MeasureSums::default() };
        for (at, measure) in sums.measures.iter_mut().enumerate() {
            *measure = row.int(6 + at)?;
        }
        Ok(line(row.int(0)?, row.int(1)?, &context, &sums))
    };
    let mut in_sql = db.read_blocking(|tx| tx.all(sql, &[], read)).unwrap();
    let mut by_program = counted(db).0;
    in_sql.sort();
    by_program.sort();
    assert!(in_sql == by_program, "plain SQL finds other facts");
}

/// The API answers as much for some students as plain SQL.
fn check_api(api: &TestClient, db: &Db) {
    let create = |path: &str, body: &Value| {
        api.post(&format!("/ims/oneroster/rostering/v1p2/{path}")).json(body).expect(201);
    };
    create("orgs", &json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}}));
    for number in 0..5 {
        let id = format!("student-{number}");
        let org = json!({"sourcedId": "s"});
        let roles = json!([{"roleType": "primary", "role": "student", "org": org}]);
        let name = json!({"user": {
            "sourcedId": id, "enabledUser": true, "givenName": "Ann", "familyName": "X",
            "email": format!("{id}@example.org"), "roles": roles,
        }});
        create("users", &name);
        let day = "startDate=2026-03-19&endDate=2026-03-19";
        let path = format!("/bridge/analytics/activity?studentId={id}&{day}");
        let report: Value = api.get(&path).expect(200).json();
        let metrics = &report["facts"]["2026-03-19"]["Math"]["activityMetrics"];
        let sql = "SELECT CAST(COALESCE(SUM(s.xp), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(s.total_questions), 0) AS BIGINT) FROM event_sums s \
                   JOIN event_actors a ON a.id = s.actor WHERE a.person = $1";
        let sums = db.read_blocking(|tx| tx.row::<(i64, i64)>(sql, &[(&id).into()])).unwrap();
        let in_api =
            ["xpEarned", "totalQuestions"].map(|name| metrics[name].as_f64().unwrap_or_default());
        let (xp, questions) = sums.unwrap();
        let thousandths = in_api.map(|number| format!("{:.0}", number * 1000.0));
        assert_eq!(thousandths, [xp.to_string(), questions.to_string()], "{id}");
    }
}

/// The facts, and the sum of their XP.
fn counted(db: &Db) -> (Vec<String>, i64) {
    let (mut rows, mut xp) = (Vec::new(), 0);
    db.read_blocking(|tx| {
        let actors: Vec<i64> = (1..=lyceum_events::last_actor(tx)?).collect();
        facts::read(tx, &actors, i64::MIN..i64::MAX, |actor, at, context, sums| {
            xp += sums.of(Measure::Xp);
            rows.push(line(actor, at, context, sums));
        })
    })
    .unwrap();
    (rows, xp)
}

fn line(actor: i64, at: i64, context: &FactContext, sums: &MeasureSums) -> String {
    format!("{actor} {at} {context:?} {sums:?}")
}

fn the_published_client_reads_analytics(store: Store) {
    let served = Served::start(store);
    let key = served.client("platform", &[]);
    println!("{}", run(&served, &key, "clients", "analytics.py", &[]));
}
