//! `lyceum keys`, beside a running server.

use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store, on_both_stores};

on_both_stores!(keys_are_listed_rotated_and_published);

fn keys_are_listed_rotated_and_published(store: Store) {
    let served = Served::start(store);
    let list = |served: &Served| -> Vec<Value> {
        serde_json::from_str(&served.run(&["keys", "list", "--json"])).unwrap()
    };
    let before = list(&served);
    assert_eq!(
        (before.len(), &before[0]["issuer"], &before[0]["retired"]),
        (1, &json!("server"), &Value::Null)
    );
    let rotated: Value = serde_json::from_str(&served.run(&["keys", "rotate", "--json"])).unwrap();
    let after = list(&served);
    assert_eq!(after.len(), 2);
    assert!(after.iter().any(|key| key["kid"] == before[0]["kid"] && key["retired"].is_string()));
    assert!(after.iter().any(|key| key["kid"] == rotated["kid"] && key["retired"].is_null()));
    let text = served.run(&["keys", "list"]);
    assert!(text.contains("signs") && text.contains("retired"), "{text}");

    let exported = served.run(&["keys", "export-public", "--public-url", &served.base]);
    let exported: Value = serde_json::from_str(&exported).unwrap();
    let published: Value =
        Http::without_token(&served.base).send("get", "/.well-known/did.json", None).json();
    assert_eq!(exported, published);
    assert_eq!(exported["assertionMethod"].as_array().unwrap().len(), 2);
    assert!(!exported.to_string().contains("\"d\""), "no private member");
}
