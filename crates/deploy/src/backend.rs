//! The backend: a generated entry module with all routes, bundled into one module.

use std::fmt::Write;
use std::path::Path;

use lyceum_core::Result;
use lyceum_core::text::hex;
use lyceum_project::{Backend, Module, Uses};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bundle::{BundledModule, bundle, input};
use crate::limits::PREFLIGHT_MAX_AGE_S;
use crate::routes::Route;

/// The part of the entry module that is the same for all projects.
const SERVE: &str = include_str!("entry.js");

/// The compatibility date of backends that do not set one.
pub const COMPATIBILITY_DATE: &str = "2026-04-01";
/// Change this with the generated code, so that backends are deployed again.
const FORMAT: &str = "3";
const MAIN: &str = "worker.js";

/// Where a bundle runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// On a server.
    Server,
    /// In `lyceum dev`, which shows errors with the project's sources.
    Development,
}

/// A bundled backend.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its description for the server.
    pub backend: Backend,
    /// The bytes of the module.
    pub bytes: Vec<u8>,
    /// The source map of the module (ECMA-426) with all sources; only for development.
    pub source_map: Option<Vec<u8>>,
    /// The files that it was made from, relative to the project's folder.
    pub inputs: Vec<String>,
}

impl Bundle {
    /// Bundles the routes of a project. The hash covers everything that the bundle depends on: every imported file,
    /// the bindings and the generated code. Equal folders have equal hashes.
    ///
    /// Errors: `Unavailable` without esbuild; `Invalid` with esbuild's messages.
    pub fn of(
        root: &Path,
        routes: &[Route],
        uses: Uses,
        date: &str,
        target: Target,
    ) -> Result<Self> {
        let entry = entry(root, routes, uses, target);
        let output = bundle(root, &entry, target)?;
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(FORMAT.as_bytes());
        part(entry.as_bytes());
        part(uses.names().join(" ").as_bytes());
        for path in &output.inputs {
            part(path.as_bytes());
            part(&input(root, path)?);
        }
        let module = Module {
            name: MAIN.to_owned(),
            sha256: hex(Sha256::digest(&output.bytes)),
            size: output.bytes.len() as u64,
        };
        let backend = Backend {
            source_hash: hex(hash.finalize()),
            main: MAIN.to_owned(),
            modules: vec![module],
            compatibility_date: date.to_owned(),
            routes: routes.iter().map(|route| route.path.clone()).collect(),
        };
        let BundledModule { bytes, source_map, inputs } = output;
        Ok(Self { backend, bytes, source_map, inputs })
    }
}

/// The entry module: the routes in the order in which they are tried, an index of them, and errors as JSON. Routes
/// find the user in `c.get("user")`, and the SDK in `c.get("sdk")` if the project has installed it.
fn entry(root: &Path, routes: &[Route], uses: Uses, target: Target) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let mut imports = String::new();
    let mut table = String::new();
    for (number, Route { file, path }) in routes.iter().enumerate() {
        let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let from = if file.starts_with('/') { file } else { format!("./{file}") };
        let _ = writeln!(imports, "import * as route{number} from {};", text(&from));
        let file = from.trim_start_matches("./");
        let _ = writeln!(table, "  [{}, route{number}, {}],", text(path), text(file));
    }
    let sdk = match is_installed(root, "@lyceum/sdk") {
        true => "import { backend as sdk } from \"@lyceum/sdk/server\";",
        false => "const sdk = () => undefined;",
    };
    let learns = uses.lms;
    let is_development = target == Target::Development;
    format!(
        "import {{ Hono }} from \"hono\";\n{sdk}\n{imports}\nconst learns = {learns};\n\
         const isDevelopment = {is_development};\nconst preflightSeconds = {PREFLIGHT_MAX_AGE_S};\nconst routes = [\n{table}];\n{SERVE}"
    )
}

/// Whether a package is installed for the project of a folder.
pub fn is_installed(root: &Path, package: &str) -> bool {
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let manifest = Path::new("node_modules").join(package).join("package.json");
    root.ancestors().any(|folder| folder.join(&manifest).is_file())
}
