//! Every command of the guides is run, in the order in which it stands there, and answers what the guide
//! says that it does.
//!
//! A fenced block `sh` is run; with `server` behind it, it is started and the next block waits until it
//! answers, at the port 4321 or the one that stands behind `server`; what the guide started at that port
//! before ends. A block of another kind right behind one is its output: the texts between the dots of each
//! line stand in it in this order. The ports of guides are ones that are free.

use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lyceum_testkit::postgres::Cluster;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::hosted::Moto;
use crate::served::{binary, root, wait};

const GUIDE_MAX: Duration = Duration::from_mins(2);

/// The ports that guides name.
const PORTS: [&str; 5] = ["4321", "4322", "4323", "8443", "8444"];

pub(crate) struct Block<'g> {
    line: usize,
    pub(crate) info: &'g str,
    pub(crate) text: String,
    /// Whether nothing but white space is between this block and the one before.
    follows: bool,
}

#[test]
fn start() {
    run("start");
}

#[test]
fn administrators() {
    run("administrators");
}

/// PostgreSQL and a server that speaks S3 run at the ports that the guide names. What the guide says about
/// installing is in `packages.rs`.
#[test]
fn operators() {
    let (cluster, s3) = (Cluster::start(), Moto::start());
    s3.create_bucket("lyceum");
    let url = cluster.url();
    let (postgres, s3) = (port_of(&url), port_of(s3.endpoint()));
    let variables = [("PGHOST", "127.0.0.1"), ("PGPORT", postgres), ("PGUSER", "postgres")];
    run_beside("operators", &[("5432", postgres), ("9000", s3)], &variables);
}

/// The port in `scheme://user@host:port/path`.
fn port_of(url: &str) -> &str {
    let (_, port) = url.rsplit_once(':').unwrap();
    port.split('/').next().unwrap()
}

#[test]
fn teachers() {
    assert!(blocks(&read("teachers")).is_empty(), "give the guide a test that runs its commands");
}

#[test]
fn create_an_app() {
    run("create-an-app");
}

#[test]
fn app_developers() {
    run("app-developers");
}

#[test]
fn integrators() {
    run("integrators");
}

#[test]
fn sandbox() {
    run("sandbox");
}

#[test]
fn every_guide_is_run() {
    let named = include_str!("guides.rs");
    for file in fs::read_dir(root().join("docs/guides")).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(named.contains(&format!("(\"{stem}\"")), "no test runs {}", path.display());
    }
}

#[test]
fn commands_in_sentences_exist() {
    let mut seen = std::collections::BTreeSet::new();
    for file in fs::read_dir(root().join("docs/guides")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for span in text.split('`').filter(|span| span.starts_with("lyceum ")) {
            let is_command =
                |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            let words = span.split_whitespace().skip(1);
            let words: Vec<&str> =
                words.take_while(|word| is_command(word) && !word.starts_with('-')).collect();
            seen.insert(words.join(" "));
        }
    }
    assert!(seen.len() > 10, "only {seen:?} were found");
    for words in seen {
        let help = Command::new(binary()).args(words.split(' ')).arg("--help").output().unwrap();
        let usage = format!("Usage: lyceum {words} ");
        let shown = String::from_utf8_lossy(&help.stdout).into_owned() + "\n ";
        assert!(help.status.success() && shown.contains(&usage), "there is no `lyceum {words}`");
    }
}

fn read(guide: &str) -> String {
    fs::read_to_string(root().join(format!("docs/guides/{guide}.md"))).unwrap()
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

fn run(guide: &str) {
    run_beside(guide, &[], &[]);
}

/// Runs a guide beside services: their ports in the guide and here, and the variables with which programs find them.
fn run_beside(guide: &str, services: &[(&str, &str)], variables: &[(&str, &str)]) {
    let mut text = read(guide);
    for (port, own) in services {
        text = text.replace(port, own);
    }
    let blocks = blocks(&text);
    let place = tempfile::tempdir().unwrap();
    let listeners = PORTS.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners.each_ref().map(|one| one.local_addr().unwrap().port().to_string());
    drop(listeners);
    fs::write(place.path().join("script"), script(&blocks, &ports)).unwrap();
    prepare(place.path());

    let at = |name: &str| place.path().join(name);
    let told = fs::File::create(at("told")).unwrap();
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
        .env("LYCEUM_SERVER__LISTEN", format!("127.0.0.1:{}", ports[0]))
        .stdin(Stdio::null())
        .stdout(told.try_clone().unwrap())
        .stderr(told)
        .process_group(0)
        .spawn()
        .unwrap();
    let status = wait(&mut shell, GUIDE_MAX);
    // Whatever the script started and did not end.
    let _ = kill_process_group(Pid::from_child(&shell), Signal::KILL);
    let _ = shell.wait();
    let said = |name: &str| fs::read_to_string(at(name)).unwrap_or_default();
    let outputs: Vec<String> =
        blocks.iter().map(|block| said(&format!("out-{}", block.line))).collect();
    assert!(
        status.is_some_and(|status| status.success()),
        "docs/guides/{guide}.md: {status:?}\n{}{}",
        said("told"),
        outputs.concat()
    );
    for (shown, output) in blocks.iter().skip(1).zip(&outputs) {
        if shown.follows && !shown.info.starts_with("sh") {
            holds(guide, shown, output);
        }
    }
}

/// The blocks as one script; each writes what it says into a file of its own.
fn script(blocks: &[Block<'_>], ports: &[String]) -> String {
    let mut script = String::from("set -euo pipefail\n");
    for block in
        blocks.iter().filter(|block| block.info == "sh" || block.info.starts_with("sh server"))
    {
        let text = with_ports(&block.text, ports);
        let out = format!("\"$HOME/out-{}\" 2>&1", block.line);
        let _ = writeln!(script, "echo \"line {}\"", block.line);
        if let Some(named) = block.info.strip_prefix("sh server") {
            let at = PORTS.iter().position(|port| *port == named.trim()).unwrap_or(0);
            let (port, text) = (&ports[at], text.replace("lyceum s", "exec lyceum s"));
            let _ = writeln!(
                script,
                "if [ -n \"${{server{at}:-}}\" ]; then kill $server{at}; wait $server{at} || true; fi\n\
                 ( {text} ) >{out} &\nserver{at}=$!\n\
                 until curl --silent --output /dev/null http://127.0.0.1:{port}/ready || \
                 curl --silent --insecure --output /dev/null https://127.0.0.1:{port}/ready; do \
                 kill -0 $server{at}; sleep 0.02; done"
            );
        } else {
            let _ = writeln!(script, "{{\n{text}}} >{out}");
        }
    }
    script
}

/// The text with ports that are free; one of them may hold the digits of a port of the guides.
fn with_ports(text: &str, ports: &[String]) -> String {
    let mark = |at: usize| format!("\u{1}{at}\u{1}");
    let marked = PORTS.iter().enumerate();
    let marked = marked.fold(text.to_owned(), |text, (at, port)| text.replace(port, &mark(at)));
    let ports = ports.iter().enumerate();
    ports.fold(marked, |text, (at, port)| text.replace(&mark(at), port))
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

fn holds(guide: &str, shown: &Block<'_>, output: &str) {
    let mut rest = output;
    for piece in shown.text.lines().flat_map(|line| line.split('…')) {
        let found = rest.find(piece.trim());
        let at = found.unwrap_or_else(|| {
            panic!("docs/guides/{guide}.md, line {}: '{piece}' is not in:\n{output}", shown.line)
        });
        rest = &rest[at + piece.trim().len()..];
    }
}
