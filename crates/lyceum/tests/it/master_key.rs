//! Rotation of the master key: servers run meanwhile, the command is killed, and everything can be read afterwards
//! without the former key.

use std::thread::sleep;
use std::time::Duration;

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Key, Served, Store, rest_on_both_stores};

const FORMER: &str = "f0f1f2f3f4f5f6f7f0f1f2f3f4f5f6f7f0f1f2f3f4f5f6f7f0f1f2f3f4f5f6f7";
const NEW: &str = "a0a1a2a3a4a5a6a7a0a1a2a3a4a5a6a7a0a1a2a3a4a5a6a7a0a1a2a3a4a5a6a7";
const MAIN: &str = "LYCEUM_KEYS__MASTER";
const OTHER: &str = "LYCEUM_KEYS__MASTER_OTHER";
const ORGS: &str = "/ims/oneroster/rostering/v1p2/orgs";
const USERS: &str = "/ims/oneroster/rostering/v1p2/users";

rest_on_both_stores!(nothing_needs_the_former_master_key_after_a_rotation);

/// The clients of the test.
struct Keys {
    writer: Key,
    reader: Key,
}

/// The clients with tokens of one server.
struct Clients {
    writer: TestClient,
    reader: TestClient,
}

impl Keys {
    fn sign_in(&self, served: &Served) -> Clients {
        let client = |key: &Key| {
            let http = Http::sign_in(&served.base, key, None);
            TestClient::new(&served.base).with_token(http.token())
        };
        Clients { writer: client(&self.writer), reader: client(&self.reader) }
    }
}

/// Stores a password for another system; the address that decrypts it.
fn store(api: &TestClient, number: usize) -> String {
    let path = format!("{USERS}/ann/credentials");
    let name = format!("reader-{number}");
    let login = json!({ "username": "ann", "password": format!("sesame {number}") });
    let body = json!({ "applicationName": name, "credentials": login });
    let stored: Value = api.post(&path).json(&body).expect(201).json();
    format!("{path}/{}/decrypt", stored["credentialId"].as_str().unwrap())
}

fn decrypts(api: &TestClient, path: &str, number: usize) {
    let shown: Value = api.post(path).json(&json!({})).expect(200).json();
    assert_eq!(shown["password"], format!("sesame {number}"));
}

fn user(api: &TestClient, id: &str) -> u16 {
    let user = json!({
        "sourcedId": id, "enabledUser": true, "givenName": "Ann", "familyName": "Oak",
        "roles": [{ "roleType": "primary", "role": "student", "org": { "sourcedId": "s" } }],
    });
    api.post(USERS).json(&json!({ "user": user })).send().status
}

fn nothing_needs_the_former_master_key_after_a_rotation(store_kind: Store) {
    let is_shared = matches!(store_kind, Store::Postgres(_));
    let first = Served::prepared_with(store_kind, &[], &[(MAIN, FORMER), (OTHER, NEW)], |_| ());
    let keys = Keys {
        writer: first.client("platform", &[]),
        reader: first.client("platform", &["lyceum/passwords.read"]),
    };
    let api = keys.sign_in(&first).writer;
    let school = json!({ "sourcedId": "s", "name": "School", "type": "school" });
    api.post(ORGS).json(&json!({ "org": school })).expect(201);
    assert_eq!([user(&api, "ann"), user(&api, "bob")], [201, 201]);
    first.run(&["admin", "person", "erase", "bob", "--yes"]);
    let count = if full_size() { 3000 } else { 20 };
    let mut paths: Vec<String> = (0..count).map(|number| store(&api, number)).collect();

    // One server after the other encrypts under the new key.
    let second = is_shared.then(|| first.beside());
    let first = first.restart_with(&[(MAIN, NEW), (OTHER, FORMER)]);
    let apis = [Some(&first), second.as_ref()].into_iter().flatten();
    let apis: Vec<Clients> = apis.map(|served| keys.sign_in(served)).collect();
    for api in &apis {
        paths.push(store(&api.writer, paths.len()));
    }
    for api in &apis {
        for (number, path) in paths.iter().enumerate().skip(count - 1) {
            decrypts(&api.reader, path, number);
        }
    }
    if let Some(second) = second {
        // It still encrypts under the former key.
        let refused = first.fails(&["admin", "rotate-master-key"]);
        assert!(refused.contains("still encrypts under another master key"), "{refused}");
        // On a machine with a wrong clock, its report seems to be old.
        let refused = first.fails_ahead("+10m", &["admin", "rotate-master-key"]);
        assert!(refused.contains("still encrypts under another master key"), "{refused}");
        drop(second.restart_with(&[(MAIN, NEW), (OTHER, FORMER)]));
    }

    for delay_ms in [20, 60, 120, 200] {
        let mut rotating = first.begin(&["admin", "rotate-master-key"]);
        sleep(Duration::from_millis(delay_ms));
        rotating.kill().unwrap();
        rotating.wait().unwrap();
        decrypts(&apis[0].reader, &paths[0], 0);
    }
    let sealed: Value =
        serde_json::from_str(&first.run(&["admin", "rotate-master-key", "--json"])).unwrap();
    println!("{sealed}");
    let again = first.run(&["admin", "rotate-master-key", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), json!({}), "nothing is left");

    let first = first.restart_with(&[(MAIN, NEW)]);
    let api = keys.sign_in(&first);
    for (number, path) in paths.iter().enumerate() {
        decrypts(&api.reader, path, number);
    }
    assert_eq!(user(&api.writer, "bob"), 409, "an erased person is still known");
    let stderr = first.fails(&["admin", "rotate-master-key"]);
    assert!(stderr.contains("'keys.master_other'"), "{stderr}");
}
