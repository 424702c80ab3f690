//! The API document: committed, complete, and without a dangling reference.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::BTreeSet;
use std::path::Path;

use lyceum_http::openapi::SHORT_SUFFIX;
use lyceum_server::routes;
use serde_json::{Value, json};

/// Bytes of the committed document: people read its changes.
const DOCUMENT_MAX_BYTES: usize = 1_200_000;

/// Bytes up to which a value of the committed document is on one line.
const LINE_MAX_BYTES: usize = 140;

fn document() -> Value {
    routes::document("http://localhost:4321")
}

/// `openapi.json` at the root shows what a change does to the API; `LYCEUM_BLESS=1` rewrites it.
#[test]
fn the_committed_document_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json");
    let created = lines(&document(), 0) + "\n";
    assert!(created.len() < DOCUMENT_MAX_BYTES, "the document has {} bytes", created.len());
    #[expect(clippy::disallowed_methods, reason = "blessing is not a setting")]
    if std::env::var("LYCEUM_BLESS").is_ok() {
        std::fs::write(&file, &created).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == created,
        "openapi.json is not what the server says; look at the change, then write it with \
         LYCEUM_BLESS=1 cargo test -p lyceum-server openapi"
    );
}

/// The value as JSON: on one line if that is short, else a line for each member. One space a level keeps the file
/// small.
fn lines(value: &Value, level: usize) -> String {
    let line = value.to_string();
    let members: Vec<String> = match value {
        _ if line.len() + level <= LINE_MAX_BYTES => return line,
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| format!("{}: {}", json!(name), lines(value, level + 1)))
            .collect(),
        Value::Array(values) => values.iter().map(|value| lines(value, level + 1)).collect(),
        _ => return line,
    };
    let (begin, end) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let indent = format!("\n{}", " ".repeat(level));
    format!("{begin}{indent} {}{indent}{end}", members.join(&format!(",{indent} ")))
}

#[test]
fn every_operation_has_a_unique_name_and_every_reference_a_target() {
    let document = document();
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(!name.is_empty(), "{method} {path} has no name");
            assert!(names.insert(name.to_owned()), "{method} {path}: '{name}' is taken");
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{method} {path}");
        }
    }
    assert!(names.len() > 150, "{}", names.len());
    let mut references = Vec::new();
    collect(&document, &mut references);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

/// The table of the test of all routes, which real requests prove.
const MATRIX: &str = include_str!("access/expected.txt");

#[test]
fn exactly_the_routes_that_accept_api_keys_are_documented_so() {
    let header = MATRIX.lines().find(|line| line.starts_with("method path")).unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    // Administrators have the same access by a token as by a key.
    let (nobody, keys) = (column("nobody"), [column("admin"), column("devkey")]);
    // OpenAPI has no parameter that takes the rest of a path.
    let matrix = MATRIX.replace("{*", "{");
    let rows: Vec<Vec<&str>> =
        matrix.lines().map(|line| line.split_whitespace().collect()).collect();
    let document = document();
    assert_eq!(document["components"]["securitySchemes"]["key"]["scheme"], "bearer");
    let (mut open, mut closed) = (0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            if operation["operationId"].as_str().unwrap().ends_with(SHORT_SUFFIX) {
                continue;
            }
            let rows: Vec<_> =
                rows.iter().filter(|row| row.starts_with(&[&method, path])).collect();
            assert!(!rows.is_empty(), "{method} {path} is not in the table");
            let security = operation["security"].as_array().unwrap();
            if security.is_empty() {
                assert!(
                    rows.iter().all(|row| row[nobody] != "401"),
                    "{method} {path} needs a token"
                );
                continue;
            }
            let takes_keys = rows.iter().any(|row| keys.iter().any(|key| row[*key] == "in"));
            let names_keys = security.contains(&json!({ "key": [] }));
            assert_eq!(names_keys, takes_keys, "{method} {path}");
            *(if takes_keys { &mut open } else { &mut closed }) += 1;
        }
    }
    assert!(open > 400, "{open} routes name keys, {closed} do not");
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get("$ref") {
                found.push(reference.clone());
            }
            object.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
