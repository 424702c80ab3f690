//! What arrives: every change once, in order per object, signed, and only where the filters agree.

use std::collections::{BTreeMap, HashSet};
use std::process::Command;

use lyceum_testserver::receiver::{ReceivedMessage, Receiver};
use lyceum_testserver::server::both_as;
use serde_json::{Value, json};

use super::{PATIENCE, ROSTERING, SECRET, create, filter, log, put_org, setup, wait_for_log};

#[test]
fn changes_arrive_signed_and_in_order_of_each_object() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let client = server.client();
        put_org(&client, "before", "Before");
        let webhook = create(&client, &receiver.url("/hook"), &json!({}));
        for version in 0..5 {
            for org in ["a", "b", "c"] {
                put_org(&client, org, &format!("{org} {version}"));
            }
        }
        client.delete(&format!("{ROSTERING}/orgs/a")).expect(204);
        let messages = receiver.wait_for(16, PATIENCE);
        let mut by_object: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for message in &messages {
            let body = message.json();
            assert_eq!(
                (message.path.as_str(), body["id"].as_str()),
                ("/hook", Some(message.id.as_str()))
            );
            assert_eq!(body["data"]["sourcedId"], body["object"]);
            let what = format!(
                "{} {}",
                body["type"].as_str().unwrap(),
                body["data"]["name"].as_str().unwrap()
            );
            by_object.entry(body["object"].as_str().unwrap().to_owned()).or_default().push(what);
        }
        assert_eq!(messages.iter().map(|message| &message.id).collect::<HashSet<_>>().len(), 16);
        let versions = |org: &str| {
            let first = format!("org.created {org} 0");
            let later = (1..5).map(move |version| format!("org.updated {org} {version}"));
            std::iter::once(first).chain(later).collect::<Vec<_>>()
        };
        let mut of_a = versions("a");
        of_a.push("org.deleted a 4".to_owned());
        let expected = [("a", of_a), ("b", versions("b")), ("c", versions("c"))];
        assert_eq!(by_object, expected.map(|(org, all)| (org.to_owned(), all)).into());
        assert_is_signed(&messages[0]);
        assert_eq!(wait_for_log(&client, &webhook, "delivered", 16).len(), 16);
        // After a restart the log is the same, and nothing is sent again.
        let before = log(&client, &webhook, "delivered");
        server.restart();
        let client = server.client();
        assert_eq!(log(&client, &webhook, "delivered"), before);
        put_org(&client, "d", "d 0");
        assert_eq!(receiver.wait_for(17, PATIENCE).len(), 17);
    });
}

/// Verifies with the library that the Standard Webhooks project publishes for JavaScript.
fn assert_is_signed(message: &ReceivedMessage) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/webhooks");
    let verify = |text: &str| {
        let arguments = [SECRET, &message.id, &message.timestamp, &message.signature, text];
        let output =
            Command::new("node").arg("verify.cjs").args(arguments).current_dir(folder).output();
        output.expect("node is installed").status.success()
    };
    assert!(
        std::path::Path::new(folder).join("node_modules").is_dir(),
        "run `npm ci` in tests/webhooks"
    );
    assert!(verify(&message.text), "{message:?}");
    assert!(!verify(&message.text.replace("org", "orc")), "a changed body has another signature");
}

