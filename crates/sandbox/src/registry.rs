//! The list of running sandboxes, for other tools: one JSON file per user.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lyceum_core::Problem;
use lyceum_core::config;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A running sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningSandbox {
    /// Process id.
    pub pid: u32,
    /// Its port.
    pub port: u16,
    /// Its address, without a slash at the end.
    pub url: String,
    /// The project's name.
    pub project: String,
    /// The project's slug.
    pub slug: String,
    /// The game that stands in for the project.
    pub game_id: String,
    /// `mock`, `local` or `remote`; `None` if the integration is disabled.
    pub learning: Option<String>,
    /// The database file; `None` if the database is in memory.
    pub database: Option<PathBuf>,
    /// When it started.
    pub started_at: String,
}

#[derive(Default, Serialize, Deserialize)]
struct SandboxList {
    sandboxes: Vec<RunningSandbox>,
}

/// An entry in the list. Dropping it removes the entry.
pub struct RegistryEntry(u32);

/// `lyceum/sandboxes.json` below `$XDG_RUNTIME_DIR`, else `$XDG_STATE_HOME`, else `~/.local/state`.
pub fn file() -> Option<PathBuf> {
    let folder = |name: &str| config::variable(name).filter(|path| !path.is_empty());
    let home = || folder("HOME").map(|home| Path::new(&home).join(".local/state"));
    let parent = folder("XDG_RUNTIME_DIR").or_else(|| folder("XDG_STATE_HOME"));
    Some(parent.map(PathBuf::from).or_else(home)?.join("lyceum/sandboxes.json"))
}

/// The running sandboxes.
pub fn running() -> Vec<RunningSandbox> {
    file().map(|file| read(&file)).unwrap_or_default()
}

/// Adds a sandbox to the list, and removes entries of processes that have ended.
///
/// Errors: the file cannot be written.
pub fn register(entry: RunningSandbox) -> Result<RegistryEntry, Problem> {
    let pid = entry.pid;
    change(|listed| {
        listed.retain(|other| other.pid != pid && other.port != entry.port);
        listed.push(entry);
    })
    .map_err(Problem::internal)?;
    Ok(RegistryEntry(pid))
}

impl Drop for RegistryEntry {
    fn drop(&mut self) {
        // If this fails, the next sandbox removes the entry.
        let _ = change(|listed| listed.retain(|entry| entry.pid != self.0));
    }
}

/// Changes the list under a lock. Readers see the old list or the new one.
fn change(work: impl FnOnce(&mut Vec<RunningSandbox>)) -> std::io::Result<()> {
    let Some(file) = file() else { return Ok(()) };
    let folder = file.parent().expect("the file lies in a folder");
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("sandboxes.lock"))?;
    lock.lock()?;
    let mut listed = SandboxList { sandboxes: read(&file) };
    work(&mut listed.sandboxes);
    let draft = file.with_extension("new");
    fs::write(&draft, format!("{}\n", serde_json::to_string_pretty(&listed)?))?;
    fs::rename(&draft, &file)
}

fn read(file: &Path) -> Vec<RunningSandbox> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let listed: SandboxList = serde_json::from_str(&text).unwrap_or_default();
    listed.sandboxes.into_iter().filter(|entry| is_alive(entry.pid)).collect()
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
