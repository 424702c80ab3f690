//! Traces and metrics, as a collector receives them that decodes them with the published definitions of OpenTelemetry.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testkit::free_port;
use lyceum_testkit::s3::Bucket;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::{client, place_at};
use crate::served::{Served, Store, root, target};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const UNSAMPLED_TRACE: &str = "1bf7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
/// The time until the collector has what was sent.
const PATIENCE: Duration = Duration::from_secs(30);

/// The collector. It also receives messages of webhooks.
struct Collector {
    process: Child,
    endpoint: String,
    folder: tempfile::TempDir,
}

impl Collector {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scripts = root().join("tests/clients");
        let mut command = Command::new("python3");
        command.arg(scripts.join("bootstrap.py")).arg(target().join("venvs")).arg("otlp");
        command.arg(scripts.join("otlp_collector.py")).arg(folder.path().join("received"));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python3 is installed");
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { process, endpoint: format!("http://127.0.0.1:{}", port.trim()), folder }
    }

    /// All requests to the path so far.
    fn received(&self, path: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("received")).unwrap_or_default();
        let complete = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let requests = complete.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        requests.filter(|request| request["path"] == path).collect()
    }

    /// All spans or metrics so far.
    fn entries(&self, path: &str) -> Vec<Value> {
        let requests = self.received(path);
        requests.iter().flat_map(|one| one["entries"].as_array().unwrap().clone()).collect()
    }

    fn spans(&self) -> Vec<Value> {
        self.entries("/v1/traces")
    }

    /// The last value of a metric for which the condition holds, once there is one.
    fn metric(&self, name: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let metrics = self.entries("/v1/metrics");
            let found = metrics.into_iter().rfind(|one| one["name"] == name && is_expected(one));
            if let Some(metric) = found {
                return metric;
            }
            assert!(since.elapsed() < PATIENCE, "no such {name}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Settings of a server that sends to the address.
fn settings(
    endpoint: &str,
    more: &[(&'static str, String)],
) -> &'static [(&'static str, &'static str)] {
    let telemetry = [
        ("LYCEUM_TELEMETRY__ENDPOINT", endpoint.to_owned()),
        ("LYCEUM_TELEMETRY__HEADERS", "authorization=Bearer of the school".to_owned()),
        ("LYCEUM_TELEMETRY__METRICS_INTERVAL_S", "1".to_owned()),
    ];
    let all = telemetry.into_iter().chain(more.iter().cloned());
    all.map(|(name, value)| (name, &*value.leak())).collect::<Vec<_>>().leak()
}

fn traceparent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-{PARENT}-{flags}")
}

fn school(id: &str) -> Value {
    json!({ "org": { "sourcedId": id, "name": "School", "type": "school" } })
}

/// The only span with the name and parent.
fn span<'a>(spans: &'a [Value], name: &str, parent: &Value) -> &'a Value {
    let mut found = spans.iter().filter(|span| span["name"] == name && span["parent"] == *parent);
    match (found.next(), found.next()) {
        (Some(span), None) => span,
        _ => panic!("not one span {name} below {parent}: {spans:#?}"),
    }
}

