//! Learner records: kept as sent, served signed, updated, compiled; read back after a restart.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::badges::{award, awarded, error_text, escaped, local, now_and_after_restart, school};

const CLR: &str = "/ims/clr/v2p0";

/// The record of the platform's document, word for word.
pub(crate) fn document() -> Value {
    json!({
        "@context": [
            "https://www.w3.org/2018/credentials/v1",
            "https://purl.imsglobal.org/spec/clr/v2p0/context.json"
        ],
        "id": "https://example.org/clr/1",
        "type": ["VerifiableCredential", "ClrCredential"],
        "issuer": { "id": "https://example.org/issuers/1", "name": "Example School" },
        "credentialSubject": {
            "id": "https://example.org/ims/oneroster/rostering/v1p2/users/ada",
            "type": ["LearnerProfile"],
            "achievement": [
                { "id": "https://example.org/achievements/algebra", "type": ["Achievement"],
                  "name": "Algebra", "description": "Masters algebra" }
            ]
        }
    })
}

fn post(client: &TestClient, path: &str, body: &Value, status: u16) -> Value {
    client.post(&format!("{CLR}{path}")).json(body).expect(status).json()
}

pub(crate) fn path(record: &Value) -> String {
    format!("{CLR}/clr/{}", escaped(record["id"].as_str().unwrap()))
}

fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

/// Checks that the record and each credential in it verify.
fn verifies(client: &TestClient, record: &Value) {
    let nested = record["credentialSubject"]["verifiableCredential"].as_array().unwrap();
    for credential in std::iter::once(record).chain(nested) {
        let report: Value = client.post("/verify").json(credential).expect(200).json();
        assert_eq!(report["verification"]["verified"], true, "{report:#}");
    }
}

fn names(achievements: &Value) -> Vec<&str> {
    let all = achievements["achievements"].as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_record_is_kept_as_sent_and_served_signed() {
    both(|server| {
        let client = server.client();
        school(&client);
        let created = post(&client, "/credentials/", &document(), 201);
        let subject = &created["credentialSubject"];
        assert_eq!((&created["id"], &subject["type"]), (&document()["id"], &json!(["ClrSubject"])));
        assert_eq!(subject["id"], document()["credentialSubject"]["id"]);
        let did = get(&server.anonymous(), "/.well-known/did.json");
        assert_eq!(created["issuer"]["id"], did["id"]);
        assert_eq!(subject["achievement"][0]["creator"]["name"], "Example School");
        assert_eq!(subject["achievement"][0]["criteria"]["narrative"], "Masters algebra");
        let nested = &subject["verifiableCredential"][0];
        assert_eq!(nested["credentialSubject"]["achievement"]["name"], "Algebra");
        assert!(nested["proof"][0]["proofValue"].is_string());
        verifies(&client, &created);
        // The same content again does not make a version.
        assert_eq!(post(&client, "/clr", &document(), 200), created);
        assert_eq!(post(&client, "/credentials/", &document(), 200), created);
        for round in 0..2 {
            if round == 1 {
                server.restart();
            }
            let client = server.client();
            assert_eq!(get(&client, &path(&created)), created);
            assert_eq!(
                get(&client, &format!("/clr/{}", escaped("https://example.org/clr/1"))),
                created
            );
            assert_eq!(get(&client, &format!("{}?as=given", path(&created))), document());
            assert_eq!(
                names(&get(&client, &format!("{}/achievements", path(&created)))),
                ["Algebra"]
            );
            assert_eq!(
                get(&client, &format!("{CLR}/credentials/"))["credential"],
                json!([created])
            );
        }
        client.get(&format!("{CLR}/clr/none")).expect(404);
    });
}

#[test]
fn an_update_adds_achievements_and_keeps_the_history() {
    both(|server| {
        let client = server.client();
        school(&client);
        let created = post(&client, "/clr", &document(), 201);
        let geometry = json!({"id": "https://example.org/achievements/geometry", "type": ["Achievement"], "name": "Geometry", "description": "Masters geometry"});
        let put = |body: &Value, status: u16| -> Value {
            client.put(&path(&created)).json(body).expect(status).json()
        };
        let second = put(&json!({"achievement": [geometry]}), 200);
        let mut better = geometry.clone();
        better["name"] = "Advanced geometry".into();
        let mut whole = document();
        whole["credentialSubject"]["achievement"] = json!([better]);
        whole["name"] = "Transcript".into();
        let third = put(&whole, 200);
        assert_eq!(third["name"], "Transcript");
        put(&json!({}), 422);
        put(&json!({"id": "https://example.org/clr/2", "achievement": [geometry]}), 422);
        put(&json!({"achievements": [{"id": "no uri", "name": "x"}]}), 422);
        let stale = client.put(&path(&created)).header("if-match", "\"v1\"");
        stale.json(&json!({"achievement": [geometry]})).expect(412);
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, &path(&created)), third);
        assert_eq!(
            names(&get(&client, &format!("{}/achievements", path(&created)))),
            ["Algebra", "Advanced geometry"]
        );
        let versions = get(&client, &format!("{}/versions", path(&created)));
        let numbers: Vec<_> = versions["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["version"].as_i64().unwrap())
            .collect();
        assert_eq!(numbers, [3, 2, 1]);
        for (number, version) in [(1, &created), (2, &second), (3, &third)] {
            assert_eq!(get(&client, &format!("{}/versions/{number}", path(&created))), *version);
            verifies(&client, version);
        }
        client.get(&format!("{}/versions/4", path(&created))).expect(404);
        client.put(&format!("{CLR}/clr/none")).json(&whole).expect(404);
    });
}

