//! Bodies as types: every error with its path, in words without Rust.

use lyceum_core::body::{self, OneLineText};
use lyceum_core::schema::TypeSchema;
use lyceum_core::{Problem, ProblemKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only reading is tested")]
struct Order {
    #[schemars(with = "OneLineText")]
    buyer: String,
    note: Option<String>,
    #[schemars(length(min = 1, max = 2))]
    items: Vec<Item>,
    #[serde(default)]
    state: State,
    pay: Option<Pay>,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only reading is tested")]
struct Item {
    #[schemars(range(min = 1, max = 9))]
    count: u32,
    price: f64,
    size: Option<i32>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum State {
    /// It is not paid.
    #[default]
    Open,
    /// It is paid.
    Closed,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "by")]
#[expect(dead_code, reason = "only reading is tested")]
enum Pay {
    #[serde(rename = "card")]
    Card { number: String },
    #[serde(rename = "cash")]
    Cash { amount: f64 },
}

fn refused(order: Value) -> Problem {
    body::of::<Order>(order).unwrap_err()
}

fn order(changes: Value) -> Value {
    let mut order = json!({ "buyer": "Ann", "items": [{ "count": 1, "price": 2 }] });
    order.as_object_mut().unwrap().extend(match changes {
        Value::Object(changes) => changes,
        other => panic!("{other} is not an object"),
    });
    order
}

#[test]
fn valid_bodies_are_read() {
    for changes in [
        json!({}),
        json!({ "buyer": "ñ".repeat(2048) }),
        json!({ "note": null, "pay": null, "state": "closed", "day": "2026-01-15" }),
        json!({ "pay": { "by": "card", "number": "4" } }),
    ] {
        body::of::<Order>(order(changes.clone())).unwrap_or_else(|it| panic!("{changes}: {it}"));
    }
}

#[test]
fn every_error_has_its_path() {
    let problem = refused(json!({
        "buyer": null,
        "note": 3,
        "items": [{ "count": 0, "price": "x" }, { "price": 1, "size": 3_000_000_000_u64 }],
        "state": "opne",
        "pay": { "by": "cash", "amount": true },
        "day": "soon",
        "nots": 1,
    }));
    assert_eq!(problem.kind, ProblemKind::Invalid);
    let messages: Vec<String> =
        problem.details.iter().map(|it| format!("{} {}", it.path, it.message)).collect();
    assert_eq!(
        messages,
        [
            "buyer is required; send a string",
            "note must be a string",
            "items[0].count must be a whole number from 1 to 9",
            "items[0].price must be a number",
            "items[1].count is required; send a whole number from 1 to 9",
            "items[1].size must be a whole number from -2147483648 to 2147483647",
            "state must be one of open, closed (got 'opne'; did you mean 'open'?)",
            "pay.amount must be a number",
            "day must be a date such as 2026-01-15",
            "nots is not a member of this object; did you mean 'note'?",
        ]
    );
}

#[test]
fn each_kind_of_error_has_its_message() {
    for (changes, message) in [
        (json!({ "buyer": " " }), "buyer: must not be empty"),
        (json!({ "buyer": "a\nb" }), "buyer: must not contain control characters"),
        (json!({ "buyer": "x".repeat(2049) }), "buyer: must have at most 2048 characters"),
        (json!({ "buyer": "ñ".repeat(2049) }), "buyer: must have at most 2048 characters"),
        (json!({ "buyer": 1.5 }), "buyer: must be a string"),
        (json!({ "items": [] }), "items: must not be empty"),
        (json!({ "items": [1, 1, 1] }), "items: must have at most 2 members"),
        (json!({ "items": {} }), "items: must be an array"),
        (
            json!({ "items": [{ "count": 1.5, "price": 1 }] }),
            "items[0].count: must be a whole number from 1 to 9",
        ),
        (json!({ "items": [7] }), "items[0]: must be an object"),
        (json!({ "state": 1 }), "state: must be one of open, closed"),
        (json!({ "pay": 1 }), "pay: must be an object"),
        (json!({ "pay": {} }), "pay.by: is required; send one of card, cash"),
        (
            json!({ "pay": { "by": "cart" } }),
            "pay.by: must be one of card, cash (got 'cart'; did you mean 'card'?)",
        ),
    ] {
        assert_eq!(refused(order(changes)).message, message);
    }
}

#[test]
fn json_of_another_type_is_malformed() {
    for (text, message) in [
        ("{", "the body is not JSON at line 1, column 1"),
        ("[]", "the body must be a JSON object"),
        ("3", "the body must be a JSON object"),
    ] {
        let problem = body::read::<Order>(text.as_bytes()).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Malformed, "{text}");
        assert!(problem.message.to_string().starts_with(message), "{}", problem.message);
    }
    assert_eq!(body::read::<Order>(b"").unwrap_err().details.len(), 2, "an empty body is {{}}");
}

#[test]
fn an_answer_lists_a_limited_number_of_errors() {
    let problem = body::of::<Vec<u32>>(json!(vec!["x"; 1000])).unwrap_err();
    assert_eq!(problem.details.len(), 100);
}

mod elsewhere {
    #[derive(schemars::JsonSchema, serde::Serialize)]
    pub(super) struct Part {
        other: bool,
    }
}

#[derive(JsonSchema, Serialize)]
struct Part {
    one: u32,
}

#[derive(JsonSchema, Serialize)]
struct Whole {
    one: Part,
    two: elsewhere::Part,
}

#[test]
#[should_panic(expected = "two types in the schema of Whole are called Part")]
fn two_types_with_one_name_are_refused() {
    TypeSchema::output::<Whole>();
}

/// An answer in one of two forms.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [{ "required": ["one"] }, { "required": ["many"] }]))]
#[expect(dead_code, reason = "only reading is tested")]
struct OneOrMany {
    one: Option<String>,
    many: Option<Vec<String>>,
}

#[test]
fn one_of_several_members_can_be_required() {
    assert!(body::of::<OneOrMany>(json!({ "one": "a" })).is_ok());
    assert!(body::of::<OneOrMany>(json!({ "many": ["a"] })).is_ok());
    let problem = body::of::<OneOrMany>(json!({})).unwrap_err();
    assert_eq!(problem.message, "one: is required; send a value");
}