#[test]
#[ignore = "rest"]
fn a_collector_receives_traces_and_metrics_without_values_of_requests() {
    let collector = Collector::start();
    let metrics = format!("127.0.0.1:{}", free_port());
    let more = [
        ("LYCEUM_WEBHOOKS__ALLOW", "127.0.0.1".to_owned()),
        ("LYCEUM_SERVER__SLOW_REQUEST_MS", "1".to_owned()),
        ("LYCEUM_METRICS__ADDRESS", metrics.clone()),
    ];
    let served =
        Served::prepared_with(Store::Sqlite, &[], settings(&collector.endpoint, &more), |_| ());
    let api = client(&served);
    let webhook = json!({
        "name": "Log", "targetUrl": format!("{}/webhook", collector.endpoint), "secret": "s",
        "active": true, "sensor": null,
    });
    api.post("/webhooks").json(&webhook).expect(201);
    let created = api.post(ORGS).header("traceparent", &traceparent(TRACE, "01"));
    created.header("x-request-id", "r-1").json(&school("s-secret")).expect(201);
    let path = format!("{ORGS}/s-secret");
    api.get(&path).header("traceparent", &traceparent(UNSAMPLED_TRACE, "00")).expect(200);
    api.get("/nothing/s-secret").header("traceparent", "00-broken").expect(404);

    check_metrics(&collector, &metrics);
    let since = Instant::now();
    while collector.received("/webhook").is_empty() {
        assert!(since.elapsed() < PATIENCE, "no message:\n{}", served.log());
        sleep(Duration::from_millis(20));
    }
    let log = std::fs::read_to_string(served.file("server.log")).unwrap();
    let logged = log.lines().find(|line| line.contains("request_id=r-1")).unwrap();
    assert!(logged.contains(TRACE), "{logged}");
    let slow_count = log.matches("a request was slow request_id=r-1").count();
    // The last spans are sent before the server ends.
    let nowhere = settings(&format!("http://127.0.0.1:{}", free_port()), &more);
    let served = served.restart_with(nowhere);

    check_spans(&collector, slow_count);
    check_without_collector(&served, &metrics);
}

