//! What the tests need beside the Rust toolchain, installed where that is possible.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::run::{cargo, command, output, run, works};

/// Programs that the build and the tests run, with their packages in Debian.
const PROGRAMS: [(&str, &str); 7] = [
    ("make", "make"),
    ("xmllint", "libxml2-utils"),
    ("strace", "strace"),
    ("chromium", "chromium"),
    ("pgbouncer", "pgbouncer"),
    ("debootstrap", "debootstrap"),
    ("buildah", "buildah"),
];

/// Installs what is missing, or says what to install.
pub(crate) fn install() -> Result<()> {
    for component in ["fmt", "clippy"] {
        if !works("cargo", &[component, "--version"]) {
            let name = if component == "fmt" { "rustfmt" } else { component };
            bail!("`cargo {component}` is missing; run `rustup component add {name}`");
        }
    }
    if !works("cargo", &["nextest", "--version"]) {
        run(cargo(["install", "--locked", "cargo-nextest"]))?;
    }
    let mut packages = Vec::new();
    if !has_postgres() {
        packages.push("postgresql");
    }
    if !works("python3", &["-c", "import venv, ensurepip"]) {
        packages.extend(["python3", "python3-venv"]);
    }
    for (program, package) in PROGRAMS {
        if !works(program, &["--version"]) {
            packages.push(package);
        }
    }
    if packages.is_empty() {
        println!(
            "PostgreSQL, PgBouncer, Python, make, xmllint, strace, debootstrap, buildah and Chromium are installed"
        );
        return Ok(());
    }
    install_packages(&packages)
}

fn install_packages(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    let is_root = output(command("id", ["-u"]))?.trim() == "0";
    if !is_root || !works("apt-get", &["--version"]) {
        bail!(
            "the tests need {names}; install with `sudo apt-get install {names}` or your system's like"
        );
    }
    run(command("apt-get", ["update", "--quiet"]))?;
    let mut install =
        command("apt-get", ["install", "--quiet", "--yes", "--no-install-recommends"]);
    install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    run(install)
}

/// Whether the server programs of PostgreSQL are on the PATH or where Debian puts them.
fn has_postgres() -> bool {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).collect::<Vec<PathBuf>>();
    debian
        .map(|version| version.path().join("bin"))
        .chain(folders)
        .any(|folder| folder.join("initdb").exists())
}
