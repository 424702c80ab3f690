//! `packaging/first-steps.sh production`: an app with a database, keys, a bucket, a secret and routes that call each
//! other goes from `create` to production, where a student plays it in Chromium.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::packages::pack;
use crate::served::{root, wait};

const SCRIPT_MAX: Duration = Duration::from_mins(5);

/// The registry of `web/tests/registry.js`; it ends with this value.
struct Registry {
    process: Child,
    url: String,
}

impl Registry {
    fn start(tarballs: &Path) -> Self {
        let mut node = Command::new("node");
        node.arg(root().join("web/tests/registry.js")).arg(tarballs);
        let mut process = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "the registry does not start: {url}");
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "rest"]
fn an_app_goes_from_create_to_a_student_on_production() {
    let packages = pack(&["npm"]);
    let registry = Registry::start(&packages.path().join("npm"));
    let folder = tempfile::tempdir().unwrap();
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut script = Command::new(root().join("packaging/first-steps.sh"))
        .arg("production")
        .env("PACKAGES", packages.path())
        .env("HOME", folder.path())
        .env("npm_config_registry", &registry.url)
        .env("npm_config_cache", folder.path().join("npm"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap();
    let status = wait(&mut script, SCRIPT_MAX);
    // Whatever the script started and did not end.
    let _ = kill_process_group(Pid::from_child(&script), Signal::KILL);
    let _ = script.wait();
    let printed = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{printed}");
    for line in [
        "all records exist",
        // The page as the student sees it.
        "This is visit 42. Your code is ",
        "You earned 1 XP.",
        // The commands and the API afterwards.
        "visits: 42",
        "book: ann: Rivers are long",
        "map: cache-control: max-age=3600\nNile",
        "map's author: ada",
        "notes: ('ann', 'Rivers are long')",
        "XP: 1\n",
        "production: restarted with the same data after",
    ] {
        assert!(printed.contains(line), "{line} is not in:\n{printed}");
    }
}
