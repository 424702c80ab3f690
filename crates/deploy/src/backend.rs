//! The backend: a generated entry module with all routes, bundled into one module.

use std::fmt::Write;
use std::path::Path;

use lyceum_core::Result;
use lyceum_core::limits::PREFLIGHT_MAX_AGE_S;
use lyceum_core::text::hex;
use lyceum_project::{Backend, Module, Uses};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bundle::{bundle, input};
use crate::routes::Route;

/// The compatibility date of backends that do not set one.
pub const COMPATIBILITY_DATE: &str = "2026-04-01";
/// Change this with the generated code, so that backends are deployed again.
const FORMAT: &str = "2";
const MAIN: &str = "worker.js";

/// A bundled backend.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its description for the server.
    pub backend: Backend,
    /// The bytes of the module.
    pub bytes: Vec<u8>,
    /// The files that it was made from, relative to the project's folder.
    pub inputs: Vec<String>,
}

impl Bundle {
    /// Bundles the routes of a project. The hash covers everything that the bundle depends on: every imported file,
    /// the bindings and the generated code. Equal folders have equal hashes.
    ///
    /// Errors: `Unavailable` without esbuild; `Invalid` with esbuild's messages.
    pub fn of(root: &Path, routes: &[Route], uses: Uses, date: &str) -> Result<Self> {
        let entry = entry(root, routes, uses);
        let output = bundle(root, &entry)?;
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
        Ok(Self { backend, bytes: output.bytes, inputs: output.inputs })
    }
}

/// The entry module: the routes in the order in which they are tried, an index of them, and errors as JSON. Routes
/// find the user in `c.get("user")`, and the SDK in `c.get("sdk")` if the project has installed it.
fn entry(root: &Path, routes: &[Route], uses: Uses) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let mut imports = String::new();
    let mut table = String::new();
    for (number, Route { file, path }) in routes.iter().enumerate() {
        let file = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let from = if file.starts_with('/') { file } else { format!("./{file}") };
        let _ = writeln!(imports, "import * as route{number} from {};", text(&from));
        let _ = writeln!(table, "  [{}, route{number}],", text(path));
    }
    let sdk = match is_installed(root, "@lyceum/sdk") {
        true => "import { backend as sdk } from \"@lyceum/sdk/server\";",
        false => "const sdk = () => undefined;",
    };
    let learns = uses.lms;
    format!(
        "import {{ Hono }} from \"hono\";\n{sdk}\n{imports}\nconst learns = {learns};\n\
         const preflightSeconds = {PREFLIGHT_MAX_AGE_S};\nconst routes = [\n{table}];\n{SERVE}"
    )
}

/// Whether a package is installed for the project of a folder.
pub fn is_installed(root: &Path, package: &str) -> bool {
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let manifest = Path::new("node_modules").join(package).join("package.json");
    root.ancestors().any(|folder| folder.join(&manifest).is_file())
}

const SERVE: &str = r#"const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const served = (module) => methods.filter((method) => typeof module[method] === "function");
const problem = (code, message) => ({ error: { code, message, details: [] } });
const app = new Hono();
// Games run on pages of any origin. Callers are identified by a token and never by cookies, so no page can act for
// another one. If a route sets its own CORS headers, they are kept.
app.use(async (c, next) => {
  if (c.req.method === "OPTIONS" && c.req.header("access-control-request-method")) {
    return c.body(null, 204, {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": c.req.header("access-control-request-headers") ?? "",
      "Access-Control-Max-Age": String(preflightSeconds),
    });
  }
  await next();
  if (!c.req.header("origin") || c.res.status === 101 || c.res.headers.has("access-control-allow-origin")) return;
  c.header("Access-Control-Allow-Origin", "*");
  c.header("Access-Control-Expose-Headers", "*");
});
app.use(async (c, next) => {
  const told = c.req.header("lyceum-user");
  const user = told ? JSON.parse(decodeURIComponent(told)) : null;
  c.set("user", user);
  c.set("lyceumUser", user);
  c.set("sdk", sdk(c.env));
  await next();
});
for (const [path, module] of routes) {
  const methods = served(module);
  for (const method of methods) app.on(method, path, (c) => module[method](c));
  app.all(path, (c) => c.json(problem("METHOD_NOT_ALLOWED", `${methods.join(", ")} are served here`), 405, { Allow: methods.join(", ") }));
}
// Forwards learning requests of the project's players to the platform, with the player's token.
const learn = (c) => {
  const { pathname, search } = new URL(c.req.url);
  const rest = pathname.replace(/^\/api\/integrations\/[a-z]+/, "");
  if (!c.env.LYCEUM) return c.json(problem("LMS_DISABLED", "there is no platform to learn with; start `lyceum sandbox`"), 503);
  // Without a player's token, the platform would treat this as a request of the backend, which has access to every
  // student.
  if (!c.get("user")) return c.json(problem("UNAUTHORIZED", "this needs the token of a player of this project"), 401);
  return c.env.LYCEUM.fetch(`/api/lms${rest}${search}`, c.req.raw);
};
if (learns) for (const name of ["lms", "timeback"]) app.all(`/api/integrations/${name}/*`, learn);
app.get("/api", (c) => c.json({ routes: routes.map(([path, module]) => ({ path, methods: served(module) })) }));
app.get("/health", (c) => c.json({ status: "ok", timestamp: new Date().toISOString() }));
app.notFound((c) => c.json(problem("NOT_FOUND", `there is no route ${c.req.path}; GET /api lists all`), 404));
app.onError((error, c) => {
  if (typeof error.getResponse === "function") return error.getResponse();
  console.error(error);
  return c.json(problem("INTERNAL", "the route failed; the logs say why"), 500);
});
export default { fetch: (request, env, ctx) => app.fetch(request, env, ctx) };
"#;
