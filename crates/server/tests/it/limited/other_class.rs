//! Guides on the console's pages and forms, and on the routes about classes and people, with the ids of another class or
//! school. The tables of routes say which need a row here.

use std::collections::BTreeSet;

use lyceum_access::{Role, Roles, audit, person};
use lyceum_api::Route;
use lyceum_core::Reach;
use lyceum_http::route::{Access, LimitedCallers};
use lyceum_server::routes;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::Value;

use super::{FAR, NEAR, NEXT, limited_person, near, plant};
use crate::people::{form_token, let_in};

/// A page or form of the console: the path as in the table of routes, an address, and the fields of a form. `{own}` and
/// `{other}` are the words of the guide's class and of the other one.
type Place = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const PAGES: &[Place] = &[
    ("GET /today", "/today?class={other}-class", &[]),
    ("GET /students", "/students?class={other}-class", &[]),
    ("GET /students/{id}", "/students/{other}-ann", &[]),
    ("GET /students/{id}/facts", "/students/{other}-ann/facts", &[]),
    ("GET /students/{id}/event", "/students/{other}-ann/event?number=1", &[]),
    ("GET /students/{id}/attempt", "/students/{other}-ann/attempt?lesson=x&attempt=1", &[]),
    ("GET /classes/{id}", "/classes/{other}-class", &[]),
    ("GET /courses/{id}", "/courses/{other}-course", &[]),
    ("GET /classes/{id}/access", "/classes/{other}-class/access", &[]),
    ("GET /classes/{id}/access/cards", "/classes/{other}-class/access/cards", &[]),
    ("GET /badges/records/{id}", "/badges/records/{record}", &[]),
    ("GET /badges/credentials/{id}", "/badges/credentials/{badge}", &[]),
    (
        "POST /classes/{id}/apps/approve",
        "/classes/{other}-class/apps/approve",
        &[("slug", "rivers")],
    ),
    (
        "POST /classes/{id}/apps/withdraw",
        "/classes/{other}-class/apps/withdraw",
        &[("slug", "rivers")],
    ),
    ("POST /classes/{id}/access/give", "/classes/{other}-class/access/give", &[("kind", "words")]),
    (
        "POST /classes/{id}/access/card",
        "/classes/{other}-class/access/card",
        &[("kind", "words"), ("student", "{other}-ann")],
    ),
    (
        "POST /classes/{id}/access/card",
        "/classes/{own}-class/access/card",
        &[("kind", "words"), ("student", "{other}-ann")],
    ),
    ("POST /classes/{id}/access/open", "/classes/{other}-class/access/open", &[("minutes", "5")]),
    ("POST /classes/{id}/access/close", "/classes/{other}-class/access/close", &[]),
    (
        "POST /students/{id}/teaching",
        "/students/{other}-ann/teaching",
        &[("action", "goal"), ("course", "{own}-course"), ("dailyXp", "5")],
    ),
    (
        "POST /students/{id}/teaching",
        "/students/{other}-ann/teaching",
        &[("action", "assign-test"), ("subject", "Math"), ("grade", "3")],
    ),
    (
        "POST /classes/{id}/teaching",
        "/classes/{other}-class/teaching",
        &[("action", "reset"), ("lesson", "{other}-lesson")],
    ),
    (
        "POST /classes/{id}/teaching",
        "/classes/{own}-class/teaching",
        &[("action", "assign"), ("lesson", "{other}-lesson")],
    ),
    (
        "POST /badges/issue",
        "/badges/issue",
        &[("achievement", "{achievement}"), ("learner", "{other}-ann")],
    ),
    (
        "POST /badges/credentials/{id}/revoke",
        "/badges/credentials/{badge}/revoke",
        &[("reason", "Mistake")],
    ),
];

/// Pages and forms that name nothing of a class: the own account, content that all schools share, files to check.
const OF_NO_CLASS: [&str; 7] = [
    "POST /profile",
    "POST /profile/password",
    "POST /profile/sessions",
    "GET /items/{id}/files/{file}",
    "GET /items/{id}/preview",
    "POST /items/{id}/preview",
    "POST /badges/verify",
];

