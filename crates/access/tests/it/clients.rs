//! The life of a client.

use lyceum_access::limits;
use lyceum_access::{Client, ClientRefusal, NewClient, Scope, client};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, ProblemKind, Reach};
use lyceum_store::Db;

use crate::{morning, on_both_stores, write};

fn sign_in(db: &Db, now: Timestamp, id: &str, secret: &str) -> Result<Client, ClientRefusal> {
    db.read_blocking(|tx| client::authenticate(tx, now, id, secret)).unwrap()
}

#[test]
fn a_client_is_read_as_it_was_created() {
    on_both_stores(|db| {
        let new = NewClient {
            dialect: PayloadDialect::Standard,
            scopes: [Scope::RosterRead].into_iter().collect(),
            origins: vec!["https://app.test".into(), "http://localhost:5173".into()],
            requests_per_second: Some(20),
            ..NewClient::named("Reports")
        };
        let (stored, secret) = write(db, |tx| client::create(tx, morning(), &new));
        assert_eq!(
            db.read_blocking(|tx| client::find(tx, &stored.id)).unwrap(),
            Some(stored.clone())
        );
        assert_eq!(db.read_blocking(client::list).unwrap(), std::slice::from_ref(&stored));
        assert_eq!((stored.created, stored.revoked), (morning(), None));
        assert_eq!(stored.origins, new.origins);
        assert_eq!(sign_in(db, morning(), &stored.id, &secret), Ok(stored));
    });
}

#[test]
fn ids_and_secrets_can_be_chosen_and_an_id_is_used_once() {
    on_both_stores(|db| {
        let new = NewClient {
            id: Some("reports".into()),
            secret: Some("a secret of 23 letters!".into()),
            ..NewClient::named("Reports")
        };
        let (created, secret) = write(db, |tx| client::create(tx, morning(), &new));
        assert_eq!((created.id.as_str(), secret.as_str()), ("reports", "a secret of 23 letters!"));
        let again = db.write_blocking(|tx| client::create(tx, morning(), &new)).unwrap_err();
        assert_eq!(again.kind, ProblemKind::Conflict);
        assert_eq!(again.message, "the client id 'reports' is taken");
        assert!(sign_in(db, morning(), "reports", &secret).is_ok());
    });
}

#[test]
fn random_ids_and_secrets_differ_and_are_long() {
    on_both_stores(|db| {
        let make = || write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        let ((one, first), (two, second)) = (make(), make());
        assert!(one.id != two.id && first != second);
        // 256 bits in base64url behind the prefix.
        assert_eq!((first.len(), &first[..3]), (46, "ls_"));
    });
}

#[test]
fn only_hashes_of_secrets_are_stored() {
    on_both_stores(|db| {
        let (_, secret) = write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        let sql = "SELECT hash FROM client_secrets";
        let stored = db.read_blocking(|tx| tx.query_one(sql, &[], |row| Ok(row.blob(0)?.to_vec())));
        let stored = stored.unwrap().unwrap();
        assert_eq!(stored.len(), 32);
        assert!(!secret.as_bytes().windows(8).any(|part| stored.windows(8).any(|s| s == part)));
    });
}

#[test]
fn a_refused_sign_in_names_the_reason() {
    on_both_stores(|db| {
        let (created, secret) =
            write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        assert_eq!(sign_in(db, morning(), "nobody", &secret), Err(ClientRefusal::UnknownClient));
        for wrong in ["", "ls_wrong", &secret[..45], &format!("{secret} ")] {
            assert_eq!(sign_in(db, morning(), &created.id, wrong), Err(ClientRefusal::WrongSecret));
        }
        write(db, |tx| client::revoke(tx, morning(), &created.id));
        assert_eq!(sign_in(db, morning(), &created.id, &secret), Err(ClientRefusal::Revoked));
    });
}

#[test]
fn clients_with_invalid_values_are_refused() {
    on_both_stores(|db| {
        let named = |name: &str| NewClient::named(name);
        let cases = [
            ("name", named(" ")),
            ("name", named(&"x".repeat(limits::CLIENT_NAME_MAX_BYTES + 1))),
            ("id", NewClient { id: Some("a:b".into()), ..named("x") }),
            ("id", NewClient { id: Some(String::new()), ..named("x") }),
            ("secret", NewClient { secret: Some("fifteen letters".into()), ..named("x") }),
            ("secret", NewClient { secret: Some("sixteen letters\n".into()), ..named("x") }),
            ("origins", NewClient { origins: vec!["https://a.test/".into()], ..named("x") }),
            ("origins", NewClient { origins: vec!["a.test".into()], ..named("x") }),
            ("origins", NewClient { origins: vec!["https://A.test".into()], ..named("x") }),
        ];
        for (path, new) in cases {
            let refused = db.write_blocking(|tx| client::create(tx, morning(), &new)).unwrap_err();
            assert_eq!(
                (refused.kind, refused.details[0].path.as_str()),
                (ProblemKind::Invalid, path)
            );
        }
        assert!(db.read_blocking(client::list).unwrap().is_empty());
    });
}

