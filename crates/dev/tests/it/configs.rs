//! Configs that are modules are bundled by esbuild and evaluated in workerd.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use lyceum_core::{ProblemKind, Result};
use lyceum_deploy::Evaluator;
use lyceum_hosting::engine::find_workerd;
use lyceum_project::Config;
use tempfile::TempDir;

use crate::project::{Project, tests, write};

fn evaluator() -> Evaluator {
    Evaluator { workerd: find_workerd(None, &[tests("hosting")], None) }
}

/// A folder with these files, where esbuild is installed.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(tests("deploy").join("node_modules"), folder.path().join("node_modules")).unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    folder
}

fn config(files: &[(&str, &str)]) -> Result<Config> {
    evaluator().config(folder(files).path()).map(Option::unwrap)
}

#[test]
fn a_config_with_code_is_evaluated() {
    let parts = "export const integrations = { kv: true, lms: { courses: [3, 4].map((grade) => ({ subject: 'Math', \
                 grade, totalXp: 100 * grade })) } };\n";
    let text = r#"
import { defineConfig } from "@lyceum/cli";
import { integrations } from "./config/parts";
import path from "path";
import "dotenv/config";
import pkg from "./package.json" with { type: "json" };
interface Colours { sea: string }
const words = ["Word", "Rivers"];
const base = { emoji: "🌊" };
const colours: Colours = await Promise.resolve({ sea: "blue" });
console.log("noise", words);
export default defineConfig({
  ...base,
  name: words.join(" "),
  description: `${pkg.version} ${colours.sea} ${process.env.HOME ?? "no home"}`,
  buildPath: path.join("dist", "web"),
  integrations: { ...integrations, bucket: Boolean(words.length) },
}) satisfies object;
"#;
    for name in ["lyceum.config.ts", "lyceum.config.js", "lyceum.config.mjs"] {
        let (ts, plain) =
            (name.ends_with("ts"), text.replace("interface Colours { sea: string }", ""));
        let plain = plain.replace(": Colours", "").replace(" satisfies object", "");
        let text = if ts { text } else { plain.as_str() };
        let files = [
            (name, text),
            ("config/parts.ts", parts),
            ("package.json", r#"{ "version": "1.2.3" }"#),
        ];
        let folder = folder(&files);
        let config = evaluator().config(folder.path()).unwrap().unwrap();
        assert_eq!(config.name.as_deref(), Some("Word Rivers"), "{name}");
        assert_eq!(config.description.as_deref(), Some("1.2.3 blue no home"), "{name}");
        assert_eq!(config.emoji.as_deref(), Some("🌊"));
        assert_eq!(config.build_path.as_deref(), Some("dist/web"));
        assert_eq!(config.integrations.uses.names(), ["kv", "bucket", "lms"]);
        let courses = config.integrations.lms.as_ref().unwrap().courses.iter();
        let courses: Vec<_> = courses.map(|it| (it.grade.as_str(), it.total_xp)).collect();
        assert_eq!(courses, [("3", Some(300.0)), ("4", Some(400.0))]);
        assert!(config.scalars.is_empty(), "there is no literal to rewrite");
        assert!(config.expression("name").is_some() && config.expression("emoji").is_some());
        let inputs: Vec<_> =
            config.inputs.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
        assert!(inputs.contains(&"parts.ts") && inputs.contains(&"package.json"), "{inputs:?}");
    }
    // With its own helper, and as a function.
    let text = "const defineConfig = (config) => config;\nexport default defineConfig(() => ({ name: 'X' + 1 }));";
    assert_eq!(config(&[("lyceum.config.js", text)]).unwrap().name.as_deref(), Some("X1"));
    // Literals can be rewritten.
    let config =
        self::config(&[("lyceum.config.js", "export default { name: 'Rivers' };")]).unwrap();
    assert_eq!((config.name.as_deref(), config.scalars.len()), (Some("Rivers"), 1));
    // JSON needs no runtime.
    let plain = folder(&[("lyceum.config.json", r#"{ "name": "Rivers" }"#)]);
    let config = Evaluator { workerd: None }.config(plain.path()).unwrap().unwrap();
    assert_eq!((config.name.as_deref(), config.scalars.len()), (Some("Rivers"), 1));
}

#[test]
fn a_config_has_no_network_no_files_and_no_environment() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let text = format!(
        r#"
import {{ readFileSync }} from "node:fs";
const attempt = async (work) => {{ try {{ await work(); return "reached"; }} catch {{ return "refused"; }} }};
const found = [
  await attempt(() => fetch("http://{address}/")),
  await attempt(() => fetch("https://example.com/")),
  await attempt(async () => (await import("cloudflare:sockets")).connect("{address}").opened),
  await attempt(() => readFileSync("/etc/passwd")),
  Object.keys(process.env).length,
];
export default {{ name: found.join(" ") }};
"#
    );
    let config = config(&[("lyceum.config.js", &text)]).unwrap();
    assert_eq!(config.name.as_deref(), Some("refused refused refused refused 0"));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody connected");
}

#[test]
fn the_process_that_evaluates_a_config_gets_no_environment() {
    let place = folder(&[("lyceum.config.js", "export default { name: String(1) };")]);
    let (script, seen) = (place.path().join("workerd.sh"), place.path().join("seen"));
    let workerd = evaluator().workerd.unwrap();
    let text = format!(
        "#!/bin/sh\n/usr/bin/env > '{}'\nexec '{}' \"$@\"\n",
        seen.display(),
        workerd.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    let config = Evaluator { workerd: Some(script) }.config(place.path()).unwrap().unwrap();
    assert_eq!(config.name.as_deref(), Some("1"));
    // Variables that a shell sets.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let seen = fs::read_to_string(seen).unwrap();
    let names = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let names: Vec<&str> = names.filter(|name| !own.contains(name)).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_config_that_cannot_be_evaluated_says_why() {
    for (text, wanted) in [
        ("export default { name: nowhere };", "ReferenceError: nowhere is not defined"),
        ("export default { name: 'x' ", "cannot be bundled"),
        ("import x from './none'; export default x;", "Could not resolve \"./none\""),
        ("export const name = String(1);", "has no default export"),
        ("export default { name: String(1), on: { load() {} } };", "on.load must be a text"),
        ("export default [String(1)];", "the config: must be an object"),
        ("export default { nmae: String(1) };", "did you mean 'name'?"),
    ] {
        let problem = config(&[("lyceum.config.js", text)]).unwrap_err();
        assert!(problem.message.contains(wanted), "{text}: {}", problem.message);
    }
    let since = Instant::now();
    let text = "for (;;) {}\nexport default { name: String(1) };";
    let problem = config(&[("lyceum.config.js", text)]).unwrap_err();
    assert!(problem.message.contains("did not end within 5 s"), "{}", problem.message);
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());

    let computes = folder(&[("lyceum.config.js", "export default { name: String(1) };")]);
    let problem = Evaluator { workerd: None }.config(computes.path()).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Unavailable);
    assert!(problem.message.contains("workerd was not found"), "{}", problem.message);
    let two = [("lyceum.config.ts", "export default {};"), ("lyceum.config.json", "{}")];
    assert_eq!(config(&two).unwrap_err().kind, ProblemKind::Conflict);
}

#[test]
fn files_that_a_config_imports_are_watched() {
    let config = "import { folder } from './settings.mjs';\nexport default { name: 'Rivers', integrations: \
                  { customRoutes: { directory: folder + '/api' } } };\n";
    let route = |says: u8| format!("export const GET = (c) => c.json({says});\n");
    let project = Project::of(&[
        ("lyceum.config.mjs", config),
        ("settings.mjs", "export const folder = 'one';\n"),
        ("one/api/says.ts", &route(1)),
        ("two/api/says.ts", &route(2)),
    ]);
    project.until("/api/says", &(200, 1.into()));
    project.write("settings.mjs", "export const folder = 'two';\n");
    project.until("/api/says", &(200, 2.into()));
    project.write("two/api/says.ts", &route(3));
    project.until("/api/says", &(200, 3.into()));
}
