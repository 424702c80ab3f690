//! Key-value stores of projects over HTTP: limits and refusals. `lyceum kv` is tested with real backends.

use lyceum_core::limits::KV_VALUE_MAX_BYTES;
use lyceum_hosting::limits::{KV_KEY_MAX_BYTES, KV_METADATA_MAX_BYTES, KV_PAGE_MAX_KEYS};
use lyceum_project::Uses;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::projects::{build, plan, send, state, upload, wanted};

const KV: &str = "/api/projects/rivers/kv";

fn deploy(client: &TestClient, uses: Uses) {
    let zip = build("an app");
    upload(client, &zip);
    let state = state(client, "rivers");
    let mut wish = wanted(&state, &zip, &[]);
    wish.uses = uses;
    let reply = send(client, &plan(&state, &wish), &[]);
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text());
}

fn put(client: &TestClient, query: &str, value: &[u8]) -> u16 {
    let call = client.put(&format!("{KV}/value?{query}"));
    call.body("application/octet-stream", value).send().status
}

#[test]
fn entries_have_limits() {
    both(|server| {
        let client = server.client();
        client.get(KV).expect(404);
        deploy(&client, Uses::default());
        let response: Value = client.get(KV).expect(404).json();
        assert!(response["detail"].as_str().unwrap().contains("`kv: true`"), "{response}");
        deploy(&client, Uses { kv: true, ..Uses::default() });

        let longest = "k".repeat(KV_KEY_MAX_BYTES);
        let metadata = |bytes: usize| format!("key=a&metadata=%22{}%22", "m".repeat(bytes - 2));
        for (query, status) in [
            (format!("key={longest}"), 204),
            (format!("key={longest}k"), 422),
            ("key=".to_owned(), 422),
            ("key=..".to_owned(), 422),
            (metadata(KV_METADATA_MAX_BYTES), 204),
            (metadata(KV_METADATA_MAX_BYTES + 1), 422),
            ("key=a&metadata=oops".to_owned(), 422),
            ("key=a&ttl=60".to_owned(), 204),
            ("key=a&ttl=59".to_owned(), 422),
            ("key=a&ttl=soon".to_owned(), 422),
        ] {
            assert_eq!(put(&client, &query, b"value"), status, "{query}");
        }
        assert_eq!(put(&client, "key=large", &vec![1; KV_VALUE_MAX_BYTES]), 204);
        assert_eq!(put(&client, "key=large", &vec![1; KV_VALUE_MAX_BYTES + 1]), 413);
        let large = client.get(&format!("{KV}/value?key=large")).expect(200);
        assert_eq!(large.header("content-length"), KV_VALUE_MAX_BYTES.to_string());
        client.get(&format!("{KV}/value?key=none")).expect(404);
        client.get(&format!("{KV}/value")).expect(422);

        client.get(&format!("{KV}?limit={KV_PAGE_MAX_KEYS}")).expect(200);
        client.get(&format!("{KV}?limit={}", KV_PAGE_MAX_KEYS + 1)).expect(422);
        client.get(&format!("{KV}?limit=0")).expect(422);
        client.get(&format!("{KV}?cursor=*")).expect(422);
        let keys = |count: usize| json!({ "keys": vec!["a"; count] });
        let delete = format!("{KV}/delete");
        client.post(&delete).json(&keys(KV_PAGE_MAX_KEYS + 1)).expect(422);
        client.post(&delete).json(&keys(KV_PAGE_MAX_KEYS)).expect(204);
        let left: Value = client.get(KV).expect(200).json();
        let names: Vec<_> =
            left["keys"].as_array().unwrap().iter().map(|key| &key["name"]).collect();
        assert_eq!(names, [&json!(longest), &json!("large")]);
    });
}