#[test]
fn updates_at_the_same_time_are_all_added() {
    both(|server| {
        let client = server.client();
        school(&client);
        let created = post(&client, "/clr", &document(), 201);
        let add = |number: usize| {
            let id = format!("https://example.org/achievements/{number}");
            let achievement = json!({"id": id, "type": ["Achievement"], "name": "One", "description": "One of many"});
            client.put(&path(&created)).json(&json!({"achievement": [achievement]})).expect(200);
        };
        std::thread::scope(|scope| {
            for writer in 0..6 {
                let add = &add;
                scope.spawn(move || (0..3).for_each(|number| add(writer * 3 + number)));
            }
        });
        let achievements = get(&client, &format!("{}/achievements", path(&created)));
        assert_eq!(names(&achievements).len(), 1 + 18);
    });
}

#[test]
fn nested_credentials_keep_their_proofs_or_get_one() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let mut record = document();
        record["@context"] = json!([
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"
        ]);
        let mut unsigned = badge.clone();
        unsigned["id"] = "urn:uuid:7f3d2a52-5ef6-4b5a-8d35-5f3a3f4b1c11".into();
        for member in ["proof", "credentialStatus", "issuer"] {
            unsigned.as_object_mut().unwrap().remove(member);
        }
        unsigned["issuer"] = json!({"id": "https://elsewhere.example/issuer", "type": ["Profile"], "name": "Elsewhere"});
        unsigned["credentialSubject"]["achievement"].as_object_mut().unwrap().remove("creator");
        record["credentialSubject"]["verifiableCredential"] = json!([badge, unsigned]);
        record["credentialSubject"]["association"] = json!([{
            "type": "Association", "associationType": "isChildOf",
            "sourceId": badge["credentialSubject"]["achievement"]["id"],
            "targetId": "https://example.org/achievements/algebra"
        }]);
        let created = post(&client, "/credentials", &record, 201);
        let nested = &created["credentialSubject"]["verifiableCredential"];
        assert_eq!(nested[0], badge);
        assert_eq!(nested[1]["issuer"], created["issuer"]);
        assert_eq!(nested[1]["credentialSubject"]["achievement"]["creator"]["name"], "Elsewhere");
        assert_eq!(
            created["credentialSubject"]["association"],
            record["credentialSubject"]["association"]
        );
        verifies(&client, &created);
        // A signed record is stored as it is. A changed record of this server is refused.
        let again = client.post(&format!("{CLR}/credentials")).json(&created).send();
        assert_eq!(again.status, 304);
        let mut forged = created.clone();
        forged["name"] = "Forged".into();
        forged["validFrom"] = "2099-01-01T00:00:00Z".into();
        client.post(&format!("{CLR}/credentials")).json(&forged).expect(422);
        let mut broken = record.clone();
        broken["credentialSubject"]["association"][0].as_object_mut().unwrap().remove("targetId");
        broken["id"] = "https://example.org/clr/broken".into();
        client.post(&format!("{CLR}/credentials")).json(&broken).expect(422);
        client.get(&format!("{CLR}/clr/{}", escaped("https://example.org/clr/broken"))).expect(404);
    });
}

