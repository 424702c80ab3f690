//! Signing keys: made, rotated, sealed.

use lyceum_access::limits;
use lyceum_access::{Keyring, MasterKey, Scopes, TokenError};
use lyceum_core::config::Environment::{Production, Staging};
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_store::{Db, Tx};

use crate::{keyring, morning, on_both_stores, realm, write};

const DAY_S: i64 = 86_400;

/// The ids of the keys that are published.
fn kids(keyring: &Keyring) -> Vec<String> {
    keyring.jwks().keys.into_iter().map(|key| key.kid).collect()
}

/// The id of the key that signed a token.
fn kid_of(token: &str) -> String {
    crate::tokens::part(token, 0)["kid"].as_str().unwrap().to_owned()
}

/// Waits for a write that may be run again, as a server's are.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn count(db: &Db) -> i64 {
    let sql = "SELECT count(*) FROM signing_keys";
    db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0))).unwrap().unwrap()
}

#[test]
fn the_first_start_creates_a_key_and_later_starts_read_it() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let first = keyring(db, Production, &master, morning());
        let second = keyring(db, Production, &master, morning().plus_seconds(DAY_S));
        assert_eq!(kids(&first), kids(&second));
        let token = first.issue("client", Scopes::EVERYTHING, morning()).token;
        assert!(second.verify(&token, morning()).is_ok());
        assert_eq!(count(db), 1);
    });
}

#[test]
fn a_key_is_published_before_it_signs_and_the_former_one_still_verifies() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let before = keyring(db, Production, &master, morning().plus_seconds(-DAY_S));
        let old_token = before.issue("client", Scopes::EVERYTHING, morning());
        let after = write(db, |tx| Keyring::rotate(tx, morning(), &realm(Production), &master));
        let [old, new] = kids(&after).try_into().unwrap();

        let issue = |seconds| {
            let now = morning().plus_seconds(seconds);
            after.issue("client", Scopes::EVERYTHING, now).token
        };
        assert_eq!(kid_of(&issue(0)), old);
        assert_eq!(kid_of(&issue(limits::KEY_PUBLISH_AHEAD_S - 1)), old);
        // A server whose clock is ahead signs with it early, but not before the others had half a minute to read it.
        assert_eq!(kid_of(&issue(CLOCK_DIFFERENCE_MAX_S + 30)), old);
        let new_token = issue(limits::KEY_PUBLISH_AHEAD_S);
        assert_eq!(kid_of(&new_token), new);

        // Another server that read the keys before: it meets the new key once it has read again.
        let now = morning().plus_seconds(limits::KEY_PUBLISH_AHEAD_S);
        assert_eq!(before.verify(&new_token, now), Err(TokenError::UnknownKey));
        let reloaded = db.read_blocking(|tx| before.reload(tx, now)).unwrap();
        assert!(reloaded.verify(&new_token, now).is_ok());

        // The last token of the old key outlives nothing.
        let last = morning().plus_seconds(limits::KEY_PUBLISH_AHEAD_S - 1);
        let last_token = after.issue("client", Scopes::EVERYTHING, last).token;
        let nearly = last.plus_seconds(limits::TOKEN_LIFETIME_S - 1);
        assert!(after.verify(&last_token, nearly).is_ok());
        assert!(after.verify(&old_token.token, morning()).is_ok());

        let end = morning().plus_seconds(limits::KEY_OVERLAP_S);
        assert_eq!(after.verify(&old_token.token, end), Err(TokenError::UnknownKey));
        assert_eq!(kids(&db.read_blocking(|tx| after.reload(tx, end)).unwrap()), [new]);
    });
}

#[test]
fn an_old_key_is_replaced_automatically() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let first = keyring(db, Production, &master, morning());
        let expected = morning().plus_seconds(limits::KEY_ROTATION_DAYS * DAY_S);
        assert!(!first.rotation_due(expected.plus_seconds(-1)));
        assert!(first.rotation_due(expected));
        assert_eq!(kids(&keyring(db, Production, &master, expected)).len(), 2);
        assert_eq!(kids(&keyring(db, Production, &master, expected)).len(), 2, "once is enough");
        let next = expected.plus_seconds(limits::KEY_ROTATION_DAYS * DAY_S);
        keyring(db, Production, &master, next);
        assert_eq!(count(db), 2, "the key whose end has come is deleted");
    });
}

#[test]
fn another_master_key_is_refused_until_the_keys_are_replaced() {
    on_both_stores(|db| {
        let (master, other) = (MasterKey::random(), MasterKey::random());
        let old = keyring(db, Production, &master, morning());
        let opened =
            db.write_blocking(|tx| Keyring::open(tx, morning(), &realm(Production), &other));
        let message = opened.unwrap_err().to_string();
        assert!(message.contains("was encrypted with another master key"), "{message}");
        let replaced = write(db, |tx| Keyring::replace(tx, morning(), &realm(Production), &other));
        let token = replaced.issue("client", Scopes::EVERYTHING, morning()).token;
        assert_eq!(kids(&replaced), [kid_of(&token)], "it signs at once");
        let former = old.issue("client", Scopes::EVERYTHING, morning()).token;
        assert_eq!(replaced.verify(&former, morning()), Err(TokenError::UnknownKey));
    });
}

#[test]
fn environments_have_keys_of_their_own() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let staging = keyring(db, Staging, &master, morning());
        let production = keyring(db, Production, &master, morning());
        assert_ne!(kids(&staging), kids(&production));
        write(db, |tx| Keyring::replace(tx, morning(), &realm(Staging), &master));
        let again = keyring(db, Production, &master, morning());
        assert_eq!(kids(&again), kids(&production), "the other environment's keys stay");
    });
}

#[test]
fn private_keys_are_stored_encrypted() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let keyring = keyring(db, Production, &master, morning());
        let shown = format!("{keyring:?}");
        assert!(shown.contains("Master([redacted])"), "{shown}");
        // A sealed key that was moved to another row does not open.
        write(db, |tx| {
            tx.execute("UPDATE signing_keys SET environment = 'staging'", &[]).map(drop)
        });
        let opened = db.write_blocking(|tx| Keyring::open(tx, morning(), &realm(Staging), &master));
        assert!(opened.is_err());
    });
}

#[test]
fn servers_that_start_together_end_with_one_key() {
    on_both_stores(|db| {
        let master = MasterKey::random();
        let kids: Vec<_> = std::thread::scope(|scope| {
            let start = || {
                let (realm, master) = (realm(Production), master.clone());
                let open = move |tx: &mut Tx<'_>| Keyring::open(tx, morning(), &realm, &master);
                kids(&block_on(db.write(open)).unwrap())
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(kids.iter().all(|kid| *kid == kids[0]), "{kids:?}");
        assert_eq!(count(db), 1);
    });
}
