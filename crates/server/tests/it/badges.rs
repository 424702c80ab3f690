//! Open Badges: definitions, awards, credentials of others, revocation. What is written is read back by
//! another operation, and again after a restart.

use lyceum_testserver::client::{Reply, TestClient};
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

pub(crate) const OB: &str = "/ims/ob/v3p0";

/// The definition of the platform's document, word for word.
pub(crate) fn definition() -> Value {
    json!({
        "@context": [
            "https://www.w3.org/2018/credentials/v1",
            "https://purl.imsglobal.org/spec/ob/v3p0/context.json"
        ],
        "id": "https://example.org/badges/math-master",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": "https://example.org/issuers/1",
        "name": "Math Master",
        "description": "Masters grade 3 mathematics",
        "image": { "id": "https://example.org/badges/math-master.png", "type": "Image" },
        "credentialSubject": {
            "id": "https://example.org/achievements/math-master",
            "type": ["Achievement"],
            "name": "Math Master",
            "description": "Masters grade 3 mathematics",
            "criteria": { "narrative": "Answer every question of the course" }
        }
    })
}

pub(crate) fn award() -> Value {
    json!({
        "achievementId": "https://example.org/achievements/math-master",
        "userId": "ada",
        "awardedDate": "2026-01-15T08:00:00Z",
        "validFrom": "2026-01-15T08:00:00Z"
    })
}

/// A school with a student who has an e-mail address, and one who has none.
pub(crate) fn school(client: &TestClient) {
    let rostering = "/ims/oneroster/rostering/v1p2";
    let org = json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}});
    client.post(&format!("{rostering}/schools")).json(&org).expect(201);
    for (id, email) in [("ada", Some("ada@example.org")), ("ben", None)] {
        let mut user = json!({
            "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "Family",
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
        });
        if let Some(email) = email {
            user["email"] = email.into();
        }
        client.post(&format!("{rostering}/users")).json(&json!({"user": user})).expect(201);
    }
}

/// A badge that was awarded.
pub(crate) fn awarded(client: &TestClient) -> Value {
    school(client);
    client.post(&format!("{OB}/credentials/")).json(&definition()).expect(201);
    client.post(&format!("{OB}/issue-badge/")).json(&award()).expect(201).json()
}

pub(crate) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The part of a public address behind the server's.
pub(crate) fn local(server: &TestServer, address: &Value) -> String {
    address.as_str().unwrap().strip_prefix(&server.address()).unwrap().to_owned()
}

pub(crate) fn assertion(client: &TestClient, credential: &Value) -> Value {
    let id = escaped(credential["id"].as_str().unwrap());
    client.get(&format!("{OB}/assertions/{id}")).expect(200).json()
}

fn outcome(assertion: &Value, check: &str) -> String {
    let checks = assertion["verification"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|known| known["name"] == check);
    check.unwrap_or_else(|| panic!("{checks:?}"))["outcome"].as_str().unwrap().to_owned()
}

pub(crate) fn now_and_after_restart(
    server: &mut TestServer,
    check: impl Fn(&TestServer, &TestClient),
) {
    check(server, &server.client());
    server.restart();
    check(server, &server.client());
}

#[test]
fn a_definition_is_stored_as_it_was_sent() {
    both(|server| {
        let client = server.client();
        let created: Value =
            client.post(&format!("{OB}/credentials/")).json(&definition()).expect(201).json();
        assert_eq!(created, definition());
        let mut changed = definition();
        changed["name"] = "Master of mathematics".into();
        client.put(&definition_path()).json(&changed).expect(200);
        now_and_after_restart(server, |_, client| {
            for id in [
                "https://example.org/badges/math-master",
                "https://example.org/achievements/math-master",
            ] {
                for path in ["/badges", "/ims/ob/v3p0/badges"] {
                    let read: Value =
                        client.get(&format!("{path}/{}", escaped(id))).expect(200).json();
                    assert_eq!(read, changed);
                }
            }
            let listed = client.get("/badges/?limit=1").expect(200);
            assert_eq!(
                (listed.header("x-total-count"), &listed.json::<Value>()["badges"]),
                ("1", &json!([changed]))
            );
        });
        server.client().get("/badges/none").expect(404);
    });
}

