//! Evaluates modules that describe a project, such as its config, on the developer's machine.
//!
//! A config may import modules and compute. It runs for a few seconds in its own process of workerd, the runtime of
//! backends: without network, without access to files, and with an empty environment. Servers never evaluate configs,
//! because deploys send them plain values.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::{Config, HELPER, file_at, folder_of};
use serde_json::Value;

use crate::backend::COMPATIBILITY_DATE;
use crate::bundle::bundle_with;
use crate::limits::{CONFIG_ANSWER_MAX_BYTES, CONFIG_EVALUATION_MAX_MS, CONFIG_HEAP_MAX_BYTES};

/// Evaluates modules. JSON does not need it.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    /// The runtime; without it, modules cannot be read.
    pub workerd: Option<PathBuf>,
}

/// A module's default export, as JSON.
pub(crate) struct EvaluatedModule {
    pub(crate) value: Value,
    /// The files that it was made from.
    pub(crate) inputs: Vec<PathBuf>,
}

impl Evaluator {
    /// The project's config: the file at the path, or the one in the folder at the path; `None` if there is none.
    ///
    /// Errors: those of [`file_at`] and [`Config::read`]; `Invalid` for a module that cannot be bundled, throws, or
    /// does not end; `Unavailable` if esbuild or workerd is missing for a module.
    pub fn config(&self, path: &Path) -> Result<Option<Config>> {
        let Some(file) = file_at(path)? else { return Ok(None) };
        let evaluate = |file: &Path| {
            self.evaluate(file, HELPER).map(|EvaluatedModule { value, inputs }| (value, inputs))
        };
        Config::read(&file, evaluate).map(Some)
    }

    /// Evaluates the default export of a module. A function is called without arguments. `helper` is the package
    /// whose `defineConfig` returns its argument; it need not be installed.
    pub(crate) fn evaluate(&self, file: &Path, helper: &str) -> Result<EvaluatedModule> {
        let shown = file.display();
        let workerd = self.workerd.as_ref().ok_or_else(|| {
            let message = message!(
                "'{shown}' is a module, which needs workerd, but workerd was not found; run `npm install \
                 --save-dev workerd` in the project, set LYCEUM_WORKERD to the program's path, or write the \
                 values as JSON into a .json file"
            );
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        let failed =
            |error: std::io::Error| Problem::internal(format!("a temporary file: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let mark = folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stubs = write_stubs(folder.path()).map_err(failed)?;
        let root = folder_of(file).canonicalize().map_err(failed)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let entry = ENTRY
            .replace("__MARK__", &Value::from(mark.as_str()).to_string())
            .replace("__FILE__", &Value::from(format!("./{name}")).to_string());
        let bundled = bundle_with(&root, &entry, &aliases(helper, &stubs)).map_err(|problem| {
            let message = message!("'{shown}' cannot be bundled:\n{problem.message}");
            if problem.kind == ProblemKind::Invalid {
                Problem { message, ..problem }
            } else {
                problem
            }
        })?;
        fs::write(folder.path().join(MAIN), &bundled.bytes).map_err(failed)?;
        fs::write(folder.path().join(RUNTIME), runtime()).map_err(failed)?;
        let value = run(workerd, folder.path(), &mark).map_err(|why| {
            Problem::new(ProblemKind::Invalid, message!("'{shown}' cannot be evaluated: {why}"))
        })?;
        let inputs = bundled.inputs.iter().map(|input| root.join(input));
        let inputs = inputs.filter_map(|input| input.canonicalize().ok());
        let stubs = stubs.canonicalize().map_err(failed)?;
        Ok(EvaluatedModule {
            value,
            inputs: inputs.filter(|input| !input.starts_with(&stubs)).collect(),
        })
    }
}

const MAIN: &str = "main.js";
const RUNTIME: &str = "runtime.capnp";
/// The heap limit in mebibytes, because the runtime counts whole ones.
const HEAP_MIB: u64 = CONFIG_HEAP_MAX_BYTES / (1024 * 1024);

/// Imports the module and prints the mark followed by its export. It is imported in a request, because the runtime
/// allows less during startup.
const ENTRY: &str = r#"const plain = (value, path) => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value instanceof Date) return value.toJSON();
  if (Array.isArray(value)) return value.map((item, index) => plain(item, `${path}[${index}]`));
  if (typeof value === "object") {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.map(([name, member]) => [name, plain(member, path ? `${path}.${name}` : name)]));
  }
  const what = typeof value === "number" ? String(value) : `a ${typeof value}`;
  throw new TypeError(`${path || "the default export"} must be a text, a number, true, false, null, a list or an object: it is ${what}`);
};
const answer = async () => {
  try {
    const module = await import(__FILE__);
    if (module.default === undefined) return { error: "it has no default export; write `export default { … }`" };
    const value = await (typeof module.default === "function" ? module.default() : module.default);
    return { value: plain(value, "") };
  } catch (error) {
    return { error: String(error) };
  }
};
export default { async test() { console.log(__MARK__ + JSON.stringify(await answer())); } };
"#;

/// Node modules of the runtime that older code imports without `node:`.
const BUILT_IN: [&str; 6] = ["fs", "os", "path", "process", "url", "util"];

/// Writes replacements for packages that configs import for their helpers. They return what the real packages return
/// without an environment and without `.env` files.
fn write_stubs(folder: &Path) -> std::io::Result<PathBuf> {
    let stubs = folder.join("stubs");
    fs::create_dir_all(stubs.join("dotenv"))?;
    fs::write(stubs.join("helper.js"), "export const defineConfig = (config) => config;\n")?;
    let dotenv = "export const config = () => ({ parsed: {} });\nexport default { config };\n";
    fs::write(stubs.join("dotenv/index.js"), dotenv)?;
    fs::write(stubs.join("dotenv/config.js"), "")?;
    Ok(stubs)
}

fn aliases(helper: &str, stubs: &Path) -> Vec<String> {
    let stub = |name: &str, file: &str| format!("--alias:{name}={}", stubs.join(file).display());
    let built_in = BUILT_IN.iter().map(|name| format!("--alias:{name}=node:{name}"));
    built_in.chain([stub(helper, "helper.js"), stub("dotenv", "dotenv")]).collect()
}

/// The configuration of workerd. Requests that the module sends go to a worker that refuses them, so that not even a
/// DNS lookup happens.
fn runtime() -> String {
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "{MAIN}", esModule = embed "{MAIN}")],
      compatibilityDate = "{COMPATIBILITY_DATE}",
      compatibilityFlags = ["nodejs_compat"],
      globalOutbound = "nowhere",
    )),
    (name = "nowhere", worker = (
      modules = [(name = "nowhere.js", esModule = "export default {{ fetch() {{ throw new Error('a config has no network') }} }}")],
      compatibilityDate = "{COMPATIBILITY_DATE}",
    )),
  ],
  v8Flags = ["--max-old-space-size={HEAP_MIB}", "--single-threaded-gc"],
);
"#
    )
}

