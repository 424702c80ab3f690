//! Issuers: profiles, keys, rotation; what describes the services, and their scopes.

use lyceum_access::{MasterKey, Scope};
use lyceum_core::PayloadDialect;
use lyceum_credentials::issuer::{SERVER, Signer};
use lyceum_credentials::keys;
use lyceum_store::StoreLocation;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::badges::{
    OB, assertion, award, awarded, definition, escaped, now_and_after_restart, part,
};

#[test]
fn a_client_can_own_an_issuer_with_its_own_key() {
    both(|server| {
        let client = server.client();
        let mut others: Value = client.get(&format!("{OB}/profile")).expect(200).json();
        others["name"] = "The school network".into();
        client.put(&format!("{OB}/profile")).json(&others).expect(200);
        let owner = server.client();
        let own = json!({"name": "A school of its own", "url": "https://school.example", "email": "a@school.example"});
        let created: Value = owner.post(&format!("{OB}/profile")).json(&own).expect(201).json();
        let again: Value = owner.post(&format!("{OB}/profile")).json(&own).expect(200).json();
        assert_eq!(again, created);
        owner.post(&format!("{OB}/profile")).json(&json!({"name": "Another"})).expect(409);
        owner.put(&format!("{OB}/profile")).json(&json!({"name": "x", "invented": 1})).expect(422);
        owner
            .put(&format!("{OB}/profile"))
            .json(&json!({"name": "x", "id": "did:web:a"}))
            .expect(422);
        let badge = awarded(&owner);
        assert_eq!(badge["issuer"], created);
        let other: Value = client.get(&format!("{OB}/profile/")).expect(200).json();
        assert_eq!(
            (&other["name"], other["id"] == created["id"]),
            (&json!("The school network"), false)
        );
        let id = created["id"].as_str().unwrap().rsplit(':').next().unwrap();
        server.restart();
        let document: Value =
            server.anonymous().get(&format!("/issuers/{id}/did.json")).expect(200).json();
        assert_eq!(
            (&document["id"], &document["assertionMethod"][0]),
            (&created["id"], &badge["proof"]["verificationMethod"])
        );
        let keys: Value = server.anonymous().get(&format!("/issuers/{id}/keys")).expect(200).json();
        assert!(keys["keys"][0]["didKey"].as_str().unwrap().starts_with("did:key:z6Mk"));
        assert_eq!(assertion(&server.client(), &badge)["verification"]["verified"], true);
    });
}

#[test]
fn the_service_describes_itself_to_everybody() {
    both(|server| {
        for (path, service) in
            [("/ims/ob/v3p0/discovery/", "ob/v3p0"), ("/ims/clr/v2p0/discovery", "clr/v2p0")]
        {
            let document: Value = server.anonymous().get(path).expect(200).json();
            assert!(document["openapi"].as_str().unwrap().starts_with("3.0"));
            let flow = &document["components"]["securitySchemes"]["OAuth2ACG"]["flows"]["authorizationCode"];
            let scope =
                format!("https://purl.imsglobal.org/spec/{service}/scope/credential.readonly");
            assert!(flow["scopes"][&scope].is_string(), "{flow}");
            assert!(document["paths"]["/credentials"]["get"]["responses"]["200"].is_object());
            let mut addresses = Vec::new();
            collect_addresses(&document["info"], &mut addresses);
            collect_addresses(&document["components"]["securitySchemes"], &mut addresses);
            assert!(addresses.len() >= 6, "{addresses:?}");
            for address in addresses {
                let path =
                    address.strip_prefix(&server.address()).unwrap_or_else(|| panic!("{address}"));
                let status = server.anonymous().get(path).send().status;
                assert_ne!(status, 404, "{address}");
            }
        }
    });
}

/// The texts of a JSON value that are addresses, except the names of scopes.
fn collect_addresses(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("://") => found.push(text.clone()),
        Value::Object(members) => {
            members.values().for_each(|value| collect_addresses(value, found));
        }
        _ => {}
    }
}

