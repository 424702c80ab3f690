//! Reports from a read replica: a real standby of a real PostgreSQL server.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_access::{NewClient, Scope, client};
use lyceum_core::Reach;
use lyceum_core::config::Secret;
use lyceum_store::limits::READ_REPLICA_DELAY_MAX_MS;
use lyceum_store::{LogSource, StoreLocation, measure_delay};
use lyceum_testkit::free_port;
use lyceum_testkit::postgres::Cluster;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer};
use serde_json::{Value, json};

use crate::monitoring::{scrape, series};

/// The metrics that only a server with a read replica has.
pub(crate) const METRICS: [&str; 2] =
    ["lyceum_read_replica_used", "lyceum_read_replica_delay_seconds"];

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

fn student(id: &str, school: &str) -> Value {
    json!({"user": {
        "sourcedId": id, "enabledUser": true, "givenName": "Ann", "familyName": id,
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": school}}],
    }})
}

/// Creates a student of the school `s` with the id.
fn add_student(server: &TestServer, id: &str) {
    server.client().post(&format!("{ROSTERING}/users")).json(&student(id, "s")).expect(201);
}

fn add_school(server: &TestServer, id: &str) {
    let school = json!({"org": {"sourcedId": id, "name": "School", "type": "school"}});
    server.client().post(&format!("{ROSTERING}/orgs")).json(&school).expect(201);
}

/// A server that uses the replica, once it does.
fn server_with(primary: &Cluster, replica: &Cluster) -> TestServer {
    let mut setup = Setup::default();
    setup.config.store.read_replica = Some(Secret::new(replica.url()));
    setup.config.metrics.address = Some(format!("127.0.0.1:{}", free_port()));
    let server = TestServer::start_as(&StoreLocation::Postgres(primary.url()), setup);
    wait_until_used(&server, true);
    server
}

/// Whether a report over all time, which tolerates a delay, knows the student; and one over a day, which does not.
fn known_to_reports(server: &TestServer, id: &str) -> [bool; 2] {
    known_to(&server.client(), id)
}

fn known_to(client: &TestClient, id: &str) -> [bool; 2] {
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
#[ignore = "rest"]
fn reports_come_from_the_replica_while_it_is_recent_and_from_the_primary_otherwise() {
    let primary = Cluster::start();
    let replica = Cluster::replica_of(&primary);
    let server = server_with(&primary, &replica);
    add_school(&server, "s");
    add_student(&server, "early");
    let most = Duration::from_millis(READ_REPLICA_DELAY_MAX_MS);
    let measured = measure_delay(&primary.url(), &replica.url(), most).unwrap();
    assert!(measured.delay.is_some());
    assert_eq!(measured.source, LogSource::Primary);
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

/// The replica still has the student in the school of the caller, but the primary decides.
#[test]
#[ignore = "rest"]
fn a_report_for_a_limited_caller_lacks_what_was_withdrawn_a_moment_ago() {
    let primary = Cluster::start();
    let replica = Cluster::replica_of(&primary);
    let server = server_with(&primary, &replica);
    for school in ["s", "t"] {
        add_school(&server, school);
    }
    add_student(&server, "ann");
    let scopes = [Scope::BridgeRead].into_iter().collect();
    let reach = Reach::organizations(["s".to_owned()]).unwrap();
    let (id, secret) = server.register(&NewClient { scopes, ..NewClient::named("school") });
    server.db().write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
    let limited = server.anonymous().with_token(server.token_of(&id, &secret));
    let most = Duration::from_millis(READ_REPLICA_DELAY_MAX_MS);
    assert!(measure_delay(&primary.url(), &replica.url(), most).unwrap().delay.is_some());
    assert_eq!(known_to(&limited, "ann"), [true, true]);

    replica.run("SELECT pg_wal_replay_pause()");
    let path = format!("{ROSTERING}/users/ann");
    server.client().put(&path).json(&student("ann", "t")).expect(200);
    assert_eq!(known_to(&limited, "ann"), [false, false]);
    add_student(&server, "bob");
    assert_eq!(known_to_reports(&server, "bob"), [false, true], "others still use the replica");
}

/// A standby may follow another one, which a failover can turn into a second primary.
#[test]
#[ignore = "rest"]
fn a_replica_behind_a_standby_serves_until_that_one_is_promoted() {
    let primary = Cluster::start();
    let standby = Cluster::replica_of(&primary);
    let replica = Cluster::replica_of(&standby);
    let server = server_with(&primary, &replica);
    add_school(&server, "s");
    add_student(&server, "ann");
    let most = Duration::from_millis(READ_REPLICA_DELAY_MAX_MS);
    let measured = measure_delay(&primary.url(), &replica.url(), most).unwrap();
    assert!(measured.delay.is_some());
    let standby_address = standby.url();
    let standby_address = standby_address.rsplit(['@', '/']).nth(1).unwrap();
    assert_eq!(measured.source, LogSource::Other(standby_address.to_owned()));
    assert_eq!(known_to_reports(&server, "ann"), [true, true]);

    standby.run("SELECT pg_promote()");
    standby.run("CREATE TABLE of_the_promoted_server (id INT)");
    wait_until_used(&server, false);
    let refused = measure_delay(&primary.url(), &replica.url(), most).unwrap_err();
    assert!(refused.message.contains("promoted beside the primary"), "{}", refused.message);
    add_student(&server, "bob");
    assert_eq!(known_to_reports(&server, "bob"), [true, true]);
}
