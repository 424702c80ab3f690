//! The same worker gets the same answers here and in miniflare.

use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::host::{Host, packages, settings};

#[tokio::test]
async fn bindings_answer_like_those_of_miniflare() {
    let oracle = thread::spawn(|| {
        let node = Command::new("node").arg("oracle.mjs").current_dir(packages()).output().unwrap();
        assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
        serde_json::from_slice::<Value>(&node.stdout).unwrap()
    });
    let host = Host::new(settings());
    let code = std::fs::read_to_string(packages().join("worker.js")).unwrap();
    host.engine.install(host.worker("oracle", &code)).unwrap();
    let (_, cases) = host.get("oracle", "/cases").await.unwrap();
    let mut differences = Vec::new();
    let mut answers = Vec::new();
    for case in serde_json::from_str::<Vec<String>>(&cases).unwrap() {
        let (_, answer) = host.get("oracle", &format!("/{case}")).await.unwrap();
        answers.push((case, serde_json::from_str(&answer).unwrap_or(Value::String(answer))));
    }
    let oracle = oracle.join().unwrap();
    let mut compared = 0;
    for (case, ours) in answers {
        let theirs = &oracle[&case];
        let (ours, theirs) = match (&ours, theirs) {
            (Value::Array(ours), Value::Array(theirs)) => (ours.clone(), theirs.clone()),
            _ => (vec![ours], vec![theirs.clone()]),
        };
        assert_eq!(ours.len(), theirs.len(), "{case}");
        for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            compared += 1;
            if ours != theirs {
                differences.push(format!("{case} {index}\n  ours   {ours}\n  theirs {theirs}"));
            }
        }
    }
    assert!(compared > 150, "only {compared} answers were compared");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
