//! Changes that name the version that they are meant for, with `If-Match`.

use lyceum_roster::collections;
use lyceum_server::routes;
use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::both;
use serde_json::{Value, json};
use ureq::http::Method;

use crate::authorisation::{call, every_route};
use crate::enrolling::ROSTERING;
use crate::qti_structure::{item, section, test};
use crate::{badges, clr};

const STALE: &str = "\"v7\"";

/// Deletes the record of the path: a stale version is refused and leaves it, the one that is there is taken.
fn deleted_by_version(client: &TestClient, path: &str) {
    let tag = client.get(path).expect(200).header("etag").to_owned();
    assert_ne!(tag, STALE, "{path}");
    client.delete(path).header("if-match", STALE).expect(412);
    let there = client.get(path).expect(200);
    assert_eq!(there.header("etag"), tag, "{path} is as it was");
    client.delete(path).header("if-match", &tag).expect(204);
}

#[test]
fn a_delete_of_another_version_is_refused_for_every_kind_that_has_versions() {
    both(|server| {
        let client = server.client();
        badges::school(&client);
        let course =
            json!({"course": {"sourcedId": "math", "title": "Maths", "org": {"sourcedId": "s"}}});
        let course = client.post(&format!("{ROSTERING}/courses")).json(&course).send();
        assert_eq!(course.status, 201, "{}", course.text());
        let post = |path: &str, body: &Value| client.post(path).json(body).send();
        let results = "/ims/oneroster/gradebook/v1p2/categories";
        let category =
            json!({"category": {"sourcedId": "k", "title": "Quizzes", "status": "active"}});
        assert_eq!(client.put(&format!("{results}/k")).json(&category).send().status, 201);
        for id in ["s-1", "s-2"] {
            let stimulus = json!({"identifier": id, "title": "T", "content": "<p>Text</p>"});
            let reply = post("/stimuli", &stimulus);
            assert_eq!(reply.status, 201, "{}", reply.text());
        }
        assert_eq!(post("/badges", &badges::definition()).status, 201);
        let record = post("/ims/clr/v2p0/clr", &clr::document());
        assert_eq!(record.status, 201, "{}", record.text());
        let record = clr::path(&record.json());
        item(&client, "one");
        for name in ["t1", "t2"] {
            test(&client, name, &["one"]);
        }
        let bank = json!({"identifier": "b", "title": "B", "tests": ["t2"]});
        assert_eq!(post("/assessment-banks", &bank).status, 201);
        for path in [
            format!("{ROSTERING}/courses/math"),
            format!("{results}/k"),
            "/stimuli/s-1".to_owned(),
            badges::definition_path(),
            record,
            "/assessment-banks/b".to_owned(),
            "/assessment-tests/t1".to_owned(),
        ] {
            deleted_by_version(&client, &path);
        }
        // By its identifier alone.
        client.delete("/s-2").header("if-match", STALE).expect(412);
        let tag = client.get("/stimuli/s-2").expect(200).header("etag").to_owned();
        client.delete("/s-2").header("if-match", &tag).expect(200);
    });
}

#[test]
fn if_match_star_requires_an_existing_record() {
    both(|server| {
        let client = server.client();
        let path = "/ims/oneroster/gradebook/v1p2/categories/k";
        let put = |title: &str, tag: &str, status: u16| {
            let category =
                json!({"category": {"sourcedId": "k", "title": title, "status": "active"}});
            client.put(path).header("if-match", tag).json(&category).expect(status)
        };
        put("Quizzes", "*", 412);
        client.get(path).expect(404);
        let category =
            json!({"category": {"sourcedId": "k", "title": "Quizzes", "status": "active"}});
        client.put(path).json(&category).expect(201);
        put("Tests", " * ", 200);
        put("Other", STALE, 412);
        assert_eq!(client.get(path).expect(200).json::<Value>()["category"]["title"], "Tests");
    });
}

#[test]
fn a_change_without_versions_refuses_every_tag() {
    both(|server| {
        let client = server.client();
        for tag in ["\"6cd3556deb0da54bca060b4c39479839\"", "\"v1\"", "W/\"x\""] {
            let path = "/api/projects/rivers/bucket/object?key=a";
            let put = client.put(path).header("if-match", tag);
            let message = put.body("application/octet-stream", "new").expect(412).text();
            assert!(message.contains("send the request without it"), "{message}");
        }
    });
}

