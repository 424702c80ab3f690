//! Reading of config files, and the errors with their places.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod courses;
mod databases;
mod generated;
mod plans;
mod schema;
mod schema_pairs;

use std::collections::BTreeMap;

use lyceum_core::ProblemKind;
use lyceum_project::{Config, Strategy, file_at, slug_of};
use serde_json::{Value as Json, json};

fn read(name: &str, text: &str, value: Option<&Json>) -> lyceum_core::Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    let file = file_at(folder.path())?.unwrap();
    Config::read(&file, |_| Ok((value.expect("JSON is not evaluated").clone(), Vec::new())))
}

/// A config in JSON.
fn config(text: &str) -> lyceum_core::Result<Config> {
    read("lyceum.config.json", text, None)
}

/// A module, with the result of evaluating it.
fn evaluated(text: &str, value: &Json) -> lyceum_core::Result<Config> {
    read("lyceum.config.js", text, Some(value))
}

const MODULE: &str = r#"// A comment with { and "quotes
import { defineConfig } from "@lyceum/cli";
import pkg from './package.json' with { type: 'json' };
const pattern = /[{"]\//;
const half = (1 + 2) / 2;

/** @type {import('@lyceum/cli').Config} */
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
    bucket: false,
    timeback: {
      base: { organization: { name: "River School", type: 'school' }, course: { title: "{subject} {grade}" } },
      courses: [
        { subject: "Math", grade: 3, totalXp: 1_000, masterableUnits: 12.5 },
        { subject: "Reading", grade: "K", totalXp: null, title: "Letters" },
      ],
    },
  },
});
"#;

fn module_value() -> Json {
    json!({
        "name": "Größe & \"Maße\"", "description": "Two\nlines", "emoji": "🌊😀", "platform": "web",
        "buildPath": "dist.zip",
        "integrations": {
            "kv": true, "customRoutes": true, "bucket": false,
            "database": { "directory": "db", "strategy": "migrate" },
            "timeback": {
                "base": {
                    "organization": { "name": "River School", "type": "school" },
                    "course": { "title": "{subject} {grade}" },
                },
                "courses": [
                    { "subject": "Math", "grade": 3, "totalXp": 1000, "masterableUnits": 12.5 },
                    { "subject": "Reading", "grade": "K", "totalXp": null, "title": "Letters" },
                ],
            },
        },
    })
}

#[test]
fn an_evaluated_module_has_its_values_and_the_positions_of_expressions() {
    let config = evaluated(MODULE, &module_value()).unwrap();
    assert_eq!(config.name.as_deref(), Some("Größe & \"Maße\""));
    assert_eq!(config.description.as_deref(), Some("Two\nlines"));
    assert_eq!(config.emoji.as_deref(), Some("🌊😀"));
    assert_eq!(config.build_path.as_deref(), Some("dist.zip"));
    assert_eq!(config.platform.as_deref(), Some("web"));
    assert_eq!(config.expressions, [("platform", (13, 13))]);
    let integrations = &config.integrations;
    assert_eq!(integrations.routes.as_deref(), Some("server/api"));
    let database = integrations.database.as_ref().unwrap();
    assert_eq!(database.strategy, Some(Strategy::Migrate));
    assert_eq!(integrations.uses.names(), ["database", "kv", "lms"]);
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
fn scalars_have_the_byte_ranges_of_their_literals() {
    let written = |config: &Config| -> Vec<(&'static str, String)> {
        let spans = config.scalars.iter();
        spans.map(|(name, span)| (*name, config.text[span.clone()].to_owned())).collect()
    };
    let owned = |pairs: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect()
    };
    let config = evaluated(MODULE, &module_value()).unwrap();
    let all = [
        ("name", r#"'Größe & "Maße"'"#),
        ("description", "`Two\nlines`"),
        ("emoji", r"'\u{1F30A}\ud83d\ude00'"),
    ];
    assert_eq!(written(&config), owned(&all));
    // Values that are reached by a name or through helpers, and literals that something else may override.
    let value = json!({ "name": "Rivers", "emoji": "x" });
    for (text, wanted) in [
        ("const config: Config = { name: 'Rivers', emoji };\nexport default config;", "'Rivers'"),
        ("let it = wrap({ name: \"Rivers\", emoji })\nexport default helper(it)", "\"Rivers\""),
        ("export default { name: 'Rivers', ...rest };", ""),
        ("export default { name: 'rivers', emoji };", ""),
        ("export default loud({ ...rest });", ""),
        ("export default await load();", ""),
    ] {
        let config = evaluated(text, &value).unwrap();
        let found: Vec<_> = written(&config).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found.join(" "), wanted, "{text}");
        assert_eq!(config.name.as_deref(), Some("Rivers"));
        let rewritten = config.with(&[("name", Some("Brooks"))]);
        assert_eq!(rewritten.by_hand.len(), usize::from(wanted.is_empty()), "{text}");
        if let Some(by_hand) = rewritten.by_hand.first() {
            assert_eq!(
                (by_hand.why, by_hand.place.is_some()),
                ("it is built from an expression", true)
            );
        }
    }
}

