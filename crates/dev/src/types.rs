//! Writes TypeScript declarations of what a project's routes receive, for editors and compilers.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lyceum_deploy::{Route, is_installed};
use lyceum_project::Uses;
use serde_json::Value;

/// The file's name, next to the config.
const FILE: &str = "lyceum-env.d.ts";
const RUNTIME: &str = "@cloudflare/workers-types";
const SDK: &str = "@lyceum/sdk";

/// Writes the types of `c.env` and `c.get` if a route is written in TypeScript and the types changed. They contain
/// names of secrets, but not their values.
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
    let is_sdk_installed = is_installed(root, SDK);
    let package = match is_sdk_installed {
        true => Some("@lyceum/sdk/server"),
        false => is_installed(root, RUNTIME).then_some(RUNTIME),
    };
    let of_package = |name: &str| match package {
        Some(package) => format!("import(\"{package}\").{name}"),
        None => "any".to_owned(),
    };
    let bound = [
        (uses.database, "DB", "D1Database"),
        (uses.kv, "KV", "KVNamespace"),
        (uses.bucket, "BUCKET", "R2Bucket"),
    ];
    let mut bindings = String::new();
    for (_, name, sort) in bound.into_iter().filter(|(is_used, ..)| *is_used) {
        let _ = writeln!(bindings, "    {name}: {};", of_package(sort));
    }
    let names = secrets.map(|name| format!("{}: string", Value::from(name.as_str())));
    let secrets = names.collect::<Vec<_>>().join("; ");
    let sdk = match is_sdk_installed {
        true => format!("ReturnType<typeof import(\"{SDK}/server\").backend>"),
        false => "undefined".to_owned(),
    };
    let advice = match package {
        Some(_) => "",
        None => {
            "// Install @lyceum/sdk to get the types of its database, key-value store and bucket.\n"
        }
    };
    format!(
        r#"// Written by `lyceum dev`: what the routes of this project find, as in
// `export const GET = (c: Context<LyceumEnv>) => c.json(c.get("user"))`, `new Hono<LyceumEnv>()`, or
// `export default {{ fetch(request: Request, env: LyceumEnv["Bindings"]) {{ … }} }}`. Changes here are lost.
{advice}
/** Calls routes of this project, or of the platform, by their path. */
interface LyceumService {{
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
}}

/** The user whose token came with a request. */
interface LyceumUser {{
  sub: string;
  username: string;
  demo: boolean;
  name: string;
  email: string;
  email_verified: boolean;
  given_name?: string;
  family_name?: string;
  lms_id?: string;
}}

interface LyceumEnv {{
  Bindings: {{
{bindings}    SELF: LyceumService;
    LYCEUM?: LyceumService;
    GAME_ID: string;
    LYCEUM_BASE_URL: string;
    secrets: {{ {secrets} }};
  }};
  Variables: {{
    user: LyceumUser | null;
    lyceumUser: LyceumUser | null;
    sdk: {sdk};
  }};
}}
"#
    )
}
