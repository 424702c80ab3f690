//! Events over HTTP: intake and its status codes, lists, jobs, the live stream.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_events::CONTEXT;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{always_both, both};
use serde_json::{Value, json};

fn id(number: u32) -> String {
    format!("urn:uuid:00000000-0000-4000-8000-{number:012}")
}

/// An activity, number n, of one of two students, in minute n of the day.
pub(crate) fn event(number: u32) -> Value {
    let student = number % 2;
    json!({
        "@context": CONTEXT,
        "id": id(number),
        "type": "ActivityEvent",
        "profile": "TimebackProfile",
        "actor": {
            "id": format!("https://example.org/users/{student}"),
            "type": "TimebackUser",
            "email": format!("Student{student}@example.org"),
        },
        "action": "Completed",
        "object": {
            "id": "https://example.org/activities/1",
            "type": "TimebackActivityContext",
            "subject": "Math",
            "app": {"name": "Fractions"},
        },
        "eventTime": format!("2026-01-15T08:{:02}:00.000Z", number % 60),
        "generated": {
            "id": "https://example.org/metrics/1",
            "type": "TimebackActivityMetricsCollection",
            "items": [{"type": "xpEarned", "value": number}],
        },
    })
}

fn envelope(data: &[Value]) -> Value {
    json!({
        "sensor": "https://example.org/sensors/1",
        "sendTime": "2026-01-15T09:00:00.000Z",
        "dataVersion": CONTEXT,
        "data": data,
    })
}

pub(crate) fn send(client: &TestClient, path: &str, data: &[Value]) -> Reply {
    client.post(path).json(&envelope(data)).send()
}

const STANDARD: &str = "/ims/caliper/v1p2/events";
pub(crate) const PLATFORM: &str = "/caliper/event";

#[test]
fn an_envelope_is_accepted_at_both_addresses_and_read_back() {
    both(|server| {
        let client = server.client();
        for (number, path) in [(1, STANDARD), (2, PLATFORM)] {
            let reply = send(&client, path, &[event(number)]);
            assert_eq!(reply.status, 200, "{}", reply.text());
            let answer: Value = reply.json();
            assert_eq!(answer["status"], "success");
            assert_eq!(answer["message"], "1 event kept: 1 new, 0 known already");
            let job = answer["jobId"].as_str().unwrap();
            let job: Value = client.get(&format!("/jobs/{job}/status")).expect(200).json();
            assert_eq!(job["job"]["state"], "completed");
            assert_eq!(job["job"]["returnValue"]["results"][0]["externalId"], id(number));
            let path = format!("/caliper/events/{}", id(number).replace(':', "%3A"));
            let stored: Value = client.get(&path).expect(200).json();
            let stored = &stored["event"];
            assert_eq!(stored["externalId"], id(number));
            assert_eq!(stored["object"], event(number)["object"]);
            assert_eq!(stored["sendTime"], "2026-01-15T09:00:00.000Z");
            let allocated = job["job"]["returnValue"]["results"][0]["allocatedId"].as_str();
            assert_eq!(allocated, Some(&*stored["id"].to_string()));
        }
        let plain = server.client_with(&[], PayloadDialect::Standard);
        let reply = send(&plain, STANDARD, &[event(3)]);
        assert_eq!((reply.status, reply.text().as_str()), (200, ""));
    });
}

#[test]
fn an_answer_distinguishes_new_events_from_known_ones() {
    both(|server| {
        let client = server.client();
        let message = |events: &[Value]| {
            let reply = send(&client, PLATFORM, events);
            assert_eq!(reply.status, 200, "{}", reply.text());
            let answer: Value = reply.json();
            assert_eq!(answer["status"], "success");
            assert!(answer["jobId"].is_string());
            answer["message"].as_str().unwrap().to_owned()
        };
        assert_eq!(message(&[event(1)]), "1 event kept: 1 new, 0 known already");
        assert_eq!(message(&[event(1)]), "1 event kept: 0 new, 1 known already");
        assert_eq!(message(&[event(1), event(2)]), "2 events kept: 1 new, 1 known already");
        let mut corrected = event(2);
        corrected["extensions"] = json!({ "note": "corrected" });
        assert_eq!(
            message(&[corrected]),
            "1 event kept: 0 new, 1 new version of a known event, 0 known already"
        );
    });
}