#[test]
fn no_change_ignores_an_if_match_header() {
    both(|server| {
        let client = server.client();
        assert!(routes::all().iter().any(|area| area.routes.iter().any(|it| it.takes_version)));
        for (path, route) in every_route() {
            // Pages and sessions of people have tests of their own; so has what no token opens.
            if route.method == Method::GET || route.access.scopes().is_none() {
                continue;
            }
            let tag = if route.takes_version { "no tag" } else { "\"v1\"" };
            let status = call(&client, &route, &path).header("if-match", tag).send().status;
            // Scopes that a client has only by name.
            let is_named = path.ends_with("/decrypt") || path.starts_with("/api/people");
            let is_closed = status == 403 && is_named;
            assert!(status == 412 || is_closed, "{} {path} answered {status}", route.method);
        }
    });
}

/// A change that a route does, if the version is right.
struct Sample {
    method: Method,
    path: String,
    body: Option<Value>,
    /// The record whose version counts.
    record: String,
}

impl Sample {
    fn send(&self, client: &TestClient, tag: &str) -> u16 {
        let call = client.call(self.method.clone(), &self.path).header("if-match", tag);
        match &self.body {
            Some(body) => call.json(body).send().status,
            None => call.send().status,
        }
    }
}

/// A record of each collection of OneRoster that takes changes; its id is the path of the collection.
fn roster() -> Vec<(&'static str, Value)> {
    let to = |id: &str| json!({"sourcedId": id});
    let session = |kind: &str, parent: Option<&str>| {
        let mut session = json!({"title": kind, "type": kind, "schoolYear": "2027",
            "startDate": "2026-08-01", "endDate": "2027-06-30"});
        if let Some(parent) = parent {
            session["parent"] = to(parent);
        }
        session
    };
    let result = json!({"student": to("users"), "scoreStatus": "submitted", "score": 1.0,
        "scoreDate": "2026-09-01"});
    let with = |mut record: Value, name: &str, of: &str| {
        record[name] = to(of);
        record
    };
    vec![
        ("orgs", json!({"name": "District", "type": "district"})),
        ("schools", json!({"name": "School", "type": "school"})),
        ("academicSessions", session("schoolYear", None)),
        ("terms", session("term", Some("academicSessions"))),
        ("gradingPeriods", session("gradingPeriod", Some("terms"))),
        (
            "users",
            json!({"enabledUser": true, "givenName": "Ada", "familyName": "Hill", "roles": [
                {"roleType": "primary", "role": "student", "org": to("schools")}]}),
        ),
        ("courses", json!({"title": "Math", "org": to("schools")})),
        (
            "classes",
            json!({"title": "Math A", "course": to("courses"), "org": to("schools"),
                "terms": [to("terms")]}),
        ),
        ("enrollments", json!({"user": to("users"), "class": to("classes"), "role": "student"})),
        ("demographics", json!({"sex": "female"})),
        ("categories", json!({"title": "Quizzes"})),
        (
            "scoreScales",
            json!({"title": "Letters", "type": "ordinal", "class": to("classes"),
                "scoreScaleValue": [{"itemValueLHS": "A", "itemValueRHS": "1"}]}),
        ),
        (
            "lineItems",
            json!({"title": "Quiz", "assignDate": "2026-09-01T00:00:00Z",
                "dueDate": "2026-09-02T00:00:00Z", "class": to("classes"),
                "school": to("schools"), "category": to("categories")}),
        ),
        ("results", with(result.clone(), "lineItem", "lineItems")),
        ("assessmentLineItems", json!({"title": "Exam"})),
        ("assessmentResults", with(result, "assessmentLineItem", "assessmentLineItems")),
        ("resources", json!({"title": "Video", "vendorResourceId": "v"})),
        (
            "courses/components",
            json!({"title": "Chapter", "sortOrder": 1, "course": to("courses")}),
        ),
        (
            "courses/component-resources",
            json!({"title": "Video", "sortOrder": 1, "resource": to("resources"),
                "courseComponent": to("courses-components")}),
        ),
    ]
}

