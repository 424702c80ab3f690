//! Markdown files whose commands are run, in the order in which they stand there.
//!
//! | block | what happens |
//! |---|---|
//! | `sh` | the lines run in bash and must succeed |
//! | `sh fails N` | the lines must end with the exit code N |
//! | `sh soak` | nothing here: another test runs these lines, in full size |
//! | `sh debian STEP` | nothing here: `operators_day` runs these lines as root on a Debian with the package |
//! | `sh server`, `sh server PORT` | the server is started at port 4321 or this one, in place of the one started there before; the next block waits until it answers |
//! | `text` or another kind right behind one of these | its output |
//!
//! Free ports take the place of those in the file.

use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::served::{binary, root, wait};

const WALK_MAX: Duration = Duration::from_mins(2);

/// The ports in the files.
const PORTS: [&str; 6] = ["4321", "4322", "4323", "4325", "8443", "8444"];

/// A fenced block.
pub(crate) struct Block<'g> {
    pub(crate) line: usize,
    pub(crate) info: &'g str,
    pub(crate) text: String,
    /// Whether nothing but white space is between this block and the one before.
    pub(crate) follows: bool,
}

/// A block and what its commands printed, with the ports of the file.
pub(crate) struct Step<'g> {
    pub(crate) block: Block<'g>,
    pub(crate) output: String,
}

pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut inside, mut between) = (false, false);
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), inside) {
            (Some(info), false) => {
                let follows = !between && !blocks.is_empty();
                blocks.push(Block { line: number + 1, info, text: String::new(), follows });
                inside = true;
            }
            (Some(_), true) => (inside, between) = (false, false),
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => between |= !line.trim().is_empty(),
        }
    }
    blocks
}

/// Runs the commands of a text of this name, beside services: their ports in the text and here, and the variables with
/// which programs find them.
pub(crate) fn walk<'g>(
    name: &str,
    text: &'g str,
    services: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> Vec<Step<'g>> {
    let blocks = blocks(text);
    let place = tempfile::tempdir().unwrap();
    let listeners = PORTS.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let own = listeners.each_ref().map(|one| one.local_addr().unwrap().port().to_string());
    drop(listeners);
    let mut ports: Vec<(&str, &str)> =
        PORTS.into_iter().zip(own.iter().map(String::as_str)).collect();
    ports.extend(services);
    fs::write(place.path().join("script"), script(&blocks, &ports)).unwrap();
    prepare(place.path());

    let at = |name: &str| place.path().join(name);
    let log = fs::File::create(at("log")).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut paths = vec![at("bin")];
    paths.extend(std::env::split_paths(&path));
    let mut shell = Command::new("bash")
        .arg(at("script"))
        .current_dir(at("work"))
        .env_clear()
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("HOME", place.path())
        .env("XDG_RUNTIME_DIR", place.path())
        .envs(variables.iter().copied())
        .env("LYCEUM_SERVER__LISTEN", format!("127.0.0.1:{}", own[0]))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap();
    let status = wait(&mut shell, WALK_MAX);
    // Whatever the script started and did not end.
    let _ = kill_process_group(Pid::from_child(&shell), Signal::KILL);
    let _ = shell.wait();
    let printed = |name: &str| fs::read_to_string(at(name)).unwrap_or_default();
    let backwards: Vec<(&str, &str)> = ports.iter().map(|(port, own)| (*own, *port)).collect();
    let steps: Vec<Step<'_>> = blocks
        .into_iter()
        .map(|block| {
            let output = with_ports(&printed(&format!("out-{}", block.line)), &backwards);
            Step { block, output }
        })
        .collect();
    let outputs: String = steps.iter().map(|step| step.output.as_str()).collect();
    let is_done = status.is_some_and(|status| status.success());
    assert!(is_done, "{name}: {status:?}\n{}{outputs}", printed("log"));
    steps
}

/// The blocks as one script; each writes what it prints into a file of its own.
fn script(blocks: &[Block<'_>], ports: &[(&str, &str)]) -> String {
    let mut script = String::from("set -euo pipefail\n");
    for block in blocks {
        let text = with_ports(&block.text, ports);
        let out = format!("\"$HOME/out-{}\" 2>&1", block.line);
        let mut words = block.info.split(' ');
        let _ = match (words.next(), words.next(), words.next()) {
            (Some("sh"), None, None) => {
                writeln!(script, "echo line {}\n{{\n{text}}} >{out}", block.line)
            }
            (Some("sh"), Some("fails"), Some(code)) => writeln!(
                script,
                "echo line {}\ncode=0; (\n{text}) >{out} || code=$?\n\
                 [ $code = {code} ] || {{ echo \"it ended with $code instead of {code}\"; exit 1; }}",
                block.line
            ),
            (Some("sh"), Some("server"), port) => {
                let at = PORTS.iter().position(|own| port == Some(own)).unwrap_or(0);
                let (port, text) = (ports[at].1, text.replace("lyceum s", "exec lyceum s"));
                writeln!(
                    script,
                    "echo line {}\n\
                     if [ -n \"${{server{at}:-}}\" ]; then kill $server{at}; wait $server{at} || true; fi\n\
                     ( {text} ) >{out} &\nserver{at}=$!\n\
                     until curl --silent --output /dev/null http://127.0.0.1:{port}/ready || \
                     curl --silent --insecure --output /dev/null https://127.0.0.1:{port}/ready; do \
                     kill -0 $server{at}; sleep 0.02; done",
                    block.line
                )
            }
            _ => Ok(()),
        };
    }
    script
}

/// The text with other ports; the digits of a port may stand in one that takes the place of another.
fn with_ports(text: &str, ports: &[(&str, &str)]) -> String {
    let mark = |at: usize| format!("\u{1}{at}\u{1}");
    let marked = ports.iter().enumerate();
    let marked =
        marked.fold(text.to_owned(), |text, (at, (port, _))| text.replace(port, &mark(at)));
    let ports = ports.iter().enumerate();
    ports.fold(marked, |text, (at, (_, own))| text.replace(&mark(at), own))
}

/// A folder to work in, the program on the path, what a project's packages would bring.
fn prepare(place: &Path) {
    for folder in ["bin", "work"] {
        fs::create_dir(place.join(folder)).unwrap();
    }
    symlink(binary(), place.join("bin/lyceum")).unwrap();
    // A refusal is a failure.
    fs::write(place.join(".curlrc"), "fail-with-body\n").unwrap();
    let packages = root().join("tests/deploy/node_modules");
    assert!(packages.is_dir(), "run `npm ci` in tests/deploy");
    symlink(packages, place.join("work/node_modules")).unwrap();
}
