//! Servers of one database: what they report about themselves, and what others see of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock as _, ManualClock, SystemClock};
use lyceum_hosting::limits::NODE_LEASE_S;
use lyceum_hosting::nodes::report::{self, NodeState};
use lyceum_store::{SqlDialect, Tx};
use lyceum_testkit::free_port;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::Value;

use crate::probe;

fn named(name: &str) -> Setup {
    let mut setup = Setup::default();
    name.clone_into(&mut setup.config.server.node_name);
    setup
}

/// Another server of the same database.
fn other(server: &TestServer, name: &str, public_url: Option<String>) -> TestServer {
    let mut setup = Setup { master: server.setup().master.clone(), ..named(name) };
    setup.config.server.public_url = public_url;
    TestServer::start_as(server.target(), setup)
}

fn nodes(server: &TestServer) -> Value {
    let client = server.client_with(&[Scope::ServerRead], PayloadDialect::Platform);
    client.get("/api/nodes").expect(200).json()
}

/// The name and state of each node, once they are these.
fn wait_for(server: &TestServer, expected: &[(&str, &str)]) -> Value {
    let begun = Instant::now();
    loop {
        let found = nodes(server);
        let list = found["nodes"].as_array().unwrap();
        let states: Vec<_> = list
            .iter()
            .map(|node| (node["name"].as_str().unwrap(), node["state"].as_str().unwrap()))
            .collect();
        if states == expected {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{found}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Lets the last reports of a node that crashed be as old as its lease.
fn age(server: &TestServer, name: &str) {
    let aged = server.db().write_blocking(|tx| {
        let sql = "UPDATE nodes SET seen_ms = seen_ms - $1, lease_until_ms = 0 WHERE name = $2";
        tx.execute(sql, &[((NODE_LEASE_S + 1) * 1000).into(), name.into()])
    });
    assert_eq!(aged.unwrap(), 1);
}

#[test]
fn servers_of_one_database_are_listed_with_release_and_state() {
    both_as(&named("oak"), |oak| {
        let public_url = oak.setup().config.server.public_url.clone();
        let alone = wait_for(oak, &[("oak", "serving")]);
        assert_eq!(alone["nodes"][0]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(alone["nodes"][0]["publicUrl"], *public_url.as_ref().unwrap());

        let mut elm = other(oak, "elm", public_url.clone());
        let both = wait_for(oak, &[("elm", "serving"), ("oak", "serving")]);
        assert_eq!(nodes(&elm)["nodes"].as_array().unwrap().len(), 2);
        assert!(both["addressConflict"].is_null(), "{both}");
        elm.stop();
        wait_for(oak, &[("elm", "stopped"), ("oak", "serving")]);

        // A server that crashes reports nothing.
        let fir = other(oak, "fir", public_url);
        wait_for(oak, &[("elm", "stopped"), ("fir", "serving"), ("oak", "serving")]);
        drop(fir);
        age(oak, "fir");
        wait_for(oak, &[("elm", "stopped"), ("fir", "silent"), ("oak", "serving")]);
    });
}

#[test]
fn missing_and_different_public_addresses_are_reported_while_several_servers_live() {
    both_as(&named("oak"), |oak| {
        wait_for(oak, &[("oak", "serving")]);
        let mut elm = other(oak, "elm", None);
        let found = wait_for(oak, &[("elm", "serving"), ("oak", "serving")]);
        let conflict = found["addressConflict"].as_str().unwrap();
        assert!(conflict.ends_with("but 'server.public_url' is not set on elm"), "{conflict}");
        elm.stop();
        wait_for(oak, &[("elm", "stopped"), ("oak", "serving")]);
        assert!(nodes(oak)["addressConflict"].is_null());

        // The former server of a machine that was started again reports no more.
        let killed = |tx: &mut Tx<'_>| {
            tx.execute(
                "UPDATE nodes SET name = 'oak', state = 'serving', \
                 seen_ms = (SELECT started_ms - 1 FROM nodes WHERE name = 'oak') WHERE name = 'elm'",
                &[],
            )
        };
        assert_eq!(oak.db().write_blocking(killed).unwrap(), 1);
        let found = wait_for(oak, &[("oak", "serving"), ("oak", "serving")]);
        assert!(found["addressConflict"].is_null(), "{found}");
        let forget = |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM nodes WHERE public_url = '' AND name = 'oak'", &[])
        };
        assert_eq!(oak.db().write_blocking(forget).unwrap(), 1);

        let _fir = other(oak, "fir", Some("https://other.example.org".to_owned()));
        let found = wait_for(oak, &[("fir", "serving"), ("oak", "serving")]);
        let conflict = found["addressConflict"].as_str().unwrap();
        assert!(
            conflict.contains(
                "'server.public_url' differs: https://other.example.org on fir, http://127.0.0.1:"
            ),
            "{conflict}"
        );
    });
}

#[test]
fn a_stopping_server_reports_it_and_accepts_connections_until_the_notice_ends() {
    let mut setup = Setup { areas: probe::setup().areas, ..named("oak") };
    setup.config.server.shutdown_notice_ms = 3000;
    both_as(&setup, |oak| {
        let public_url = oak.setup().config.server.public_url.clone();
        let elm = other(oak, "elm", public_url);
        wait_for(&elm, &[("elm", "serving"), ("oak", "serving")]);
        let begun = Instant::now();
        let end = oak.stopping();
        wait_for(&elm, &[("elm", "serving"), ("oak", "stopping")]);
        assert!(begun.elapsed() < Duration::from_secs(2), "it is reported at once");
        oak.anonymous().get("/ready").expect(503);
        oak.anonymous().get("/probe/slow/1").expect(200);
        end.join().unwrap();
        assert!(begun.elapsed() >= Duration::from_secs(3), "{:?}", begun.elapsed());
        assert!(oak.anonymous().get("/health").try_send().is_err(), "nobody listens any more");
        wait_for(&elm, &[("elm", "serving"), ("oak", "stopped")]);
    });
}

#[test]
fn the_list_of_servers_needs_a_scope_granted_by_name() {
    both_as(&named("oak"), |oak| {
        oak.anonymous().get("/api/nodes").expect(401);
        oak.client().get("/api/nodes").expect(403);
    });
}

#[test]
fn metrics_count_servers_by_state() {
    let mut setup = named("oak");
    let address = format!("127.0.0.1:{}", free_port());
    setup.config.metrics.address = Some(address.clone());
    both_as(&setup, |oak| {
        let elm = other(oak, "elm", oak.setup().config.server.public_url.clone());
        wait_for(oak, &[("elm", "serving"), ("oak", "serving")]);
        drop(elm);
        age(oak, "elm");
        wait_for(oak, &[("elm", "silent"), ("oak", "serving")]);
        let scraper = lyceum_testserver::client::TestClient::new(format!("http://{address}"));
        let text = scraper.get("/metrics").expect(200).text();
        for (state, count) in [("serving", 1), ("stopping", 0), ("stopped", 0), ("silent", 1)] {
            let line = format!("lyceum_nodes{{state=\"{state}\"}} {count}\n");
            assert!(text.contains(&line), "{line}: {text}");
        }
    });
}

/// The clock of the database decides, so neither a server's clock nor the clock of the machine that asks changes who lives.
#[test]
fn a_server_whose_clock_is_wrong_is_live_for_all_others() {
    let now = SystemClock.now();
    both_as(&named("oak"), |server| {
        let long_s = 10 * NODE_LEASE_S;
        for by_s in [long_s, -long_s] {
            let mut setup = Setup { master: server.setup().master.clone(), ..named("elm") };
            setup.clock = Arc::new(ManualClock::at(now.plus_seconds(by_s)));
            let mut other = TestServer::start_as(server.target(), setup);
            let states = || {
                let nodes = server.db().read_blocking(report::list).unwrap();
                let mut states: Vec<NodeState> = nodes.iter().map(|node| node.state).collect();
                states.dedup();
                states
            };
            let since = Instant::now();
            while server.db().read_blocking(report::list).unwrap().len() < 2 {
                assert!(since.elapsed().as_secs() < 10, "it does not report");
            }
            assert_eq!(states(), [NodeState::Serving]);
            other.stop();
            let forget = "DELETE FROM nodes WHERE state = 'stopped'";
            assert_eq!(server.db().write_blocking(|tx| tx.execute(forget, &[])).unwrap(), 1);
        }
    });
}

/// While the server lives, its lease tells that; after a crash, a report of the future does not keep it alive.
#[test]
fn a_report_of_the_future_does_not_keep_a_server_alive() {
    both_as(&named("oak"), |server| {
        let state = |lease: &str| {
            let sql = format!(
                "INSERT INTO nodes (id, name, address, generation, started_ms, version, state, seen_ms, lease_until_ms) \
                 VALUES ('n-1', 'elm', '', 1, 0, '0.1', 'serving', $1, {lease}) \
                 ON CONFLICT (id) DO UPDATE SET lease_until_ms = excluded.lease_until_ms"
            );
            let day_ahead = SystemClock.now().plus_seconds(86_400).milliseconds();
            server.db().write_blocking(|tx| tx.execute(&sql, &[day_ahead.into()])).unwrap();
            let nodes = server.db().read_blocking(report::list).unwrap();
            nodes.into_iter().find(|node| node.name == "elm").unwrap().state
        };
        assert_eq!(state("0"), NodeState::Silent);
        if server.db().dialect() == SqlDialect::Postgres {
            assert_eq!(state("9000000000000"), NodeState::Serving);
        }
    });
}
