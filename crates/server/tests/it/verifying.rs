//! `POST /verify`: every check by name, and credentials of other issuers, which cannot reach the server's own network.

use std::net::TcpListener;

use lyceum_testserver::server::{Setup, both, both_as};
use serde_json::{Value, json};

use crate::badges::awarded;

fn failed(report: &Value) -> Vec<&str> {
    let checks = report["verification"]["checks"].as_array().unwrap();
    let failed = checks.iter().filter(|check| check["outcome"] == "failed");
    failed.map(|check| check["name"].as_str().unwrap()).collect()
}

#[test]
fn a_changed_credential_is_refused_by_its_proof() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        let verify =
            |sent: &Value| -> Value { client.post("/verify").json(sent).expect(200).json() };
        assert_eq!(failed(&verify(&badge)), Vec::<&str>::new());
        for place in [
            "/name",
            "/validFrom",
            "/credentialSubject/achievement/name",
            "/issuer/name",
            "/credentialStatus/statusListIndex",
        ] {
            let mut changed = badge.clone();
            let text = changed.pointer_mut(place).unwrap();
            *text = format!("{}1", text.as_str().unwrap()).into();
            assert!(
                failed(&verify(&changed)).contains(&"proof"),
                "{place}: {:#}",
                verify(&changed)
            );
        }
    });
}

#[test]
fn a_credential_can_be_sent_as_a_form_a_text_or_an_image() {
    both(|server| {
        let client = server.client();
        let badge = awarded(&client).to_string();
        let form = format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n{badge}\r\n--x--\r\n"
        );
        let report: Value =
            client.post("/verify").body("multipart/form-data; boundary=x", form).expect(200).json();
        assert_eq!(report["verification"]["verified"], true);
        let report: Value =
            client.post("/verify").body("application/vc+ld+json", badge).expect(200).json();
        assert_eq!(report["verification"]["verified"], true);
        client.post("/verify").expect(400);
        for (media, nothing) in
            [("application/json", &b"{"[..]), ("image/png", b"\x89PNG"), ("text/plain", b"x.y.z")]
        {
            let report: Value = client.post("/verify").body(media, nothing).expect(200).json();
            assert_eq!(failed(&report), ["parse"], "{report}");
        }
        client.post("/verify").body("multipart/form-data; boundary=y", "nothing").expect(400);
        client.post("/verify").body("application/json", "x".repeat(9 * 1024 * 1024)).expect(413);
        server.anonymous().post("/verify").json(&json!({})).expect(401);
    });
}

#[test]
fn verifying_a_foreign_credential_connects_to_no_internal_host() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    both(|server| {
        let client = server.client();
        let badge = awarded(&client);
        for issuer in [
            format!("did:web:127.0.0.1%3A{port}"),
            format!("did:web:localhost%3A{port}"),
            format!("https://127.0.0.1:{port}/issuer"),
            format!("http://127.0.0.1:{port}/issuer"),
            "https://169.254.169.254/latest/meta-data".to_owned(),
        ] {
            let mut foreign = badge.clone();
            foreign["issuer"] = json!({"id": issuer, "type": ["Profile"]});
            foreign["proof"]["verificationMethod"] = format!("{issuer}#key-1").into();
            foreign["credentialStatus"]["statusListCredential"] =
                format!("https://127.0.0.1:{port}/list").into();
            let report: Value = client.post("/verify").json(&foreign).expect(200).json();
            assert_eq!(report["verification"]["verified"], false, "{issuer}");
        }
        assert!(inside.accept().is_err(), "somebody came");
    });
}

#[test]
fn fetching_can_be_switched_off() {
    let mut setup = Setup::default();
    setup.config.verify.fetch = false;
    both_as(&setup, |server| {
        let client = server.client();
        let badge = awarded(&client);
        let report: Value = client.post("/verify").json(&badge).expect(200).json();
        assert_eq!(report["verification"]["verified"], true, "our own needs no network");
        let mut foreign = badge.clone();
        foreign["issuer"] = json!({"id": "did:web:issuer.example", "type": ["Profile"]});
        foreign["proof"]["verificationMethod"] = "did:web:issuer.example#key-1".into();
        let report: Value = client.post("/verify").json(&foreign).expect(200).json();
        assert_eq!(report["verification"]["verified"], false);
        assert!(report.to_string().contains("makes no connections"), "{report}");
    });
}