#[test]
fn filters_and_sensors_select_the_deliveries() {
    both_as(&setup(), |server| {
        let receiver = Receiver::start(|_| 200);
        let client = server.client();
        let named = create(&client, &receiver.url("/named"), &json!({}));
        filter(&client, &named, ("$type", "startsWith", "org."));
        filter(&client, &named, ("name", "regexp", "^North"));
        let off = filter(&client, &named, ("name", "eq", "never"));
        let mut switched_off: Value =
            client.get(&format!("/webhook-filters/{off}")).expect(200).json();
        switched_off["filter"]["active"] = false.into();
        let members =
            ["webhookId", "filterKey", "filterValue", "filterType", "filterOperator", "active"];
        let body: serde_json::Map<String, Value> = members
            .iter()
            .map(|name| ((*name).to_owned(), switched_off["filter"][*name].clone()))
            .collect();
        client.put(&format!("/webhook-filters/{off}")).json(&json!(body)).expect(200);
        create(&client, &receiver.url("/events"), &json!({ "sensor": "https://app.test/one" }));
        create(&client, &receiver.url("/inactive"), &json!({ "active": false }));
        let users = create(&client, &receiver.url("/users"), &json!({}));
        filter(&client, &users, ("$type", "in", "user.created,user.updated"));

        put_org(&client, "n", "North School");
        put_org(&client, "s", "South School");
        put_org(&client, "n", "Northern School");
        for (sensor, id) in [("https://app.test/one", 1), ("https://app.test/two", 2)] {
            send_event(&client, sensor, id);
        }
        let user = json!({ "user": {
            "sourcedId": "u", "username": "u", "givenName": "Robin", "familyName": "Doe", "enabledUser": true,
            "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "n" } }],
        }});
        client.post(&format!("{ROSTERING}/users")).json(&user).expect(201);
        receiver.wait_for(4, PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(500));
        let mut arrived: Vec<(String, Value, Value)> = receiver
            .messages()
            .iter()
            .map(|message| {
                let body = message.json();
                (message.path.clone(), body["type"].clone(), body["object"].clone())
            })
            .collect();
        arrived.sort_by_key(|(path, kind, _)| (path.clone(), kind.to_string()));
        assert_eq!(
            arrived,
            [
                ("/events".into(), json!("caliper.event"), json!(event_id(1))),
                ("/named".into(), json!("org.created"), json!("n")),
                ("/named".into(), json!("org.updated"), json!("n")),
                ("/users".into(), json!("user.created"), json!("u")),
            ]
        );
        let event = receiver
            .messages()
            .into_iter()
            .find(|message| message.path == "/events")
            .unwrap()
            .json();
        assert_eq!(event["sensor"], "https://app.test/one");
        assert_eq!(event["data"]["type"], "SessionEvent");
    });
}

fn event_id(number: u32) -> String {
    format!("urn:uuid:00000000-0000-4000-8000-{number:012}")
}

fn send_event(client: &lyceum_testserver::client::TestClient, sensor: &str, number: u32) {
    let context = "http://purl.imsglobal.org/ctx/caliper/v1p2";
    let envelope = json!({
        "sensor": sensor, "sendTime": "2026-01-15T08:00:01.000Z", "dataVersion": context,
        "data": [{
            "@context": context, "id": event_id(number), "type": "SessionEvent", "action": "LoggedIn",
            "actor": { "id": "https://school.test/users/robin", "type": "Person" },
            "object": { "id": "https://app.test/", "type": "SoftwareApplication" },
            "eventTime": "2026-01-15T08:00:00.000Z",
        }],
    });
    client.post("/ims/caliper/v1p2/events").json(&envelope).expect(200);
}

#[test]
fn topics_without_an_active_webhook_are_not_written() {
    both_as(&setup(), |server| {
        let client = server.client();
        let rows = |server: &lyceum_testserver::server::TestServer| {
            let count = |tx: &mut lyceum_store::Tx<'_>| {
                tx.query_one("SELECT COUNT(*) FROM webhook_messages", &[], |row| row.int(0))
            };
            server.db().read_blocking(count).unwrap().unwrap()
        };
        put_org(&client, "a", "A");
        let receiver = Receiver::start(|_| 200);
        let webhook = create(&client, &receiver.url("/"), &json!({}));
        filter(&client, &webhook, ("$type", "eq", "org.updated"));
        put_org(&client, "b", "B");
        put_org(&client, "b", "B 2");
        receiver.wait_for(1, PATIENCE);
        client.put(&format!("/webhooks/{webhook}/deactivate")).expect(200);
        put_org(&client, "b", "B 3");
        client.put(&format!("/webhooks/{webhook}/activate")).expect(200);
        put_org(&client, "b", "B 4");
        let messages = receiver.wait_for(2, PATIENCE);
        let names: Vec<Value> =
            messages.iter().map(|message| message.json()["data"]["name"].clone()).collect();
        assert_eq!(names, ["B 2", "B 4"]);
        assert_eq!(rows(server), 2);
    });
}
