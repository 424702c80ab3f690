//! The public page of a credential and its files: what they show, and that nothing in them can run.

use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::badges::{award, awarded, definition, escaped, local, school};

fn page(server: &TestServer, badge: &Value) -> Reply {
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    server.anonymous().get(&local(server, &badge["id"])).header("accept", browser).expect(200)
}

#[test]
fn a_page_shows_the_badge_and_each_check() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        for _ in 0..2 {
            let shown = page(server, &badge);
            assert!(shown.header("content-type").starts_with("text/html"));
            assert!(shown.header("content-security-policy").starts_with("default-src 'none'"));
            let text = shown.text();
            for wanted in [
                ">Math Master</h1>",
                "Masters grade 3 mathematics",
                "Answer every question of the course",
                "2026-01-15T08:00:00Z",
                "https://example.org/issuers/1",
                "emailAddress: sha256$",
                "Verified",
                "<td>passed</td>",
                badge["issuer"]["id"].as_str().unwrap(),
            ] {
                assert!(text.contains(wanted), "{wanted} is missing in {text}");
            }
            assert!(!text.contains("ada@example.org") && !text.contains("<script"));
            server.restart();
        }
        let id = escaped(badge["id"].as_str().unwrap());
        let reason = json!({"reason": "A <b>mistake</b>"});
        server.client().post(&format!("/assertions/{id}/revoke")).json(&reason).expect(200);
        let text = page(server, &badge).text();
        assert!(text.contains("Revoked on") && text.contains("A &#60;b&#62;mistake"), "{text}");
        assert!(text.contains("<td>failed</td>"));
    });
}

#[test]
fn a_page_says_when_the_badge_expired_and_shows_its_criteria_as_markdown() {
    both(|server| {
        let client = server.client();
        school(&client);
        let mut defined = definition();
        defined["credentialSubject"]["criteria"]["narrative"] = "Answer **every** question".into();
        client.post("/badges").json(&defined).expect(201);
        let mut sent = award();
        sent["validUntil"] = "2026-02-01T08:00:00Z".into();
        let badge: Value = client.post("/assertions").json(&sent).expect(201).json();
        let text = page(server, &badge).text();
        let expired =
            "Expired on <time datetime=\"2026-02-01T08:00:00.000Z\">1 February 2026</time>";
        for wanted in [expired, "Answer <strong>every</strong> question"] {
            assert!(text.contains(wanted), "{wanted} is missing in {text}");
        }
        assert!(!text.contains("Not verified"));
        // A client that asks for a JWT gets its media type, and may send that back.
        let path = format!("/assertions/{}", escaped(badge["id"].as_str().unwrap()));
        let jwt = client.get(&path).header("accept", "application/vc+jwt").expect(200);
        assert_eq!(jwt.header("content-type"), "application/vc+jwt");
        let report: Value =
            client.post("/verify").body("application/vc+jwt", jwt.body).expect(200).json();
        assert_eq!(report["credential"]["id"], badge["id"]);
    });
}

#[test]
fn a_page_names_the_learner_and_shows_the_sentence_of_the_award() {
    both(|server| {
        let client = server.client();
        school(&client);
        let user = json!({"user": {
            "sourcedId": "amina", "enabledUser": true, "givenName": "أمينة", "familyName": "الحسن",
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
        }});
        client.post("/ims/oneroster/rostering/v1p2/users").json(&user).expect(201);
        client.post("/badges").json(&definition()).expect(201);
        let mut sent = award();
        sent["userId"] = "amina".into();
        sent["narrative"] = "Explained fractions to the whole class.".into();
        let badge: Value = client.post("/assertions").json(&sent).expect(201).json();
        let text = page(server, &badge).text();
        for wanted in [
            "Awarded to <bdi>أمينة الحسن</bdi> by <bdi>Lyceum</bdi>",
            "<dt>What for</dt>",
            "Explained fractions to the whole class.",
            ">15 January 2026</time>",
        ] {
            assert!(text.contains(wanted), "{wanted} is missing in {text}");
        }
        // The address of the learner stands with the identifiers alone.
        let (shown, identifiers) = text.split_once("<h2>Identifiers</h2>").unwrap();
        let address = badge["credentialSubject"]["id"].as_str().unwrap();
        assert!(!shown.contains(address) && identifiers.contains(address));
    });
}

