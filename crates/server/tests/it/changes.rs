//! Consumers that follow changes: `GET /changes`, and lists filtered by `dateLastModified`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_roster::csv;
use lyceum_store::{StoreLocation, record_clock};
use lyceum_testkit::{both_stores, full_size, records};
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{Setup, TestServer, both};
use serde_json::{Value, json};

use crate::access::limited_client;
use crate::limited::{FAR, NEAR, plant};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

/// A consumer with its copy: the state of each record by kind and id.
#[derive(Default)]
struct Copy {
    after: String,
    records: BTreeMap<(String, String), String>,
}

impl Copy {
    /// Reads all pages, and returns the changes as `kind id state`.
    fn follow(&mut self, client: &TestClient) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let after = if self.after.is_empty() { "" } else { &format!("&after={}", self.after) };
            let page: Value = client.get(&format!("/changes?limit=7{after}")).expect(200).json();
            page["next"].as_str().unwrap().clone_into(&mut self.after);
            for change in page["changes"].as_array().unwrap() {
                let text = |name: &str| change[name].as_str().unwrap().to_owned();
                let (kind, id, state) = (text("kind"), text("id"), text("state"));
                told.push(format!("{kind} {id} {state}"));
                match state.as_str() {
                    "removed" => self.records.remove(&(kind, id)),
                    _ => self.records.insert((kind, id), change["record"].to_string()),
                };
            }
            if page["hasMore"] == false {
                return told;
            }
        }
    }

    fn count(&self, kind: &str) -> usize {
        self.records.keys().filter(|(of, _)| of == kind).count()
    }
}

/// The path of the next page.
fn next(reply: &Reply) -> Option<String> {
    let links = reply.header("link");
    let link = links.split(", ").find_map(|link| link.strip_suffix("; rel=\"next\""))?;
    let address = link.trim_matches(['<', '>']);
    Some(address[address.find("/ims").unwrap()..].to_owned())
}

#[test]
fn a_consumer_copies_all_kinds_and_follows_their_changes() {
    both(|server| {
        plant(server);
        let client = server.client();
        let mut copy = Copy::default();
        copy.follow(&client);
        for (kind, path) in [
            ("user", format!("{ROSTERING}/users?limit=3000")),
            ("class", format!("{ROSTERING}/classes?limit=3000")),
            ("badge", "/ims/ob/v3p0/credentials".to_owned()),
            ("learnerRecord", "/ims/clr/v2p0/credentials".to_owned()),
        ] {
            let list = client.get(&path).expect(200);
            assert_eq!(copy.count(kind).to_string(), list.header("x-total-count"), "{kind}");
        }
        assert_eq!((copy.count("framework"), copy.count("badgeDefinition")), (1, 1));
        assert_eq!(copy.follow(&client), [""; 0], "nothing changed since");
        let class = format!("{ROSTERING}/classes/{NEAR}-class");
        client.patch(&class).json(&json!({ "class": { "title": "Renamed" } })).expect(200);
        client.delete(&format!("{ROSTERING}/enrollments/{FAR}-class-{FAR}-ann")).expect(204);
        let told = copy.follow(&client);
        assert!(told.contains(&format!("class {NEAR}-class present")), "{told:?}");
        assert!(told.contains(&format!("enrollment {FAR}-class-{FAR}-ann deleted")), "{told:?}");
        assert!(copy.records[&("class".into(), format!("{NEAR}-class"))].contains("Renamed"));
        // Only kinds that the token may read.
        let reader = server.client_with(&[Scope::GradebookRead], PayloadDialect::Platform);
        let mut grades = Copy::default();
        grades.follow(&reader);
        assert_eq!((grades.count("user"), grades.count("badge")), (0, 0));
        let reader = server.client_with(&[Scope::EventsRead], PayloadDialect::Platform);
        reader.get("/changes").expect(403);
    });
}

#[test]
fn a_limited_consumer_learns_what_its_district_gains_and_loses() {
    both(|server: &mut TestServer| {
        plant(server);
        let (all, near, far) = (
            server.client(),
            limited_client(server, &[&format!("{NEAR}-district")]),
            limited_client(server, &[&format!("{FAR}-district")]),
        );
        let (mut of_all, mut of_near, mut of_far) =
            (Copy::default(), Copy::default(), Copy::default());
        of_all.follow(&all);
        of_near.follow(&near);
        of_far.follow(&far);
        assert_eq!((of_near.count("user"), of_far.count("user")), (6, 3));
        let ann = format!("{NEAR}-ann");
        let role = json!({ "roleType": "primary", "role": "student",
                           "org": { "sourcedId": format!("{FAR}-school") } });
        let change = json!({ "user": { "roles": [role] } });
        all.patch(&format!("{ROSTERING}/users/{ann}")).json(&change).expect(200);
        let (lost, gained) = (of_near.follow(&near), of_far.follow(&far));
        assert!(lost.contains(&format!("user {ann} removed")), "{lost:?}");
        assert!(gained.contains(&format!("user {ann} present")), "{gained:?}");
        assert!(!of_all.follow(&all).iter().any(|told| told.ends_with("removed")));
        assert_eq!((of_near.count("user"), of_far.count("user")), (5, 4));
        // A school that moves takes its classes with it.
        let parent = json!({ "org": { "parent": { "sourcedId": format!("{NEAR}-district") } } });
        all.patch(&format!("{ROSTERING}/orgs/{FAR}-school")).json(&parent).expect(200);
        let (gained, lost) = (of_near.follow(&near), of_far.follow(&far));
        assert!(gained.contains(&format!("class {FAR}-class present")), "{gained:?}");
        assert!(lost.contains(&format!("class {FAR}-class removed")), "{lost:?}");
        assert_eq!((of_near.count("user"), of_far.count("user")), (9, 0));
    });
}

