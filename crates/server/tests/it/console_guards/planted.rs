//! The things that pages of the console show in the tests of this folder: one of each sort, called by a name
//! that would run if a page did not write it as text. A page whose path has a parameter finds its value here;
//! a screen adds a function to [`PLANTERS`].

use std::collections::BTreeMap;

use lyceum_access::audit::AuditChange;
use lyceum_access::{NewApiKey, NewClient, Role, api_key, client, person};
use lyceum_store::jobs as store;
use lyceum_testserver::server::TestServer;
use serde_json::{Value, json};

use super::learning;
use crate::{people, projects};

/// A name that would run as a script anywhere in a page: in text, in attributes with either quote, and in scripts.
pub(super) const EVIL: &str =
    "<img src=x onerror=alert(1)>\"'></script><script>alert(2)</script>&amp;";
/// The text in a page that escapes the name.
pub(super) const AS_TEXT: &str = "&#60;img src=x onerror=alert(1)&#62;";
/// The text that no page may contain.
pub(super) const RUNS: [&str; 2] = ["<img src=x", "<script>alert"];

/// The addresses of the planted records.
#[derive(Default)]
pub(super) struct Planted {
    /// The value of a path parameter, by the path up to it, such as `/keys/api/{key}`.
    pub(super) params: BTreeMap<&'static str, String>,
    /// Additional queries to test a page with, by its path.
    pub(super) queries: BTreeMap<&'static str, Vec<String>>,
    /// Pages that other tests cover.
    pub(super) elsewhere: Vec<String>,
    /// Pages that must show the name.
    pub(super) shown_on: Vec<&'static str>,
}

/// The functions that plant records for each screen. The first creates the administrator `ada@example.org`.
const PLANTERS: &[fn(&TestServer, &mut Planted)] = &[
    people,
    students,
    keys,
    clients,
    events,
    projects,
    changes,
    jobs,
    learning::classes,
    learning::lesson,
    learning::badges,
    learning::imports,
    webhooks,
];

pub(super) fn plant(server: &TestServer) -> Planted {
    let mut planted = Planted::default();
    for plant in PLANTERS {
        plant(server, &mut planted);
    }
    planted
}

fn people(server: &TestServer, planted: &mut Planted) {
    people::person(server, "ada@example.org", EVIL, Role::Administrator);
    people::person(server, "gus@example.org", EVIL, Role::Guide);
    let account = server.db().read_blocking(|tx| person::require(tx, "gus@example.org")).unwrap();
    planted.params.insert("/accounts/{id}", account.id);
    planted.shown_on.extend(["/accounts", "/accounts/{id}"]);
}

fn students(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    let rostering = "/ims/oneroster/rostering/v1p2";
    let org = json!({ "org": { "sourcedId": "evil", "name": EVIL, "type": "school" } });
    client.post(&format!("{rostering}/orgs")).json(&org).expect(201);
    let user = json!({ "user": {
        "sourcedId": "evil", "username": EVIL, "givenName": EVIL, "familyName": EVIL,
        "email": "evil@example.org", "enabledUser": true, "grades": ["03"],
        "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "evil" } }],
    }});
    client.post(&format!("{rostering}/users")).json(&user).expect(201);
    planted.params.insert("/students/{id}", "evil".into());
    planted.queries.insert("/students/{id}/event", vec!["number=1".into()]);
    let searches = ["", "q=onerror", "q=onerror&part=1", "q=%3Cimg"].map(str::to_owned);
    planted.queries.insert("/search", searches.into());
    planted.shown_on.extend(["/students", "/students/{id}", "/search"]);
    planted.params.insert("/people/{id}", "evil".into());
    // The tests of `people` cover the zip, and what is shown after an erasure.
    for page in ["export", "erasure"] {
        planted.elsewhere.push(format!("/people/{{id}}/{page}"));
    }
}

fn keys(server: &TestServer, planted: &mut Planted) {
    let (now, environment) = (server.setup().clock.now(), server.setup().config.server.env);
    let new = NewApiKey { name: EVIL.into(), role: Role::Guide, project: None, maker: None };
    let created = server.db().write_blocking(|tx| api_key::create(tx, now, environment, &new));
    planted.params.insert("/keys/api/{key}", created.unwrap().0.id);
    planted.shown_on.extend(["/keys", "/keys/api/{key}"]);
}

fn clients(server: &TestServer, planted: &mut Planted) {
    let now = server.setup().clock.now();
    let new = NewClient { id: Some("evil<img".into()), ..NewClient::named(EVIL) };
    server.db().write_blocking(|tx| client::create(tx, now, &new)).unwrap();
    planted.params.insert("/keys/clients/{client}", "evil%3Cimg".into());
    planted.shown_on.extend(["/keys/clients", "/keys/clients/{client}"]);
}