pub(crate) fn definition_path() -> String {
    format!("/badges/{}", escaped(definition()["id"].as_str().unwrap()))
}

/// The description in an error response.
pub(crate) fn error_text(reply: &Reply) -> String {
    reply.json::<Value>()["imsx_description"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_definition_that_cannot_be_issued_is_refused() {
    both(|server| {
        let client = server.client();
        let broken: [(&str, Value, &str); 7] = [
            ("/id", json!("no uri"), "id"),
            ("/type", json!(["Achievement"]), "type"),
            ("/credentialSubject/id", Value::Null, "credentialSubject.id"),
            ("/credentialSubject/criteria", json!({}), "credentialSubject.criteria"),
            ("/credentialSubject/type", json!(["Nothing"]), "credentialSubject.type"),
            ("/image", json!(7), "image"),
            ("/credentialSubject/description", json!(["a"]), "credentialSubject.description"),
        ];
        for (place, value, path) in broken {
            let mut sent = definition();
            *sent.pointer_mut(place).unwrap() = value;
            let response: Value =
                client.post(&format!("{OB}/credentials")).json(&sent).expect(422).json();
            assert_eq!(response["imsx_error_details"][0]["path"], path, "{response}");
            let minor = &response["imsx_codeMinor"]["imsx_codeMinorField"][0];
            assert_eq!(minor["imsx_codeMinorFieldValue"], "invalid_data");
        }
        // What JSON-LD does not define would not be signed.
        let mut sent = definition();
        sent["credentialSubject"]["alignment"] =
            json!([{"type": ["Invented"], "targetName": "x", "targetUrl": "https://x.example"}]);
        client.post("/badges").json(&sent).expect(422);
        client.post("/badges").json(&definition()).expect(201);
        let mut sent = definition();
        sent["id"] = "https://example.org/badges/another".into();
        client.post("/badges").json(&sent).expect(409);
        client.post("/badges").body("application/json", "{").expect(400);
        client.post("/badges").body("application/json", "[]").expect(400);
    });
}

#[test]
fn a_badge_is_issued_signed_read_and_verified() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        assert_eq!(badge["type"], json!(["VerifiableCredential", "OpenBadgeCredential"]));
        assert_eq!(badge["validFrom"], "2026-01-15T08:00:00Z");
        assert_eq!(badge["awardedDate"], "2026-01-15T08:00:00Z");
        let achievement = &badge["credentialSubject"]["achievement"];
        assert_eq!(achievement["creator"]["id"], "https://example.org/issuers/1");
        assert_eq!(achievement["criteria"]["narrative"], "Answer every question of the course");
        let user = format!("{}/ims/oneroster/rostering/v1p2/users/ada", server.address());
        assert_eq!(badge["credentialSubject"]["id"], user.as_str());
        let identity = &badge["credentialSubject"]["identifier"][0];
        assert_eq!(
            (&identity["hashed"], &identity["identityType"]),
            (&json!(true), &json!("emailAddress"))
        );
        assert!(identity["identityHash"].as_str().unwrap().starts_with("sha256$"));
        assert!(!badge.to_string().contains("ada@example.org"), "the address itself is not told");
        let did: Value = server.anonymous().get("/.well-known/did.json").expect(200).json();
        assert_eq!(badge["issuer"]["id"], did["id"]);
        assert_eq!(badge["proof"]["verificationMethod"], did["assertionMethod"][0]);
        assert_eq!(badge["proof"]["cryptosuite"], "eddsa-rdfc-2022");

        // The same request again is the same award.
        let again: Value = client.post("/assertions").json(&award()).expect(200).json();
        assert_eq!(again, badge);
        // A request that asks for another credential is refused.
        let evidence = json!([{"type": ["Evidence"], "narrative": "A proof"}]);
        for (member, value) in [
            ("validUntil", json!("2036-01-15T08:00:00Z")),
            ("evidence", evidence),
            ("narrative", json!("More")),
        ] {
            let mut other = award();
            other[member] = value;
            let refused = client.post("/assertions").json(&other).expect(409).text();
            assert!(refused.contains(member), "{refused}");
        }
        now_and_after_restart(server, |_, client| {
            let read = assertion(client, &badge);
            assert_eq!(read["credential"], badge);
            assert_eq!(read["verification"]["verified"], true, "{read}");
            let listed: Value = client.get(&format!("{OB}/credentials/")).expect(200).json();
            assert_eq!(listed["credential"], json!([badge]));
        });
    });
}