#[test]
fn a_cursor_from_before_dropped_notes_is_gone() {
    both(|server: &mut TestServer| {
        let client = server.client();
        let org = json!({ "sourcedId": "o", "name": "o", "type": "district" });
        records::create(server.db(), "orgs", &org);
        let mut copy = Copy::default();
        copy.follow(&client);
        let now = server.setup().clock.now().plus_seconds(60);
        let forget = |tx: &mut lyceum_store::Tx<'_>| record_clock::forget_removed(tx, now);
        server.db().write_blocking(forget).unwrap();
        let reply = client.get(&format!("/changes?after={}", copy.after)).expect(410);
        assert!(reply.text().contains("read everything again"), "{}", reply.text());
        client.get("/changes?after=x").expect(400);
        client.get("/changes?limit=0").expect(422);
        client.get("/changes").expect(200);
    });
}

#[test]
fn a_list_of_changes_says_up_to_when_it_is_complete_and_links_to_what_follows() {
    both(|server: &mut TestServer| {
        let client = server.client();
        for number in 0..10 {
            let id = format!("o{number}");
            records::create(
                server.db(),
                "orgs",
                &json!({ "sourcedId": id, "name": id, "type": "district" }),
            );
        }
        let plain = client.get(&format!("{ROSTERING}/orgs?limit=4")).expect(200);
        assert_eq!(plain.header("x-lyceum-complete-until"), "");
        let ids = |reply: &Reply| -> Vec<String> {
            let page: Value = reply.json();
            let orgs = page["orgs"].as_array().unwrap().iter();
            orgs.map(|org| org["sourcedId"].as_str().unwrap().to_owned()).collect()
        };
        // A record of an earlier page that is deleted hides none of a later page.
        let mut seen = ids(&plain);
        client.delete(&format!("{ROSTERING}/orgs/o0")).expect(204);
        let mut reply = plain;
        while let Some(path) = next(&reply) {
            reply = client.get(&path).expect(200);
            seen.extend(ids(&reply));
        }
        assert_eq!(seen.len(), 10, "{seen:?}");
        let since = "filter=dateLastModified%3E%3D'2020-01-01'&sort=dateLastModified";
        let first = client.get(&format!("{ROSTERING}/orgs?limit=4&{since}")).expect(200);
        let until = first.header("x-lyceum-complete-until").to_owned();
        // What changes during the walk belongs to the next one.
        let change = json!({ "org": { "name": "Changed" } });
        client.patch(&format!("{ROSTERING}/orgs/o1")).json(&change).expect(200);
        let mut walked = ids(&first);
        let mut reply = first;
        while let Some(path) = next(&reply) {
            reply = client.get(&path).expect(200);
            assert_eq!(reply.header("x-lyceum-complete-until"), until);
            walked.extend(ids(&reply));
        }
        assert!(walked.len() >= 9 && !walked[4..].contains(&"o1".to_owned()), "{walked:?}");
        let since = format!("filter=dateLastModified%3E'{until}'");
        let later = client.get(&format!("{ROSTERING}/orgs?{since}")).expect(200);
        assert_eq!(ids(&later), ["o1"]);
    });
}

/// How a consumer of the list of organizations continues.
#[derive(Clone, Copy, Debug)]
enum Watermark {
    After,
    FromOn,
    TimeOfPoll,
    Changes,
}

/// Follows the organizations of a server. Its copy has the record of each.
fn consume(client: &TestClient, watermark: Watermark, copy: &mut Copy) {
    if matches!(watermark, Watermark::Changes) {
        copy.follow(client);
        return;
    }
    let since = if copy.after.is_empty() { "1970-01-01T00:00:00.000Z" } else { &copy.after };
    let sign = if matches!(watermark, Watermark::After) { "%3E" } else { "%3E%3D" };
    let (mut newest, begun) = (since.to_owned(), SystemClock.now());
    let mut path =
        Some(format!("{ROSTERING}/orgs?limit=3000&filter=dateLastModified{sign}'{since}'"));
    while let Some(at) = path {
        let reply = client.get(&at).expect(200);
        for org in reply.json::<Value>()["orgs"].as_array().unwrap() {
            let stamp = org["dateLastModified"].as_str().unwrap();
            newest = newest.max(stamp.to_owned());
            let id = org["sourcedId"].as_str().unwrap().to_owned();
            copy.records.insert(("org".to_owned(), id), org.to_string());
        }
        path = next(&reply);
    }
    copy.after = match watermark {
        Watermark::TimeOfPoll => begun.to_string(),
        _ => newest,
    };
}

