//! Messages arrive: every change once, in order of its object, signed, and not again after a restart.

use std::collections::{BTreeMap, HashSet};
use std::process::Command;

use lyceum_testserver::receiver::{ReceivedMessage, Receiver};
use lyceum_testserver::server::both_as;
use serde_json::json;

use super::{PATIENCE, ROSTERING, SECRET, create, log, put_org, setup, wait_for_log};

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
