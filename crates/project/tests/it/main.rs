//! The config file: what is read, what is told, and where.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod databases;
mod plans;
mod schema;
mod schema_pairs;

use std::collections::BTreeMap;

use lyceum_core::ProblemKind;
use lyceum_project::literal::{self, Value};
use lyceum_project::{Config, Strategy, find, slug_of};

fn config(name: &str, text: &str) -> lyceum_core::Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    find(folder.path()).map(Option::unwrap)
}

const MODULE: &str = r#"// A comment with { and "quotes
import { defineConfig } from "lyceum";
import pkg from './package.json' with { type: 'json' };
const pattern = /[{"]\//;
const half = (1 + 2) / 2;

/** @type {import('lyceum').Config} */
export default defineConfig({
  name: 'Größe & "Maße"', // the name
  "description": `Two
lines`,
  emoji: '\u{1F30A}\ud83d\ude00',
  platform: process.env.PLATFORM ?? "web",
  buildPath: "dist.zip",
  integrations: {
    ...shared,
    customRoutes: true,
    database: { directory: "db", strategy: "migrate", },
    kv: true,
    bucket: false,
    timeback: {
      base: { organization: { name: "River School", type: 'school' }, course: { title: "{subject} {grade}" } },
      courses: [
        { subject: "Math", grade: 3, totalXp: 1_000, masterableUnits: 12.5 },
        { subject: "Reading", grade: "K", totalXp: null, title: "Letters" },
      ],
    },
  },
  helper() { return { a: [1, 2] }; },
});
"#;

#[test]
fn a_module_is_read_and_not_run() {
    let config = config("lyceum.config.js", MODULE).unwrap();
    assert_eq!(config.name.as_deref(), Some("Größe & \"Maße\""));
    assert_eq!(config.description.as_deref(), Some("Two\nlines"));
    assert_eq!(config.emoji.as_deref(), Some("🌊😀"));
    assert_eq!(config.build_path.as_deref(), Some("dist.zip"));
    assert_eq!(config.platform, None);
    assert_eq!(config.expressions, [("platform".to_owned(), (13, 13))]);
    let integrations = &config.integrations;
    assert_eq!(integrations.routes.as_deref(), Some("server/api"));
    let database = integrations.database.as_ref().unwrap();
    assert_eq!(database.strategy, Some(Strategy::Migrate));
    assert!(integrations.kv && !integrations.bucket);
    let lms = integrations.lms.as_ref().unwrap();
    assert_eq!(lms.organization.as_ref().unwrap().kind.as_deref(), Some("school"));
    let courses: Vec<_> = lms
        .courses
        .iter()
        .map(|course| {
            (
                course.subject.as_str(),
                course.grade.as_str(),
                course.total_xp,
                course.title.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        courses,
        [
            ("Math", "3", Some(1000.0), Some("{subject} {grade}")),
            ("Reading", "K", None, Some("Letters")),
        ]
    );
    assert_eq!(lms.courses[0].masterable_units, Some(12.5));
}

#[test]
fn scalars_know_their_bytes() {
    let config = config("lyceum.config.js", MODULE).unwrap();
    let texts: Vec<_> =
        config.scalars.iter().map(|(name, span)| (*name, &config.text[span.clone()])).collect();
    assert_eq!(
        texts,
        [
            ("name", r#"'Größe & "Maße"'"#),
            ("description", "`Two\nlines`"),
            ("emoji", r"'\u{1F30A}\ud83d\ude00'"),
        ]
    );
}

#[test]
fn json_is_read_alike() {
    let text = r#"{"name": "Rivers", "integrations": {"lms": {"courses": [{"subject": "Math", "grade": "3"}]}}}"#;
    let config = config("lyceum.config.json", text).unwrap();
    assert_eq!(config.slug().as_deref(), Some("rivers"));
    assert_eq!(config.integrations.lms.unwrap().courses.len(), 1);
    assert!(find(tempfile::tempdir().unwrap().path()).unwrap().is_none());
}

#[test]
fn faults_name_their_places() {
    let told = |name: &str, text: &str| config(name, text).unwrap_err().message;
    for (text, wanted) in [
        ("export default {\n  name: 3,\n};", "line 2, column 9, name: must be a text"),
        ("export default {name: 'x' 'y'}", ""),
        ("export default {name: 'x", "line 1, column 23: what begins here has no end"),
        ("export default config;", "line 1, column 16: the default export is 'config'"),
        ("export const config = {};", "there is no 'export default {…}'"),
        ("export default [1];", "line 1, column 16: the default export is no object"),
        (
            "export default {integrations: {lms: {courses: [{grade: 1}]}}}",
            "line 1, column 48, integrations.lms.courses[0].subject: is required",
        ),
        (
            "export default {integrations: {database: {strategy: 'pull'}}}",
            "integrations.database.strategy: must be 'push' or 'migrate'",
        ),
    ] {
        match config("lyceum.config.js", text) {
            Err(problem) => assert!(problem.message.contains(wanted), "{}", problem.message),
            Ok(read) => assert!(wanted.is_empty() && read.name.is_none(), "{text}"),
        }
    }
    assert!(told("lyceum.config.json", "{\"name\": \"x\"} more").contains("line 1, column 15"));
    assert!(told("lyceum.config.json", "").contains("a value is missing"));
    assert!(told("lyceum.config.json", &"[".repeat(100_000)).contains("nested too deep"));
    let folder = tempfile::tempdir().unwrap();
    let missing = find(&folder.path().join("none")).unwrap_err();
    assert_eq!(missing.kind, ProblemKind::NotFound);
    for name in ["lyceum.config.js", "lyceum.config.json"] {
        std::fs::write(folder.path().join(name), "{}").unwrap();
    }
    assert_eq!(find(folder.path()).unwrap_err().kind, ProblemKind::Conflict);
}

#[test]
fn expressions_end_where_they_end() {
    let text = "export default {a: f({b: ')'}, [1]), c: `${d['}']}`, e: x => { return 1; }, g: 'last', h: a / b / c, i: -1.5e3}";
    let root = literal::module(text).unwrap();
    for (name, wanted) in [("a", "f({b: ')'}, [1])"), ("c", "`${d['}']}`"), ("h", "a / b / c")] {
        let value = root.member(name).unwrap();
        assert_eq!((&value.value, &text[value.span.clone()]), (&Value::Expression, wanted));
    }
    assert_eq!(root.member("g").unwrap().value, Value::Text("last".to_owned()));
    assert_eq!(root.member("i").unwrap().value, Value::Number(-1500.0));
}

#[test]
fn routes_are_looked_for_unless_the_config_says_that_there_are_none() {
    let routes = |said: &str| {
        let text = format!(r#"{{ "name": "Rivers", "integrations": {{ {said} }} }}"#);
        config("lyceum.config.json", &text).unwrap().integrations.routes
    };
    for said in ["", r#""kv": true"#, r#""customRoutes": true"#, r#""customRoutes": {}"#] {
        assert_eq!(routes(said).as_deref(), Some("server/api"), "{said}");
    }
    let named = r#""customRoutes": { "directory": "backend/routes" }"#;
    assert_eq!(routes(named).as_deref(), Some("backend/routes"));
    assert_eq!(routes(r#""customRoutes": false"#), None);
}

#[test]
fn slugs_follow_from_names() {
    // The Vite plugin makes the same of them.
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/slugs.json");
    let shared = std::fs::read_to_string(shared).unwrap();
    let shared: BTreeMap<String, String> = serde_json::from_str(&shared).unwrap();
    for (name, slug) in shared {
        assert_eq!(slug_of(&name), slug);
    }
    assert_eq!(slug_of("!!"), "");
}

#[test]
fn no_text_stops_the_reader() {
    for cut in 0..MODULE.len() {
        if MODULE.is_char_boundary(cut) {
            let _ = literal::module(&MODULE[..cut]);
            let _ = literal::json(&MODULE[cut..]);
        }
    }
}
