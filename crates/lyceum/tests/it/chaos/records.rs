//! The organizations and events that clients send.

use lyceum_events::CONTEXT;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

pub(super) const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
pub(super) const INTAKE: &str = "/caliper/event";
pub(super) const STREAM: &str = "/events/stream";
/// Records that one request lists.
const PAGE: usize = 3000;

pub(super) fn org(id: &str) -> Value {
    json!({ "org": { "sourcedId": id, "name": id, "type": "school" } })
}

pub(super) fn event_id(number: usize) -> String {
    format!("urn:uuid:00000000-0000-4000-8000-{number:012}")
}

/// An envelope with one event.
pub(super) fn envelope(number: usize) -> Value {
    json!({
        "sensor": "https://example.org/sensors/1",
        "sendTime": "2026-01-15T09:00:00.000Z",
        "dataVersion": CONTEXT,
        "data": [{
            "@context": CONTEXT,
            "id": event_id(number),
            "type": "ActivityEvent",
            "profile": "TimebackProfile",
            "actor": {
                "id": "https://example.org/users/1",
                "type": "TimebackUser",
                "email": "student1@example.org",
            },
            "action": "Completed",
            "object": {
                "id": "https://example.org/activities/1",
                "type": "TimebackActivityContext",
                "subject": "Math",
                "app": {"name": "Fractions"},
            },
            "eventTime": "2026-01-15T08:00:00.000Z",
            "generated": {
                "id": "https://example.org/metrics/1",
                "type": "TimebackActivityMetricsCollection",
                "items": [{"type": "xpEarned", "value": 1}],
            },
        }],
    })
}

pub(super) fn stored_orgs(client: &TestClient) -> Vec<String> {
    all(client, ORGS, "orgs", "sourcedId")
}

pub(super) fn stored_events(client: &TestClient) -> Vec<String> {
    all(client, "/caliper/events", "events", "externalId")
}

fn all(client: &TestClient, path: &str, list: &str, name: &str) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        let page = format!("{path}?limit={PAGE}&offset={}", names.len());
        let page: Value = client.get(&page).expect(200).json();
        let page = page[list].as_array().unwrap();
        names.extend(page.iter().map(|one| one[name].as_str().unwrap().to_owned()));
        if page.is_empty() {
            return names;
        }
    }
}
