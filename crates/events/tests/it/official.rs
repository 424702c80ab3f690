//! The official fixtures of Caliper 1.2. They are not part of the repository: tests read them from
//! `$LYCEUM_STANDARDS` or `../shared/standards` beside it, and say so where they are absent.

use std::path::{Path, PathBuf};

use lyceum_core::Problem;
use lyceum_events::{CONTEXT, Envelope, parse};
use serde_json::Value;

use crate::AFTER_ALL;

/// A folder of the standard's files; none where they are absent.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where the standards lie is not a setting")]
    let variable = |name| std::env::var(name).ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let standards = variable("LYCEUM_STANDARDS")
        .map_or_else(|| root.join("../shared/standards"), PathBuf::from);
    let folder = standards.join("caliper").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let required = variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1");
    assert!(!required, "no official files in {}", folder.display());
    println!("left out, without the official files: {}", folder.display());
    None
}

/// The fixtures of one folder: name without `caliper` and `.json`, and text.
fn fixtures(name: &str) -> Vec<(String, String)> {
    let Some(folder) = folder(&format!("fixtures-v1p2/{name}")) else { return Vec::new() };
    let files = std::fs::read_dir(&folder).unwrap();
    let mut found: Vec<(String, String)> = files
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let name = name.trim_start_matches("caliper").to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(found.len() > 60, "only {} fixtures in {}", found.len(), folder.display());
    found
}

/// Parses a fixture as an envelope, putting one around events and entities.
fn parse_fixture(text: &str) -> Result<Envelope, Problem> {
    let is_envelope = serde_json::from_str::<Value>(text).is_ok_and(|it| !it["data"].is_null());
    if is_envelope {
        return parse(text, AFTER_ALL);
    }
    let envelope = format!(
        r#"{{"sensor":"https://example.edu/sensors/1","sendTime":"2016-11-15T11:05:01.000Z",
        "dataVersion":"{CONTEXT}","data":[{text}]}}"#
    );
    parse(&envelope, AFTER_ALL)
}

#[test]
fn valid_fixtures_are_accepted() {
    let mut refused = Vec::new();
    for (name, text) in fixtures("valid") {
        match parse_fixture(&text) {
            Ok(envelope) => assert!(envelope.events.len() + envelope.entities.len() > 0, "{name}"),
            Err(problem) => refused.push(format!("{name}: {:?}", problem.details)),
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn invalid_fixtures_are_refused_with_the_error_in_their_name() {
    let mut wrong = Vec::new();
    for (name, text) in fixtures("invalid") {
        // `"maxScore": 15`. The official schema of Score says of `maxScore`: `"type": "number"`,
        // "A non-negative integer indicating the maximum score permitted", `definedBy`
        // xsd:decimal, of which XML Schema part 2, 3.2.3 says "If the fractional part is zero, the
        // period and following zero(es) can be omitted". In JSON 15 and 15.0 are one number.
        if name == "EntityScore-MalformedMaxScoreNotAnInt" {
            assert!(parse_fixture(&text).is_ok());
            continue;
        }
        let Err(problem) = parse_fixture(&text) else {
            wrong.push(format!("{name}: accepted"));
            continue;
        };
        let Some(member) = member_at_fault(&name) else {
            if !problem.message.contains("JSON") {
                wrong.push(format!("{name}: {}", problem.message));
            }
            continue;
        };
        // Two fixtures are broken JSON although their names tell another fault.
        let broken = problem.details.is_empty() && problem.message.contains("JSON");
        let messages = problem.details.iter().any(|fault| {
            let path = fault.path.to_lowercase();
            path.split(['.', '[']).any(|part| part == member)
        });
        if !(messages || broken && serde_json::from_str::<Value>(&text).is_err()) {
            wrong.push(format!("{name}: no fault at '{member}' in {:?}", problem.details));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The member that a fixture's name speaks of, in lower case; none where the JSON is broken.
fn member_at_fault(name: &str) -> Option<String> {
    let (_, fault) = name.split_once('-').unwrap();
    if fault == "BadJson" {
        return None;
    }
    let fault = fault.replace("Malfromed", "Malformed").replace("WrongAction", "UnknownAction");
    let fault = ["Malformed", "Unknown", "Null", "No"]
        .iter()
        .find_map(|word| fault.strip_prefix(word))
        .unwrap();
    let ends =
        ["NotA", "NotPresent", "NotValid", "NoValue", "Contains", "Wrong", "Unknown", "Invalid"];
    let end = ends.iter().filter_map(|word| fault.find(word)).min().unwrap_or(fault.len());
    let member = match &fault[..end] {
        "Context" => "@context",
        "ModifiedDate" => "dateModified",
        "IsTimeDependant" => "isTimeDependent",
        member => member,
    };
    Some(member.to_lowercase())
}
