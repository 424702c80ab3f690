//! Webhooks: registration, what is delivered, in which order, and what happens if targets fail.

mod areas;
mod deliveries;
mod failures;
mod reach;

use std::time::Duration;

use lyceum_access::{NewClient, client};
use lyceum_core::Reach;
use lyceum_store::{Tx, outbox};
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{Setup, TestServer};
use lyceum_webhooks::queue;
use serde_json::{Value, json};

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(20);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

/// A server whose webhooks may lead to receivers of the tests.
fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.config.webhooks.allow = vec!["127.0.0.1".to_owned()];
    setup
}

/// Creates a webhook and answers its id.
fn create(client: &TestClient, url: &str, more: &Value) -> String {
    let mut webhook = json!({ "name": "Test", "targetUrl": url, "secret": SECRET, "active": true });
    let members = webhook.as_object_mut().unwrap();
    members.extend(more.as_object().cloned().unwrap_or_default());
    let answer: Value = client.post("/webhooks").json(&webhook).expect(201).json();
    answer["webhook"]["id"].as_str().unwrap().to_owned()
}

fn filter(
    client: &TestClient,
    webhook: &str,
    (key, operator, value): (&str, &str, &str),
) -> String {
    let filter = json!({
        "webhookId": webhook, "filterKey": key, "filterOperator": operator, "filterValue": value,
        "filterType": "string", "active": true,
    });
    let answer: Value = client.post("/webhook-filters").json(&filter).expect(201).json();
    answer["filter"]["id"].as_str().unwrap().to_owned()
}

/// Creates or replaces a school.
fn put_org(client: &TestClient, id: &str, name: &str) {
    let org = json!({ "org": { "sourcedId": id, "name": name, "type": "school" } });
    let sent = client.post(&format!("{ROSTERING}/orgs")).json(&org).send();
    if sent.status != 201 {
        client.put(&format!("{ROSTERING}/orgs/{id}")).json(&org).expect(200);
    }
}

/// The deliveries of a webhook in a state, the newest first.
fn log(client: &TestClient, webhook: &str, state: &str) -> Vec<Value> {
    let path = format!("/webhooks/{webhook}/deliveries?state={state}");
    let answer: Value = client.get(&path).expect(200).json();
    answer["deliveries"].as_array().unwrap().clone()
}

/// A client with all scopes and its id.
fn register(server: &TestServer) -> (String, TestClient) {
    let (id, secret) = server.register(&NewClient::named("receiver"));
    let token = server.token_of(&id, &secret);
    (id, server.anonymous().with_token(token))
}

fn limit(server: &TestServer, client: &str, reach: &Reach) {
    server.db().write_blocking(|tx| client::limit(tx, client, reach)).unwrap();
}

/// Waits until nothing waits to be sent.
fn wait_until_all_is_sent(server: &TestServer) {
    let since = std::time::Instant::now();
    let has_rest = |tx: &mut Tx<'_>| Ok(outbox::has_rows(tx)? || !queue::waiting(tx)?.is_empty());
    while server.db().read_blocking(has_rest).unwrap() {
        assert!(since.elapsed() < PATIENCE, "messages still wait");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until a webhook has this many deliveries in a state.
fn wait_for_log(client: &TestClient, webhook: &str, state: &str, count: usize) -> Vec<Value> {
    let since = std::time::Instant::now();
    loop {
        let found = log(client, webhook, state);
        if found.len() == count {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "{} of {count} are {state}: {found:?}", found.len());
        std::thread::sleep(Duration::from_millis(20));
    }
}
