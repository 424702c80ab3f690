//! Requests signed with OAuth 1.0a (RFC 5849), which only OneRoster 1.1 accepts.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::limits::SIGNATURE_WINDOW_S;
use lyceum_access::{ClientSecrets, NewClient, Scope, client};
use lyceum_core::Reach;
use lyceum_core::text::segment;
use lyceum_core::time::{Clock, ManualClock, SystemClock, Timestamp};
use lyceum_http::limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT;
use lyceum_store::StoreLocation;
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use ring::hmac;
use serde_json::{Value, json};

/// The address by which callers know the server behind its proxy.
const PUBLIC: &str = "https://Roster.example.org:443/lyceum";
/// The same as RFC 5849, 3.4.1.2 writes it.
const SIGNED: &str = "https://roster.example.org/lyceum";
const ORGS: &str = "/ims/oneroster/v1p1/orgs";

/// A client that signs.
struct Signer {
    id: String,
    secret: String,
}

fn setup() -> (Setup, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let mut setup = Setup { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Setup::default() };
    setup.config.server.public_url = Some(PUBLIC.to_owned());
    (setup, clock)
}

impl Signer {
    fn create(server: &TestServer, scopes: &[Scope]) -> (Self, ClientSecrets) {
        let new = NewClient { scopes: scopes.iter().copied().collect(), ..NewClient::named("old") };
        let (now, master) = (server.setup().clock.now(), server.setup().master.clone());
        let created = server
            .db()
            .write_blocking(move |tx| client::create_with_signing(tx, now, &new, Some(&master)));
        let (client, secrets) = created.unwrap();
        let secret = secrets.signing.clone().expect("a signing secret");
        (Self { id: client.id, secret }, secrets)
    }

    /// The value of `Authorization` for a `GET` of the path without a query.
    fn sign(&self, path: &str, now: Timestamp, nonce: &str) -> String {
        let (id, seconds) = (&self.id, now.seconds());
        let parameters = format!(
            "oauth_consumer_key={}&oauth_nonce={}&oauth_signature_method=HMAC-SHA256&\
             oauth_timestamp={seconds}&oauth_version=1.0",
            segment(id),
            segment(nonce)
        );
        let address = format!("{SIGNED}{path}");
        let text = format!("GET&{}&{}", segment(&address), segment(&parameters));
        let key = hmac::Key::new(hmac::HMAC_SHA256, format!("{}&", self.secret).as_bytes());
        let signature = BASE64_STANDARD.encode(hmac::sign(&key, text.as_bytes()));
        format!(
            "OAuth realm=\"a, b\", oauth_consumer_key=\"{}\", oauth_nonce=\"{}\", \
             oauth_signature_method=\"HMAC-SHA256\", oauth_timestamp=\"{seconds}\", \
             oauth_version=\"1.0\", oauth_signature=\"{}\"",
            segment(id),
            segment(nonce),
            segment(&signature)
        )
    }
}

fn get(server: &TestServer, path: &str, authorization: &str) -> Reply {
    server.anonymous().get(path).header("authorization", authorization).send()
}

#[test]
fn a_nonce_is_accepted_once_on_all_servers() {
    let (setup, clock) = setup();
    both_as(&setup, |server| {
        let (signer, _) = Signer::create(server, &[]);
        let mut servers = vec![];
        if matches!(server.target(), StoreLocation::Postgres(_)) {
            servers.push(server.twin());
        }
        let first = signer.sign(ORGS, clock.now(), "first");
        assert_eq!(get(server, ORGS, &first).status, 200);
        for other in servers.iter().chain([&*server]) {
            let again = get(other, ORGS, &first);
            assert_eq!(again.status, 401, "{}", again.text());
            assert_eq!(again.header("www-authenticate"), "OAuth realm=\"lyceum\"");
            assert!(again.text().contains("was sent before"), "{}", again.text());
            let fresh = signer.sign(ORGS, clock.now(), &format!("fresh for {}", other.address()));
            assert_eq!(get(other, ORGS, &fresh).status, 200);
        }
        server.restart();
        assert_eq!(get(server, ORGS, &first).status, 401, "a restart forgets no nonce");
        clock.advance_milliseconds((SIGNATURE_WINDOW_S + 1) * 1000);
        let stale = get(server, ORGS, &first);
        assert!(stale.text().contains("oauth_timestamp is more than 300 s"), "{}", stale.text());
        clock.advance_milliseconds((SIGNATURE_WINDOW_S) * 1000);
        assert_eq!(get(server, ORGS, &signer.sign(ORGS, clock.now(), "last")).status, 200);
        let count = "SELECT count(*) FROM signed_request_nonces";
        let kept = server.db().read_blocking(|tx| tx.query_one(count, &[], |row| row.int(0)));
        assert_eq!(kept.unwrap(), Some(1), "nonces outside the window are deleted");
    });
}