/// The metrics of the server before are the same as those that Prometheus reads at the address.
fn check_metrics(collector: &Collector, address: &str) {
    let requests = collector.metric("lyceum_requests", |metric| metric["points"] != json!([]));
    assert_eq!((&requests["kind"], &requests["is_monotonic"]), (&json!("sum"), &json!(true)));
    let is_of_route = |point: &&Value| point["attributes"]["route"] == ORGS;
    let times = collector.metric("lyceum_request_duration_seconds", |metric| {
        metric["points"].as_array().unwrap().iter().any(|point| is_of_route(&point))
    });
    assert_eq!((&times["kind"], &times["unit"]), (&json!("histogram"), &json!("s")));
    let time = times["points"].as_array().unwrap().iter().find(is_of_route).unwrap();
    let buckets = time["buckets"].as_array().unwrap();
    assert_eq!((time["count"].as_u64(), buckets.len()), (Some(1), 14), "{time}");
    assert_eq!(buckets.iter().filter_map(Value::as_u64).sum::<u64>(), 1, "{time}");
    assert_eq!(time["bounds"][0], 0.001);
    let memory = collector.metric("process_resident_memory_bytes", |_| true);
    assert!(memory["points"][0]["value"].as_u64().unwrap() > 1_000_000, "{memory}");
    let version = collector.metric("lyceum_build_info", |_| true);
    assert!(version["points"][0]["attributes"]["version"].is_string(), "{version}");
    let text = TestClient::new(format!("http://{address}")).get("/metrics").expect(200).text();
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let kinds: BTreeSet<String> = kinds
        .map(|(name, kind)| if kind == "info" { format!("{name}_info") } else { name.to_owned() })
        .collect();
    let sent = collector.entries("/v1/metrics");
    let sent: BTreeSet<String> =
        sent.iter().map(|metric| metric["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sent, kinds);
}

/// The spans have the names and attributes of the conventions, the warnings of the log as events, and no values.
fn check_spans(collector: &Collector, slow_count: usize) {
    let spans = collector.spans();
    let request = span(&spans, &format!("POST {ORGS}"), &json!(PARENT));
    assert_eq!(request["trace"], TRACE);
    assert_eq!(request["kind"], "SPAN_KIND_SERVER");
    let expected = json!({
        "http.request.method": "POST", "http.route": ORGS, "http.response.status_code": 201,
        "lyceum.area": "rostering", "lyceum.request_id": "r-1",
    });
    assert_eq!(request["attributes"], expected);
    let events = request["events"].as_array().unwrap();
    assert_eq!(events.len(), slow_count, "{request}");
    assert!(events.iter().all(|event| event["name"] == "a request was slow"), "{request}");
    assert_eq!(request["resource"]["service.name"], "lyceum");
    assert_eq!(request["resource"]["deployment.environment.name"], "production");
    let write = span(&spans, "write", &request["id"]);
    assert_eq!(write["attributes"]["db.system.name"], "sqlite");
    assert!(write["took_ns"].as_u64().unwrap() < request["took_ns"].as_u64().unwrap());
    assert!(!spans.iter().any(|span| span["trace"] == UNSAMPLED_TRACE), "its sender decided");
    let unknown = span(&spans, "GET unknown path", &json!(""));
    assert_eq!(unknown["attributes"]["http.route"], Value::Null);
    assert!(!spans.iter().any(|span| span["name"] == "read" && span["parent"] == ""), "polling");
    let message = span(&spans, "webhook", &json!(""));
    let named =
        format!("00-{}-{}-01", message["trace"].as_str().unwrap(), message["id"].as_str().unwrap());
    assert_eq!(collector.received("/webhook")[0]["traceparent"], named);
    assert_eq!(message["attributes"]["server.address"], "127.0.0.1");
    let text = format!("{spans:?}");
    assert!(!text.contains("s-secret") && !text.contains("School"), "{text}");
    let is_signed = |one: &Value| one["authorization"] == "Bearer of the school";
    assert!(collector.received("/v1/traces").iter().all(is_signed));
}

/// A collector that is down costs spans and one line of the log.
fn check_without_collector(served: &Served, address: &str) {
    let api = client(served);
    let dropped = || {
        let text = TestClient::new(format!("http://{address}")).get("/metrics").expect(200).text();
        let line = text.lines().find_map(|line| line.strip_prefix("lyceum_spans_dropped_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let (mut before, begun) = (0, Instant::now());
    for _ in 0..2 {
        let since = Instant::now();
        while dropped() == before {
            assert!(since.elapsed() < PATIENCE, "{}", served.log());
            api.get(ORGS).expect(200);
            sleep(Duration::from_millis(50));
        }
        before = dropped();
    }
    let log = std::fs::read_to_string(served.file("server.log")).unwrap();
    let lines = log.matches("does not accept telemetry").count() as u64;
    assert!((1..=1 + begun.elapsed().as_secs() / 60).contains(&lines), "{log}");
}

#[test]
#[ignore = "rest"]
fn a_trace_goes_through_two_nodes_to_a_backend() {
    let collector = Collector::start();
    let settings = settings(&collector.endpoint, &[]);
    let oak = Served::prepared_with(Store::postgres(), &["--env", "staging"], settings, |_| ());
    let place = place_at(&oak);
    place.write(
        "server/api/trace.js",
        "export const GET = (c) => c.text(c.req.header('traceparent'));\n",
    );
    place.ok("deploy --yes");
    let elm = oak.beside();
    let backend_parent = TestClient::new(elm.base.clone())
        .get("/_projects/word-rivers/api/trace")
        .header("traceparent", &traceparent(TRACE, "01"))
        .expect(200)
        .text();
    drop((oak.restart(), elm.restart()));

    let spans = collector.spans();
    let spans: Vec<Value> = spans.into_iter().filter(|span| span["trace"] == TRACE).collect();
    let first = span(&spans, "GET forwarded to another node", &json!(PARENT));
    let forward = span(&spans, "forward", &first["id"]);
    assert_eq!(forward["kind"], "SPAN_KIND_CLIENT");
    let second = span(&spans, "GET /_projects/{slug}", &forward["id"]);
    assert!(spans.iter().any(|one| one["attributes"]["db.system.name"] == "postgresql"));
    let backend = span(&spans, "backend", &second["id"]);
    assert_eq!(backend["attributes"]["lyceum.project"], "word-rivers");
    assert_eq!(backend_parent, format!("00-{TRACE}-{}-01", backend["id"].as_str().unwrap()));
}

#[test]
#[ignore = "rest"]
fn requests_to_a_bucket_are_spans_below_the_request_that_needs_it() {
    let (collector, bucket) = (Collector::start(), Bucket::start());
    let s3 = &bucket.settings;
    let more = [
        ("LYCEUM_S3__BUCKET", s3.bucket.clone()),
        ("LYCEUM_S3__ENDPOINT", s3.endpoint.clone()),
        ("LYCEUM_S3__REGION", s3.region.clone()),
        ("LYCEUM_S3__ACCESS_KEY", "key".to_owned()),
        ("LYCEUM_S3__SECRET_KEY", "secret".to_owned()),
    ];
    let settings = settings(&collector.endpoint, &more);
    let served = Served::prepared_with(Store::Sqlite, &[], settings, |_| ());
    let api = client(&served);
    let stimulus = r#"<qti-assessment-stimulus xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="text"
        title="Text"><qti-stimulus-body><p>Text</p></qti-stimulus-body></qti-assessment-stimulus>"#;
    api.post("/stimuli").json(&json!({ "format": "xml", "xml": stimulus })).expect(201);
    let put = |trace: &str, bytes: &[u8], status: u16| {
        let call = api.put("/stimuli/text/files/s-secret.png");
        let call = call.header("traceparent", &traceparent(trace, "01"));
        call.body("application/octet-stream", bytes).expect(status);
    };
    put(TRACE, b"stored", 200);
    bucket.set_down(true);
    put(UNSAMPLED_TRACE, b"not stored", 503);
    bucket.set_down(false);
    drop(served.restart());

    let spans = collector.spans();
    let below = |trace: &str| -> Vec<&Value> {
        let of_trace = || spans.iter().filter(|span| span["trace"] == trace);
        let request = of_trace().find(|span| span["parent"] == PARENT).expect("the request");
        of_trace()
            .filter(|span| span["name"] == "PUT bucket" && span["parent"] == request["id"])
            .collect()
    };
    let [stored] = below(TRACE).try_into().expect("one request to the bucket");
    assert_eq!(
        (&stored["kind"], &stored["status"]),
        (&json!("SPAN_KIND_CLIENT"), &json!("STATUS_CODE_UNSET"))
    );
    // The key of the object is not among them.
    let expected = json!({
        "http.request.method": "PUT", "http.response.status_code": 200, "server.address": "127.0.0.1",
    });
    assert_eq!(stored["attributes"], expected);
    let refused = below(UNSAMPLED_TRACE);
    assert!(refused.len() > 1, "it is tried again");
    for refused in refused {
        assert_eq!(refused["status"], "STATUS_CODE_ERROR");
        let expected = json!({
            "http.request.method": "PUT", "http.response.status_code": 503, "server.address": "127.0.0.1",
            "error.type": "503",
        });
        assert_eq!(refused["attributes"], expected);
    }
    assert!(!format!("{spans:?}").contains("s-secret"), "no names of files");
}

#[test]
#[ignore = "rest"]
fn a_share_of_traces_is_sent_unless_the_sender_decides() {
    let collector = Collector::start();
    let one_in = |count: &str| {
        settings(&collector.endpoint, &[("LYCEUM_TELEMETRY__TRACE_ONE_IN", count.to_owned())])
    };
    let served = Served::prepared_with(Store::Sqlite, &[], one_in("4"), |_| ());
    let api = client(&served);
    for _ in 0..400 {
        api.get(ORGS).expect(200);
    }
    let decided = |trace: &str, flags: &str| {
        api.get(ORGS).header("traceparent", &traceparent(trace, flags)).expect(200);
    };
    (0..20).for_each(|_| decided(TRACE, "01"));
    (0..20).for_each(|_| decided(UNSAMPLED_TRACE, "00"));
    let served = served.restart_with(one_in("0"));
    let name = format!("GET {ORGS}");
    let sent = || {
        let spans = collector.spans();
        let count = |parent: &str| {
            let is_counted = |span: &&Value| span["name"] == *name && span["parent"] == parent;
            spans.iter().filter(is_counted).count()
        };
        (count(""), count(PARENT), spans.iter().any(|span| span["trace"] == UNSAMPLED_TRACE))
    };
    let (of_server, of_sender, has_unsampled) = sent();
    // A hundred are expected; six times the standard deviation is 52.
    assert!((48..=152).contains(&of_server), "{of_server} of 400");
    assert_eq!((of_sender, has_unsampled), (20, false));

    let api = client(&served);
    for _ in 0..50 {
        api.get(ORGS).expect(200);
    }
    api.get(ORGS).header("traceparent", &traceparent(TRACE, "01")).expect(200);
    drop(served.restart());
    assert_eq!(sent(), (of_server, 21, false));
}
