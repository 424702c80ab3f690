//! Bundles with esbuild, run as a separate program.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use lyceum_core::{Message, Problem, ProblemKind, Result, config, message};
use serde_json::Value;

use crate::backend::Target;
use crate::unreadable;

/// A bundled module, and the files that it was made from.
pub(crate) struct BundledModule {
    /// The module's bytes.
    pub(crate) bytes: Vec<u8>,
    /// Its source map, if one was asked for.
    pub(crate) source_map: Option<Vec<u8>>,
    /// Paths relative to the project's folder, sorted.
    pub(crate) inputs: Vec<String>,
}

const FLAGS: [&str; 11] = [
    "--bundle",
    "--format=esm",
    "--platform=neutral",
    "--target=es2022",
    "--main-fields=module,main",
    "--conditions=workerd,worker,browser,import",
    "--external:node:*",
    "--external:cloudflare:*",
    "--legal-comments=none",
    "--log-level=warning",
    "--color=false",
];

/// The name of the generated entry module in messages and source maps.
pub const ENTRY: &str = "lyceum-entry.js";
/// Writes a source map that the module does not mention.
const SOURCE_MAP: &str = "--sourcemap=external";

/// Bundles a generated entry module. Its imports are resolved from the project's folder.
///
/// Errors: `Unavailable` without esbuild; `Invalid` with esbuild's messages.
pub(crate) fn bundle(root: &Path, entry: &str, target: Target) -> Result<BundledModule> {
    let flags = match target {
        Target::Server => Vec::new(),
        Target::Development => vec![SOURCE_MAP.to_owned()],
    };
    bundle_with(root, entry, &flags).map_err(|problem| match problem.kind {
        ProblemKind::Invalid => {
            let text = problem.message.to_string();
            let hint = missing_packages(&text).unwrap_or_default();
            let message = message!("the backend cannot be bundled:\n{text}{hint}");
            Problem::new(ProblemKind::Invalid, message)
        }
        _ => problem,
    })
}

/// The remedy if esbuild did not find packages: a line that begins with `hint: `.
fn missing_packages(text: &str) -> Option<String> {
    let paths =
        text.split("Could not resolve \"").skip(1).filter_map(|rest| rest.split('"').next());
    let packages: BTreeSet<_> = paths.filter_map(package_of).collect();
    let names = packages.into_iter().collect::<Vec<_>>().join(" ");
    (!names.is_empty()).then(|| format!("\nhint: run `npm install {names}` in the project"))
}

/// The package in which an imported path is; `None` for paths of files and for modules of the runtime.
fn package_of(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    let first = parts.next().filter(|first| !first.is_empty() && !first.starts_with(['.', '#']))?;
    let name = match first.strip_prefix('@') {
        // `@/x` is usually an alias for a folder of the project.
        Some(scope) if !scope.is_empty() => format!("{first}/{}", parts.next()?),
        Some(_) => return None,
        None => first.to_owned(),
    };
    (!name.contains(':')).then_some(name)
}

/// Like [`bundle`], with further flags for esbuild. An `Invalid` error has only esbuild's messages.
pub(crate) fn bundle_with(root: &Path, entry: &str, flags: &[String]) -> Result<BundledModule> {
    let program = find(root)?;
    let failed = |error: std::io::Error| Problem::internal(format!("esbuild: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let (out, meta) = (folder.path().join("worker.js"), folder.path().join("meta.json"));
    let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let mut command = Command::new(&program);
    command.args(FLAGS).args(flags);
    command.arg(flag("outfile", &out)).arg(flag("metafile", &meta));
    command.arg(format!("--sourcefile={ENTRY}")).arg("--loader=js").current_dir(root);
    // A project without its own Hono uses the one installed with this program.
    command.env("NODE_PATH", std::env::join_paths(beside_this_program()).unwrap_or_default());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().map_err(|error| {
        let message = message!("cannot run '{program}': {error}", program = program.display());
        Problem::new(ProblemKind::Unavailable, message)
    })?;
    // If esbuild has already ended, its output says why.
    let _ = process.stdin.take().expect("it is piped").write_all(entry.as_bytes());
    let output = process.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Problem::new(ProblemKind::Invalid, Message::untranslated(text)));
    }
    let meta: Value =
        serde_json::from_slice(&fs::read(&meta).map_err(failed)?).map_err(Problem::internal)?;
    let inputs = meta["inputs"].as_object().into_iter().flatten().map(|(path, _)| path.clone());
    let mut inputs: Vec<_> = inputs.filter(|path| !path.starts_with('<')).collect();
    inputs.retain(|path| path != ENTRY);
    inputs.sort();
    let source_map = match flags.iter().any(|flag| flag == SOURCE_MAP) {
        true => Some(source_map(root, folder.path()).map_err(failed)?),
        false => None,
    };
    Ok(BundledModule { bytes: fs::read(&out).map_err(failed)?, source_map, inputs })
}

/// Reads the source map in esbuild's folder and names its sources as seen from the project's folder. esbuild names
/// them as seen from its own.
fn source_map(root: &Path, folder: &Path) -> std::io::Result<Vec<u8>> {
    let (root, folder) = (root.canonicalize()?, folder.canonicalize()?);
    let mut map: Value = serde_json::from_slice(&fs::read(folder.join("worker.js.map"))?)?;
    for source in map["sources"].as_array_mut().into_iter().flatten() {
        let file = without_dots(&folder.join(source.as_str().unwrap_or_default()));
        *source = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into();
    }
    Ok(serde_json::to_vec(&map)?)
}

/// The path without `..`. The file need not exist.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

/// The folders with the packages that are installed with this program.
fn beside_this_program() -> Vec<PathBuf> {
    std::env::current_exe().map(|program| packages_above(&program)).unwrap_or_default()
}

fn packages_above(path: &Path) -> Vec<PathBuf> {
    path.ancestors().map(|folder| folder.join("node_modules")).collect()
}

/// Reads an input as esbuild named it.
pub(crate) fn input(root: &Path, path: &str) -> Result<Vec<u8>> {
    let file = root.join(path);
    fs::read(&file).map_err(|error| unreadable(&file, &error))
}

/// Finds esbuild: the file that `LYCEUM_ESBUILD` names, otherwise the one in `node_modules` of the project's folder
/// or a folder above, then the one next to this program, then the one on the `PATH`.
fn find(root: &Path) -> Result<PathBuf> {
    if let Some(named) = config::variable("LYCEUM_ESBUILD").filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    for folder in packages_above(&root).into_iter().chain(beside_this_program()) {
        let packages = fs::read_dir(folder.join("@esbuild")).into_iter().flatten().flatten();
        let native = packages.map(|package| package.path().join("bin/esbuild"));
        let shim = folder.join(".bin/esbuild");
        if let Some(found) = native.chain([shim]).find(|program| program.is_file()) {
            return Ok(found);
        }
    }
    let path = config::variable("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(OsStr::new(&path)).map(|folder| folder.join("esbuild"));
    on_path.into_iter().find(|program| program.is_file()).ok_or_else(|| {
        let message = "esbuild was not found; it bundles backends and configs. Run `npm install --save-dev \
                       esbuild` in the project, or set LYCEUM_ESBUILD to the program's path";
        Problem::new(ProblemKind::Unavailable, message)
    })
}
