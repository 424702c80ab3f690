//! Changes that name the version that they are meant for, with `If-Match`.

use lyceum_server::routes;
use lyceum_testkit::client::TestClient;
use lyceum_testkit::server::both;
use serde_json::{Value, json};
use ureq::http::Method;

use crate::authorisation::{call, every_route};
use crate::enrolling::ROSTERING;
use crate::qti_structure::{item, test};
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
fn any_version_is_asked_for_only_of_what_is_there() {
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
fn a_change_that_takes_no_version_says_so_whatever_the_tag_is() {
    both(|server| {
        let client = server.client();
        for tag in ["\"6cd3556deb0da54bca060b4c39479839\"", "\"v1\"", "W/\"x\""] {
            let path = "/api/projects/rivers/bucket/object?key=a";
            let put = client.put(path).header("if-match", tag);
            let told = put.body("application/octet-stream", "new").expect(412).text();
            assert!(told.contains("send it without If-Match"), "{told}");
        }
    });
}

#[test]
fn no_change_passes_over_a_version_that_it_does_not_know() {
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
            let is_closed = status == 403 && path.ends_with("/decrypt");
            assert!(status == 412 || is_closed, "{} {path} answered {status}", route.method);
        }
    });
}