#[test]
fn invalid_records_are_refused_by_name() {
    both(|server| {
        let client = server.client();
        school(&client);
        let other = json!("https://example.org/ims/oneroster/rostering/v1p2/users/nobody");
        let broken: [(&str, Value, &str); 11] = [
            ("/credentialSubject/id", Value::Null, "credentialSubject.id"),
            ("/credentialSubject/id", json!(""), "credentialSubject.id"),
            ("/credentialSubject/id", other, "credentialSubject.id"),
            ("/credentialSubject/id", json!("mailto:nobody@example.org"), "credentialSubject.id"),
            ("/credentialSubject/id", json!("did:example:nobody"), "credentialSubject.id"),
            ("/id", json!("no uri"), "id"),
            ("/type", json!(["VerifiableCredential"]), "type"),
            ("/credentialSubject", json!([]), "credentialSubject"),
            ("/credentialSubject/achievement", json!([]), "credentialSubject"),
            (
                "/credentialSubject/achievement/0/id",
                json!("x"),
                "credentialSubject.achievement[0].id",
            ),
            (
                "/credentialSubject/achievement/0/name",
                Value::Null,
                "credentialSubject.achievement[0].name",
            ),
        ];
        for (place, value, path) in broken {
            let mut sent = document();
            *sent.pointer_mut(place).unwrap() = value;
            let response = post(&client, "/credentials", &sent, 422);
            assert_eq!(response["imsx_error_details"][0]["path"], path, "{response}");
        }
        client.post(&format!("{CLR}/clr")).body("application/json", "{").expect(400);
        client.post(&format!("{CLR}/clr")).body("text/plain", "x").expect(422);
    });
}

#[test]
fn posting_a_record_again_is_a_retry_and_another_one_a_conflict() {
    both(|server| {
        let client = server.client();
        school(&client);
        let created = post(&client, "/clr", &document(), 201);
        let mut reordered = document();
        let id = reordered.as_object_mut().unwrap().remove("id").unwrap();
        reordered["id"] = id;
        assert_eq!(post(&client, "/clr", &reordered, 200), created);
        let mut other = document();
        other["credentialSubject"]["achievement"][0]["name"] = "Geometry".into();
        let refused = client.post("/clr").json(&other).expect(409);
        assert!(error_text(&refused).contains("PUT …/clr/{id}"), "{}", error_text(&refused));
        assert_eq!(get(&client, &path(&created)), created);
        // Another learner has another record.
        let mut moved = document();
        moved["credentialSubject"]["id"] =
            "https://example.org/ims/oneroster/rostering/v1p2/users/ben".into();
        moved["credentialSubject"]["achievement"][0]["name"] = "Geometry".into();
        client.put(&path(&created)).json(&moved).expect(422);
    });
}

#[test]
fn a_learner_is_identified_by_address_or_email() {
    both(|server| {
        let client = server.client();
        school(&client);
        let own = format!("{}/ims/oneroster/rostering/v1p2/users/ada", server.address());
        for (n, id) in [own.as_str(), "https://example.org/users/ben", "mailto:Ada@example.org"]
            .into_iter()
            .enumerate()
        {
            let mut sent = document();
            sent["id"] = format!("https://example.org/clr/{n}").into();
            sent["credentialSubject"]["id"] = id.into();
            let created = post(&client, "/clr", &sent, 201);
            assert_eq!(created["credentialSubject"]["id"], id);
        }
        client.delete("/ims/oneroster/rostering/v1p2/users/ben").expect(204);
        let mut sent = document();
        sent["id"] = "https://example.org/clr/deleted".into();
        sent["credentialSubject"]["id"] = "https://example.org/users/ben".into();
        post(&client, "/clr", &sent, 422);
    });
}

#[test]
fn a_revoked_record_is_revoked_with_all_of_its_versions() {
    both(|server| {
        let client = server.client();
        school(&client);
        let first = post(&client, "/clr", &document(), 201);
        let geometry = json!({"id": "https://example.org/achievements/geometry", "type": ["Achievement"], "name": "Geometry", "description": "Masters geometry"});
        let second: Value =
            client.put(&path(&first)).json(&json!({"achievement": [geometry]})).expect(200).json();
        assert_eq!(first["credentialStatus"], second["credentialStatus"]);
        verifies(&client, &second);
        let other = json!({"achievementId": award()["achievementId"], "userId": "ada"});
        client.post("/badges").json(&crate::badges::definition()).expect(201);
        let badge: Value = client.post("/assertions").json(&other).expect(201).json();
        assert_ne!(badge["credentialStatus"]["id"], first["credentialStatus"]["id"]);
        let revoke = format!("{}/revoke", path(&first));
        let revoked: Value =
            client.post(&revoke).json(&json!({"reason": "Another person's"})).expect(200).json();
        assert_eq!(revoked["verification"]["verified"], false, "{revoked:#}");
        client.post(&revoke).json(&json!({"reason": "Another reason"})).expect(200);
        now_and_after_restart(server, |server, client| {
            for (version, verified) in [(&first, false), (&second, false), (&badge, true)] {
                let report: Value = client.post("/verify").json(version).expect(200).json();
                assert_eq!(report["verification"]["verified"], verified, "{report:#}");
            }
            let list = local(server, &first["credentialStatus"]["statusListCredential"]);
            server.anonymous().get(&list).expect(200);
            let response: Value =
                server.anonymous().get("/issuers/server/revocations").expect(200).json();
            let entry = &response["revokedCredential"][0];
            assert_eq!(
                (&entry["id"], &entry["revocationReason"]),
                (&first["id"], &json!("Another person's"))
            );
            client.put(&path(&first)).json(&json!({"name": "Renamed"})).expect(409);
            let mut renamed = document();
            renamed["name"] = "Renamed".into();
            client.post(&format!("{CLR}/credentials")).json(&renamed).expect(409);
        });
        client.post(&format!("{CLR}/clr/none/revoke")).json(&json!({})).expect(404);
    });
}

