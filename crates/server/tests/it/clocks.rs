//! Servers of one database whose clocks differ by nearly a minute, which the operators' guide allows.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_api::limits::IMPORT_POLL_MS;
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::time::{Clock, ManualClock, SystemClock, Timestamp};
use lyceum_core::{PayloadDialect, Reach};
use lyceum_roster::imports::{self, NewImport};
use lyceum_store::jobs;
use lyceum_testserver::server::{Setup, TestServer, both_as};

use crate::game_tokens::{player, playground};
use crate::probe;

/// The largest difference that is allowed, in seconds.
const DIFFERENCE_S: i64 = CLOCK_DIFFERENCE_MAX_S - 1;

fn with_clock(at: Timestamp) -> (Arc<ManualClock>, Setup) {
    let clock = Arc::new(ManualClock::at(at));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..probe::setup() };
    (clock, setup)
}

/// Another server of the database, whose clock differs by so many seconds.
fn differing(server: &TestServer, now: Timestamp, by_s: i64) -> (Arc<ManualClock>, TestServer) {
    let (clock, mut setup) = with_clock(now.plus_seconds(by_s));
    setup.master = server.setup().master.clone();
    setup.config.server.public_url.clone_from(&server.setup().config.server.public_url);
    (clock, TestServer::start_as(server.target(), setup))
}

#[test]
fn tokens_of_a_server_work_at_once_on_servers_whose_clocks_differ() {
    let now = SystemClock.now();
    both_as(&with_clock(now).1, |server| {
        let client = playground(server);
        for by_s in [DIFFERENCE_S, -DIFFERENCE_S] {
            let (_, other) = differing(server, now, by_s);
            for (issuer, reader) in [(&other, &*server), (&*server, &other)] {
                let token = issuer.token(&[], PayloadDialect::Platform);
                reader.anonymous().with_token(token).get("/probe/guarded").expect(200);
            }
            let here = other.anonymous().with_token(client.token().unwrap());
            let ann = player(&other, &here, "ann", "rivers");
            let token = ann.token().unwrap();
            server.anonymous().with_token(token).get("/api/levels/me").expect(200);
        }
    });
}

/// A token lives as long as its answer said, also on a server whose clock is ahead, whether it has seen the token before
/// or not.
#[test]
fn no_server_refuses_a_token_before_its_time_is_over() {
    let now = SystemClock.now();
    let (clock, setup) = with_clock(now);
    both_as(&setup, |server| {
        let (behind, other) = differing(server, clock.now(), -DIFFERENCE_S);
        let tokens = [(); 2].map(|()| other.token(&[], PayloadDialect::Platform));
        let read = |token: &String, status| {
            server.anonymous().with_token(token).get("/probe/guarded").expect(status);
        };
        read(&tokens[0], 200);
        for clock in [&clock, &behind] {
            clock.advance_milliseconds(3_599_000);
        }
        for token in &tokens {
            read(token, 200);
        }
        clock.advance_milliseconds(2_000);
        for token in &tokens {
            read(token, 401);
        }
    });
}

const IMPORT: NewImport<'_> = NewImport {
    name: "roster.zip",
    bytes: 1,
    file: "0",
    who: "ada@example.org",
    reach: &Reach::Everything,
};

/// A server that is ahead would see the end of the lease too early, and two servers would work on one job.
#[test]
fn a_server_that_is_ahead_takes_no_job_that_another_one_works_on() {
    let now = SystemClock.now();
    both_as(&with_clock(now).1, |server| {
        let db = server.db();
        let claimed = db.write_blocking(|tx| {
            imports::add(tx, now, &IMPORT)?;
            imports::claim(tx)
        });
        let (job, _) = claimed.unwrap().unwrap();
        let (_, _ahead) = differing(server, now, DIFFERENCE_S);
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(2 * IMPORT_POLL_MS + 500) {
            let is_kept = db.write_blocking(|tx| imports::renew(tx, &job, None)).unwrap();
            assert!(is_kept, "the other server took it");
            sleep(Duration::from_millis(100));
        }
    });
}

#[test]
fn a_server_that_is_behind_takes_a_new_job_at_once() {
    let now = SystemClock.now();
    both_as(&with_clock(now.plus_seconds(-DIFFERENCE_S)).1, |server| {
        let db = server.db();
        db.write_blocking(|tx| imports::add(tx, now, &IMPORT)).unwrap();
        let added = Instant::now();
        while db.read_blocking(|tx| jobs::newest(tx, None, 1)).unwrap()[0].attempts == 0 {
            assert!(added.elapsed() < Duration::from_secs(20), "it waits for the server's clock");
            sleep(Duration::from_millis(50));
        }
    });
}