/// The id of the record of a collection. Demographics have that of their user.
fn id(collection: &str) -> String {
    if collection == "demographics" { "users".to_owned() } else { collection.replace('/', "-") }
}

/// Creates the records that the samples change.
fn records(client: &TestClient) {
    for (path, mut record) in roster() {
        let kind = collections::at(path).unwrap().kind;
        record["sourcedId"] = id(path).into();
        record["status"] = "active".into();
        let address = format!("{}/{path}", kind.service.prefix());
        client.post(&address).json(&json!({ kind.one: record })).expect(201);
    }
    badges::school(client);
    client.post("/badges").json(&badges::definition()).expect(201);
    client.post("/ims/clr/v2p0/clr").json(&clr::document()).expect(201);
    for name in ["one", "two", "three", "four", "alone"] {
        item(client, name);
    }
    for name in ["s-1", "s-2", "s-3"] {
        let stimulus = json!({"identifier": name, "title": "T", "content": "<p>Text</p>"});
        client.post("/stimuli").json(&stimulus).expect(201);
    }
    for name in ["t1", "t2"] {
        test(client, name, &["one", "two"]);
    }
    client.post("/assessment-tests/t1/test-parts").json(&part("more")).expect(201);
    let sections = "/assessment-tests/t1/test-parts/t1-p1/sections";
    client.post(sections).json(&section("more-s", &["three"])).expect(201);
    let bank = json!({"identifier": "b", "title": "B", "tests": ["t1"]});
    client.post("/assessment-banks").json(&bank).expect(201);
}

fn part(name: &str) -> Value {
    json!({"identifier": name, "navigationMode": "linear", "submissionMode": "individual",
        "qti-assessment-section": [section(&format!("{name}-first"), &[])]})
}

/// A change that the route of the pattern does; none is known of a new route.
fn sample(client: &TestClient, method: &Method, pattern: &str) -> Option<Sample> {
    let sample = |path: &str, record: &str, body: Option<Value>| {
        let (method, path, record) = (method.clone(), path.to_owned(), record.to_owned());
        Some(Sample { method, path, body, record })
    };
    if let Some(base) = pattern.strip_suffix("/{sourcedId}") {
        let (path, body) = of_roster(client, method, base)?;
        return sample(&path, &path, body);
    }
    if let Some(inner) = pattern.strip_prefix("/assessment-tests/{identifier}/") {
        let test = "/assessment-tests/t1";
        let (path, body) = in_test(client, test, method.as_str(), inner)?;
        return sample(&format!("{test}/{path}"), test, body);
    }
    match pattern {
        "/{id}" => return sample("/s-2", "/stimuli/s-2", None),
        "/qti/{id}" => return sample("/qti/s-3", "/stimuli/s-3", None),
        _ => {}
    }
    let (path, changed) = match pattern {
        "/ims/ob/v3p0/badges/{id}" => {
            let mut changed = badges::definition();
            changed["name"] = "Changed".into();
            (badges::definition_path(), changed)
        }
        "/ims/clr/v2p0/clr/{id}" => {
            let mut changed = clr::document();
            changed["credentialSubject"]["achievement"][0]["name"] = "Changed".into();
            (clr::path(&clr::document()), changed)
        }
        "/assessment-items/{identifier}" => {
            let path = "/assessment-items/alone";
            let mut changed = json!({"format": "xml"});
            // After it was deleted nothing asks for this.
            if let Some(xml) = client.get(path).send().json::<Value>()["rawXml"].as_str() {
                changed["xml"] = xml.replace("Item alone", "Changed").into();
            }
            (path.to_owned(), changed)
        }
        "/stimuli/{identifier}" => {
            let changed =
                json!({"identifier": "s-1", "title": "Changed", "content": "<p>Other</p>"});
            ("/stimuli/s-1".to_owned(), changed)
        }
        "/assessment-banks/{bank}" => {
            ("/assessment-banks/b".to_owned(), json!({"title": "Changed", "tests": ["t1"]}))
        }
        "/assessment-tests/{identifier}" => {
            let changed = json!({"identifier": "t2", "title": "Changed"});
            ("/assessment-tests/t2".to_owned(), changed)
        }
        _ => return None,
    };
    sample(&path, &path, (*method == Method::PUT).then_some(changed))
}