/// Requests of the API about classes, people and what they received: the name of the route, the request, the body.
const REQUESTS: &[(&str, &str, &str)] = &[
    ("getPlayer", "GET /api/users/{other}-ann", ""),
    ("getClassApps", "GET /api/classes/{other}-class/apps", ""),
    ("approveClassApp", "PUT /api/classes/{other}-class/apps/rivers", ""),
    ("withdrawClassApp", "DELETE /api/classes/{other}-class/apps/rivers", ""),
    ("getClassSignIn", "GET /api/classes/{other}-class/sign-in", ""),
    ("openClass", "POST /api/classes/{other}-class/sign-in", r#"{"minutes": 5}"#),
    ("closeClass", "DELETE /api/classes/{other}-class/sign-in", ""),
    ("getClassCards", "GET /api/classes/{other}-class/cards", ""),
    ("createClassCards", "POST /api/classes/{other}-class/cards", r#"{"kind": "words"}"#),
    ("renewClassCard", "PUT /api/classes/{other}-class/cards/{other}-ann", r#"{"kind": "words"}"#),
    ("renewClassCard", "PUT /api/classes/{own}-class/cards/{other}-ann", r#"{"kind": "words"}"#),
];

/// The two guides, each with the other class and what they have access to: a school of another district, and another
/// class of the same school.
fn guides() -> [(&'static str, &'static str, Reach); 2] {
    [
        ("far@x.test", FAR, near()),
        ("next@x.test", NEXT, Reach::ClassesOf(format!("{NEAR}-teacher"))),
    ]
}

/// The text with the words of the guide's class and of the other one.
fn filled(text: &str, other: &str, ids: &[(&str, String)]) -> String {
    let text = text.replace("{own}", NEAR).replace("{other}", other);
    ids.iter().fold(text, |text, (name, id)| text.replace(&format!("{{{name}}}"), id))
}

/// The last part of the address of the credential that is listed first.
fn credential(list: &Value) -> String {
    let address = list["credential"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}"));
    address.rsplit('/').next().unwrap().to_owned()
}

/// The badge and the learner record of the student of the other class, and the achievement.
fn ids(client: &TestClient, other: &str) -> Vec<(&'static str, String)> {
    let badges = client.get(&format!("/ims/ob/v3p0/assertions?userId={other}-ann")).expect(200);
    let record: Value = client
        .post(&format!("/ims/clr/v2p0/clr/{other}-ann/compile"))
        .json(&serde_json::json!({}))
        .expect(200)
        .json();
    let record = record["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let definition = crate::badges::definition();
    let achievement = definition["credentialSubject"]["id"].as_str().unwrap().to_owned();
    vec![("badge", credential(&badges.json())), ("record", record), ("achievement", achievement)]
}

/// The state that a refused request must not change: all roster records, and the number of entries in the audit log.
fn state(server: &TestServer) -> (Vec<String>, i64) {
    let changes = |tx: &mut lyceum_store::Tx<'_>| {
        audit::list(tx, &audit::AuditFilter::default(), 1, 0).map(|page| page.total)
    };
    let records = ["users", "classes", "enrollments"].map(|list| {
        let path = format!("/ims/oneroster/rostering/v1p2/{list}?limit=1000");
        server.client().get(&path).expect(200).text()
    });
    (records.into(), server.db().read_blocking(changes).unwrap())
}

fn is_for_guides(route: &Route) -> bool {
    let rights = Role::Guide.scopes().rights();
    match (route.access, route.access.scopes()) {
        (Access::Page(scopes), _) => Roles::with(scopes).contain(Role::Guide),
        (_, Some(needed)) => rights.allow_any(needed),
        (_, None) => false,
    }
}

#[test]
fn each_page_and_form_of_a_guide_has_a_row() {
    let mut expected = BTreeSet::new();
    for area in routes::all() {
        for route in area.routes.iter().filter(|route| route.screen.is_some()) {
            let name = format!("{} {}", route.method, route.path);
            let names_something = route.path.contains('{') || route.method == "POST";
            let is_served = route.limited_callers != LimitedCallers::Refused;
            if is_for_guides(route) && names_something && is_served {
                expected.insert(name);
            }
        }
    }
    let mut rows: BTreeSet<String> = PAGES.iter().map(|(route, ..)| (*route).to_owned()).collect();
    // Lists take the id of a class as a parameter.
    rows.retain(|route| !["GET /today", "GET /students"].contains(&route.as_str()));
    rows.extend(OF_NO_CLASS.map(str::to_owned));
    assert_eq!(rows, expected);
}

#[test]
fn each_route_about_classes_has_a_row() {
    let mut expected = BTreeSet::new();
    for area in routes::all().into_iter().filter(|area| area.name == "games") {
        for route in area.routes {
            let is_named = ["{classId}", "/users/{userId}"]
                .iter()
                .any(|part| route.path.contains(part) && !route.path.ends_with("/scores"));
            if is_named && is_for_guides(&route) {
                expected.insert(route.name.into_owned());
            }
        }
    }
    let rows: BTreeSet<String> = REQUESTS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(rows, expected);
}

#[test]
fn guides_are_refused_what_belongs_to_another_class_or_school() {
    both(|server| {
        plant(server);
        let client = server.client();
        for (email, other, reach) in guides() {
            let ids = ids(&client, other);
            let cookie = limited_person(server, email, Role::Guide, &reach);
            let nobody = server.anonymous();
            let own = nobody.get("/console/profile").header("cookie", &cookie).send();
            let token = form_token(&own);
            let before = state(server);
            for (route, path, fields) in PAGES {
                let path = format!("/console{}", filled(path, other, &ids));
                let call = match route.starts_with("POST") {
                    false => nobody.get(&path),
                    true => {
                        let fields: Vec<(&str, String)> = fields
                            .iter()
                            .map(|(name, value)| (*name, filled(value, other, &ids)))
                            .chain([("token", token.clone())])
                            .collect();
                        let fields: Vec<(&str, &str)> =
                            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                        nobody.post(&path).form(&fields).header("sec-fetch-site", "same-origin")
                    }
                };
                let reply = call.header("cookie", &cookie).send();
                // A learner who is not known is an error in the form.
                let is_refused = matches!(reply.status, 403 | 404)
                    || (reply.status, *route) == (422, "POST /badges/issue");
                assert!(is_refused, "{email} {path}: {} {}", reply.status, reply.text());
            }
            let guide = let_in(server, &format!("api-{email}"), Role::Guide);
            let limit = |tx: &mut lyceum_store::Tx<'_>| {
                person::limit(tx, &format!("api-{email}"), &reach).map(drop)
            };
            server.db().write_blocking(limit).unwrap();
            for (_, request, body) in REQUESTS {
                let request = filled(request, other, &ids);
                let (method, path) = request.split_once(' ').unwrap();
                let mut call = guide.call(method.parse().unwrap(), path);
                if !body.is_empty() {
                    call = call.body("application/json", *body);
                }
                let reply = call.send();
                let is_refused = matches!(reply.status, 403 | 404);
                assert!(is_refused, "{email} {request}: {} {}", reply.status, reply.text());
            }
            assert_eq!(state(server), before, "{email}");
        }
    });
}

/// The sourcedId in the other class for a parameter of OneRoster's paths, by the part of the path before it and its name;
/// none for what schools and classes share.
fn other_id(before: &str, name: &str, other: &str) -> Option<String> {
    let what = match (before, name) {
        (_, "classSourcedId") | ("classes", "sourcedId") => "class",
        (_, "studentSourcedId" | "userSourcedId") | ("users" | "students", "sourcedId") => "ann",
        (_, "teacherSourcedId") | ("teachers", "sourcedId") => "teacher",
        ("enrollments", "sourcedId") => return Some(format!("enrollment-of-{other}")),
        _ => return None,
    };
    Some(format!("{other}-{what}"))
}

#[test]
fn guides_find_no_record_of_another_class_or_school_by_its_id() {
    both(|server| {
        plant(server);
        for (email, other, reach) in guides() {
            let guide = let_in(server, email, Role::Guide);
            let limit = |tx: &mut lyceum_store::Tx<'_>| person::limit(tx, email, &reach).map(drop);
            server.db().write_blocking(limit).unwrap();
            let roster = WholeRoster::read(server.db());
            let hidden = roster.seen("enrollment", &Reach::Everything);
            let seen = roster.seen("enrollment", &reach);
            let enrollment = hidden.iter().find(|id| !seen.contains(id)).unwrap();
            let mut count = 0;
            for area in
                routes::all().into_iter().filter(|area| area.base.starts_with("/ims/oneroster"))
            {
                for route in area.routes.iter().filter(|route| route.method == "GET") {
                    let mut before = "";
                    let mut path = area.base.to_owned();
                    let mut is_of_class = false;
                    for part in route.path.split('/').skip(1) {
                        let name = part.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
                        let id = name.map(|name| other_id(before, name, other));
                        is_of_class |= matches!(id, Some(Some(_)));
                        let shown = match id {
                            None => part.to_owned(),
                            Some(Some(id)) if id.starts_with("enrollment-of-") => {
                                enrollment.clone()
                            }
                            Some(Some(id)) => id,
                            Some(None) => format!("{NEAR}-school"),
                        };
                        path = format!("{path}/{shown}");
                        before = part;
                    }
                    if is_of_class && is_for_guides(route) {
                        let reply = guide.get(&path).send();
                        let is_refused = matches!(reply.status, 403 | 404);
                        assert!(is_refused, "{email} {path}: {} {}", reply.status, reply.text());
                        count += 1;
                    }
                }
            }
            assert!(count > 30, "{count} routes name classes and people");
        }
    });
}
