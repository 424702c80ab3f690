//! E6: intake beside Ralph, a store of learning records in Python, with its file backend.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::Options;
use super::intake::{self, MANY};
use crate::goals::Finding;
use crate::load::Target;
use crate::pairs::Spread;
use crate::process::Process;
use crate::server::{BOTH_CORES, Server, free_address};

/// The packages that pip installs.
const PACKAGES: [&str; 2] = ["ralph-malph[cli,lrs]==5.1.0", "requests==2.32.5"];
/// Clients that send: with more, Ralph is slower.
const CLIENTS: u32 = 4;
/// The header lines of a request: the account of the script, and the version of xAPI.
const HEADERS: [&str; 2] =
    ["Authorization: Basic YmVuY2g6YmVuY2g=", "X-Experience-API-Version: 1.0.3"];
/// The event as a statement of xAPI.
const STATEMENT: &str = concat!(
    r#"{"id":"{uuid}","timestamp":"{live}","actor":{"mbox":"mailto:user-{number}@example.org"},"#,
    r#""verb":{"id":"http://adlnet.gov/expapi/verbs/completed"},"#,
    r#""object":{"id":"https://app.example/activities/fractions","definition":{"name":{"en":"Fractions 1"}}},"#,
    r#""result":{"score":{"raw":8,"max":10},"completion":true,"extensions":{"https://app.example/xp":12.5}},"#,
    r#""context":{"platform":"Fractions","extensions":{"https://app.example/course":"course-0"}}}"#,
);

/// Measures E6: each round begins with a new Ralph, which slows down as its file grows. `None` if it cannot be installed.
pub(super) fn measure(options: &Options, server: &Server) -> Result<Option<Finding>> {
    let python = match install(&options.run.folder.join("ralph")) {
        Ok(python) => python,
        Err(error) => {
            println!("E6 is left out: {error:#}");
            return Ok(None);
        }
    };
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let scratch = tempfile::tempdir_in(options.run.folder.canonicalize()?)?;
        let ralph = start(&python, scratch.path())?;
        let statements = vec![STATEMENT; MANY as usize].join(",");
        let path = "/xAPI/statements".to_owned();
        let target = Target::Post(path, format!("[{statements}]"), options.students());
        let sample = ralph.load(target, CLIENTS, options.run.time())?;
        let other = sample.requests_per_second * f64::from(MANY);
        drop(ralph);
        let lyceum = intake::rate(options, server)?;
        ratios.push(lyceum / other);
        detail = format!("ours {lyceum:.0} events/s, durable; Ralph {other:.0}, not synced");
    }
    Ok(Some(Finding::new("E6", Spread::of(ratios), detail)))
}

/// Installs Ralph into a virtual environment, once, and returns its Python.
fn install(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    if folder.join("bin/ralph").exists() {
        return Ok(python);
    }
    println!("installing Ralph into {}", folder.display());
    let succeeds = |command: &mut Command| -> Result<()> {
        let status = command.status().context("python3 is needed")?;
        ensure!(status.success(), "Ralph was not installed; see the error above");
        Ok(())
    };
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    Ok(python)
}

fn start(python: &Path, folder: &Path) -> Result<Server> {
    let address = free_address()?;
    let (_, port) = address.rsplit_once(':').context("an address has a port")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/ralph_server.py");
    let start = Instant::now();
    let process = Process::start(BOTH_CORES, python, |command| {
        command.arg(script).arg(port).arg(folder);
    })?;
    let mut server = Server::wait(process, address, "/__heartbeat__", start)?;
    server.headers = HEADERS.map(str::to_owned).to_vec();
    Ok(server)
}
