//! The token endpoint (RFC 6749) and bearer tokens (RFC 6750).

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::{NewClient, Scope, client};
use lyceum_core::PayloadDialect;
use lyceum_core::config::Environment;
use lyceum_core::time::{Clock, ManualClock, SystemClock};
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{Setup, TestServer, both, both_as};
use serde_json::{Value, json};

use crate::probe;

const GRANT: (&str, &str) = ("grant_type", "client_credentials");

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")))
}

fn ask(server: &TestServer, form: &[(&str, &str)]) -> Reply {
    server.anonymous().post("/oauth2/token").form(form).send()
}

fn error(reply: &Reply) -> (u16, String) {
    assert_eq!(reply.header("cache-control"), "no-store");
    let body: Value = reply.json();
    assert!(body["error_description"].is_string(), "{body}");
    (reply.status, body["error"].as_str().unwrap().to_owned())
}

#[test]
fn a_client_gets_a_token_by_form_or_by_basic() {
    both_as(&probe::setup(), |server| {
        let (id, secret) = server.register(&NewClient::named("reader"));
        let by_form = ask(server, &[GRANT, ("client_id", &id), ("client_secret", &secret)]);
        let client = server.anonymous();
        let by_basic = client.post("/oauth2/token").form(&[GRANT]);
        let by_basic = by_basic.header("authorization", &basic(&id, &secret)).send();
        for reply in [by_form, by_basic] {
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(reply.header("cache-control"), "no-store");
            assert_eq!(reply.header("pragma"), "no-cache");
            assert_eq!(reply.header("content-type"), "application/json");
            let body: Value = reply.json();
            assert_eq!(
                (&body["token_type"], &body["expires_in"]),
                (&json!("Bearer"), &json!(3600))
            );
            assert!(body["scope"].as_str().unwrap().contains("lyceum/roster.read"), "{body}");
            let token = body["access_token"].as_str().unwrap();
            server.anonymous().with_token(token).get("/probe/guarded").expect(200);
        }
    });
}

#[test]
fn basic_credentials_are_accepted_plain_and_form_encoded() {
    both(|server| {
        let secret = "a+b%2Bc d&e=0123456789";
        let new = NewClient { secret: Some(secret.to_owned()), ..NewClient::named("odd") };
        let (id, _) = server.register(&new);
        let encoded = "a%2Bb%252Bc+d%26e%3D0123456789";
        for (sent, status) in [(secret, 200), (encoded, 200), ("a+b%2Bc%20d", 401)] {
            let call = server.anonymous();
            let call = call.post("/oauth2/token").form(&[GRANT]);
            call.header("authorization", &basic(&id, sent)).expect(status);
        }
        // Credentials in the form are decoded only once, as part of the form.
        ask(server, &[GRANT, ("client_id", &id), ("client_secret", secret)]).json::<Value>()
            ["access_token"]
            .as_str()
            .expect("a token");
    });
}