#[test]
fn each_error_has_its_status() {
    both(|server| {
        let client = server.client();
        for path in [STANDARD, PLATFORM, "/caliper/event/validate"] {
            let post = |body: &str| client.post(path).body("application/json", body.to_owned());
            for body in ["", "{", "[]", "null", "{}"] {
                let answer: Value = post(body).expect(400).json();
                assert_eq!(answer["status"], "error", "{body}: {answer}");
                assert!(answer["message"].as_str().is_some_and(|text| !text.is_empty()));
                assert!(answer["errors"].is_array());
            }
            let mut other = envelope(&[event(1)]);
            other["dataVersion"] = "http://purl.imsglobal.org/ctx/caliper/v1p0".into();
            assert_eq!(client.post(path).json(&other).send().status, 422);
            let mut early = event(1);
            early["eventTime"] = "2099-01-15T08:00:00.000Z".into();
            let answer: Value = client.post(path).json(&envelope(&[early])).expect(400).json();
            assert_eq!(answer["errors"][0]["path"], "data[0].eventTime");
            let text = client.post(path).body("text/plain", envelope(&[event(1)]).to_string());
            assert_eq!(text.send().status, 415);
            let large = client.post(path).body("application/json", vec![b' '; 5 * 1024 * 1024]);
            assert_eq!(large.send().status, 413);
            assert_eq!(server.anonymous().post(path).json(&other).send().status, 401);
            let reader = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
            assert_eq!(reader.post(path).json(&other).send().status, 403);
        }
    });
}

