//! The published keys, and the metadata of the token endpoint.

use lyceum_access::{Keyring, Realm};
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_testkit::server::{both, both_as};
use serde_json::{Value, json};

use crate::probe;

#[test]
fn a_token_names_a_published_key() {
    both(|server| {
        use base64::Engine;
        use base64::prelude::BASE64_URL_SAFE_NO_PAD;

        let token = server.token(&[], PayloadDialect::Platform);
        let part = |n: usize| -> Value {
            let part = token.split('.').nth(n).unwrap();
            serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        let keys: Value = server.anonymous().get("/.well-known/jwks.json").expect(200).json();
        let key = keys["keys"].as_array().unwrap().iter().find(|key| key["kid"] == part(0)["kid"]);
        let key = key.expect("the key is published");
        assert_eq!((&key["kty"], &key["crv"]), (&json!("OKP"), &json!("Ed25519")));
        assert!(key.get("d").is_none(), "the private half stays here");

        let about = server.anonymous().get("/.well-known/oauth-authorization-server").expect(200);
        let about: Value = about.json();
        assert_eq!(about["issuer"], part(1)["iss"]);
        assert_eq!(about["token_endpoint"], format!("{}/oauth2/token", server.address()));
        assert_eq!(about["jwks_uri"], format!("{}/.well-known/jwks.json", server.address()));
        let scopes = about["scopes_supported"].as_array().unwrap();
        assert!(scopes.contains(&json!("lyceum/roster.read")));
    });
}

#[test]
fn keys_that_are_replaced_take_their_tokens_with_them() {
    both_as(&probe::setup(), |server| {
        let client = server.client();
        client.get("/probe/guarded").expect(200);
        let setup = server.setup();
        let realm = Realm::new(setup.config.server.env, &setup.config.public_url());
        let (master, now) = (setup.master.clone(), SystemClock.now());
        let replaced = server.db().write_blocking(|tx| Keyring::replace(tx, now, &realm, &master));
        drop(replaced.unwrap());
        let begun = std::time::Instant::now();
        while client.get("/probe/guarded").send().status != 401 {
            assert!(begun.elapsed().as_secs() < 5, "the token still works");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        server.client().get("/probe/guarded").expect(200);
    });
}
