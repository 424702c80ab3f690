//! The JavaScript stack of credentials, installed once into the target folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder with the scripts and their packages, made where it is not there or not up to date.
fn installed() -> PathBuf {
    let scripts = root().join("tests/verifiers");
    let folder = root().join("target/verifiers");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let wanted = read(scripts.join("package-lock.json"));
    for entry in std::fs::read_dir(&scripts).unwrap() {
        let from = entry.unwrap().path();
        if from.is_file() {
            let to = folder.join(from.file_name().unwrap());
            if read(to.clone()) != read(from.clone()) {
                std::fs::copy(&from, to).unwrap();
            }
        }
    }
    if read(folder.join("installed")) != wanted {
        let run = Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("npm is installed");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::write(folder.join("installed"), wanted).unwrap();
    }
    folder
}

/// Runs a script with the contexts, a file with `input` and a file for its answer, which is given.
pub(crate) fn run(script: &str, input: &str) -> String {
    let folder = installed();
    let files = tempfile::tempdir().unwrap();
    let [asked, answered] = ["asked", "answered"].map(|name| files.path().join(name));
    std::fs::write(&asked, input).unwrap();
    let run = Command::new("node")
        .arg(folder.join(script))
        .arg(root().join("crates/credentials/contexts"))
        .args([&asked, &answered])
        .stdin(Stdio::null())
        .output()
        .expect("node is installed");
    assert!(run.status.success(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
    std::fs::read_to_string(answered).unwrap()
}

/// What `verify.mjs` answers.
pub(crate) fn verify(asked: &Value) -> Value {
    serde_json::from_str(&run("verify.mjs", &asked.to_string())).unwrap()
}