#[test]
fn unknown_members_are_refused_with_a_similar_name() {
    for (text, wanted) in [
        (r#"{"nmae": "x"}"#, "nmae: is not a member of this object; did you mean 'name'?"),
        (
            r#"{"zzz": 1}"#,
            "zzz: is not a member of this object, which has $schema, name, description, emoji",
        ),
        (
            r#"{"integrations": {"databse": true}}"#,
            "integrations.databse: is unknown; did you mean 'database'?",
        ),
        (
            r#"{"integrations": {"stripe": true}}"#,
            "integrations.stripe: is unknown; known integrations: customRoutes",
        ),
        (
            r#"{"integrations": {"database": {"dir": "db"}}}"#,
            "integrations.database.dir: is not a member of this object, which has directory, strategy, secrets",
        ),
        (
            r#"{"integrations": {"lms": {"courses": [{"subject": "M", "grade": 1, "totalXP": 5}]}}}"#,
            "integrations.lms.courses[0].totalXP: is not a member of this object; did you mean 'totalXp'?",
        ),
        (
            r#"{"integrations": {"lms": {"base": {"org": {}}}}}"#,
            "integrations.lms.base.org: is not a member",
        ),
        (
            r#"{"integrations": {"customRoutes": {"folder": "x"}}}"#,
            "customRoutes.folder: is not a member",
        ),
    ] {
        let problem = config(text).unwrap_err();
        let messages: Vec<_> =
            problem.details.iter().map(|at| format!("{}: {}", at.path, at.message)).collect();
        assert!(messages.iter().any(|messages| messages.contains(wanted)), "{text}: {messages:?}");
    }
    // Evaluated values are reported at the nearest place in the text.
    let value = json!({ "name": "x", "integrations": { "bukket": true } });
    let text = "export default {\n  name,\n  integrations: { ...more },\n};";
    let problem = evaluated(text, &value).unwrap_err();
    assert!(
        problem
            .message
            .contains("line 3, column 17, integrations.bukket: is unknown; did you mean 'bucket'?"),
        "{}",
        problem.message
    );
    // An unknown service may only list its secrets.
    let text = r#"{"integrations": {"stripe": {"secrets": ["STRIPE_KEY"]}, "kv": {"secrets": ["KV_KEY"]}}}"#;
    assert_eq!(config(text).unwrap().required_secrets, ["KV_KEY", "STRIPE_KEY"]);
}

#[test]
fn json_is_read_without_an_evaluation() {
    let text = r#"{"name": "Rivers", "integrations": {"lms": {"courses": [{"subject": "Math", "grade": "3"}]}}}"#;
    let config = config(text).unwrap();
    assert_eq!(config.slug().as_deref(), Some("rivers"));
    assert_eq!(config.integrations.lms.unwrap().courses.len(), 1);
    assert!(file_at(tempfile::tempdir().unwrap().path()).unwrap().is_none());
}

#[test]
fn errors_have_their_positions() {
    for (text, value, wanted) in [
        (
            "export default {\n  name: 3,\n};",
            json!({ "name": 3 }),
            "line 2, column 9, name: must be a string",
        ),
        (
            "export default {integrations: {lms: {courses: [{grade: 1}]}}}",
            json!({ "integrations": { "lms": { "courses": [{ "grade": 1 }] } } }),
            "line 1, column 48, integrations.lms.courses[0].subject: is required; send a string",
        ),
        (
            "export default {integrations: {lms: {courses: [3].map(course)}}}",
            json!({ "integrations": { "lms": { "courses": [{ "grade": 1 }] } } }),
            "line 1, column 47, integrations.lms.courses[0].subject: is required; send a string",
        ),
    ] {
        let message = evaluated(text, &value).unwrap_err().message;
        assert!(message.contains(wanted), "{text}: {message}");
    }
    for (text, wanted) in [
        (
            r#"{"integrations": {"kv": "yes"}}"#,
            "line 1, column 25, integrations.kv: must be true or false or an object",
        ),
        (
            r#"{"integrations": {"database": {"strategy": "pull"}}}"#,
            "line 1, column 44, integrations.database.strategy: must be one of push, migrate (got 'pull'",
        ),
        (
            r#"{"integrations": {"a.b": {"secrets": ["no name"]}}}"#,
            "line 1, column 39, integrations.a.b.secrets[0]: must be the name of a secret",
        ),
        (
            r#"{"integrations": {"timeback": {"courses": [{"subject": "", "grade": true}]}}}"#,
            "integrations.timeback.courses[0].subject: must not be empty (and 1 more)",
        ),
        (
            r#"{"integrations": {"lms": {"courses": [{"subject": "M", "grade": 1, "totalXp": -1}]}}}"#,
            "line 1, column 79, integrations.lms.courses[0].totalXp: must be a number from 0 up",
        ),
    ] {
        let message = config(text).unwrap_err().message;
        assert!(message.contains(wanted), "{text}: {message}");
    }
    let list = evaluated("export default [];", &json!([])).unwrap_err();
    assert!(list.message.contains("the config: must be an object"), "{}", list.message);
    for (text, wanted) in [
        ("{\"name\": \"x\"} more", "trailing characters at line 1 column 15"),
        ("", "EOF while parsing a value at line 1 column 0"),
        (&"[".repeat(100_000), "recursion limit exceeded"),
    ] {
        let problem = config(text).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Malformed);
        assert!(problem.message.contains(wanted), "{}", problem.message);
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = file_at(&folder.path().join("none")).unwrap_err();
    assert_eq!(missing.kind, ProblemKind::NotFound);
    for name in ["lyceum.config.js", "lyceum.config.json"] {
        std::fs::write(folder.path().join(name), "{}").unwrap();
    }
    assert_eq!(file_at(folder.path()).unwrap_err().kind, ProblemKind::Conflict);
}

#[test]
fn literals_after_every_kind_of_expression_are_found() {
    let text = "export default {[a]: f({b: ')'}, [1]), emoji: `${d['}']}`, platform: x => { test(/[/}]\\//); }, \
                description: a / b / c, m() {}, name: 'last'}";
    let value = json!({ "name": "last", "emoji": "x", "platform": "y", "description": "z" });
    let config = evaluated(text, &value).unwrap();
    let literals: Vec<_> = config.scalars.iter().map(|(_, at)| &text[at.clone()]).collect();
    assert_eq!(literals, ["'last'"]);
    let emoji = text.find('`').unwrap() + 1;
    assert_eq!(config.expression("emoji"), Some((1, emoji)));
}

#[test]
fn routes_are_looked_for_unless_the_config_turns_them_off() {
    let routes = |listed: &str| {
        let text = format!(r#"{{ "name": "Rivers", "integrations": {{ {listed} }} }}"#);
        config(&text).unwrap().integrations.routes
    };
    for listed in ["", r#""kv": true"#, r#""customRoutes": true"#, r#""customRoutes": {}"#] {
        assert_eq!(routes(listed).as_deref(), Some("server/api"), "{listed}");
    }
    let named = r#""customRoutes": { "directory": "backend/routes" }"#;
    assert_eq!(routes(named).as_deref(), Some("backend/routes"));
    assert_eq!(routes(r#""customRoutes": false"#), None);
}

#[test]
fn slugs_are_derived_from_names() {
    // The Vite plugin must make the same slugs.
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/slugs.json");
    let shared = std::fs::read_to_string(shared).unwrap();
    let shared: BTreeMap<String, String> = serde_json::from_str(&shared).unwrap();
    for (name, slug) in shared {
        assert_eq!(slug_of(&name), slug);
    }
    assert_eq!(slug_of("!!"), "");
}

#[test]
fn places_are_sought_in_every_text() {
    for cut in (0..MODULE.len()).step_by(7).filter(|cut| MODULE.is_char_boundary(*cut)) {
        for text in [&MODULE[..cut], &MODULE[cut..]] {
            let config = evaluated(text, &module_value()).unwrap();
            assert_eq!(config.scalars.len() + config.expressions.len(), 4);
        }
    }
}
