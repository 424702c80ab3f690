//! Metrics, as Prometheus reads them, and the alerts and the dashboard that use them.
#![expect(clippy::float_cmp, reason = "counts and sizes are whole numbers")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::backup::runs::{self, BackupCheck, CheckMethod};
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_server::limits;
use lyceum_store::{SqlDialect, StoreLocation, Tx, jobs};
use lyceum_testkit::free_port;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::{Value, json};

use crate::{probe, read_replica};

fn setup() -> Setup {
    let mut setup = probe::setup();
    setup.config.metrics.address = Some(format!("127.0.0.1:{}", free_port()));
    setup
}

pub(crate) fn scrape(server: &TestServer) -> String {
    let address = server.setup().config.metrics.address.as_ref().unwrap();
    let reply = TestClient::new(format!("http://{address}")).get("/metrics").expect(200);
    assert!(reply.header("content-type").starts_with("application/openmetrics-text"));
    reply.text()
}

/// Values by name and labels.
pub(crate) fn series(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let split = lines.map(|line| line.rsplit_once(' ').unwrap());
    split.map(|(name, value)| (name, value.parse().unwrap())).collect()
}

/// Records a backup that was made and could be restored.
fn backed_up(tx: &mut Tx<'_>, at: Timestamp) -> lyceum_core::Result<()> {
    let about = NodeSettings { name: "oak", address: "", shares_blobs: false };
    let run = runs::begin(tx, at, &Node::read(Path::new("none"), &about)?)?;
    runs::finish(tx, at, run.id, "backups/1", 1)?;
    let check = BackupCheck { method: Some(CheckMethod::Restored), error: None };
    runs::check(tx, at, run.id, &check)
}

