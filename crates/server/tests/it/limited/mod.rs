//! Callers who are limited to one of two districts, on all routes but those of the roster, events and lessons. What
//! belongs to the other district carries a word that no answer to them may contain.

mod areas;
mod console;
mod other_class;

use lyceum_access::{Role, person};
use lyceum_core::Reach;
use lyceum_testkit::records;
use lyceum_testserver::server::TestServer;
use serde_json::{Value, json};

use crate::badges;
use crate::case;
use crate::enrolling::post;
use crate::people;

/// The areas whose answers to limited callers are tested here; webhooks in `webhooks::reach`.
pub(crate) const AREAS: [&str; 7] =
    ["badges", "learnerRecords", "case", "games", "console", "webhooks", "webhook-filters"];

/// The word of the district to which callers are limited.
pub(crate) const NEAR: &str = "axolotl";
/// The word of another class in a school of the same district.
pub(super) const NEXT: &str = "ibex";
/// The word of the other district.
pub(crate) const FAR: &str = "quokka";

/// Two districts, a badge that both issue, and a game whose players come from both.
pub(crate) fn plant(server: &TestServer) {
    let client = server.client();
    client.post("/ims/ob/v3p0/badges").json(&badges::definition()).expect(201);
    case::store(&client);
    let game = json!({ "slug": "rivers", "displayName": "Rivers" });
    post(&client, "/api/games", &game, 201);
    for word in [NEAR, FAR] {
        let db = server.db();
        let named = |what: &str| format!("{word}-{what}");
        let org = |id: &str, parent: Option<&str>| {
            let mut org = json!({ "sourcedId": id, "name": id, "type": "district" });
            if let Some(parent) = parent {
                org["type"] = "school".into();
                org["parent"] = json!({ "sourcedId": parent });
            }
            records::create(db, "orgs", &org);
        };
        org(&named("district"), None);
        org(&named("school"), Some(&named("district")));
        class(server, word, &named("school"));
    }
    class(server, NEXT, &format!("{NEAR}-school"));
}

/// A class that is called by the word, with its course, a teacher and two students with badges, records and scores.
fn class(server: &TestServer, word: &str, school: &str) {
    let (db, client) = (server.db(), server.client());
    let (class, course) = (format!("{word}-class"), format!("{word}-course"));
    records::course(db, &course, school, word);
    records::class(db, &class, &course, school);
    let component = json!({
        "sourcedId": format!("{word}-unit"), "title": format!("Unit {word}"), "sortOrder": 1,
        "course": { "sourcedId": course },
    });
    records::create(db, "courses/components", &component);
    client
        .put(&format!("/ims/case/v1p1/alignments/course/{course}"))
        .json(&json!({ "items": [case::item(2)] }))
        .expect(200);
    let role = json!({ "roleType": "primary", "role": "teacher", "org": { "sourcedId": school } });
    let teacher = format!("{word}-teacher");
    let user = json!({
        "sourcedId": teacher, "enabledUser": true, "givenName": teacher, "familyName": "T",
        "roles": [role],
    });
    records::create(db, "users", &user);
    records::enroll(db, &teacher, &class, school, "teacher");
    for name in ["ann", "bob"] {
        let user = format!("{word}-{name}");
        records::student(db, &user, school, "03");
        records::enroll(db, &user, &class, school, "student");
        client.post("/ims/caliper/v1p2/events").json(&event(&user)).expect(200);
        let award = json!({
            "achievementId": badges::definition()["credentialSubject"]["id"], "userId": user,
            "narrative": format!("Work of {user}"),
        });
        client.post("/ims/ob/v3p0/issue-badge").json(&award).expect(201);
        client.post(&format!("/ims/clr/v2p0/clr/{user}/compile")).json(&json!({})).expect(201);
        let score = json!({ "score": 5 });
        post(&client, &format!("/api/games/rivers/scores?userId={user}"), &score, 201);
        post(&client, &format!("/api/games/rivers/sessions?userId={user}"), &json!({}), 201);
    }
}

/// An envelope with an event of the user.
fn event(user: &str) -> Value {
    let number = user.bytes().fold(7, |sum, byte| (sum * 31 + u64::from(byte)) % (1 << 48));
    let app = json!({ "id": "https://app.test/", "type": "SoftwareApplication", "name": "App" });
    json!({
        "sensor": "https://app.test/sensor", "sendTime": "2026-01-15T08:00:01.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "data": [{
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:00000000-0000-4000-8000-{number:012x}"), "type": "SessionEvent",
            "action": "LoggedIn", "eventTime": "2026-01-15T08:00:00.000Z",
            "actor": {
                "id": format!("https://lyceum.test/ims/oneroster/rostering/v1p2/users/{user}"),
                "type": "Person", "name": user,
            },
            "object": app, "edApp": app,
        }],
    })
}

/// The reach of the near district.
pub(super) fn near() -> Reach {
    Reach::organizations([format!("{NEAR}-district")]).unwrap()
}

/// The session cookie of a new person with a limit.
pub(super) fn limited_person(
    server: &TestServer,
    email: &str,
    role: Role,
    reach: &Reach,
) -> String {
    people::person(server, email, email, role);
    let limit = |tx: &mut lyceum_store::Tx<'_>| person::limit(tx, email, reach).map(drop);
    server.db().write_blocking(limit).unwrap();
    people::signed_in(server, email)
}
