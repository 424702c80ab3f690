//! Definitions of badges posted again, replaced, deleted and restored; the badges of one student.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::badges::{
    OB, assertion, award, awarded, definition, definition_path, error_text, now_and_after_restart,
    school,
};

#[test]
fn posting_a_definition_again_is_a_retry_and_another_one_a_conflict() {
    both(|server| {
        let client = server.client();
        for path in ["/badges", &format!("{OB}/credentials/")] {
            let status = if path == "/badges" { 201 } else { 200 };
            client.post(path).json(&definition()).expect(status);
            client.post(path).json(&definition()).expect(200);
            let mut other = definition();
            other["name"] = "Master of mathematics".into();
            let refused = client.post(path).json(&other).expect(409);
            assert!(error_text(&refused).contains("PUT …/badges/{id}"), "{}", error_text(&refused));
            let kept: Value = client.get(&definition_path()).expect(200).json();
            assert_eq!(kept, definition());
        }
        let mut other = definition();
        other["id"] = "https://example.org/badges/another".into();
        client.put(&definition_path()).json(&other).expect(422);
        client.put("/badges/none").json(&other).expect(404);
        let stale = client.put(&definition_path()).header("if-match", "\"v7\"");
        stale.json(&definition()).expect(412);
    });
}

#[test]
fn a_deleted_definition_says_so_and_is_restored_by_put() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        client.delete(&definition_path()).expect(204);
        now_and_after_restart(server, |_, client| {
            let mut another = award();
            another["awardedDate"] = "2026-02-15T08:00:00Z".into();
            for (reply, what) in [
                (client.get(&definition_path()).expect(404), "read"),
                (client.delete(&definition_path()).expect(404), "delete"),
                (client.post("/badges").json(&definition()).expect(409), "create"),
                (client.post("/assertions").json(&another).expect(422), "award"),
            ] {
                let message = error_text(&reply);
                let is_explained =
                    message.contains("is deleted") && message.contains("PUT …/badges/{id}");
                assert!(is_explained, "{what}: {message}");
            }
            let listed: Value = client.get("/badges").expect(200).json();
            assert_eq!(listed["badges"], json!([]));
            // What was issued before stays as it is.
            assert_eq!(assertion(client, &badge)["verification"]["verified"], true);
        });
        let client = server.client();
        client.put(&definition_path()).json(&definition()).expect(200);
        let read: Value = client.get(&definition_path()).expect(200).json();
        assert_eq!(read, definition());
    });
}

#[test]
fn the_badges_of_one_student_are_a_list() {
    both(|server| {
        let client = server.client();
        let ada = awarded(&client);
        let mut sent = award();
        sent["userId"] = "ben".into();
        let ben: Value = client.post("/assertions").json(&sent).expect(201).json();
        let badges_of = |user: &str| {
            let listed = client.get(&format!("/assertions?userId={user}")).expect(200);
            assert_eq!(listed.header("x-total-count"), "1");
            listed.json::<Value>()["credential"].clone()
        };
        assert_eq!((badges_of("ada"), badges_of("ben")), (json!([ada]), json!([ben])));
        let listed: Value = client.get(&format!("{OB}/credentials?userId=ben")).expect(200).json();
        assert_eq!(listed["credential"], json!([ben]));
        client.get("/assertions?userId=nobody").expect(404);
        let all: Value = client.get("/assertions").expect(200).json();
        assert_eq!(all["credential"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn the_address_of_a_learner_encodes_no_unreserved_character() {
    both(|server| {
        let client = server.client();
        school(&client);
        let user = json!({"user": {
            "sourcedId": "student-1.a_b~c", "enabledUser": true, "givenName": "A",
            "familyName": "B", "email": "",
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
        }});
        client.post("/ims/oneroster/rostering/v1p2/users").json(&user).expect(201);
        client.post("/badges").json(&definition()).expect(201);
        let mut sent = award();
        sent["userId"] = "student-1.a_b~c".into();
        let badge: Value = client.post("/assertions").json(&sent).expect(201).json();
        let id = badge["credentialSubject"]["id"].as_str().unwrap();
        assert!(id.ends_with("/users/student-1.a_b~c"), "{id}");
    });
}

/// The paths of the errors in a refused body.
fn paths(client: &TestClient, method: &str, path: &str, body: &Value) -> Vec<String> {
    let call = if method == "PUT" { client.put(path) } else { client.post(path) };
    let answer: Value = call.json(body).expect(422).json();
    let details = answer["imsx_error_details"].as_array().unwrap();
    details.iter().map(|detail| detail["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_errors_of_a_document_are_reported_at_once() {
    both(|server| {
        let client = server.client();
        school(&client);
        let mut broken = definition();
        broken["id"] = 7.into();
        broken["image"] = json!({ "type": "Image" });
        broken["credentialSubject"].as_object_mut().unwrap().remove("criteria");
        let wrong = ["id", "image.id", "credentialSubject.criteria"];
        for path in ["/badges", &format!("{OB}/credentials")] {
            assert_eq!(paths(&client, "POST", path, &broken), wrong);
        }
        for (member, value) in [
            ("@context", json!("https://www.w3.org/ns/credentials/v2")),
            ("@context", json!(["https://www.w3.org/ns/credentials/v2"])),
            ("issuer", json!("somebody")),
            ("issuer", Value::Null),
        ] {
            let mut broken = definition();
            broken[member] = value;
            assert_eq!(paths(&client, "POST", "/badges", &broken), [member]);
        }
        client.post("/badges").json(&definition()).expect(201);
        assert_eq!(paths(&client, "PUT", &definition_path(), &broken), wrong);

        let award = json!({ "validFrom": "monday", "validUntil": 7, "hashed": "yes" });
        let wrong = ["achievementId", "userId", "validFrom", "validUntil", "hashed"];
        assert_eq!(paths(&client, "POST", "/assertions", &award), wrong);
        let profile = json!({ "name": 7, "colour": "red", "url": "https://a.example" });
        assert_eq!(paths(&client, "POST", &format!("{OB}/profile"), &profile), ["name", "colour"]);

        let record = json!({
            "type": "ClrCredential",
            "validFrom": "monday",
            "credentialSubject": { "achievement": [{ "name": "Algebra" }, { "id": "urn:a" }] },
        });
        let wrong = [
            "validFrom",
            "credentialSubject.id",
            "credentialSubject.achievement[0].id",
            "credentialSubject.achievement[1].name",
        ];
        assert_eq!(paths(&client, "POST", "/clr", &record), wrong);
        let update = json!({ "name": 7, "achievements": [{ "id": "urn:a" }] });
        let wrong = ["name", "achievements[0].name"];
        assert_eq!(paths(&client, "PUT", "/clr/any", &update), wrong);
    });
}

#[test]
fn an_empty_instant_of_an_award_counts_as_missing() {
    both(|server| {
        let client = server.client();
        school(&client);
        client.post("/badges").json(&definition()).expect(201);
        let mut sent = award();
        sent["validFrom"] = "".into();
        sent["validUntil"] = Value::Null;
        let badge: Value = client.post("/assertions").json(&sent).expect(201).json();
        assert_eq!(badge["validFrom"], sent["awardedDate"]);
        assert_eq!(badge.get("validUntil"), None);
        sent["validFrom"] = "2026-01-15".into();
        assert_eq!(paths(&client, "POST", "/assertions", &sent), ["validFrom"]);
    });
}