#[test]
fn every_refusal_has_the_error_code_of_the_rfc() {
    both(|server| {
        let scopes = [Scope::OrRosterCoreReadonly].into_iter().collect();
        let (id, secret) = server.register(&NewClient { scopes, ..NewClient::named("reader") });
        let (id, secret) = (("client_id", id.as_str()), ("client_secret", secret.as_str()));
        let refused = |form: &[(&str, &str)]| error(&ask(server, form));
        let refusal = |status: u16, error: &str| (status, error.to_owned());

        assert_eq!(refused(&[id, secret]), refusal(400, "invalid_request"));
        assert_eq!(refused(&[("grant_type", ""), id, secret]), refusal(400, "invalid_request"));
        assert_eq!(refused(&[GRANT, GRANT, id, secret]), refusal(400, "invalid_request"));
        assert_eq!(refused(&[GRANT, id, secret, secret]), refusal(400, "invalid_request"));
        let password = ("grant_type", "password");
        assert_eq!(refused(&[password, id, secret]), refusal(400, "unsupported_grant_type"));
        assert_eq!(refused(&[GRANT]), refusal(401, "invalid_client"));
        assert_eq!(refused(&[GRANT, id]), refusal(401, "invalid_client"));
        assert_eq!(refused(&[GRANT, id, ("client_secret", "no")]), refusal(401, "invalid_client"));
        assert_eq!(refused(&[GRANT, ("client_id", "no"), secret]), refusal(401, "invalid_client"));
        let unknown = ("scope", "root");
        assert_eq!(refused(&[GRANT, id, secret, unknown]), refusal(400, "invalid_scope"));
        let broader = ("scope", "lyceum/roster.write");
        assert_eq!(refused(&[GRANT, id, secret, broader]), refusal(400, "invalid_scope"));

        let by_basic = |header: &str, form: &[(&str, &str)]| {
            let client = server.anonymous();
            let call = client.post("/oauth2/token").form(form);
            call.header("authorization", header).send()
        };
        let good = basic(id.1, secret.1);
        assert_eq!(error(&by_basic(&good, &[GRANT, secret])), refusal(400, "invalid_request"));
        let other = ("client_id", "other");
        assert_eq!(error(&by_basic(&good, &[GRANT, other])), refusal(400, "invalid_request"));
        assert_eq!(by_basic(&good, &[GRANT, id]).status, 200);
        for header in ["Basic !!!", "Basic bm9jb2xvbg==", "Bearer abc", &basic(id.1, "wrong")] {
            let reply = by_basic(header, &[GRANT]);
            assert_eq!(error(&reply), refusal(401, "invalid_client"), "{header}");
            assert_eq!(reply.header("www-authenticate"), r#"Basic realm="lyceum""#);
        }
        server.anonymous().get("/oauth2/token").expect(405);
        let json = server.anonymous();
        let json = json.post("/oauth2/token").json(&json!({"grant_type": "client_credentials"}));
        let json = json.expect(415).json::<Value>();
        assert_eq!(json["error"], "invalid_request");
    });
}

#[test]
fn a_token_has_the_requested_scopes() {
    both_as(&probe::setup(), |server| {
        let (id, secret) = server.register(&NewClient::named("all"));
        let scope = Scope::OrRosterCoreReadonly.name();
        let form = [GRANT, ("client_id", &id), ("client_secret", &secret), ("scope", scope)];
        let body: Value = ask(server, &form).json();
        assert_eq!(body["scope"], scope);
        let client = server.anonymous().with_token(body["access_token"].as_str().unwrap());
        let refused = client.get("/probe/guarded").expect(403);
        let challenge = refused.header("www-authenticate");
        assert_eq!(
            challenge,
            r#"Bearer realm="lyceum", error="insufficient_scope", scope="lyceum/roster.read""#
        );
    });
}

#[test]
fn a_missing_or_bad_token_is_challenged() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let missing = client.get("/probe/guarded").expect(401);
        assert_eq!(missing.header("www-authenticate"), r#"Bearer realm="lyceum""#);
        let body: Value = missing.json();
        let minor = &body["imsx_CodeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"];
        assert_eq!(minor, "unauthorisedrequest");

        let good = server.token(&[], PayloadDialect::Platform);
        let (signed, _) = good.rsplit_once('.').unwrap();
        let other = server.token(&[], PayloadDialect::Platform);
        let (_, signature) = other.rsplit_once('.').unwrap();
        for bad in ["nonsense", &format!("{signed}.{signature}"), &good[..good.len() - 4]] {
            let refused = client.clone().with_token(bad).get("/probe/guarded").expect(401);
            let challenge = refused.header("www-authenticate");
            assert!(challenge.contains(r#"error="invalid_token""#), "{challenge}");
        }
        let basic = client.get("/probe/guarded").header("authorization", "Basic YTpi");
        assert_eq!(basic.expect(401).header("www-authenticate"), r#"Bearer realm="lyceum""#);
    });
}

#[test]
fn an_expired_token_is_refused_even_if_it_is_cached() {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..probe::setup() };
    both_as(&setup, |server| {
        let client = server.client();
        client.get("/probe/guarded").expect(200);
        clock.advance_milliseconds(3_660_000);
        let refused = client.get("/probe/guarded").expect(401);
        assert!(refused.header("www-authenticate").contains("expired"));
    });
}

#[test]
fn a_revoked_client_stops_on_every_server_within_five_seconds() {
    both_as(&probe::setup(), |server| {
        let twin = server.twin();
        let (id, secret) = server.register(&NewClient::named("leaving"));
        let token = server.token_of(&id, &secret);
        let clients = [server.anonymous(), twin.anonymous()].map(|c| c.with_token(&token));
        for client in &clients {
            client.get("/probe/guarded").expect(200);
        }
        let revoked = Instant::now();
        let now = SystemClock.now();
        server.db().write_blocking(|tx| client::revoke(tx, now, &id)).unwrap();
        let stopped = |c: &lyceum_testserver::client::TestClient| {
            c.get("/probe/guarded").send().status == 401
        };
        while !clients.iter().all(stopped) {
            assert!(revoked.elapsed() < Duration::from_secs(5), "the token still works");
            std::thread::sleep(Duration::from_millis(50));
        }
        let form = [GRANT, ("client_id", &id), ("client_secret", &secret)];
        assert_eq!(error(&ask(server, &form)), (401, "invalid_client".to_owned()));
    });
}

#[test]
fn a_new_client_works_at_once_on_every_server() {
    both_as(&probe::setup(), |server| {
        let twin = server.twin();
        let token = server.token(&[], PayloadDialect::Platform);
        twin.anonymous().with_token(token).get("/probe/guarded").expect(200);
    });
}

#[test]
fn a_token_of_the_other_environment_is_refused() {
    both_as(&probe::setup(), |server| {
        let token = server.token(&[], PayloadDialect::Platform);
        let mut setup = server.setup().clone();
        setup.listen_anew();
        setup.config.server.env = Environment::Staging;
        let staging = TestServer::start_as(server.target(), setup);
        let refused = staging.anonymous().with_token(&token).get("/probe/guarded").expect(401);
        assert!(refused.header("www-authenticate").contains("invalid_token"));
    });
}

#[test]
fn tokens_stay_valid_after_a_restart() {
    both_as(&probe::setup(), |server| {
        let client = server.client();
        server.restart();
        client.get("/probe/guarded").expect(200);
    });
}
