//! Programs that the tests need beside the Rust toolchain, installed if that is possible.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::run::{command, output, run, works};
use crate::test::Level;

/// Programs that the tests of every change run, with their packages in Debian.
const PROGRAMS: [(&str, &str); 1] = [("chromium-headless-shell", "chromium-headless-shell")];

/// Programs that only the other tests run.
const MORE_PROGRAMS: [(&str, &str); 16] = [
    ("make", "make"),
    ("xmllint", "libxml2-utils"),
    ("strace", "strace"),
    ("pgbouncer", "pgbouncer"),
    ("debootstrap", "debootstrap"),
    ("ip", "iproute2"),
    ("podman", "podman"),
    ("runc", "runc"),
    ("nginx", "nginx"),
    ("caddy", "caddy"),
    ("haproxy", "haproxy"),
    ("promtool", "prometheus"),
    ("iptables", "iptables"),
    ("mkfs.ext4", "e2fsprogs"),
    ("faketime", "faketime"),
    ("valgrind", "valgrind"),
];

/// A text about the programs that [`install`] and the steps after it put on this machine.
pub(crate) fn announcement(level: Level) -> String {
    let missing = match missing_packages(level).as_slice() {
        [] => "No Debian package is missing.".to_owned(),
        packages => format!("They install these Debian packages: {}.", packages.join(", ")),
    };
    format!("{missing} They install npm packages in this folder: below web and tests.")
}

/// Installs what is missing, or says what to install.
pub(crate) fn install(level: Level) -> Result<()> {
    for component in ["fmt", "clippy"] {
        if !works("cargo", &[component, "--version"]) {
            let name = if component == "fmt" { "rustfmt" } else { component };
            bail!("`cargo {component}` is missing; run `rustup component add {name}`");
        }
    }
    let packages = missing_packages(level);
    if packages.is_empty() {
        println!("all programs that the tests run are installed");
        return Ok(());
    }
    install_packages(&packages)
}

/// The Debian packages that are missing.
fn missing_packages(level: Level) -> Vec<&'static str> {
    let mut packages = Vec::new();
    if !has_postgres() {
        packages.push("postgresql");
    }
    if !works("python3", &["-c", "import venv, ensurepip"]) {
        packages.extend(["python3", "python3-venv"]);
    }
    let more = if level == Level::Main { &[][..] } else { &MORE_PROGRAMS };
    for &(program, package) in PROGRAMS.iter().chain(more) {
        if !path().iter().any(|folder| folder.join(program).exists()) {
            packages.push(package);
        }
    }
    packages
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

/// The folders with programs, and those that only root has on the path.
fn path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]).collect()
}

/// Whether the server programs of PostgreSQL are on the path or where Debian puts them.
fn has_postgres() -> bool {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    debian
        .map(|version| version.path().join("bin"))
        .chain(path())
        .any(|folder| folder.join("initdb").exists())
}
