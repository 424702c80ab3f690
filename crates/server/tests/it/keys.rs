//! The published keys, and the metadata of the token endpoint.

use lyceum_access::{Keyring, Realm};
use lyceum_core::PayloadDialect;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_store::{Db, SqlDialect, Tx};
use lyceum_testkit::both_stores;
use lyceum_testserver::server::{both, both_as};
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
fn replacing_the_keys_ends_their_tokens() {
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

/// Binary columns that hold hashes, public keys and events.
const NOT_SEALED: [&str; 8] =
    ["hash", "public", "facts", "list", "body", "packed", "guesses.subject", "event_places.others"];

#[test]
fn a_rotation_of_the_master_key_knows_every_sealed_column() {
    both_stores(&lyceum_api::migrations(), |target| {
        let db = Db::open(target, &lyceum_api::migrations()).unwrap();
        let sql = match db.dialect() {
            SqlDialect::Sqlite => {
                "SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p \
                 WHERE m.type = 'table' AND p.type = 'BLOB'"
            }
            SqlDialect::Postgres => {
                "SELECT table_name::text, column_name::text FROM information_schema.columns \
                 WHERE table_schema = 'public' AND data_type = 'bytea'"
            }
        };
        let read = |tx: &mut Tx<'_>| tx.all(sql, &[], |row| Ok((row.string(0)?, row.string(1)?)));
        let mut found: Vec<String> = db
            .read_blocking(read)
            .unwrap()
            .into_iter()
            .filter(|(_, column)| !NOT_SEALED.contains(&column.as_str()))
            .map(|(table, column)| format!("{table}.{column}"))
            .filter(|name| !NOT_SEALED.contains(&name.as_str()))
            .collect();
        let columns = lyceum_api::sealed_columns();
        let mut known: Vec<String> =
            columns.iter().map(|one| format!("{}.{}", one.table, one.column)).collect();
        found.sort();
        known.sort();
        assert_eq!(found, known);
    });
}