#[test]
fn the_scopes_of_the_standard_give_access_to_their_routes() {
    both(|server| {
        let badge = awarded(&server.client());
        let id = escaped(badge["id"].as_str().unwrap());
        let reader = server.client_with(&[Scope::ObCredentialReadonly], PayloadDialect::Standard);
        reader.get(&format!("{OB}/credentials")).expect(200);
        reader.get(&format!("{OB}/assertions/{id}")).expect(200);
        let response: Value =
            reader.post(&format!("{OB}/credentials")).json(&definition()).expect(403).json();
        assert_eq!(
            response["imsx_codeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"],
            "forbidden"
        );
        assert!(response.get("imsx_error_details").is_none());
        reader.get(&format!("{OB}/profile")).expect(403);
        server
            .client_with(&[Scope::ObProfileReadonly], PayloadDialect::Standard)
            .get(&format!("{OB}/profile"))
            .expect(200);
        reader.get("/ims/clr/v2p0/credentials").expect(403);
    });
}

/// Ends the key that the server's issuer signs with and makes another.
fn rotate(server: &TestServer) {
    let (master, now) = (server.setup().master.clone(), server.setup().clock.now());
    let rotated = server.db().write_blocking(|tx| keys::rotate(tx, now, &master, SERVER));
    rotated.unwrap();
}

#[test]
fn a_rotated_key_still_verifies_its_signatures() {
    both(|server| {
        let client = server.client();
        let old = awarded(&client);
        let id = escaped(old["id"].as_str().unwrap());
        let jwt = client.get(&format!("/assertions/{id}?format=jwt&alg=RS256")).expect(200).text();
        rotate(server);
        let mut later = award();
        later["awardedDate"] = "2026-02-15T08:00:00Z".into();
        let new: Value = client.post("/assertions").json(&later).expect(201).json();
        assert_ne!(new["proof"]["verificationMethod"], old["proof"]["verificationMethod"]);
        now_and_after_restart(server, |server, client| {
            for badge in [&old, &new] {
                assert_eq!(assertion(client, badge)["verification"]["verified"], true);
            }
            let report: Value =
                client.post("/verify").body("text/plain", jwt.clone()).expect(200).json();
            assert_eq!(report["verification"]["verified"], true, "{report}");
            let document: Value =
                server.anonymous().get("/.well-known/did.json").expect(200).json();
            let methods = document["assertionMethod"].as_array().unwrap();
            assert!(methods.contains(&old["proof"]["verificationMethod"]));
            assert!(methods.contains(&new["proof"]["verificationMethod"]));
        });
        // The next JWT has an RSA key of its own.
        let id = escaped(new["id"].as_str().unwrap());
        let path = format!("/assertions/{id}?format=jwt&alg=RS256");
        let fresh = server.client().get(&path).expect(200).text();
        assert_ne!(part(&fresh, 0)["kid"], part(&jwt, 0)["kid"]);
    });
}

#[test]
fn a_stolen_database_cannot_be_used_to_sign() {
    both(|server| {
        awarded(&server.client());
        let base_url = server.address();
        let master = server.setup().master.clone();
        let sign = |master: &MasterKey| {
            server.db().read_blocking(|tx| Signer::of_client(tx, master, &base_url, "anybody"))
        };
        let message = sign(&MasterKey::random()).err().unwrap().to_string();
        assert!(message.contains("was encrypted with another master key"), "{message}");
        let secret = sign(&master).unwrap().key().0.to_bytes();
        if let StoreLocation::Sqlite(path) = server.target().clone() {
            server.stop();
            for suffix in ["", "-wal"] {
                let file = std::fs::read(format!("{}{suffix}", path.display())).unwrap_or_default();
                assert!(!file.windows(32).any(|window| window == secret), "the key lies open");
            }
        }
    });
}