#[test]
fn a_deleted_record_says_so_and_is_restored_by_put() {
    both(|server| {
        let client = server.client();
        school(&client);
        let created = post(&client, "/clr", &document(), 201);
        client.delete(&path(&created)).expect(204);
        now_and_after_restart(server, |_, client| {
            for (reply, what) in [
                (client.get(&path(&created)).expect(404), "read"),
                (client.get(&format!("{}/versions", path(&created))).expect(404), "versions"),
                (client.delete(&path(&created)).expect(404), "delete"),
                (client.post("/clr").json(&document()).expect(409), "create"),
                (
                    client.post(&format!("{CLR}/credentials")).json(&document()).expect(409),
                    "upsert",
                ),
            ] {
                let message = error_text(&reply);
                let is_told = message.contains("is deleted") && message.contains("PUT …/clr/{id}");
                assert!(is_told, "{what}: {message}");
            }
            let listed = get(client, &format!("{CLR}/credentials"));
            assert_eq!(listed["credential"], json!([]));
        });
        let client = server.client();
        let restored: Value =
            client.put(&path(&created)).json(&json!({"name": "Restored"})).expect(200).json();
        assert_eq!(restored["credentialSubject"]["achievement"][0]["name"], "Algebra");
        assert_eq!(get(&client, &path(&created)), restored);
        assert_eq!(get(&client, &format!("{CLR}/credentials"))["credential"], json!([restored]));
    });
}

/// A course with a class, a graded line item and an assessment.
fn graded(client: &TestClient) {
    let rostering = "/ims/oneroster/rostering/v1p2";
    let gradebook = "/ims/oneroster/gradebook/v1p2";
    let reference = |id: &str| json!({"sourcedId": id});
    let course = json!({"course": {"sourcedId": "math", "title": "Mathematics", "courseCode": "M1", "org": reference("s")}});
    client.post(&format!("{rostering}/courses")).json(&course).expect(201);
    let term = json!({"academicSession": {"sourcedId": "t", "title": "Term", "type": "term", "schoolYear": "2026", "startDate": "2026-01-05", "endDate": "2026-04-03", "org": reference("s")}});
    client.post(&format!("{rostering}/academicSessions")).json(&term).expect(201);
    let class = json!({"class": {"sourcedId": "c", "title": "Class", "course": reference("math"), "school": reference("s"), "terms": [reference("t")]}});
    client.post(&format!("{rostering}/classes")).json(&class).expect(201);
    let category = json!({"category": {"sourcedId": "cat", "title": "Tests"}});
    client.put(&format!("{gradebook}/categories/cat")).json(&category).expect(201);
    let item = json!({"lineItem": {"sourcedId": "li", "title": "Fractions", "assignDate": "2026-01-10T00:00:00Z", "dueDate": "2026-01-20T00:00:00Z", "class": reference("c"), "school": reference("s"), "category": reference("cat"), "resultValueMin": 0, "resultValueMax": 10}});
    client.put(&format!("{gradebook}/lineItems/li")).json(&item).expect(201);
    let assessment = json!({"assessmentLineItem": {"sourcedId": "ali", "title": "Entry test", "course": reference("math")}});
    client.put(&format!("{gradebook}/assessmentLineItems/ali")).json(&assessment).expect(201);
    for (n, day, score) in [(1, "2026-01-12", 7), (2, "2026-01-14", 9)] {
        let id = format!("ar{n}");
        let result = json!({"assessmentResult": {"sourcedId": id, "assessmentLineItem": reference("ali"), "student": reference("ada"), "score": score, "scoreDate": day, "scoreStatus": "fully graded"}});
        client.put(&format!("{gradebook}/assessmentResults/{id}")).json(&result).expect(201);
    }
    for (id, status) in [("r1", "fully graded"), ("r2", "submitted")] {
        let result = json!({"result": {"sourcedId": id, "lineItem": reference("li"), "student": reference("ada"), "score": 8, "scoreDate": "2026-01-21", "scoreStatus": status}});
        client.put(&format!("{gradebook}/results/{id}")).json(&result).expect(201);
    }
}