/// A change of the record of a collection of OneRoster.
fn of_roster(client: &TestClient, method: &Method, base: &str) -> Option<(String, Option<Value>)> {
    let is_meant = |one: &collections::Collection| {
        base == format!("{}/{}", one.kind.service.prefix(), one.path)
    };
    let collection = collections::all().find(is_meant)?;
    let (path, one) = (format!("{base}/{}", id(collection.path)), collection.kind.one);
    let change = json!({"note": "changed"});
    let body = match *method {
        Method::PUT => {
            let mut record = client.get(&path).expect(200).json::<Value>()[one].clone();
            record["metadata"] = change;
            Some(json!({ one: record }))
        }
        Method::PATCH => Some(json!({ one: {"metadata": change} })),
        _ => None,
    };
    Some((path, body))
}

/// A change of a part of a test: where, below the test, and with which body.
fn in_test(
    client: &TestClient,
    test: &str,
    method: &str,
    inner: &str,
) -> Option<(String, Option<Value>)> {
    const PART: &str = "test-parts/t1-p1";
    const SECTIONS: &str = "test-parts/t1-p1/sections";
    const SECTION: &str = "test-parts/t1-p1/sections/t1-s1";
    let (path, body) = match (method, inner.replace("test-parts/{part}/sections", "…").as_str()) {
        ("PUT", "metadata") => ("metadata".to_owned(), Some(json!({"metadata": {"note": "new"}}))),
        ("POST", "test-parts") => ("test-parts".to_owned(), Some(part("new"))),
        ("PUT", "test-parts/{part}") => {
            let body = json!({"identifier": "t1-p1", "submissionMode": "simultaneous"});
            (PART.to_owned(), Some(body))
        }
        ("DELETE", "test-parts/{part}") => ("test-parts/more".to_owned(), None),
        ("POST", "…") => (SECTIONS.to_owned(), Some(section("new-s", &[]))),
        ("PUT", "…/{section}") => {
            (SECTION.to_owned(), Some(json!({"identifier": "t1-s1", "title": "Changed"})))
        }
        ("DELETE", "…/{section}") => (format!("{SECTIONS}/more-s"), None),
        ("POST", "…/{section}/items") => {
            (format!("{SECTION}/items"), Some(json!({"identifier": "four", "href": "four"})))
        }
        ("PUT", "…/{section}/items/order") => {
            let shown = client.get(&format!("{test}/{SECTION}")).expect(200).json::<Value>();
            let mut items = shown["qti-assessment-item-ref"].as_array().unwrap().clone();
            items.reverse();
            (format!("{SECTION}/items/order"), Some(json!({ "items": items })))
        }
        ("DELETE", "…/{section}/items/{item}") => (format!("{SECTION}/items/two"), None),
        _ => return None,
    };
    Some((path, body))
}

#[test]
fn no_route_changes_a_version_that_is_stale() {
    both(|server| {
        let client = server.client();
        records(&client);
        let versioned = || every_route().filter(|(_, route)| route.takes_version);
        let found = |method: &Method, pattern: &str| {
            let sample = sample(&client, method, pattern);
            sample.unwrap_or_else(|| panic!("{method} {pattern} needs a sample"))
        };
        for (pattern, route) in versioned() {
            let sample = found(&route.method, &pattern);
            let before = client.get(&sample.record).expect(200);
            assert_ne!(before.header("etag"), STALE);
            assert_eq!(sample.send(&client, STALE), 412, "{} {pattern}", route.method);
            let after = client.get(&sample.record).expect(200);
            let text = |reply: &Reply| (reply.header("etag").to_owned(), reply.text());
            assert_eq!(text(&after), text(&before), "{} {pattern}", route.method);
        }
        // The version alone was wrong: the same change of the version that is there is done. Records go
        // after those that refer to them.
        let (deletions, changes): (Vec<_>, Vec<_>) =
            versioned().partition(|(_, route)| route.method == Method::DELETE);
        for (pattern, route) in changes.into_iter().chain(deletions.into_iter().rev()) {
            let sample = found(&route.method, &pattern);
            let tag = client.get(&sample.record).expect(200).header("etag").to_owned();
            let status = sample.send(&client, &tag);
            assert!((200..300).contains(&status), "{} {pattern}: {status}", route.method);
        }
    });
}
