//! Every command of the guides is run and prints what the guide says that it prints.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use lyceum_testkit::postgres::Cluster;

use crate::hosted::Moto;
use crate::served::{binary, root};
use crate::walkthrough::{Block, blocks, walk};

#[test]
fn start() {
    run("start");
}

#[test]
#[ignore = "rest"]
fn administrators() {
    run("administrators");
}

/// PostgreSQL and a server that speaks S3 run at the ports that the guide names. What the guide says about
/// installing is in `packages.rs`.
#[test]
#[ignore = "rest"]
fn operators() {
    let (cluster, s3) = (Cluster::start(), Moto::start());
    s3.create_bucket("lyceum");
    let url = cluster.url();
    let (postgres, s3) = (port_of(&url), port_of(s3.endpoint()));
    let variables = [("PGHOST", "127.0.0.1"), ("PGPORT", postgres), ("PGUSER", "postgres")];
    run_beside("operators", &[("5432", postgres), ("9000", s3)], &variables);
}

/// The blocks about archived logs run on a cluster of their own, as its owner. The database has what it had at the moment
/// and nothing of what came later.
#[test]
#[ignore = "rest"]
fn operators_restore_a_moment_from_the_archived_log() {
    if !lyceum_testkit::full_size() {
        return; // it takes half a minute
    }
    let text = read("operators");
    let lines: Vec<String> =
        blocks(&text).into_iter().filter(|b| b.info == "sh soak").map(|b| b.text).collect();
    assert_eq!(lines.len(), 4);
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let port = lyceum_testkit::free_port().to_string();
    let script = format!(
        "set -euo pipefail\ntrap 'pg_ctl --pgdata=cluster --mode=immediate stop || \
         pg_ctl --pgdata=restored --mode=immediate stop' EXIT\n\
         initdb --pgdata=cluster --username=postgres --auth=trust --no-sync\n\
         printf 'port = 5439\\nunix_socket_directories = %s\\n' \"'$PWD'\" >> cluster/postgresql.conf\n\
         pg_ctl --pgdata=cluster --log=cluster.log start\n\
         createdb --host=127.0.0.1 --port=5439 lyceum\n{}",
        lines.concat()
    );
    let mut paths = vec![lyceum_testkit::postgres::programs(), folder.path().to_owned()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    fs::copy(binary(), folder.path().join("lyceum")).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &script.replace("5439", &port)]).current_dir(folder.path());
    shell.env("PATH", std::env::join_paths(paths).unwrap()).env("PGUSER", "postgres");
    if let Some((user, group)) = lyceum_testkit::postgres::owner() {
        std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).unwrap();
        shell.uid(user).gid(group);
    }
    let output = shell.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let listed = printed.rsplit("access").next().unwrap();
    assert!(listed.contains("needed") && !listed.contains("mistake"), "{printed}");
}

/// The port in `scheme://user@host:port/path`.
fn port_of(url: &str) -> &str {
    let (_, port) = url.rsplit_once(':').unwrap();
    port.split('/').next().unwrap()
}

#[test]
#[ignore = "rest"]
fn teachers() {
    assert!(blocks(&read("teachers")).is_empty(), "give the guide a test that runs its commands");
}

#[test]
#[ignore = "rest"]
fn create_an_app() {
    run("create-an-app");
}

#[test]
#[ignore = "rest"]
fn app_developers() {
    run("app-developers");
}

#[test]
#[ignore = "rest"]
fn integrators() {
    run("integrators");
}

#[test]
#[ignore = "rest"]
fn students() {
    assert!(blocks(&read("students")).is_empty(), "give the guide a test that runs its commands");
}

#[test]
#[ignore = "rest"]
fn sandbox() {
    run("sandbox");
}

#[test]
#[ignore = "rest"]
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

fn run(guide: &str) {
    run_beside(guide, &[], &[]);
}

/// Runs a guide beside services: their ports in the guide and here, and the variables with which programs find them.
fn run_beside(guide: &str, services: &[(&str, &str)], variables: &[(&str, &str)]) {
    let name = format!("docs/guides/{guide}.md");
    let text = read(guide);
    let steps = walk(&name, &text, services, variables);
    for (step, shown) in steps.iter().zip(&steps[1..]) {
        if shown.block.follows && !shown.block.info.starts_with("sh") {
            contains_in_order(&name, &shown.block, &step.output);
        }
    }
}

/// The texts between the dots of each line of the guide stand in the output in this order.
fn contains_in_order(name: &str, shown: &Block<'_>, output: &str) {
    let mut rest = output;
    for piece in shown.text.lines().flat_map(|line| line.split('…')) {
        let found = rest.find(piece.trim());
        let at = found.unwrap_or_else(|| {
            panic!("{name}, line {}: '{piece}' is not in:\n{output}", shown.line)
        });
        rest = &rest[at + piece.trim().len()..];
    }
}
