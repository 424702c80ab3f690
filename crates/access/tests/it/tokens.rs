//! Tokens: their form, checked with the published key alone, and everything that is refused.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use lyceum_access::limits;
use lyceum_access::{Keyring, MIGRATIONS, MasterKey, Player, Realm, Scope, Scopes, TokenError};
use lyceum_core::config::Environment::{Production, Staging};
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_store::{Db, StoreLocation};
use serde_json::{Value, json};

use crate::{keyring, morning, realm, write};

/// A database of no interest: what tokens hold does not depend on the store.
fn with_keyring(body: impl FnOnce(&Db, &Keyring)) {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(&StoreLocation::Sqlite(folder.path().join("test.db")), MIGRATIONS).unwrap();
    let keyring = keyring(&db, Production, &MasterKey::random(), morning());
    body(&db, &keyring);
}

/// The JSON of a part of a token.
pub(crate) fn part(token: &str, n: usize) -> Value {
    let text = token.split('.').nth(n).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

fn encode(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}

fn join(header: &str, claims: &str, signature: &[u8]) -> String {
    format!("{header}.{claims}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

fn token(keyring: &Keyring) -> String {
    keyring.issue("client", [Scope::RosterRead].into_iter().collect(), morning()).token
}

#[test]
fn the_published_key_verifies_the_signature() {
    with_keyring(|_, keyring| {
        let token = token(keyring);
        let jwk = &serde_json::to_value(keyring.jwks()).unwrap()["keys"][0];
        assert_eq!((&jwk["kty"], &jwk["crv"]), (&json!("OKP"), &json!("Ed25519")));
        assert_eq!((&jwk["use"], &jwk["alg"]), (&json!("sig"), &json!("EdDSA")));
        assert!(jwk.get("d").is_none(), "the private half is never published");
        let x = BASE64_URL_SAFE_NO_PAD.decode(jwk["x"].as_str().unwrap()).unwrap();
        let key = VerifyingKey::from_bytes(&x.try_into().unwrap()).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
        let signature = Signature::from_slice(&signature).unwrap();
        key.verify_strict(signed.as_bytes(), &signature).unwrap();
        let header = part(&token, 0);
        assert_eq!(header, json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": jwk["kid"] }));
    });
}

#[test]
fn claims_contain_client_audience_and_expiry() {
    with_keyring(|_, keyring| {
        let issued = keyring.issue("client", [Scope::RosterRead].into_iter().collect(), morning());
        let mut claims = part(&issued.token, 1);
        let jti = claims.as_object_mut().unwrap().remove("jti").unwrap();
        let iat = morning().seconds();
        let expected = json!({
            "iss": "https://lyceum.test",
            "aud": "lyceum:production:https://lyceum.test",
            "sub": "client",
            "client_id": "client",
            "scope": "lyceum/roster.read",
            "iat": iat,
            "exp": iat + 3600,
        });
        assert_eq!((claims, issued.expires_in_s), (expected, 3600));
        let grant = keyring.verify(&issued.token, morning()).unwrap();
        assert_eq!((grant.client_id.as_str(), json!(grant.jti)), ("client", jti));
        assert_eq!(grant.expires, morning().plus_seconds(3600));
        assert_eq!(grant.scopes, issued.scopes);
        assert!(grant.rights.allow(Scope::OrRosterCoreReadonly));
        assert!(!grant.rights.allow(Scope::RosterWrite));
        assert_ne!(part(&token(keyring), 1)["jti"], part(&token(keyring), 1)["jti"]);
    });
}

#[test]
fn times_are_checked_with_a_minute_of_tolerance() {
    with_keyring(|_, keyring| {
        let token = token(keyring);
        let at = |seconds| keyring.verify(&token, morning().plus_seconds(seconds)).map(drop);
        assert_eq!(at(-60), Ok(()));
        assert_eq!(at(-61), Err(TokenError::NotYet));
        assert_eq!(at(3600 + 59), Ok(()));
        assert_eq!(at(3600 + 60), Err(TokenError::Expired));
        let kept = keyring.verify(&token, morning()).unwrap();
        assert!(!kept.has_ended(morning().plus_seconds(3600 + 59)));
        assert!(kept.has_ended(morning().plus_seconds(3600 + 60)), "as a token that is verified");
    });
}

#[test]
fn a_token_changed_in_any_part_is_refused() {
    with_keyring(|_, keyring| {
        let token = token(keyring);
        for (n, char) in token.char_indices() {
            let other = if char == 'A' { "B" } else { "A" };
            let mut changed = token.clone();
            changed.replace_range(n..=n, other);
            assert!(keyring.verify(&changed, morning()).is_err(), "letter {n} of {token}");
        }
        assert!(keyring.verify(&token, morning()).is_ok());
    });
}

#[test]
fn claims_of_another_signature_are_refused() {
    with_keyring(|_, keyring| {
        let (one, two) = (token(keyring), token(keyring));
        let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
        let (one, two) = (parts(&one), parts(&two));
        let mixed = format!("{}.{}.{}", one[0], one[1], two[2]);
        assert_eq!(keyring.verify(&mixed, morning()), Err(TokenError::Signature));
        let mut claims = part(&one.join("."), 1);
        claims["scope"] = json!(Scopes::EVERYTHING.to_string());
        let widened = format!("{}.{}.{}", one[0], encode(&claims), one[2]);
        assert_eq!(keyring.verify(&widened, morning()), Err(TokenError::Signature));
    });
}

#[test]
fn only_our_algorithm_key_and_type_are_accepted() {
    with_keyring(|_, keyring| {
        let token = token(keyring);
        let (header, claims) = (part(&token, 0), token.split('.').nth(1).unwrap());
        let foreign = SigningKey::from_bytes(&[7; 32]);
        let checked = |change: &dyn Fn(&mut Value), sign: bool| {
            let mut header = header.clone();
            change(&mut header);
            let signed = format!("{}.{claims}", encode(&header));
            let signature = foreign.sign(signed.as_bytes()).to_bytes();
            let signature = if sign { signature.as_slice() } else { &[] };
            keyring.verify(&join(&encode(&header), claims, signature), morning()).unwrap_err()
        };
        assert_eq!(checked(&|_| (), true), TokenError::Signature);
        assert_eq!(checked(&|header| header["alg"] = json!("none"), false), TokenError::Algorithm);
        assert_eq!(checked(&|header| header["alg"] = json!("HS256"), true), TokenError::Algorithm);
        assert_eq!(checked(&|header| header["alg"] = json!("eddsa"), true), TokenError::Algorithm);
        assert_eq!(checked(&|header| header["kid"] = json!("other"), true), TokenError::UnknownKey);
        assert_eq!(checked(&|header| header["typ"] = json!("JWT"), true), TokenError::Malformed);
        assert_eq!(checked(&|header| header["crit"] = json!(["exp"]), true), TokenError::Malformed);
        let embedded = BASE64_URL_SAFE_NO_PAD.encode(foreign.verifying_key().as_bytes());
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": embedded });
        assert_eq!(checked(&|header| header["jwk"] = jwk.clone(), true), TokenError::Signature);
    });
}

#[test]
fn malformed_tokens_are_refused() {
    with_keyring(|_, keyring| {
        let token = token(keyring);
        let long = format!("{}{token}", "A".repeat(limits::TOKEN_MAX_BYTES));
        let padded = format!("{token}=");
        let four = format!("{token}.x");
        for text in ["", ".", "..", "a.b.c", "Bearer x", "é.é.é", &long, &padded, &four] {
            assert_eq!(keyring.verify(text, morning()), Err(TokenError::Malformed), "{text:.40}");
        }
    });
}

#[test]
fn environments_refuse_each_others_tokens() {
    with_keyring(|db, production| {
        // Even with the same keys, as after one database was copied over the other.
        let master = MasterKey::random();
        let copied = |realm: &Realm| write(db, |tx| Keyring::open(tx, morning(), realm, &master));
        let staging = copied(&realm(Staging));
        let elsewhere = copied(&Realm::new(Staging, "https://other.test"));
        let token = |keyring: &Keyring| token(keyring);
        assert!(staging.verify(&token(&staging), morning()).is_ok());
        assert_eq!(production.verify(&token(&staging), morning()), Err(TokenError::UnknownKey));
        assert_eq!(staging.verify(&token(production), morning()), Err(TokenError::UnknownKey));
        assert_eq!(elsewhere.verify(&token(&staging), morning()), Err(TokenError::Issuer));
        assert_eq!(staging.verify(&token(&elsewhere), morning()), Err(TokenError::Issuer));
    });
}

#[test]
fn a_game_token_names_user_and_game_and_has_no_scope() {
    with_keyring(|_, keyring| {
        let player = Player { user: "ann".to_owned(), game: "rivers".to_owned() };
        let issued = keyring.issue_game("school", &player, morning(), limits::TOKEN_LIFETIME_S);
        let (header, claims) = (part(&issued.token, 0), part(&issued.token, 1));
        assert_eq!(header["typ"], "game+jwt");
        assert_eq!((&claims["sub"], &claims["game"]), (&json!("ann"), &json!("rivers")));
        let grant = keyring.verify(&issued.token, morning()).unwrap();
        assert_eq!((grant.client_id.as_str(), grant.player), ("school", Some(player)));
        assert!(grant.scopes.is_empty() && Scope::all().all(|scope| !grant.rights.allow(scope)));
        assert_eq!(keyring.verify(&token(keyring), morning()).unwrap().player, None);
        let late = morning().plus_seconds(issued.expires_in_s + CLOCK_DIFFERENCE_MAX_S);
        assert_eq!(keyring.verify(&issued.token, late), Err(TokenError::Expired));
    });
}
