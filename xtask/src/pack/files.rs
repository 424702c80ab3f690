//! The files of a system-wide installation, as they lie below `/`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::licences;
use crate::run::{command, output, root, run};

/// A folder laid out as the root of a file system.
pub(super) struct FileTree {
    pub(super) root: PathBuf,
    /// The version of the workspace, for example `0.1.0`.
    pub(super) version: String,
}

impl FileTree {
    /// Lays out the program, the runtime of backends, the manual pages, the completions, the licences, the
    /// systemd unit, the alerts and the example configuration in this folder, which is replaced.
    pub(super) fn create(program: &Path, folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let tree = Self { root: folder.to_owned(), version: version()? };
        let installed = tree.copy(program, "usr/bin/lyceum", 0o755)?;
        let mut strip = command("strip", ["--strip-all"]);
        strip.arg(&installed);
        run(strip).context("the program's symbols were not removed; install binutils")?;
        tree.copy(&workerd(), "usr/lib/lyceum/workerd", 0o755)?;

        let project = |name: &str| root().join(name);
        tree.copy(
            &project("packaging/lyceum.service"),
            "usr/lib/systemd/system/lyceum.service",
            0o644,
        )?;
        tree.copy(&project("packaging/lyceum.toml"), "etc/lyceum/lyceum.toml", 0o644)?;
        for name in ["prometheus-rules.yml", "grafana-dashboard.json"] {
            let from = project("packaging/monitoring").join(name);
            tree.copy(&from, &format!("usr/share/lyceum/monitoring/{name}"), 0o644)?;
        }
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
            tree.copy(&project(name), &format!("usr/share/doc/lyceum/{name}"), 0o644)?;
        }
        tree.write("usr/share/doc/lyceum/THIRD-PARTY-LICENSES.txt", &licences::text()?)?;
        for (shell, path) in [
            ("bash", "usr/share/bash-completion/completions/lyceum"),
            ("zsh", "usr/share/zsh/site-functions/_lyceum"),
            ("fish", "usr/share/fish/vendor_completions.d/lyceum.fish"),
        ] {
            tree.write(path, &output(command(&installed, ["completions", shell]))?)?;
        }
        let pages = tree.root.join("usr/share/man/man1");
        fs::create_dir_all(&pages)?;
        let mut man = command(&installed, ["man"]);
        man.arg(&pages);
        run(man)?;
        Ok(tree)
    }

    fn copy(&self, from: &Path, to: &str, mode: u32) -> Result<PathBuf> {
        let path = self.root.join(to);
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::copy(from, &path).with_context(|| format!("cannot copy {}", from.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        Ok(path)
    }

    fn write(&self, to: &str, text: &str) -> Result<()> {
        let path = self.root.join(to);
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The runtime that the tests of hosting use.
fn workerd() -> PathBuf {
    let system = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-64" };
    root().join(format!("tests/hosting/node_modules/@cloudflare/workerd-{system}/bin/workerd"))
}

fn version() -> Result<String> {
    let metadata = licences::metadata()?;
    let package = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == "lyceum"));
    package
        .and_then(|package| package["version"].as_str())
        .map(str::to_owned)
        .context("cargo metadata names no version of lyceum")
}

/// Reads a JSON file of the project.
pub(super) fn json(path: &Path) -> Result<Value> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