/// A process that is killed when this is dropped.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The module's answer. An error is the reason as text.
fn run(workerd: &Path, folder: &Path, mark: &str) -> Result<Value, String> {
    let mut command = Command::new(workerd);
    command.env_clear().current_dir(folder).args(["test", RUNTIME]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = command.spawn().map_err(|fault| format!("{}: {fault}", workerd.display()))?;
    let mut process = KilledOnDrop(process);
    let output = process.0.stdout.take().expect("it is piped");
    let errors = process.0.stderr.take().expect("it is piped");
    let (sender, found) = mpsc::channel();
    let sought = mark.to_owned();
    thread::spawn(move || {
        let most = CONFIG_ANSWER_MAX_BYTES as u64;
        let mut lines = BufReader::new(output.take(most)).lines().map_while(Result::ok);
        let found = lines.find_map(|line| line.strip_prefix(&sought).map(str::to_owned));
        drop(sender.send(found));
    });
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.take(CONFIG_ANSWER_MAX_BYTES as u64).read_to_string(&mut text);
        text
    });
    let patience = Duration::from_millis(CONFIG_EVALUATION_MAX_MS);
    let found = found.recv_timeout(patience);
    drop(process);
    match found {
        Ok(Some(text)) => {
            let mut answer: Value = serde_json::from_str(&text).map_err(|_| too_long())?;
            match answer["error"].as_str() {
                Some(why) => Err(why.to_owned()),
                None => Ok(answer["value"].take()),
            }
        }
        Ok(None) => Err(last_words(&reader.join().unwrap_or_default())),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(format!(
            "it did not end within {} s; it must not wait, and it has no network",
            patience.as_secs()
        )),
    }
}

fn too_long() -> String {
    format!("it exports more than {CONFIG_ANSWER_MAX_BYTES} bytes")
}

/// The reason why the runtime ended without an answer.
fn last_words(errors: &str) -> String {
    let is_news =
        |line: &&str| !line.contains(": debug: ") && !line.trim_start().starts_with("stack:");
    let lines: Vec<&str> = errors.lines().filter(is_news).take(8).collect();
    match (errors.contains("heap out of memory"), lines.is_empty()) {
        (true, _) => format!("it used more than {HEAP_MIB} MiB of memory"),
        (false, true) => "the runtime ended without an answer".to_owned(),
        (false, false) => lines.join("\n"),
    }
}