#[test]
fn a_badge_needs_a_known_learner_and_definition() {
    both(|server| {
        let client = server.client();
        school(&client);
        client.post("/badges").json(&definition()).expect(201);
        for (member, value) in [
            ("userId", json!("nobody")),
            ("userId", Value::Null),
            ("achievementId", json!("https://example.org/none")),
            ("awardedDate", json!("yesterday")),
            ("validFrom", json!("2026-13-01T00:00:00Z")),
            ("validUntil", json!("2026-01-01T00:00:00Z")),
            ("hashed", json!("yes")),
        ] {
            let mut sent = award();
            sent[member] = value;
            let response: Value =
                client.post(&format!("{OB}/issue-badge")).json(&sent).expect(422).json();
            assert_eq!(response["imsx_error_details"][0]["path"], member, "{response}");
        }
        // A user may be named by its address; without an e-mail address the id is hashed where asked.
        let mut sent = award();
        sent["userId"] =
            format!("{}/ims/oneroster/rostering/v1p2/users/ben", server.address()).into();
        sent["hashed"] = true.into();
        sent["evidence"] = json!([{"type": ["Evidence"], "id": "https://example.org/essays/1", "narrative": "A proof"}]);
        sent["validUntil"] = "2036-01-15T08:00:00Z".into();
        let badge: Value = client.post("/assertions/").json(&sent).expect(201).json();
        assert_eq!(badge["credentialSubject"]["identifier"][0]["identityType"], "sourcedId");
        assert_eq!(badge["evidence"], sent["evidence"]);
        assert_eq!(assertion(&client, &badge)["verification"]["verified"], true);
        sent["evidence"] = json!([{"type": ["Invented"]}]);
        sent["awardedDate"] = "2026-01-16T08:00:00Z".into();
        client.post("/assertions").json(&sent).expect(422);
    });
}

#[test]
fn a_badge_can_be_read_as_a_jwt_of_either_algorithm() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let id = escaped(badge["id"].as_str().unwrap());
        for (query, accept, algorithm) in
            [("", "text/plain", "EdDSA"), ("?format=jwt&alg=RS256", "*/*", "RS256")]
        {
            let path = format!("{OB}/assertions/{id}{query}");
            let reply = client.get(&path).header("accept", accept).expect(200);
            assert!(reply.header("content-type").starts_with("text/plain"));
            let jwt = reply.text();
            assert_eq!(part(&jwt, 0)["alg"], algorithm);
            let claims = part(&jwt, 1);
            assert_eq!(claims["jti"], badge["id"]);
            assert_eq!(claims["iss"], badge["issuer"]["id"]);
            assert_eq!(claims["sub"], badge["credentialSubject"]["id"]);
            let report: Value = client.post("/verify").body("text/plain", jwt).expect(200).json();
            assert_eq!(report["verification"]["verified"], true, "{algorithm}: {report}");
        }
        client.get(&format!("{OB}/assertions/{id}?format=jwt&alg=none")).expect(400);
    });
}

