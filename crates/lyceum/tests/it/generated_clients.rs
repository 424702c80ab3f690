//! Clients that published generators make from the API document of a running server, and calls of each.

use std::process::{Command, Stdio};

use crate::http::Http;
use crate::python::run;
use crate::served::{Served, Store, root};

#[test]
#[ignore = "rest"]
fn a_client_that_openapi_python_client_generates_calls_the_server() {
    let served = Served::start(Store::Sqlite);
    let key = served.client("platform", &[]);
    println!("{}", run(&served, &key, "openapi", "generated_client.py", &[]));
}

#[test]
#[ignore = "rest"]
fn a_client_that_openapi_typescript_types_calls_the_server() {
    let folder = root().join("tests/openapi");
    assert!(folder.join("node_modules").is_dir(), "run `npm ci` in tests/openapi");
    let served = Served::start(Store::Sqlite);
    let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
    let generated = served.file("generated");
    std::fs::create_dir(&generated).unwrap();
    let mut node = Command::new("node");
    node.arg(folder.join("generate.mjs")).arg(&generated).args([&served.base, http.token()]);
    let called = node.stdin(Stdio::null()).output().expect("node is installed");
    let output = String::from_utf8_lossy(&called.stdout);
    assert!(called.status.success(), "{output}{}", String::from_utf8_lossy(&called.stderr));
    assert!(output.lines().filter(|line| line.starts_with("ok ")).count() >= 5, "{output}");
}