/// Creates, changes and deletes organizations, one by one and in bulk, and imports some.
fn write_organizations((server, client): (&TestServer, &TestClient), writer: usize, rounds: usize) {
    let org = |id: &str, name: &str| json!({ "sourcedId": id, "name": name, "type": "district" });
    for round in 0..rounds {
        let id = format!("w{writer}-{round}");
        client
            .post(&format!("{ROSTERING}/orgs"))
            .json(&json!({ "org": org(&id, "new") }))
            .expect(201);
        match round % 5 {
            0 => {
                let change = json!({ "org": { "name": format!("changed {round}") } });
                let of_before = format!("w{writer}-{}", round / 10 * 5);
                client.patch(&format!("{ROSTERING}/orgs/{of_before}")).json(&change).expect(200);
            }
            1 => {
                client.delete(&format!("{ROSTERING}/orgs/{id}")).expect(204);
            }
            2 if round % 10 == 2 => {
                let line = |n| org(&format!("b{writer}-{round}-{n}"), "bulk").to_string();
                let lines: Vec<String> = (0..30).map(line).collect();
                let bulk = client.post(&format!("{ROSTERING}/orgs/bulk"));
                bulk.body("application/x-ndjson", lines.join("\n")).expect(200);
            }
            3 if round % 20 == 3 => import_organizations(server, &format!("i{writer}-{round}")),
            _ => {}
        }
    }
}

fn import_organizations(server: &TestServer, prefix: &str) {
    let folder = tempfile::tempdir().unwrap();
    let row =
        |n: usize| format!("{prefix}-{n},active,2026-01-01T00:00:00.000Z,Imported,district\n");
    let rows: String = (0..100).map(row).collect();
    let head = "sourcedId,status,dateLastModified,name,type\n";
    std::fs::write(folder.path().join("orgs.csv"), format!("{head}{rows}")).unwrap();
    let manifest =
        "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\nfile.orgs,delta\n";
    std::fs::write(folder.path().join("manifest.csv"), manifest).unwrap();
    let options = csv::ImportOptions::default();
    let report =
        csv::import(server.db(), folder.path(), &options, SystemClock.now(), &mut |_| {}).unwrap();
    assert!(report.committed, "{:?}", report.faults);
}

#[test]
#[ignore = "rest"]
fn consumers_of_several_servers_miss_none_of_many_writes() {
    let rounds = if full_size() { 4000 } else { 60 };
    both_stores(&lyceum_api::migrations(), |target| {
        let count = if matches!(target, StoreLocation::Postgres(_)) { 3 } else { 1 };
        let setup = Setup::default();
        let start = |_| {
            let mut setup = Setup { folder: None, ..setup.clone() };
            setup.listen_anew();
            TestServer::start_as(target, setup)
        };
        let servers: Vec<TestServer> = (0..count).map(start).collect();
        let clients: Vec<TestClient> = servers.iter().map(TestServer::client).collect();
        let kinds =
            [Watermark::After, Watermark::FromOn, Watermark::TimeOfPoll, Watermark::Changes];
        let stop = AtomicBool::new(false);
        let copies: Vec<(Watermark, Copy)> = thread::scope(|scope| {
            let consumers = kinds.map(|watermark| {
                let (client, stop) = (&clients[watermark as usize % count], &stop);
                scope.spawn(move || {
                    let mut copy = Copy::default();
                    while !stop.load(Ordering::Relaxed) {
                        consume(client, watermark, &mut copy);
                    }
                    consume(client, watermark, &mut copy);
                    (watermark, copy)
                })
            });
            let writers: Vec<_> = (0..8)
                .map(|writer| {
                    let (server, client) = (&servers[writer % count], &clients[writer % count]);
                    scope.spawn(move || write_organizations((server, client), writer, rounds))
                })
                .collect();
            let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            stop.store(true, Ordering::Relaxed);
            let copies = consumers.map(|consumer| consumer.join().unwrap()).into();
            for writer in written {
                writer.unwrap();
            }
            copies
        });
        let mut all = Copy::default();
        consume(&clients[0], Watermark::FromOn, &mut all);
        println!("{} records, {} versions by 8 writers", all.records.len(), 8 * rounds);
        for (watermark, copy) in copies {
            let is_missed = |(key, record): &(&(String, String), &String)| {
                let seen: Option<Value> = copy.records.get(*key).map(|seen| seen.parse().unwrap());
                let record: Value = record.parse().unwrap();
                seen.is_none_or(|seen| {
                    ["name", "status", "dateLastModified"]
                        .iter()
                        .any(|name| seen[name] != record[name])
                })
            };
            let missed: Vec<_> = all.records.iter().filter(is_missed).map(|(key, _)| key).collect();
            assert!(missed.is_empty(), "{watermark:?}: {} missed: {missed:?}", missed.len());
        }
    });
}