#[test]
fn a_credential_can_be_downloaded_as_each_kind_of_file() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let path = local(server, &badge["id"]);
        let get = |suffix: &str| server.anonymous().get(&format!("{path}{suffix}")).expect(200);
        assert_eq!(get("").json::<Value>(), badge);
        assert_eq!(get(".json").json::<Value>(), badge);
        assert_eq!(get(".json").header("content-type"), "application/vc+ld+json");
        assert_eq!(get(".jwt").text().matches('.').count(), 2);
        let media = [(".png", "image/png"), (".svg", "image/svg+xml"), (".jwt", "text/plain")];
        for (suffix, media) in media {
            let file = get(suffix);
            let report: Value =
                client.post("/verify").body(media, file.body.clone()).expect(200).json();
            assert_eq!(report["verification"]["verified"], true, "{suffix}: {report}");
            assert_eq!(report["credential"]["id"], badge["id"]);
        }
        for nothing in ["/credentials/none", &format!("{path}.exe")] {
            server.anonymous().get(nothing).expect(404);
        }
        // Only the random id is public: who guesses the id of the credential learns nothing.
        let id = escaped(badge["id"].as_str().unwrap());
        server.anonymous().get(&format!("/credentials/{id}")).expect(404);
        let style = server.anonymous().get("/credentials/page.css").expect(200);
        assert!(style.header("content-type").starts_with("text/css"));
    });
}

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn a_badge_keeps_the_image_that_it_holds_itself() {
    both(|server| {
        let client = server.client();
        school(&client);
        let mut own = definition();
        own["image"] = json!({"id": format!("data:image/png;base64,{PIXEL}"), "type": "Image"});
        client.post("/badges").json(&own).expect(201);
        let badge: Value = client.post("/assertions").json(&award()).expect(201).json();
        let shown = page(server, &badge).text();
        let path = local(server, &badge["id"]);
        assert!(shown.contains(&format!("src=\"{path}.png\"")), "{shown}");
        let png = server.anonymous().get(&format!("{path}.png")).expect(200);
        // Width and height stand in the header.
        assert_eq!(png.body[16..24], [0, 0, 0, 1, 0, 0, 0, 1]);
        let report: Value = client.post("/verify").body("image/png", png.body).expect(200).json();
        assert_eq!(report["verification"]["verified"], true, "{report}");
    });
}

/// Texts that try to become part of a page.
const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}";

#[test]
fn texts_of_a_credential_never_become_markup() {
    both(|server| {
        let client = server.client();
        school(&client);
        let profile = json!({"name": HOSTILE, "url": "https://school.example"});
        client.post("/ims/ob/v3p0/profile").json(&profile).expect(201);
        let mut hostile = definition();
        hostile["name"] = HOSTILE.into();
        hostile["issuer"] = json!({"id": "javascript:alert(3)", "name": HOSTILE});
        for member in ["name", "description"] {
            hostile["credentialSubject"][member] = HOSTILE.into();
        }
        hostile["credentialSubject"]["criteria"] =
            json!({"id": "javascript:alert(4)", "narrative": HOSTILE});
        client.post("/badges").json(&hostile).expect(201);
        let mut sent = award();
        sent["evidence"] = json!([{"type": ["Evidence"], "id": "data:text/html,alert(5)", "name": HOSTILE, "narrative": HOSTILE}]);
        let badge: Value = client.post("/assertions").json(&sent).expect(201).json();
        let id = escaped(badge["id"].as_str().unwrap());
        client
            .post(&format!("/assertions/{id}/revoke"))
            .json(&json!({"reason": HOSTILE}))
            .expect(200);
        let text = page(server, &badge).text();
        assert!(!text.contains("<script") && !text.contains("<img src=x"), "{text}");
        for (at, _) in text.match_indices("href=\"") {
            let target = &text[at + 6..];
            assert!(target.starts_with('/') || target.starts_with("http"), "{}", &target[..40]);
        }
        assert!(text.matches("&#60;script&#62;alert(1)").count() >= 6, "{text}");
        let svg =
            server.anonymous().get(&format!("{}.svg", local(server, &badge["id"]))).expect(200);
        let mark_up = svg.text();
        let outside = mark_up.split("<![CDATA[").next().unwrap();
        assert!(!outside.contains("<script"), "{outside}");
        assert!(svg.header("content-security-policy").contains("default-src 'none'"));
    });
}