#[test]
fn a_batch_is_stored_as_a_whole_or_not_at_all() {
    both(|server| {
        let client = server.client();
        let mut bad = event(2);
        bad["action"] = "Started".into();
        bad["object"]["subject"] = Value::Null;
        let answer: Value = {
            let reply = send(&client, PLATFORM, &[event(1), bad, event(3)]);
            assert_eq!(reply.status, 400);
            reply.json()
        };
        let paths: Vec<_> =
            answer["errors"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
        assert_eq!(paths, ["data[1].action", "data[1].object.subject"]);
        assert_eq!(total(&client, ""), 0);
        let checked: Value = {
            let reply = send(&client, "/caliper/event/validate", &[event(1)]);
            assert_eq!(reply.status, 200);
            reply.json()
        };
        assert_eq!(checked["status"], "success");
        assert_eq!(total(&client, ""), 0, "checking keeps nothing");
        let refused = server.db().read_blocking(|tx| lyceum_events::repository::refused(tx, 10));
        assert_eq!(refused.unwrap().len(), 1);
    });
}

/// Envelopes that arrive together share a transaction, and one that the store refuses is alone in it.
#[test]
fn an_envelope_that_the_store_refuses_does_not_affect_others() {
    always_both(|server| {
        let clients: Vec<TestClient> = (0..16).map(|_| server.client()).collect();
        server.db().write_blocking(refuse_bad_emails).unwrap();
        let take = |sender: u32, client: &TestClient| {
            for number in 0..10 {
                let mut event = event(sender * 10 + number);
                let is_bad = sender.is_multiple_of(4);
                if is_bad {
                    event["actor"]["email"] = BAD_EMAIL.into();
                }
                let reply = send(client, PLATFORM, &[event]);
                assert_eq!(reply.status == 200, !is_bad, "{}", reply.text());
            }
        };
        thread::scope(|scope| {
            for (sender, client) in (0..).zip(&clients) {
                scope.spawn(move || take(sender, client));
            }
        });
        assert_eq!(total(&clients[0], ""), 120);
    });
}

const BAD_EMAIL: &str = "bad@example.org";

/// Nothing that passes the checks is refused by a store of itself.
fn refuse_bad_emails(tx: &mut lyceum_store::Tx<'_>) -> lyceum_core::Result<()> {
    let sql = match tx.dialect() {
        lyceum_store::SqlDialect::Sqlite => format!(
            "CREATE TRIGGER no_bad BEFORE INSERT ON event_actors WHEN NEW.email = '{BAD_EMAIL}' \
             BEGIN SELECT RAISE(ABORT, 'no bad e-mail address'); END"
        ),
        lyceum_store::SqlDialect::Postgres => {
            format!("ALTER TABLE event_actors ADD CHECK (email <> '{BAD_EMAIL}')")
        }
    };
    tx.execute(&sql, &[]).map(drop)
}

fn page(client: &TestClient, query: &str) -> Value {
    client.get(&format!("/caliper/events{query}")).expect(200).json()
}

fn total(client: &TestClient, query: &str) -> u64 {
    page(client, query)["pagination"]["total"].as_u64().unwrap()
}

#[test]
fn events_are_listed_by_page_time_sensor_and_actor() {
    both(|server| {
        let client = server.client();
        let events: Vec<Value> = (0..25).map(event).collect();
        assert_eq!(send(&client, PLATFORM, &events).status, 200);
        // Sent again, they count once.
        assert_eq!(send(&client, PLATFORM, &events).status, 200);
        let last = page(&client, "?limit=10&offset=20");
        let pagination = json!({"total": 25, "totalPages": 3, "currentPage": 3, "limit": 10});
        assert_eq!(last["pagination"], pagination);
        let ids: Vec<_> =
            last["events"].as_array().unwrap().iter().map(|it| &it["externalId"]).collect();
        assert_eq!(ids, (20..25).map(id).collect::<Vec<_>>().iter().collect::<Vec<_>>());
        let counts = [
            ("?sensor=https://example.org/sensors/1", 25),
            ("?sensor=https://example.org/sensors/2", 0),
            ("?type=ActivityEvent", 25),
            ("?type=ActivityEvent&startDate=2026-01-15T08:20:00Z&limit=2", 5),
            ("?type=ViewEvent", 0),
            ("?actorId=https://example.org/users/1", 12),
            ("?actorEmail=student0@example.org", 13),
            ("?startDate=2026-01-15T08:20:00Z", 5),
            ("?endDate=2026-01-15T08:20:00.000Z", 21),
            ("?startDate=2026-01-15&endDate=2026-01-15", 25),
            ("?startDate=2026-01-16", 0),
            ("?actorId=https://example.org/users/1&startDate=2026-01-15T08:20:00Z", 2),
            ("?offset=1000", 25),
        ];
        for (query, expected) in counts {
            assert_eq!(total(&client, query), expected, "{query}");
        }
        for query in ["?startDate=soon", "?type=activity"] {
            let answer: Value = client.get(&format!("/caliper/events{query}")).expect(400).json();
            assert_eq!(answer["status"], "error", "{query}");
        }
        client.get(&format!("/caliper/events/{}", id(99))).expect(404);
        for job in ["99999", "x"] {
            client.get(&format!("/jobs/{job}/status")).expect(404);
        }
    });
}

#[test]
fn the_endpoint_describes_what_it_accepts() {
    both(|server| {
        let answer: Value = server.client().get(STANDARD).expect(200).json();
        assert_eq!(answer["caliperSupportedVersions"], json!(lyceum_events::CONTEXTS));
        assert_eq!(answer["caliperMaximumPayloadSize"], 4096);
        assert_eq!(server.anonymous().get(STANDARD).send().status, 401);
    });
}

#[test]
fn corrections_replace_what_they_correct() {
    both(|server| {
        let client = server.client();
        send(&client, PLATFORM, &[event(1)]);
        let mut corrected = envelope(&[event(1)]);
        corrected["sendTime"] = "2026-01-15T10:00:00Z".into();
        corrected["data"][0]["generated"]["items"][0]["value"] = 7.into();
        client.post(PLATFORM).json(&corrected).expect(200);
        // The former version, sent again late, changes nothing.
        send(&client, PLATFORM, &[event(1)]);
        let listed = page(&client, "");
        assert_eq!(listed["pagination"]["total"], 1);
        assert_eq!(listed["events"][0]["generated"]["items"][0]["value"], 7);
    });
}

/// A live stream, line by line.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    pub(crate) fn open(address: &str, token: &str, headers: &str) -> Self {
        let headers = format!("Authorization: Bearer {token}\r\n{headers}");
        Self::at(address, "/events/stream", &headers)
    }

    /// The stream of a path.
    pub(crate) fn at(address: &str, path: &str, headers: &str) -> Self {
        let host = address.trim_start_matches("http://");
        let mut socket = TcpStream::connect(host).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n{headers}\r\n");
        socket.write_all(request.as_bytes()).unwrap();
        let mut stream = Self(BufReader::new(socket));
        assert!(stream.line().contains(" 200 "));
        // The first piece says that nothing that comes now is missed.
        while !stream.line().starts_with(": begin") {}
        stream
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// Whether data arrives within the time.
    pub(crate) fn has_data_within(&mut self, wait: Duration) -> bool {
        let ends = Instant::now() + wait;
        loop {
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.0.get_ref().set_read_timeout(Some(left)).unwrap();
            let mut line = String::new();
            if self.0.read_line(&mut line).is_ok() && line.starts_with("data:") {
                return true;
            }
        }
    }

    /// Whether its connection is open.
    pub(crate) fn goes_on(mut self) -> bool {
        let wait = Some(Duration::from_millis(100));
        self.0.get_ref().set_read_timeout(wait).unwrap();
        loop {
            match self.0.read_line(&mut String::new()) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }

    /// The next event: its id, and the id that its sender gave it.
    pub(crate) fn next(&mut self) -> (String, String) {
        loop {
            if let Some(number) = self.line().strip_prefix("id: ") {
                let number = number.trim().to_owned();
                let line = self.line();
                // A place alone, without an event.
                let Some(data) = line.strip_prefix("data: ") else { continue };
                let event: Value = serde_json::from_str(data).unwrap();
                return (number, event["externalId"].as_str().unwrap().to_owned());
            }
        }
    }
}

#[test]
fn events_arrive_live_from_every_server_and_a_stream_resumes_where_it_ended() {
    both(|server| {
        let twin = server.twin();
        let token = server.token(&[Scope::EventsRead], PayloadDialect::Platform);
        let client = server.client();
        send(&client, PLATFORM, &[event(1)]);
        let begin = Stream::open(&twin.address(), &token, "").line();
        send(&client, PLATFORM, &[event(2), event(3)]);
        let begin = begin.strip_prefix("id: ").expect("where a stream that had no event goes on");
        let headers = format!("Last-Event-ID: {}\r\n", begin.trim());
        let mut stream = Stream::open(&twin.address(), &token, &headers);
        let (second, name) = stream.next();
        assert_eq!(name, id(2));
        drop(stream);
        send(&client, PLATFORM, &[event(4)]);
        let headers = format!("Last-Event-ID: {second}\r\n");
        let mut stream = Stream::open(&server.address(), &token, &headers);
        assert_eq!([stream.next().1, stream.next().1], [id(3), id(4)]);
        let reader = server.client_with(&[Scope::EventsRead], PayloadDialect::Platform);
        let all = reader.get("/events/stream?follow=false").header("Last-Event-ID", "0");
        assert_eq!(all.expect(200).text().matches("\ndata: ").count(), 4);
        let wrong = reader.get("/events/stream?follow=false").header("Last-Event-ID", "x");
        assert_eq!(wrong.send().status, 400);
        // A number that an older log, which was restored, does not have.
        let ahead = (second.parse::<i64>().unwrap() + 1000).to_string();
        let ahead =
            reader.get("/events/stream?follow=false").header("Last-Event-ID", &ahead).send();
        assert!(ahead.status == 400 && ahead.text().contains("was restored"), "{}", ahead.text());
    });
}

/// An event that the power takes gives its number to another one, which a client that saw the number
/// would miss.
#[test]
fn a_stream_shows_an_event_only_after_its_sync() {
    always_both(|server| {
        // PostgreSQL shows a commit once it is durable.
        let Some(turn) = server.db().sync_turn() else { return };
        let (writer, reader) =
            (server.client(), server.client_with(&[Scope::EventsRead], PayloadDialect::Platform));
        reader.get("/events/stream?follow=false").header("Last-Event-ID", "0").expect(200);
        let held = turn.lock().unwrap();
        thread::scope(|scope| {
            // Made here, so that a failure below lets the disk go.
            let held = held;
            let (sent, streamed) = mpsc::channel();
            scope.spawn(|| writer.post(PLATFORM).json(&envelope(&[event(1)])).expect(200));
            while page(&reader, "")["pagination"]["total"] != 1 {
                thread::yield_now();
            }
            for last in [Some("0"), None] {
                let (sent, reader) = (sent.clone(), &reader);
                scope.spawn(move || {
                    let stream = reader.get("/events/stream?follow=false");
                    let stream = match last {
                        Some(last) => stream.header("Last-Event-ID", last),
                        None => stream,
                    };
                    sent.send((last, stream.expect(200).text())).unwrap();
                });
            }
            let early = streamed.recv_timeout(Duration::from_secs(1));
            assert!(early.is_err(), "before the disk had it: {early:?}");
            drop(held);
            for _ in 0..2 {
                let (last, text) = streamed.recv_timeout(Duration::from_secs(20)).unwrap();
                assert_eq!(text.contains("\ndata: "), last.is_some(), "{text}");
                assert!(text.contains("id: 1\n"), "{text}");
            }
        });
    });
}