fn events(server: &TestServer, planted: &mut Planted) {
    let id = "urn:uuid:7f0a3c1e-0f0a-4c1e-9f0a-3c1e7f0a3c1e";
    let event = |id: &str, kind: &str| {
        json!({
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2", "id": id, "type": kind,
            "action": "LoggedIn", "eventTime": "2026-01-15T08:00:00.000Z",
            "actor": { "id": "https://lyceum.test/ims/oneroster/rostering/v1p2/users/evil", "type": "Person", "name": EVIL },
            "object": { "id": "https://app.test/", "type": "SoftwareApplication", "name": EVIL },
            "edApp": { "id": "https://app.test/", "type": "SoftwareApplication", "name": EVIL },
        })
    };
    let envelope = |event: Value| {
        json!({
            "sensor": "https://app.test/sensor", "sendTime": "2026-01-15T08:00:01.000Z",
            "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2", "data": [event],
        })
    };
    let client = server.client();
    let send = |event| client.post("/ims/caliper/v1p2/events").json(&envelope(event)).send();
    let taken = send(event(id, "SessionEvent"));
    assert_eq!(taken.status, 200, "{}", taken.text());
    let refused = send(event(id, EVIL));
    assert!((400..500).contains(&refused.status), "{}", refused.text());
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("id", id).finish();
    planted.queries.insert("/events/one", vec![query]);
    planted.params.insert("/events/refused/{id}", "1".into());
    planted.shown_on.extend(["/events", "/events/one", "/events/refused/{id}"]);
}

fn projects(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    for text in ["one", "two"] {
        projects::deploy_called(&client, EVIL, text);
    }
    planted.params.insert("/projects/{slug}", "rivers".into());
    planted.queries.insert("/projects/{slug}/diff", vec!["from=1&to=2".into(), String::new()]);
    // Pages that need a bucket or another server are tested in a browser (web/tests/console/projects.js).
    for page in ["bucket/object", "bucket/download", "promote"] {
        planted.elsewhere.push(format!("/projects/{{slug}}/{page}"));
    }
    planted.shown_on.push("/projects/{slug}");
}

fn changes(server: &TestServer, planted: &mut Planted) {
    let now = server.setup().clock.now();
    let noted = server.db().write_blocking(|tx| {
        let change = AuditChange { who: EVIL, what: "test.change", subject: EVIL };
        change.note(tx, now, &json!({ "name": EVIL }))
    });
    noted.unwrap();
    planted.params.insert("/system/audit/{change}", "1".into());
    planted.shown_on.extend(["/system/audit", "/system/audit/{change}"]);
}

fn webhooks(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    // The server refuses to connect to this address, so each delivery fails.
    let webhook = json!({
        "name": EVIL, "description": EVIL, "targetUrl": "https://127.0.0.1:1/", "secret": "s",
        "sensor": "https://app.test/sensor", "active": true,
    });
    let created: Value = client.post("/webhooks").json(&webhook).expect(201).json();
    let id = created["webhook"]["id"].as_str().unwrap().to_owned();
    let filter = json!({
        "webhookId": id, "filterKey": "type", "filterOperator": "neq", "filterType": "string",
        "filterValue": EVIL, "active": true,
    });
    client.post("/webhook-filters").json(&filter).expect(201);
    let context = "http://purl.imsglobal.org/ctx/caliper/v1p2";
    let envelope = json!({
        "sensor": "https://app.test/sensor", "sendTime": "2026-01-15T08:00:02.000Z", "dataVersion": context,
        "data": [{
            "@context": context, "id": "urn:uuid:7f0a3c1e-0f0a-4c1e-9f0a-3c1e7f0a3c1f", "type": "SessionEvent",
            "action": "LoggedIn", "eventTime": "2026-01-15T08:00:00.000Z",
            "actor": { "id": "https://school.test/users/evil", "type": "Person" },
            "object": { "id": "https://app.test/", "type": "SoftwareApplication" },
        }],
    });
    client.post("/ims/caliper/v1p2/events").json(&envelope).expect(200);
    let since = std::time::Instant::now();
    let delivery = loop {
        let log: Value = client.get(&format!("/webhooks/{id}/deliveries")).expect(200).json();
        if let Some(number) = log["deliveries"][0]["id"].as_i64() {
            break number;
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(20), "nothing was delivered");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    planted.params.insert("/webhooks/{id}", id);
    planted.params.insert("/webhooks/{id}/deliveries/{delivery}", delivery.to_string());
    planted.shown_on.extend(["/webhooks", "/webhooks/{id}"]);
}

fn jobs(server: &TestServer, planted: &mut Planted) {
    let failed = server.db().write_blocking(|tx| {
        let id = store::add(tx, EVIL, "")?;
        let job = store::claim(tx, EVIL, 1)?.expect("it was just added");
        store::fail(tx, &job, &EVIL.into()).map(|_| id)
    });
    planted.params.insert("/system/jobs/{job}", failed.unwrap().to_string());
    planted.shown_on.extend(["/system/jobs", "/system/jobs/{job}"]);
}