#[test]
fn a_record_is_compiled_from_badges_and_results() {
    both(|server: &mut TestServer| {
        let client = server.client();
        school(&client);
        client.post(&format!("{CLR}/clr/ada/compile")).json(&json!({})).expect(422);
        client.post(&format!("{CLR}/clr/nobody/compile")).json(&json!({})).expect(404);
        graded(&client);
        client.post("/badges").json(&crate::badges::definition()).expect(201);
        let badge: Value = client.post("/assertions").json(&award()).expect(201).json();
        let revoked = json!({"achievementId": award()["achievementId"], "userId": "ada"});
        let revoked: Value = client.post("/assertions").json(&revoked).expect(201).json();
        let id = escaped(revoked["id"].as_str().unwrap());
        client.post(&format!("/assertions/{id}/revoke")).json(&json!({})).expect(200);

        let created = post(&client, "/clr/ada/compile", &json!({}), 201);
        let nested = created["credentialSubject"]["verifiableCredential"].as_array().unwrap();
        assert_eq!(nested[0], badge);
        let result = |n: usize| {
            let subject = &nested[n]["credentialSubject"];
            (
                subject["achievement"]["name"].as_str().unwrap(),
                subject["result"][0]["value"].as_str().unwrap(),
            )
        };
        assert_eq!(
            (nested.len(), result(1), result(2)),
            (3, ("Fractions", "8"), ("Entry test", "9"))
        );
        assert_eq!(created["credentialSubject"]["achievement"][0]["name"], "Mathematics");
        let parts = created["credentialSubject"]["association"].as_array().unwrap();
        assert!(parts.iter().all(|part| part["associationType"] == "isPartOf"));
        assert_eq!((parts.len(), &created["partial"]), (2, &json!(false)));
        verifies(&client, &created);
        let again = post(&client, "/clr/ada/compile", &json!({}), 200);
        assert_eq!(again["id"], created["id"]);
        server.restart();
        let client = server.client();
        let short = created["id"].as_str().unwrap().rsplit('/').next().unwrap();
        assert_eq!(get(&client, &format!("/clr/{short}")), again);
        assert_eq!(
            post(&client, &format!("/clr/{short}/compile"), &json!({}), 200)["id"],
            created["id"]
        );
        assert_eq!(
            get(&client, &format!("/clr/{short}/versions"))["versions"].as_array().unwrap().len(),
            3
        );
    });
}

/// The signature of a record says who can revoke it, whatever a client sent as its proof.
#[test]
fn a_record_can_be_revoked_by_the_signer_of_its_signature() {
    both(|server| {
        let client = server.client();
        school(&client);
        for (n, proof) in [json!([]), Value::Null].into_iter().enumerate() {
            let mut sent = document();
            sent["id"] = format!("https://example.org/clr/unsigned-{n}").into();
            sent["proof"] = proof;
            let created = post(&client, "/clr", &sent, 201);
            verifies(&client, &created);
            let named: Value =
                client.put(&path(&created)).json(&json!({"name": "Renamed"})).expect(200).json();
            assert_eq!(named["name"], "Renamed");
            let revoke = format!("{}/revoke", path(&created));
            let revoked: Value = client.post(&revoke).json(&json!({})).expect(200).json();
            assert_eq!(revoked["verification"]["verified"], false, "{revoked:#}");
        }
        // Another issuer's is its own.
        let mut theirs = post(&client, "/clr", &document(), 201);
        theirs["id"] = "https://example.org/clr/theirs".into();
        theirs["issuer"]["id"] = "https://school.example/issuer".into();
        client.post(&format!("{CLR}/credentials")).json(&theirs).expect(201);
        let revoke = format!("{}/revoke", path(&theirs));
        let refused = client.post(&revoke).json(&json!({})).send();
        assert!(
            error_text(&refused).contains("was signed by another server"),
            "{}",
            refused.text()
        );
        assert_eq!(refused.status, 422);
    });
}
