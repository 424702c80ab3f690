//! A version moves to another server without secrets and data.

use lyceum_core::ProblemKind;
use lyceum_deploy::{lacking, promoted};
use lyceum_project::{Metadata, State};
use serde_json::{Value, json};

use crate::{no_project, refused};

fn version() -> Value {
    json!({
        "version": 4,
        "declared": {},
        "uses": { "database": false, "kv": true, "bucket": false, "lms": false },
        "frontend": { "sha256": "ab", "size": 3 },
        "backend": null,
    })
}

fn source() -> State {
    let mut state = no_project();
    state.metadata = Some(Metadata { name: "Rivers".into(), ..Metadata::default() });
    for name in ["A", "B"] {
        state.secrets.digests.insert(name.into(), "digest".into());
    }
    state
}

#[test]
fn code_and_frontend_are_promoted_and_secrets_are_not() {
    let desired = promoted(&version(), &source(), &no_project()).unwrap();
    assert_eq!((desired.slug.as_str(), desired.metadata.name.as_str()), ("rivers", "Rivers"));
    assert_eq!(desired.frontend.unwrap().sha256, "ab");
    assert!(desired.uses.kv && desired.backend.is_none() && desired.database.is_none());
    assert!(desired.secrets.is_none() && !desired.force_backend);
}

#[test]
fn secrets_that_the_other_server_lacks_are_named() {
    let mut to = no_project();
    assert_eq!(lacking(&source(), &to), ["A", "B"]);
    to.secrets.digests.insert("B".into(), "another digest".into());
    to.secrets.digests.insert("C".into(), "digest".into());
    assert_eq!(lacking(&source(), &to), ["A"]);
}

#[test]
fn a_malformed_version_is_refused() {
    for (member, value) in
        [("uses", json!([])), ("frontend", json!({ "size": -1 })), ("backend", json!(1))]
    {
        let mut version = version();
        version[member] = value;
        let (kind, message) = refused(promoted(&version, &source(), &no_project()));
        assert_eq!(kind, ProblemKind::Invalid, "{member}");
        assert!(message.contains("has a form that this program does not know"), "{message}");
    }
}
