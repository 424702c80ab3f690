//! Webhooks from outside the crate, on both stores.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod attempts;
mod kit;
mod owners;
mod receivers;
mod stored;

use lyceum_store::{Db, Migration};
use lyceum_testkit::both_stores;
use lyceum_webhooks::MIGRATIONS;

#[test]
fn webhooks_of_earlier_versions_belong_to_those_who_created_them() {
    let all = [lyceum_store::MIGRATIONS, lyceum_access::MIGRATIONS, MIGRATIONS].concat();
    let earlier: Vec<Migration> = all.iter().filter(|one| one.version < 100).copied().collect();
    both_stores(&earlier, |target| {
        let db = Db::open(target, &earlier).unwrap();
        let written = db.write_blocking(|tx| {
            for sql in [
                "INSERT INTO clients (id, name, dialect, scopes, origins, created_ms, changed) \
                 VALUES ('reports', 'Reports', 'platform', '', '', 0, 0)",
                "INSERT INTO people (id, email, name, role, created_ms) \
                 VALUES ('lp_1', 'ada@example.org', 'Ada', 'administrator', 0)",
                "INSERT INTO api_keys (id, name, hash, environment, role, created_ms) \
                 VALUES ('key_1', 'nightly', '', 'staging', 'administrator', 0)",
            ] {
                tx.send(sql, &[])?;
            }
            for owner in ["reports", "ada@example.org", "nightly", "sandbox", "gone"] {
                let sql = "INSERT INTO webhooks (id, name, target_url, secret, active, owner, created_ms, updated_ms) \
                           VALUES ($1, '', '', '', 1, $1, 0, 0)";
                tx.send(sql, &[owner.into()])?;
            }
            Ok(())
        });
        written.unwrap();
        drop(db);
        let db = Db::open(target, &all).unwrap();
        let sql = "SELECT owner, owner_id FROM webhooks ORDER BY owner";
        let owners: Vec<(String, String)> = db.read_blocking(|tx| tx.rows(sql, &[])).unwrap();
        let expected = [
            ("ada@example.org", "lp_1"),
            ("gone", ""),
            ("nightly", "key_1"),
            ("reports", "reports"),
            ("sandbox", "sandbox"),
        ];
        assert_eq!(owners, expected.map(|(owner, id)| (owner.to_owned(), id.to_owned())));
    });
}