pub(crate) fn part(jwt: &str, n: usize) -> Value {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    let part = jwt.split('.').nth(n).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[test]
fn a_revocation_is_final_and_has_a_reason() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let id = escaped(badge["id"].as_str().unwrap());
        let list = local(server, &badge["credentialStatus"]["statusListCredential"]);
        let before: Value = server.anonymous().get(&list).expect(200).json();
        let revoke = format!("{OB}/assertions/{id}/revoke");
        let revoked: Value =
            client.post(&revoke).json(&json!({"reason": "Awarded by mistake"})).expect(200).json();
        assert_eq!(revoked["verification"]["verified"], false);
        client.post(&revoke).json(&json!({"reason": "Another reason"})).expect(200);
        now_and_after_restart(server, |server, client| {
            let read = assertion(client, &badge);
            assert_eq!(read["revoked"]["reason"], "Awarded by mistake");
            assert_eq!(outcome(&read, "status"), "failed", "{read}");
            let reply = server.anonymous().get(&list).expect(200);
            assert_eq!(reply.header("cache-control"), "public, max-age=60");
            assert_eq!(reply.header("access-control-allow-origin"), "*");
            let after: Value = reply.json();
            assert_ne!(before["credentialSubject"], after["credentialSubject"]);
            assert!(after["proof"]["proofValue"].is_string());
            let response: Value =
                server.anonymous().get("/issuers/server/revocations").expect(200).json();
            assert_eq!(response["revokedCredential"][0]["id"], badge["id"]);
            assert_eq!(response["revokedCredential"][0]["revocationReason"], "Awarded by mistake");
        });
        let client = server.client();
        // What it was awarded for can be awarded again; that is another credential.
        let anew: Value = client.post("/assertions").json(&award()).expect(201).json();
        assert_ne!(anew["id"], badge["id"]);
        client.post(&format!("{OB}/assertions/none/revoke")).json(&json!({})).expect(404);
    });
}

/// A credential that another issuer signed, with another moment of validity.
fn foreign(valid_from: &str) -> Value {
    let mut badge = awarded_elsewhere();
    badge["validFrom"] = valid_from.into();
    badge
}

fn awarded_elsewhere() -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"],
        "id": "https://other.example/credentials/1",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": { "id": "https://other.example/issuers/1", "type": ["Profile"], "name": "Other" },
        "validFrom": "2026-01-01T00:00:00Z",
        "credentialSubject": {
            "id": "did:example:ebfeb1f712ebc6f1c276e12ec21",
            "type": ["AchievementSubject"],
            "achievement": {
                "id": "https://other.example/achievements/1", "type": ["Achievement"], "name": "Other",
                "description": "Elsewhere", "criteria": { "narrative": "Be there" }
            }
        },
        "proof": [{
            "type": "DataIntegrityProof", "created": "2026-01-01T00:00:00Z", "cryptosuite": "eddsa-rdfc-2022",
            "verificationMethod": "https://other.example/issuers/1#key-1", "proofPurpose": "assertionMethod",
            "proofValue": "z41ZsNkz78FHSGkAD5J4b8EN49DkywMMJSL3UdUNffbsCAWmTLPvtnJpd3JGGooYX7TNrzgsTLkXUWiGsRRZ788ML"
        }]
    })
}

#[test]
fn a_credential_of_another_issuer_is_replaced_only_by_a_newer_one() {
    both(|server| {
        let client = server.client();
        let post = |body: &Value| client.post(&format!("{OB}/credentials")).json(body).send();
        let first = foreign("2026-01-01T00:00:00Z");
        let newer = foreign("2026-02-01T00:00:00Z");
        let answered = |reply: &Reply| (reply.status, reply.json::<Value>());
        assert_eq!(answered(&post(&first)), (201, first.clone()));
        assert_eq!(post(&first).status, 304);
        assert_eq!(answered(&post(&newer)), (200, newer.clone()));
        assert_eq!(post(&first).status, 304);
        let mut unsigned = newer.clone();
        unsigned.as_object_mut().unwrap().remove("proof");
        assert_eq!(post(&unsigned).status, 422);
        now_and_after_restart(server, |_, client| {
            let listed: Value = client.get(&format!("{OB}/credentials")).expect(200).json();
            assert_eq!(listed["credential"], json!([newer]));
            assert_eq!(assertion(client, &newer)["credential"], newer);
        });
        let id = escaped("https://other.example/credentials/1");
        server.client().post(&format!("{OB}/assertions/{id}/revoke")).json(&json!({})).expect(422);
    });
}

