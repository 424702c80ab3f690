//! Running other programs, visibly.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The release binary; it is there after [`crate::build::release`].
pub(crate) fn lyceum() -> PathBuf {
    target().join("release/lyceum")
}

/// A command in the workspace's folder.
pub(crate) fn command<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A cargo command: of the toolchain that runs this program.
pub(crate) fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = command(program, arguments);
    // What cargo told this program of its package makes build scripts run again that watch it.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        }) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Prints the command and runs it to its end; anything but success is an error.
pub(crate) fn run(mut command: Command) -> Result<()> {
    show(&command);
    let status = command.status().map_err(|error| not_started(&command, &error))?;
    succeeded(&command, status)
}

/// Runs the command without showing its output, and returns it.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| not_started(&command, &error))?;
    succeeded(&command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something else than text", line(&command)))
}

/// Whether the program runs and succeeds; for probing what is installed.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Prints the command as one would type it.
pub(crate) fn show(command: &Command) {
    eprintln!("$ {}", line(command));
}

/// The error about a program that does not start.
pub(crate) fn not_started(command: &Command, error: &std::io::Error) -> anyhow::Error {
    let program = command.get_program().to_string_lossy();
    if error.kind() != ErrorKind::NotFound {
        return anyhow!("'{program}' does not start: {error}");
    }
    let remedy = match program.as_ref() {
        "npm" => "install Node 22 or newer from https://nodejs.org",
        "apt-get" => "install what is missing with your system's package manager",
        _ => "install it and make sure that it is on the PATH",
    };
    anyhow!("'{program}' is not installed; {remedy}")
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).strip_prefix(root());
    let program = program.map_or(command.get_program(), Path::as_os_str).to_string_lossy();
    // The toolchain's own cargo has a long address; people type its name.
    let program = if program.ends_with("/cargo") { "cargo".into() } else { program };
    let words = command.get_args().map(|word| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains([' ', '\'', '"', '$']) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word.into_owned()
        }
    });
    std::iter::once(program.into_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A time as people write it.
pub(crate) fn minutes(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}
