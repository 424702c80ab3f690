//! The turn to send, on servers whose clocks differ.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_testserver::receiver::Receiver;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use lyceum_webhooks::queue;
use serde_json::json;

use super::{PATIENCE, create, put_org, setup};

/// The settings with a clock that differs by so many seconds.
fn differing(setup: Setup, by_s: i64) -> Setup {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(SystemClock.now().plus_seconds(by_s)));
    Setup { clock, ..setup }
}

fn holder(server: &TestServer) -> String {
    let sql = "SELECT holder FROM webhook_sender";
    let found = server.db().read_blocking(|tx| tx.query_one(sql, &[], |row| row.string(0)));
    found.unwrap().unwrap()
}

#[test]
fn the_turn_of_a_server_ends_by_the_clock_of_the_database() {
    let difference_s = CLOCK_DIFFERENCE_MAX_S - 1;
    both_as(&differing(setup(), -difference_s), |server| {
        // A server died during its turn. This one is behind, and does not wait a minute longer because of that.
        let taken = server.db().write_blocking(|tx| queue::become_sender(tx, "died"));
        assert!(taken.unwrap());
        let receiver = Receiver::start(|_| 204);
        let client = server.client();
        create(&client, &receiver.url("/hook"), &json!({}));
        put_org(&client, "a", "A");
        receiver.wait_for(1, PATIENCE);
        let sender = holder(server);
        assert_ne!(sender, "died");
        // A server that is ahead leaves the turn to it.
        let mut ahead = differing(server.setup().clone(), difference_s);
        ahead.listen_anew();
        let _ahead = TestServer::start_as(server.target(), ahead);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(3) {
            assert_eq!(holder(server), sender);
            sleep(Duration::from_millis(20));
        }
    });
}
