//! Webhooks under stress: one of two servers is killed while it sends, and some of many targets are dead.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::receiver::{ReceivedMessage, Receiver};
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store, rest_on_both_stores};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const SETTINGS: &[(&str, &str)] = &[("LYCEUM_WEBHOOKS__ALLOW", "127.0.0.1")];
const CONTEXT: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";

fn start(store: Store) -> Served {
    Served::prepared_with(store, &[], SETTINGS, |_| ())
}

fn sign_in(served: &Served) -> Http {
    Http::sign_in(&served.base, &served.client("platform", &[]), None)
}

fn create(http: &Http, url: &str, sensor: Option<&str>) {
    let webhook = json!({ "name": "Test", "targetUrl": url, "secret": "s", "active": true, "sensor": sensor });
    let answer = http.send("post", "/webhooks", Some(webhook));
    assert_eq!(answer.status, 201, "{}", answer.body);
}

fn write_org(http: &Http, id: &str, version: usize) {
    let org = json!({ "org": { "sourcedId": id, "name": version.to_string(), "type": "school" } });
    let answer = match version {
        0 => http.send("post", &format!("{ROSTERING}/orgs"), Some(org)),
        _ => http.send("put", &format!("{ROSTERING}/orgs/{id}"), Some(org)),
    };
    assert!([200, 201].contains(&answer.status), "{}", answer.body);
}

/// The object and version that a message is about.
fn object_and_version(message: &ReceivedMessage) -> (String, usize) {
    let body: Value = message.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&body["object"]), text(&body["data"]["name"]).parse().unwrap())
}

#[test]
#[ignore = "rest"]
fn a_server_that_is_killed_while_it_sends_loses_nothing_and_keeps_the_order() {
    let (objects, versions) = if full_size() { (400, 10) } else { (40, 5) };
    let receiver = Receiver::start(|_| {
        thread::sleep(Duration::from_millis(5));
        200
    });
    let mut sender = start(Store::postgres());
    let http = sign_in(&sender);
    create(&http, &receiver.url("/hook"), None);
    // The only server that runs becomes the sender and stays it.
    write_org(&http, "first", 0);
    receiver.wait_for(1, Duration::from_secs(20));
    let other = sender.beside();
    let http = sign_in(&other);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in 0..versions {
                for object in 0..objects {
                    write_org(&http, &format!("o-{object}"), version);
                }
            }
        });
        receiver.wait_for(objects * versions / 4, Duration::from_mins(2));
        sender.kill();
    });
    let killed = Instant::now();
    let mut first_by_change: HashMap<(String, usize), String>;
    loop {
        first_by_change = HashMap::new();
        for message in receiver.messages() {
            first_by_change.entry(object_and_version(&message)).or_insert(message.id);
        }
        if first_by_change.len() == objects * versions + 1 {
            break;
        }
        assert!(killed.elapsed() < Duration::from_mins(2), "{} arrived", first_by_change.len());
        thread::sleep(Duration::from_millis(100));
    }
    println!("all changes had arrived {:?} after the kill", killed.elapsed());
    let messages = receiver.messages();
    println!("{} messages were duplicates", messages.len() - first_by_change.len());
    let mut newest_by_object: BTreeMap<String, usize> = BTreeMap::new();
    for message in &messages {
        let (object, version) = object_and_version(message);
        assert_eq!(
            first_by_change[&(object.clone(), version)],
            message.id,
            "a duplicate has the same id"
        );
        let newest = newest_by_object.get(&object).copied();
        let is_next = version == newest.map_or(0, |newest| newest + 1);
        let is_duplicate = newest.is_some_and(|newest| version <= newest);
        assert!(is_next || is_duplicate, "{object} {version} arrived after {newest:?}");
        if is_next {
            newest_by_object.insert(object, version);
        }
    }
}

rest_on_both_stores!(dead_targets_do_not_delay_the_others);

fn dead_targets_do_not_delay_the_others(store: Store) {
    let (targets, per_second, seconds) = if full_size() { (1_000, 500, 60) } else { (100, 50, 6) };
    let dead = targets / 100 * if full_size() { 1 } else { 10 };
    let number = |path: &str| path.trim_start_matches("/hook/").parse::<usize>().unwrap();
    let receiver = Receiver::start(move |message| {
        // A dead target accepts the connection and never answers.
        if number(&message.path) < dead {
            thread::sleep(Duration::from_mins(5));
        }
        200
    });
    let served = start(store);
    let http = sign_in(&served);
    let sensor = |target: usize| format!("https://app.test/{target}");
    for target in 0..targets {
        create(&http, &receiver.url(&format!("/hook/{target}")), Some(&sensor(target)));
    }
    let sent_by_object: Mutex<HashMap<String, Instant>> = Mutex::default();
    let began = Instant::now();
    thread::scope(|scope| {
        let senders = 4;
        for sender in 0..senders {
            let (http, sent_by_object) = (sign_in(&served), &sent_by_object);
            scope.spawn(move || {
                for event in (sender..per_second * seconds).step_by(senders) {
                    let [number, per_second] =
                        [event, per_second].map(|count| u32::try_from(count).unwrap());
                    let expected = Duration::from_secs(1) * number / per_second;
                    thread::sleep(expected.saturating_sub(began.elapsed()));
                    let target = event % targets;
                    let id = format!("urn:uuid:00000000-0000-4000-8000-{event:012}");
                    sent_by_object.lock().unwrap().insert(id.clone(), Instant::now());
                    let answer = http.send(
                        "post",
                        "/ims/caliper/v1p2/events",
                        Some(envelope(&sensor(target), &id)),
                    );
                    assert_eq!(answer.status, 200, "{}", answer.body);
                }
            });
        }
    });
    println!("{} events were sent in {:?}", per_second * seconds, began.elapsed());
    let living = (0..per_second * seconds).filter(|event| event % targets >= dead).count();
    let of_living = || {
        let messages = receiver.messages().into_iter();
        messages.filter(|message| number(&message.path) >= dead).collect::<Vec<_>>()
    };
    let since = Instant::now();
    while of_living().len() < living {
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{} of {living} arrived",
            of_living().len()
        );
        thread::sleep(Duration::from_millis(50));
    }
    let sent = sent_by_object.into_inner().unwrap();
    let mut delays: Vec<Duration> = of_living()
        .iter()
        .map(|message| message.at - sent[message.json()["object"].as_str().unwrap()])
        .collect();
    delays.sort();
    let part = |percent: usize| delays[delays.len() * percent / 100];
    println!("p50 {:?}, p99 {:?}, slowest {:?}", part(50), part(99), delays[delays.len() - 1]);
    assert!(part(99) < Duration::from_secs(2), "p99 is {:?}", part(99));
}

fn envelope(sensor: &str, id: &str) -> Value {
    json!({
        "sensor": sensor, "sendTime": "2026-01-15T08:00:01.000Z", "dataVersion": CONTEXT,
        "data": [{
            "@context": CONTEXT, "id": id, "type": "SessionEvent", "action": "LoggedIn",
            "actor": { "id": "https://school.test/users/robin", "type": "Person" },
            "object": { "id": "https://app.test/", "type": "SoftwareApplication" },
            "eventTime": "2026-01-15T08:00:00.000Z",
        }],
    })
}
