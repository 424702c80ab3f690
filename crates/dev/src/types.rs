//! Writes TypeScript declarations of what a project's routes receive, for editors and compilers.

use std::fs;
use std::path::Path;

use lyceum_deploy::{Route, is_installed};
use lyceum_project::Uses;
use serde_json::Value;

/// The file's name, next to the config.
const FILE: &str = "lyceum-env.d.ts";
const SDK: &str = "@lyceum/sdk";

/// Writes the type of `c` if a route is written in TypeScript and the type changed. It contains names of secrets, but
/// not their values.
pub(crate) fn write<'n>(
    root: &Path,
    routes: &[Route],
    uses: Uses,
    secrets: impl Iterator<Item = &'n String>,
) {
    let is_typed =
        |route: &Route| route.file.extension().is_some_and(|it| it == "ts" || it == "tsx");
    if !routes.iter().any(is_typed) {
        return;
    }
    let (file, text) = (root.join(FILE), text(root, uses, secrets));
    if fs::read_to_string(&file).is_ok_and(|known| known == text) {
        return;
    }
    // Without the file, only editors are affected.
    let _ = fs::write(file, text);
}

fn text<'n>(root: &Path, uses: Uses, secrets: impl Iterator<Item = &'n String>) -> String {
    let stores = union(uses.bindings().map(|binding| binding.names().env));
    let secrets = union(secrets.map(String::as_str));
    let environment = match is_installed(root, SDK) {
        true => format!("import(\"{SDK}/server\").RouteEnvironment<{stores}, {secrets}>;"),
        false => format!("any; // Install {SDK}, which has the type."),
    };
    format!(
        r#"// Written by `lyceum dev`: what the routes of this project find, as in
// `export const GET = (c: Context<LyceumEnv>) => c.json(c.get("user"))`, `new Hono<LyceumEnv>()`, or
// `export default {{ fetch(request: Request, env: LyceumEnv["Bindings"]) {{ … }} }}`. Changes here are lost.
type LyceumEnv = {environment}
"#
    )
}

/// The names as a TypeScript union of texts.
fn union<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.map(|name| Value::from(name).to_string()).collect();
    if names.is_empty() { "never".to_owned() } else { names.join(" | ") }
}