#[test]
fn a_jws_is_stored_unchanged() {
    both(|server| {
        let client = server.client();
        let jws = elsewhere_jws("2026-01-01T00:00:00Z");
        let post =
            |text: &str| client.post(&format!("{OB}/credentials/")).body("text/plain", text).send();
        let created = post(&jws);
        assert_eq!((created.status, created.text()), (201, jws.clone()));
        assert!(created.header("content-type").starts_with("text/plain"));
        assert_eq!(post(&jws).status, 304);
        assert_eq!(post(&elsewhere_jws("2026-01-02T00:00:00Z")).status, 200);
        assert_eq!(post("not.a.jws").status, 422);
        assert_eq!(post("nothing").status, 422);
        now_and_after_restart(server, |_, client| {
            let listed: Value = client.get(&format!("{OB}/credentials")).expect(200).json();
            assert_eq!(listed["compactJwsString"], json!([elsewhere_jws("2026-01-02T00:00:00Z")]));
        });
    });
}

fn elsewhere_jws(valid_from: &str) -> String {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    let encode = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let mut credential = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"],
        "id": "https://other.example/credentials/2",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": { "id": "https://other.example/issuers/1", "type": ["Profile"] },
        "credentialSubject": { "type": ["AchievementSubject"], "achievement": {} }
    });
    credential["validFrom"] = valid_from.into();
    format!("{}.{}.c2lnbmF0dXJl", encode(json!({"alg": "RS256"})), encode(credential))
}

#[test]
fn nobody_can_add_statements_that_the_server_signs() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let mut forged = badge.clone();
        forged["validFrom"] = "2027-01-01T00:00:00Z".into();
        forged["credentialSubject"]["achievement"]["name"] = "Master of everything".into();
        let response: Value =
            client.post(&format!("{OB}/credentials")).json(&forged).expect(422).json();
        assert_eq!(response["imsx_error_details"][0]["path"], "proof", "{response}");
        assert_eq!(assertion(&client, &badge)["credential"], badge);
    });
}

#[test]
fn a_list_has_pages_and_a_since_parameter() {
    both(|server| {
        let client = server.client();
        for (n, day) in ["01", "02", "03"].iter().enumerate() {
            let mut one = foreign(&format!("2026-01-{day}T00:00:00Z"));
            one["id"] = format!("https://other.example/credentials/{n}").into();
            client.post(&format!("{OB}/credentials")).json(&one).expect(201);
        }
        let page = client.get(&format!("{OB}/credentials?limit=1&offset=1")).expect(200);
        assert_eq!(page.header("x-total-count"), "3");
        let base = format!("{}{OB}/credentials?limit=1&offset=", server.address());
        let link = |rel: &str, offset: u8| format!("<{base}{offset}>; rel=\"{rel}\"");
        let links = [link("next", 2), link("prev", 0), link("first", 0), link("last", 2)];
        assert_eq!(page.header("link"), links.join(", "));
        let credentials = &page.json::<Value>()["credential"];
        assert_eq!(credentials[0]["validFrom"], "2026-01-02T00:00:00Z");
        let since = client.get(&format!("{OB}/credentials?since=2026-01-02T00:00:00Z")).expect(200);
        // Those before were stored since.
        assert_eq!(since.json::<Value>()["credential"].as_array().unwrap().len(), 3);
        let never = client.get(&format!("{OB}/credentials?since=2999-01-02T00:00:00Z")).expect(200);
        assert_eq!(never.json::<Value>()["credential"].as_array().unwrap().len(), 0);
        let refused: Value =
            client.get(&format!("{OB}/credentials?since=monday")).expect(400).json();
        let minor = &refused["imsx_codeMinor"]["imsx_codeMinorField"][0];
        assert_eq!(minor["imsx_codeMinorFieldValue"], "invalid_query_parameter");
    });
}
