//! Idle live streams leave the database alone.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_store::Tx;
use lyceum_testkit::{fresh_database, full_size};
use lyceum_testserver::server::{Setup, TestServer};

use crate::events::{PLATFORM, Stream, event, send};

/// Ended transactions of the database.
fn transactions(server: &TestServer) -> i64 {
    let sql = "SELECT (xact_commit + xact_rollback)::bigint FROM pg_stat_database \
               WHERE datname = current_database()";
    let read = |tx: &mut Tx<'_>| tx.query_one(sql, &[], |row| row.int(0));
    server.db().read_blocking(read).unwrap().unwrap()
}

/// Seconds of CPU time of all processes whose name begins with the text.
fn cpu_s(name: &str) -> f64 {
    let stats = fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    let ticks = stats.filter_map(|stat| {
        let (front, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let is_named = front.split_once('(')?.1.starts_with(name);
        is_named.then(|| [11, 12].map(|at: usize| fields[at].parse::<f64>().unwrap()))
    });
    ticks.flatten().sum::<f64>() / 100.0
}

#[test]
fn idle_streams_put_no_load_on_the_database() {
    let (count, wait_s, windows) = if full_size() { (1000, 20, 1) } else { (30, 2, 10) };
    let mut setup = Setup::default();
    setup.config.server.connections_per_address = count + 100;
    let server = TestServer::start_as(&fresh_database(&lyceum_api::migrations()), setup);
    let token = server.token(&[Scope::EventsRead], PayloadDialect::Platform);
    let open = || Stream::open(&server.address(), &token, "");
    let mut streams: Vec<Stream> = (0..count).map(|_| open()).collect();
    let measured = || {
        let before = (transactions(&server), cpu_s("postgres"), cpu_s("it-"));
        thread::sleep(Duration::from_secs(wait_s));
        let after = (transactions(&server), cpu_s("postgres"), cpu_s("it-"));
        let cores = |cpu_s: f64| cpu_s / Duration::from_secs(wait_s).as_secs_f64();
        let a_second = (after.0 - before.0) / i64::try_from(wait_s).unwrap();
        println!(
            "{count} idle streams: {a_second} transactions a second, {:.3} cores of PostgreSQL, {:.3} of the server",
            cores(after.1 - before.1),
            cores(after.2 - before.2)
        );
        a_second
    };
    // The server itself has some, also without streams. Connections report their transactions a second late, and later on
    // a busy machine.
    thread::sleep(Duration::from_secs(1));
    assert!((0..windows).any(|_| measured() < 60), "too many transactions");
    send(&server.client(), PLATFORM, &[event(1)]);
    let ends = Instant::now() + Duration::from_secs(if full_size() { 10 } else { 2 });
    for stream in &mut streams {
        let left = ends.saturating_duration_since(Instant::now());
        assert!(stream.has_data_within(left), "an idle stream got its event late");
    }
}