#[test]
fn metrics_have_a_separate_listener_and_count_and_time_requests_by_route() {
    both_as(&setup(), |server| {
        let client = server.anonymous();
        for n in 0..20 {
            client.get(&format!("/probe/echo/{n}")).expect(200);
            client.get(&format!("/nothing/{n}")).expect(404);
        }
        client.call("BREW".parse().unwrap(), "/probe/open").expect(405);
        client.get("/probe/slow/30").expect(200);
        let text = scrape(server);
        let series = series(&text);
        let value = |name: &str| *series.get(name).unwrap_or_else(|| panic!("no {name}: {text}"));
        let requests = |area: &str, method: &str, status: u16| {
            value(&format!(
                r#"lyceum_requests_total{{area="{area}",method="{method}",status="{status}"}}"#
            ))
        };
        assert_eq!(requests("probe", "GET", 200), 21.0);
        assert_eq!(requests("none", "GET", 404), 20.0);
        assert_eq!(requests("probe", "other", 405), 1.0);
        let timed = |part: &str, le: &str, route: &str, status: &str| {
            let labels = format!(r#"{le}route="{route}",method="GET",status="{status}""#);
            value(&format!("lyceum_request_duration_seconds_{part}{{{labels}}}"))
        };
        assert_eq!(timed("count", "", "/probe/echo/{text}", "2xx"), 20.0);
        assert_eq!(timed("count", "", "unknown path", "4xx"), 20.0);
        let slow = |part, le| timed(part, le, "/probe/slow/{milliseconds}", "2xx");
        assert!(slow("sum", "") >= 0.03);
        assert_eq!(slow("bucket", r#"le="0.001","#), 0.0);
        assert_eq!(slow("bucket", r#"le="60.0","#), 1.0);
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!(value("process_start_time_seconds") > 1.7e9);
        assert!(!text.contains("echo/1"), "paths are no labels");
        let public = client.get("/metrics").expect(200);
        assert!(public.header("content-type").starts_with("application/openmetrics-text"));
        assert!(public.text().contains("lyceum_requests_total{"));
        assert!(!public.text().contains("lyceum_store_up"), "the state of the server is public");
    });
}

#[test]
fn metrics_show_the_state_of_the_store_jobs_and_events() {
    both_as(&setup(), |server| {
        let now = SystemClock.now();
        let hour_ago = now.plus_seconds(-3600);
        let stored = server.db().write_blocking(|tx| {
            jobs::add(tx, "roster.import", "1")?;
            let failing = jobs::add(tx, "person.erase", "1")?;
            tx.execute("UPDATE jobs SET state = 'failed' WHERE id = $1", &[failing.into()])?;
            backed_up(tx, hour_ago)
        });
        stored.unwrap();
        let envelope = json!({
            "sensor": "https://app.example.org", "sendTime": hour_ago.to_string(),
            "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "data": [{
                "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2", "type": "Event",
                "id": "urn:uuid:0195b3a0-0000-7000-8000-00000000000f", "action": "Completed",
                "eventTime": hour_ago.to_string(),
                "actor": {"id": "https://app.example.org/users/1", "type": "Person"},
                "object": {"id": "https://app.example.org/units/1", "type": "Chapter"},
            }],
        });
        server.client().post("/ims/caliper/v1p2/events").json(&envelope).expect(200);
        let text = scrape(server);
        let series = series(&text);
        let value = |name: &str| *series.get(name).unwrap_or_else(|| panic!("no {name}: {text}"));
        assert_eq!(value("lyceum_store_up"), 1.0);
        assert!(value("lyceum_store_database_bytes") > 100_000.0);
        assert!(value("lyceum_disk_free_bytes") < value("lyceum_disk_size_bytes"));
        assert_eq!(value(r#"lyceum_jobs{kind="person.erase",state="failed"}"#), 1.0);
        assert!(!text.contains(r#"lyceum_job_overdue_seconds{kind="person.erase"}"#));
        let backup = value("lyceum_last_backup_timestamp_seconds");
        assert_eq!(backup, f64::from(u32::try_from(hour_ago.seconds()).unwrap()));
        assert_eq!(value("lyceum_last_backup_restorable"), 1.0);
        assert_eq!(value("lyceum_events_total"), 1.0);
        let delay = value("lyceum_event_delay_seconds_sum");
        assert!((3600.0..3660.0).contains(&delay), "{delay}");
        assert_eq!(value("lyceum_outbox_age_seconds"), 0.0);
        let is_sqlite = server.db().dialect() == SqlDialect::Sqlite;
        assert_eq!(series.contains_key("lyceum_store_log_bytes"), is_sqlite);
        let most = value(r#"lyceum_store_connections_max{pool="short"}"#);
        assert_eq!(most, if is_sqlite { 1.0 } else { 16.0 });
    });
}

/// The metrics that alerts and dashboard name must exist. Those of Prometheus itself, such as `up`, have no prefix.
#[test]
fn alerts_and_dashboard_name_only_metrics_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup();
    let created = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    };
    setup.config.tls.certificate = file("cert.pem", created.cert.pem());
    setup.config.tls.key = file("key.pem", created.signing_key.serialize_pem());
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let target = StoreLocation::Sqlite(folder.path().join("lyceum.db"));
    setup.folder = Some(Arc::clone(&folder));
    let server = TestServer::start_as(&target, setup);
    let stored = server.db().write_blocking(|tx| {
        jobs::add(tx, "roster.import", "1")?;
        backed_up(tx, SystemClock.now())
    });
    stored.unwrap();
    let trusting = TestClient::trusting(server.address(), created.cert.pem().as_bytes());
    trusting.get("/health").expect(200);
    let text = scrape(&server);
    let exposed: BTreeSet<&str> =
        series(&text).keys().map(|name| name.split('{').next().unwrap()).collect();
    let exposed = &exposed | &BTreeSet::from(read_replica::METRICS);
    let described = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
    for line in described {
        let (name, help) = line.split_once(' ').unwrap();
        assert!(help.len() > 20, "{name} has no description");
    }
    for file in ["prometheus-rules.yml", "grafana-dashboard.json"] {
        let used = std::fs::read_to_string(monitoring(file)).unwrap();
        let words = used.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: BTreeSet<&str> = words
            .filter(|word| word.starts_with("lyceum_") || word.starts_with("process_"))
            .collect();
        assert!(named.len() > 15, "{file}: {named:?}");
        let unknown: Vec<_> = named.difference(&exposed).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}, but the server has {exposed:#?}");
    }
}

#[test]
#[ignore = "rest"]
fn prometheus_accepts_the_alerts() {
    let dashboard = std::fs::read_to_string(monitoring("grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 20);
    let version = Command::new("promtool").arg("--version").output();
    assert!(version.expect("the package 'prometheus' is installed").status.success());
    let rules = monitoring("prometheus-rules.yml");
    let checked = Command::new("promtool").args(["check", "rules"]).arg(rules).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let tests = monitoring("prometheus-rules.test.yml");
    let tested = Command::new("promtool").args(["test", "rules"]).arg(tests).output().unwrap();
    let printed = String::from_utf8_lossy(&tested.stderr) + String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{printed}");
}

fn monitoring(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/monitoring").join(file)
}

#[test]
fn a_connection_for_metrics_beyond_the_limit_waits_for_another_to_close() {
    both_as(&setup(), |server| {
        let address = server.setup().config.metrics.address.as_ref().unwrap();
        let connect = || TcpStream::connect(address).unwrap();
        let mut idle: Vec<TcpStream> =
            (0..limits::METRICS_CONNECTIONS_MAX_COUNT).map(|_| connect()).collect();
        let mut waiting = connect();
        waiting.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut status = [0; 12];
        waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        waiting.read_exact(&mut status).unwrap_err();
        drop(idle.pop());
        waiting.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        waiting.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
    });
}
