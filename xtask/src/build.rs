//! `cargo xtask build`: the console's assets, the npm packages and the release binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::run::{cargo, command, lyceum, root, run, target};

/// Builds the assets, then the binary that embeds them.
pub(crate) fn all() -> Result<()> {
    assets()?;
    release()?;
    println!("built {}", lyceum().display());
    Ok(())
}

/// Leaves out jemalloc, which takes minutes to compile.
pub(crate) const FAST_TO_COMPILE: &str = "--no-default-features";

/// Builds the release binary.
pub(crate) fn release() -> Result<()> {
    run(cargo(["build", "--release", "--package", "lyceum"]))
}

/// Builds the release before this one, whose commit is in the file `previous-release`, and returns the path of its program.
pub(crate) fn previous_release() -> Result<PathBuf> {
    let file = root().join("xtask/previous-release");
    let commit = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let commit = commit.trim();
    let (tree, output) = (target().join("previous"), target().join("previous-build"));
    if !tree.exists() {
        let tree = tree.to_string_lossy();
        run(command("git", ["worktree", "add", "--force", "--detach", &tree, commit]))?;
    }
    let mut checkout = command("git", ["checkout", "--quiet", "--detach", commit]);
    checkout.current_dir(&tree);
    run(checkout)?;
    for arguments in [INSTALL, &["run", "build"]] {
        npm(&tree.join("web/console"), arguments)?;
    }
    let mut build = cargo(["build", "--release", "--package", "lyceum"]);
    build.current_dir(&tree).env("CARGO_TARGET_DIR", &output);
    run(build)?;
    Ok(output.join("release/lyceum"))
}

/// Builds the smallest program, in the profile `small` of `Cargo.toml`, and returns its path.
pub(crate) fn small() -> Result<PathBuf> {
    assets()?;
    run(cargo(["build", "--profile", "small", "--package", "lyceum"]))?;
    Ok(target().join("small/lyceum"))
}

/// Builds a program that compiles fast, in the profile `demo` of `Cargo.toml`, and returns its path.
pub(crate) fn demo() -> Result<PathBuf> {
    run(cargo(["build", "--profile", "demo", "--package", "lyceum", FAST_TO_COMPILE]))?;
    Ok(target().join("demo/lyceum"))
}

/// Gathers the assets of the console's pages from npm packages and our own sources, unless they
/// are newer than both.
pub(crate) fn assets() -> Result<()> {
    let folder = root().join("web/console");
    if is_fresh(&folder) {
        return Ok(());
    }
    npm(&folder, INSTALL).context("the console's assets were not built")?;
    npm(&folder, &["run", "build"]).context("the console's assets were not built")
}

/// Compiles the npm packages for app developers; what they need is installed unless it is there.
pub(crate) fn packages() -> Result<()> {
    installed("web")?;
    npm(&root().join("web"), &["run", "build"]).context("the npm packages were not compiled")
}

/// Installs the npm packages that a folder's lock file names, unless they are there.
pub(crate) fn installed(folder: &str) -> Result<()> {
    let path = root().join(folder);
    let time = |name| times(&path.join(name)).max();
    if time("node_modules/.package-lock.json") < time("package-lock.json") {
        npm(&path, INSTALL).with_context(|| format!("what {folder} needs was not installed"))?;
    }
    Ok(())
}

const INSTALL: &[&str] = &["ci", "--no-audit", "--no-fund"];

fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut npm = command("npm", arguments);
    npm.current_dir(folder);
    run(npm)
}

fn is_fresh(folder: &Path) -> bool {
    let sources = ["package.json", "package-lock.json", "build.mjs", "src"];
    let newest_source = sources.iter().filter_map(|name| times(&folder.join(name)).max()).max();
    let oldest_asset = times(&folder.join("dist")).min();
    oldest_asset.is_some_and(|asset| newest_source.is_some_and(|source| source <= asset))
}

/// When a file, or each file of a folder, was last written.
fn times(path: &Path) -> impl Iterator<Item = SystemTime> {
    let files: Vec<_> = match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path.to_owned()],
    };
    files.into_iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok())
}
