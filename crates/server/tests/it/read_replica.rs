//! Reports from a read replica: a real standby of a real PostgreSQL server.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_core::config::Secret;
use lyceum_store::limits::READ_REPLICA_DELAY_MAX_MS;
use lyceum_store::{StoreLocation, measure_delay};
use lyceum_testkit::free_port;
use lyceum_testkit::postgres::Cluster;
use lyceum_testkit::server::{Setup, TestServer};
use serde_json::json;

use crate::monitoring::{scrape, series};

/// The metrics that only a server with a read replica has.
pub(crate) const METRICS: [&str; 2] =
    ["lyceum_read_replica_used", "lyceum_read_replica_delay_seconds"];

/// Creates a student with the id.
fn add_student(server: &TestServer, id: &str) {
    let user = json!({"user": {
        "sourcedId": id, "enabledUser": true, "givenName": "Ann", "familyName": id,
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
    }});
    server.client().post("/ims/oneroster/rostering/v1p2/users").json(&user).expect(201);
}

/// Whether a report over all time, which tolerates a delay, knows the student; and one over a day, which does not.
fn known_to_reports(server: &TestServer, id: &str) -> [bool; 2] {
    let client = server.client();
    [("1970-01-01", "2100-01-01"), ("2026-01-01", "2026-01-01")].map(|(start, end)| {
        let range = format!("studentId={id}&startDate={start}&endDate={end}");
        client.get(&format!("/bridge/analytics/activity?{range}")).send().status == 200
    })
}

fn metric(server: &TestServer, name: &str) -> Option<f64> {
    series(&scrape(server)).get(name).copied()
}

fn wait_until_used(server: &TestServer, is_used: bool) {
    let expected = Some(f64::from(u8::from(is_used)));
    let deadline = Instant::now() + Duration::from_secs(30);
    while metric(server, METRICS[0]) != expected {
        assert!(Instant::now() < deadline, "the replica is not used: {is_used}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn reports_come_from_the_replica_while_it_is_recent_and_from_the_primary_otherwise() {
    let primary = Cluster::start();
    let replica = Cluster::replica_of(&primary);
    let mut setup = Setup::default();
    setup.config.store.read_replica = Some(Secret::new(replica.url()));
    setup.config.metrics.address = Some(format!("127.0.0.1:{}", free_port()));
    let server = TestServer::start_as(&StoreLocation::Postgres(primary.url()), setup);
    let school = json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}});
    server.client().post("/ims/oneroster/rostering/v1p2/orgs").json(&school).expect(201);
    add_student(&server, "early");
    wait_until_used(&server, true);
    let most = Duration::from_millis(READ_REPLICA_DELAY_MAX_MS);
    assert!(measure_delay(&primary.url(), &replica.url(), most).unwrap().is_some());
    assert_eq!(known_to_reports(&server, "early"), [true, true]);

    // What the replica has not replayed is missing in its reports, until it is too far behind.
    replica.run("SELECT pg_wal_replay_pause()");
    add_student(&server, "late");
    assert_eq!(known_to_reports(&server, "late"), [false, true]);
    assert_eq!(known_to_reports(&server, "early"), [true, true]);
    wait_until_used(&server, false);
    let delay = metric(&server, METRICS[1]).unwrap();
    assert!(delay >= most.as_secs_f64(), "{delay} s");
    assert_eq!(known_to_reports(&server, "late"), [true, true]);

    // It is used again once it has caught up.
    replica.run("SELECT pg_wal_replay_resume()");
    wait_until_used(&server, true);
    assert_eq!(known_to_reports(&server, "late"), [true, true]);

    // When it dies, the primary answers at once.
    drop(replica);
    assert_eq!(known_to_reports(&server, "late"), [true, true]);
    wait_until_used(&server, false);

    let refused = measure_delay(&primary.url(), &primary.url(), most).unwrap_err();
    assert!(refused.message.contains("takes writes itself"), "{}", refused.message);
}
