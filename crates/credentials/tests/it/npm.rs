//! The JavaScript stack of credentials.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

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

/// The answer of `verify.mjs`.
pub(crate) fn verify(input: &Value) -> Value {
    serde_json::from_str(&run("verify.mjs", &input.to_string())).unwrap()
}
