//! Consumers that follow changes: `GET /changes`, and lists filtered by `dateLastModified`.

use std::collections::BTreeMap;

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_store::record_clock;
use lyceum_testkit::records;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
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
            self.after = page["next"].as_str().unwrap().to_owned();
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
        let next = |reply: &lyceum_testserver::client::Reply| {
            let link = reply.header("link");
            let link =
                link.split(", ").find_map(|link| link.strip_suffix("; rel=\"next\""))?.to_owned();
            let address = link.trim_matches(['<', '>']).to_owned();
            Some(address[address.find("/ims").unwrap()..].to_owned())
        };
        let ids = |reply: &lyceum_testserver::client::Reply| -> Vec<String> {
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