#[test]
fn a_signature_gives_the_scopes_of_1_1_that_the_client_has() {
    let (setup, clock) = setup();
    both_as(&setup, |server| {
        let (signer, secrets) =
            Signer::create(server, &[Scope::OrRosterCoreReadonly, Scope::EventsWrite]);
        let status = |path: &str, nonce: &str| {
            get(server, path, &signer.sign(path, clock.now(), nonce)).status
        };
        assert_eq!(status(ORGS, "1"), 200);
        assert_eq!(status("/ims/oneroster/v1p1/users/none", "2"), 404);
        for (n, path) in ["/schools/s/classes", "/demographics", "/results"].iter().enumerate() {
            assert_eq!(status(&format!("/ims/oneroster/v1p1{path}"), &format!("3-{n}")), 403);
        }
        // The same request, signed as it must be, opens nothing outside of OneRoster 1.1.
        for (n, path) in [
            "/ims/oneroster/rostering/v1p2/orgs",
            "/ims/case/v1p1/CFDocuments",
            "/events/stored",
            "/api/auth/me",
            "/api/games",
        ]
        .iter()
        .enumerate()
        {
            assert!(matches!(status(path, &format!("4-{n}")), 401 | 404), "{path}");
        }
        server.anonymous().post(ORGS).header("authorization", "OAuth x").expect(405);
        // The other secret gives tokens and signs nothing; a signing secret gives no token.
        let token = server.token_of(&signer.id, &secrets.secret);
        server.anonymous().with_token(token).get(ORGS).expect(200);
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", signer.id.as_str()),
            ("client_secret", signer.secret.as_str()),
        ];
        server.anonymous().post("/oauth2/token").form(&form).expect(401);
        let plain = Signer { id: signer.id.clone(), secret: secrets.secret };
        assert_eq!(get(server, ORGS, &plain.sign(ORGS, clock.now(), "5")).status, 401);
    });
}

#[test]
fn a_limited_client_reads_only_its_organizations() {
    let (setup, clock) = setup();
    both_as(&setup, |server| {
        for id in ["s1", "s2"] {
            let org = json!({ "org": { "sourcedId": id, "name": id, "type": "school" } });
            let path = "/ims/oneroster/rostering/v1p2/orgs";
            server.client().post(path).json(&org).expect(201);
        }
        let (signer, secrets) = Signer::create(server, &[]);
        let (id, reach) = (signer.id.clone(), Reach::organizations(["s1"]).unwrap());
        server.db().write_blocking(move |tx| client::limit(tx, &id, &reach)).unwrap();
        let token = server.token_of(&signer.id, &secrets.secret);
        let by_token = server.anonymous().with_token(token);
        let ids = |answer: Reply| {
            let body: Value = answer.json();
            let orgs = body["orgs"].as_array().unwrap_or_else(|| panic!("{body}"));
            orgs.iter().map(|org| org["sourcedId"].clone()).collect::<Vec<_>>()
        };
        let by_signature = |path: &str| get(server, path, &signer.sign(path, clock.now(), path));
        assert_eq!(ids(by_signature(ORGS)), ["s1"]);
        assert_eq!(ids(by_token.get(ORGS).send()), ["s1"]);
        for (id, status) in [("s1", 200), ("s2", 404)] {
            let path = format!("{ORGS}/{id}");
            assert_eq!(by_signature(&path).status, status);
            by_token.get(&path).expect(status);
        }
    });
}

#[test]
fn a_signing_secret_is_rotated_revoked_and_sealed() {
    let (setup, clock) = setup();
    both_as(&setup, |server| {
        let (signer, _) = Signer::create(server, &[]);
        let master = server.setup().master.clone();
        let rotate = |overlap_s| {
            let (id, now, master) = (signer.id.clone(), clock.now(), master.clone());
            let rotated = server.db().write_blocking(move |tx| {
                client::rotate_with_signing(tx, now, &id, None, overlap_s, &master)
            });
            let secret = rotated.unwrap().1.signing.expect("a signing secret");
            Signer { id: signer.id.clone(), secret }
        };
        let status = |signer: &Signer, nonce: &str| {
            get(server, ORGS, &signer.sign(ORGS, clock.now(), nonce)).status
        };
        let second = rotate(3600);
        assert_eq!([status(&signer, "1"), status(&second, "2")], [200, 200]);
        clock.advance_milliseconds((3600) * 1000);
        assert_eq!([status(&signer, "3"), status(&second, "4")], [401, 200]);
        let third = rotate(0);
        assert_eq!([status(&second, "5"), status(&third, "6")], [401, 200]);

        let sql = "SELECT sealed FROM client_signing_secrets";
        let read = |row: &lyceum_store::Row<'_>| Ok(row.blob(0)?.to_vec());
        let sealed = server.db().read_blocking(|tx| tx.query_one(sql, &[], read)).unwrap().unwrap();
        let secret = third.secret.as_bytes();
        assert!(sealed.windows(secret.len()).all(|part| part != secret), "it is in the clear");

        let (id, now) = (third.id.clone(), clock.now());
        server.db().write_blocking(move |tx| client::revoke(tx, now, &id)).unwrap();
        assert_eq!(status(&third, "7"), 401, "at once, not only after the clients are read again");
    });
}

#[test]
fn wrong_signatures_are_limited_for_each_address() {
    let (setup, clock) = setup();
    both_as(&setup, |server| {
        let (signer, _) = Signer::create(server, &[]);
        let (other, _) = Signer::create(server, &[]);
        let wrong = Signer { id: signer.id.clone(), secret: "x".repeat(20) };
        for n in 0..GUESSES_ACCOUNT_AND_ADDRESS_COUNT {
            let refused = get(server, ORGS, &wrong.sign(ORGS, clock.now(), &n.to_string()));
            let body: Value = refused.json();
            assert_eq!(refused.status, 401, "{body}");
            let message = body["imsx_description"].as_str().unwrap();
            let found = format!("the signed request is GET {PUBLIC}{ORGS}");
            assert!(message.ends_with(&found), "{message}");
        }
        let right = get(server, ORGS, &signer.sign(ORGS, clock.now(), "right"));
        assert_eq!(right.status, 429, "a right guess after too many wrong ones tells nothing");
        assert!(!right.header("retry-after").is_empty());
        let other = get(server, ORGS, &other.sign(ORGS, clock.now(), "other"));
        assert_eq!(other.status, 200, "other clients at the address go on: {}", other.text());
        clock.advance_milliseconds((15 * 60) * 1000);
        assert_eq!(get(server, ORGS, &signer.sign(ORGS, clock.now(), "later")).status, 200);
    });
}
