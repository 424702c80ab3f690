//! The requests that follow from a project's folder: its name, its secrets, and the desired state.

use std::collections::BTreeMap;
use std::path::Path;

use lyceum_core::ProblemKind;
use lyceum_deploy::{DeployOptions, Evaluator, LocalProject, secrets_in};
use lyceum_project::{State, plan, secrets};
use tempfile::{TempDir, tempdir};

use crate::{KEY, no_project, refused, write};

/// A project with a frontend in `dist` and that config.
fn project(config: &str) -> TempDir {
    let folder = tempdir().unwrap();
    write(folder.path(), "lyceum.config.json", config);
    write(folder.path(), "dist/index.html", "<h1>Rivers</h1>");
    folder
}

fn read(folder: &Path, options: &DeployOptions) -> lyceum_core::Result<LocalProject> {
    let evaluator = Evaluator::default();
    let config = evaluator.config(folder)?;
    LocalProject::read(
        folder,
        config.as_ref(),
        options,
        &folder.join("dist"),
        &evaluator,
        |_, _| (),
    )
}

#[test]
fn options_replace_values_of_the_config() {
    let folder = project(r#"{ "name": "Wild Rivers", "description": "Maps", "emoji": "🗺" }"#);
    let local = read(folder.path(), &DeployOptions::default()).unwrap();
    assert_eq!((local.slug.as_str(), local.metadata.name.as_str()), ("wild-rivers", "Wild Rivers"));
    let options = DeployOptions {
        name: Some("Calm Lakes".into()),
        description: Some("Boats".into()),
        ..DeployOptions::default()
    };
    let local = read(folder.path(), &options).unwrap();
    assert_eq!(local.slug, "calm-lakes");
    assert_eq!(local.metadata.description.as_deref(), Some("Boats"));
    assert_eq!(local.metadata.emoji.as_deref(), Some("🗺"));
    let (kind, message) = refused(read(project("{}").path(), &DeployOptions::default()));
    assert!(
        kind == ProblemKind::Invalid && message.contains("the project has no name"),
        "{message}"
    );
    let nothing = DeployOptions { name: Some("🗺".into()), ..DeployOptions::default() };
    let (_, message) = refused(read(folder.path(), &nothing));
    assert!(message.contains("cannot make a slug from the name '🗺'"), "{message}");
}

#[test]
fn secrets_are_sent_as_digests_under_the_servers_key() {
    let folder = project(r#"{ "name": "Rivers" }"#);
    let desired = |state: &State| {
        read(folder.path(), &DeployOptions::default()).unwrap().desired(state, None).unwrap()
    };
    assert_eq!(
        desired(&no_project()).secrets,
        None,
        "without a file nothing is said about secrets"
    );
    write(folder.path(), ".env", "A=one\nB=two\n");
    let secrets = desired(&no_project()).secrets.unwrap();
    let digests = |key: &[u8]| -> BTreeMap<String, String> {
        let digest =
            |(name, value): (&str, &str)| (name.to_owned(), secrets::digest(key, name, value));
        [("A", "one"), ("B", "two")].map(digest).into()
    };
    assert_eq!(secrets, digests(KEY));
    assert_ne!(secrets, digests(b"another key"));
    let mut state = no_project();
    state.secrets.key = "?".into();
    let local = read(folder.path(), &DeployOptions::default()).unwrap();
    assert_eq!(refused(local.desired(&state, None)).0, ProblemKind::Internal);
}

#[test]
fn required_secrets_may_be_in_the_file_or_on_the_server() {
    let folder = project(r#"{ "name": "Rivers" }"#);
    let missing = |state: &State| {
        let mut local = read(folder.path(), &DeployOptions::default()).unwrap();
        local.required = ["A", "B"].map(str::to_owned).into();
        local.missing(state)
    };
    assert_eq!(missing(&no_project()), ["A", "B"]);
    let mut state = no_project();
    state.secrets.digests.insert("A".into(), "digest".into());
    assert_eq!(missing(&state), ["B"]);
    // The file is complete: a deploy removes secrets that it does not have.
    write(folder.path(), ".env", "A=\nB=two\n");
    assert_eq!(missing(&state), ["A"]);
}

#[test]
fn an_error_in_the_secrets_names_file_and_line() {
    let folder = project(r#"{ "name": "Rivers" }"#);
    let file = folder.path().join(".env");
    assert_eq!(secrets_in(&file).unwrap(), None);
    write(folder.path(), ".env", "A=one\nnot a secret\n");
    let (kind, message) = refused(secrets_in(&file));
    assert_eq!(kind, ProblemKind::Malformed);
    assert!(message.contains(".env', line 2"), "{message}");
}

#[test]
fn a_deploy_without_changes_changes_nothing() {
    let folder = project(r#"{ "name": "Rivers", "emoji": "🗺" }"#);
    write(folder.path(), ".env", "A=one\n");
    let local = read(folder.path(), &DeployOptions::default()).unwrap();
    let mut state = no_project();
    let desired = local.desired(&state, None).unwrap();
    let first = plan(&state, &desired).unwrap();
    assert!(first.makes_version());
    assert_eq!(first.artifacts(), std::slice::from_ref(&local.frontend.artifact));
    assert_eq!(first.secrets.added, ["A"]);
    state.revision = 1;
    state.metadata = Some(desired.metadata.clone());
    state.frontend.clone_from(&desired.frontend);
    state.secrets.digests = desired.secrets.clone().unwrap();
    let again =
        read(folder.path(), &DeployOptions::default()).unwrap().desired(&state, None).unwrap();
    let second = plan(&state, &again).unwrap();
    assert!(!second.makes_version() && second.artifacts().is_empty(), "{second:?}");
    assert_eq!(lyceum_deploy::summary::changes(&second), "");
}
