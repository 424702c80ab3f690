//! The configuration of a workerd process, as the text of a Cap'n Proto constant.

use std::fmt::Write as _;
use std::path::Path;

use lyceum_project::BindingNames;

use super::Worker;
use crate::bindings::{self, BINDING_HEADER};

/// Lets `env.SELF.fetch('/api/…')` and `env.LYCEUM.fetch` take a path. A plain service binding needs a whole URL.
const SELF: &str = r#"
export default function (env) {
  const whole = (input) =>
    typeof input === "string" && input.startsWith("/") ? "http://self" + input : input;
  return { fetch: (input, init) => env.fetcher.fetch(whole(input), init) };
}
"#;

/// Names of files in the folder of a process.
pub(super) const FRONT: &str = "front.sock";
pub(super) const PULSE: &str = "pulse.sock";
pub(super) const BINDINGS: &str = "bindings.sock";
pub(super) const CONFIG: &str = "config.capnp";

/// The header that tells the runtime whether the caller used HTTP or HTTPS.
pub const SCHEME_HEADER: &str = "lyceum-scheme";

/// The file name of module `index` of the worker.
pub(super) fn module_file(index: usize) -> String {
    format!("module{index}")
}

/// The configuration. `token` is what the process must show to the server of bindings.
pub(super) fn text(worker: &Worker, folder: &Path, heap_bytes: u64, token: &str) -> String {
    let mut services = String::new();
    let mut members = String::new();
    for binding in worker.stores.keys() {
        let BindingNames { key, env, .. } = binding.names();
        let client = bindings::client(*binding).replace("SERVICE", key);
        let _ = writeln!(members, "(name = \"{env}\", {client}),");
        services.push_str(&external(key, folder, token));
    }
    services.push_str(&external("pulse", folder, token));
    if worker.api.is_some() {
        services.push_str(&external("api", folder, token));
        members.push_str(&wrapped("LYCEUM", "api"));
    }
    members.push_str(&wrapped("SELF", "main"));
    for (name, value) in &worker.variables {
        let _ = writeln!(members, "(name = {}, text = {}),", quoted(name), quoted(value));
    }
    let secrets = serde_json::to_string(&worker.secrets).expect("texts are JSON");
    let modules = modules(worker);
    let self_module = quoted(SELF);
    let heap_mib = heap_bytes / (1024 * 1024);
    let (secrets, date) = (quoted(&secrets), quoted(&worker.compatibility_date));
    let [front, pulse] = [FRONT, PULSE].map(|socket| address(&folder.join(socket)));
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [{modules}],
      compatibilityDate = {date},
      compatibilityFlags = ["nodejs_compat"],
      bindings = [
        {members}
        (name = "secrets", json = {secrets}),
      ],
      globalOutbound = "public",
    )),
    (name = "public", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true))),
    {services}
  ],
  sockets = [
    (name = "front", address = {front}, http = (forwardedProtoHeader = "{SCHEME_HEADER}"), service = "main"),
    (name = "pulse", address = {pulse}, http = (), service = "pulse"),
  ],
  extensions = [(modules = [(name = "lyceum:self", esModule = {self_module}, internal = true)])],
  logging = (structuredLogging = true),
  v8Flags = ["--max-old-space-size={heap_mib}", "--single-threaded-gc"],
);
"#
    )
}

/// A binding of a service whose `fetch` takes paths.
fn wrapped(name: &str, service: &str) -> String {
    let inner = format!("(name = \"fetcher\", service = \"{service}\")");
    format!(
        "(name = \"{name}\", wrapped = (moduleName = \"lyceum:self\", innerBindings = [{inner}])),\n"
    )
}

fn external(service: &str, folder: &Path, token: &str) -> String {
    let address = address(&folder.join(BINDINGS));
    let stamp = format!(r#"(name = "{BINDING_HEADER}", value = "{service} {token}")"#);
    format!(
        "(name = \"{service}\", external = (address = {address}, http = (injectRequestHeaders = [{stamp}]))),\n"
    )
}

/// The main module comes first, because the runtime starts the first one.
fn modules(worker: &Worker) -> String {
    let mut modules: Vec<_> = worker.modules.iter().enumerate().collect();
    modules.sort_by_key(|(_, (name, _))| *name != worker.main);
    let texts = modules.into_iter().map(|(index, (name, _))| {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        let sort = match extension {
            Some("js" | "mjs") => "esModule",
            Some("cjs") => "commonJsModule",
            Some("json") => "json",
            Some("wasm") => "wasm",
            Some("txt" | "html" | "sql") => "text",
            _ => "data",
        };
        format!("(name = {}, {sort} = embed \"{}\")", quoted(name), module_file(index))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn address(socket: &Path) -> String {
    quoted(&format!("unix:{}", socket.display()))
}

/// Quotes a text for Cap'n Proto. Bytes that could end the text or its line are escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\x{:02x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