#[test]
fn a_rotation_overlaps_and_at_most_two_secrets_are_valid() {
    on_both_stores(|db| {
        let (created, first) =
            write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        let rotate = |now, hours: i64| {
            write(db, |tx| client::rotate(tx, now, &created.id, None, hours * 3600)).1
        };
        let later = |hours: i64| morning().plus_seconds(hours * 3600);
        let valid = |now, secret: &str| sign_in(db, now, &created.id, secret).is_ok();

        let second = rotate(later(1), 24);
        assert!(valid(later(24), &first) && valid(later(24), &second));
        assert!(!valid(later(25), &first) && valid(later(25), &second));

        let third = rotate(later(2), 24);
        assert!(!valid(later(2), &first), "a third secret drops the first");
        assert!(valid(later(2), &second) && valid(later(2), &third));

        let fourth = rotate(later(3), 0);
        for former in [&first, &second, &third] {
            assert!(!valid(later(3), former), "no overlap was asked for");
        }
        assert!(valid(later(9000), &fourth));
    });
}

#[test]
fn a_rotation_can_set_the_secret_and_repeat_the_same_one() {
    on_both_stores(|db| {
        let (created, _) = write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        let chosen_secret = "the same secret twice";
        for hours in [0, 1] {
            let (_, secret) = write(db, |tx| {
                client::rotate(tx, morning(), &created.id, Some(chosen_secret), hours * 3600)
            });
            assert_eq!(secret, chosen_secret);
        }
        assert!(sign_in(db, morning().plus_seconds(9 * 3600), &created.id, chosen_secret).is_ok());
        let short =
            db.write_blocking(|tx| client::rotate(tx, morning(), &created.id, Some("x"), 0));
        assert_eq!(short.unwrap_err().kind, ProblemKind::Invalid);
    });
}

#[test]
fn rotating_or_revoking_needs_a_client() {
    on_both_stores(|db| {
        let rotate = |id: &str| {
            db.write_blocking(|tx| client::rotate(tx, morning(), id, None, 0)).unwrap_err()
        };
        assert_eq!(rotate("nobody").kind, ProblemKind::NotFound);
        let revoked = db.write_blocking(|tx| client::revoke(tx, morning(), "nobody"));
        assert_eq!(revoked.unwrap_err().message, "there is no client 'nobody'");
        let (created, _) = write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        write(db, |tx| client::revoke(tx, morning(), &created.id));
        assert_eq!(rotate(&created.id).kind, ProblemKind::Conflict);
        let again = write(db, |tx| client::revoke(tx, morning().plus_seconds(60), &created.id));
        assert_eq!(again.revoked, Some(morning()), "the first instant stays");
    });
}

#[test]
fn a_server_reads_only_changed_clients() {
    on_both_stores(|db| {
        let make =
            |name: &str| write(db, |tx| client::create(tx, morning(), &NewClient::named(name))).0;
        let since = |changed| db.read_blocking(|tx| client::changed_since(tx, changed)).unwrap();
        let (one, two) = (make("one"), make("two"));
        assert_eq!(since(0), [one.clone(), two.clone()]);
        assert_eq!(since(two.changed), []);
        let revoked = write(db, |tx| client::revoke(tx, morning(), &one.id));
        assert_eq!(since(two.changed), std::slice::from_ref(&revoked));
        let (rotated, _) = write(db, |tx| client::rotate(tx, morning(), &two.id, None, 0));
        assert_eq!(since(revoked.changed), [rotated]);
    });
}

#[test]
fn a_client_is_granted_its_own_scopes() {
    let client = |scopes: &str| Client {
        id: "x".into(),
        name: "x".into(),
        dialect: PayloadDialect::Platform,
        scopes: scopes.parse().unwrap(),
        origins: vec![],
        requests_per_second: None,
        created: morning(),
        revoked: None,
        changed: 1,
        reach: Reach::Everything,
    };
    let core = "https://purl.imsglobal.org/spec/or/v1p2/scope/roster-core.readonly";
    let demographics = "https://purl.imsglobal.org/spec/or/v1p2/scope/roster-demographics.readonly";
    let reader = client("lyceum/roster.read");
    let granted = |requested| reader.grant(requested).map(|scopes| scopes.to_string());
    assert_eq!(granted(None), Ok("lyceum/roster.read".into()));
    assert_eq!(granted(Some(" ")), Ok("lyceum/roster.read".into()));
    assert_eq!(granted(Some(core)), Ok(core.into()), "it lies within the client's own");
    assert_eq!(
        granted(Some(demographics)),
        Err(ClientRefusal::ScopeNotAllowed(demographics.into()))
    );
    let both = format!("{core} lyceum/roster.write");
    let refused = ClientRefusal::ScopeNotAllowed("lyceum/roster.write".into());
    assert_eq!(granted(Some(&both)), Err(refused));
    assert_eq!(granted(Some("root")), Err(ClientRefusal::UnknownScope("root".into())));
}

#[test]
fn a_client_without_scopes_has_all_except_those_granted_by_name() {
    on_both_stores(|db| {
        let (created, _) = write(db, |tx| client::create(tx, morning(), &NewClient::named("x")));
        let found = db.read_blocking(|tx| client::find(tx, &created.id)).unwrap().unwrap();
        assert_eq!(found.scopes, created.scopes);
        let rights = found.grant(None).unwrap().rights();
        for scope in Scope::all() {
            let is_had =
                !matches!(scope, Scope::PasswordsRead | Scope::PeopleManage | Scope::ServerRead);
            assert_eq!(rights.allow(scope), is_had, "{scope}");
            assert_eq!(found.grant(Some(scope.name())).is_ok(), is_had, "{scope}");
        }
        let scopes = [Scope::PasswordsRead, Scope::PeopleManage].into_iter().collect();
        let named = NewClient { scopes, ..NewClient::named("y") };
        let (named, _) = write(db, |tx| client::create(tx, morning(), &named));
        assert!(named.grant(Some("lyceum/passwords.read lyceum/people.manage")).is_ok());
    });
}
