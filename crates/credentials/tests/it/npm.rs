//! The JavaScript stack of credentials.

use std::fs::{File, create_dir_all, read_to_string, write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::standards::variable;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs a script with the contexts, a file with `input` and a file for its answer, which is given.
pub(crate) fn run(script: &str, input: &str) -> String {
    let files = tempfile::tempdir().unwrap();
    let [request, answered] = ["asked", "answered"].map(|name| files.path().join(name));
    std::fs::write(&request, input).unwrap();
    let run = Command::new("python3")
        .arg(root().join("tests/verifiers/bootstrap.py"))
        .arg(root().join("target/verifiers"))
        .arg(script)
        .arg(root().join("crates/credentials/contexts"))
        .args([&request, &answered])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("python3 is installed");
    assert!(run.status.success(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
    std::fs::read_to_string(answered).unwrap()
}

/// As [`run`], but once in a run of nextest, which gives each test a process of its own.
pub(crate) fn run_once(script: &str, input: &str) -> String {
    let Some(run_id) = variable("NEXTEST_RUN_ID") else { return run(script, input) };
    let folder = root().join("target/verifiers");
    create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join(format!("{script}.lock"))).unwrap();
    lock.lock().unwrap();
    let path = folder.join(format!("{script}.answer"));
    let stored = read_to_string(&path).unwrap_or_default();
    if let Some(answer) = stored.strip_prefix(&run_id) {
        return answer.to_owned();
    }
    let answer = run(script, input);
    write(path, format!("{run_id}{answer}")).unwrap();
    answer
}

/// What `verify.mjs` answers.
pub(crate) fn verify(input: &Value) -> Value {
    serde_json::from_str(&run("verify.mjs", &input.to_string())).unwrap()
}
