//! Plans, secrets, and values written into config files.

use std::collections::BTreeMap;

use lyceum_project::{
    Action, Artifact, Backend, Config, DatabaseState, Desired, Metadata, Module, Plan, Secrets,
    State, Step, Uses, secrets,
};

/// Makes a plan, which must succeed.
fn plan(state: &State, desired: &Desired) -> Plan {
    lyceum_project::plan(state, desired).unwrap()
}

fn nothing_there() -> State {
    State {
        slug: "rivers".into(),
        environment: "staging".into(),
        revision: 0,
        metadata: None,
        version: None,
        frontend: None,
        backend: None,
        uses: Uses::default(),
        secrets: Secrets { key: String::new(), digests: BTreeMap::new() },
        database: DatabaseState::default(),
        lms: None,
        frontend_url: String::new(),
        play_url: String::new(),
        backend_url: String::new(),
    }
}

fn backend(hash: &str) -> Backend {
    Backend {
        source_hash: hash.into(),
        main: "worker.js".into(),
        modules: vec![Module { name: "worker.js".into(), sha256: hash.into(), size: 7 }],
        compatibility_date: "2026-10-01".into(),
        routes: vec!["/api/hello".into()],
    }
}

fn wanted() -> Desired {
    Desired {
        slug: "rivers".into(),
        metadata: Metadata {
            name: "Rivers".into(),
            emoji: Some("🌊".into()),
            ..Metadata::default()
        },
        frontend: Some(Artifact { sha256: "f1".into(), size: 10 }),
        backend: Some(backend("b1")),
        force_backend: false,
        uses: Uses { bucket: true, ..Uses::default() },
        secrets: Some([("A".into(), "1".into()), ("B".into(), "2".into())].into()),
        database: None,
        lms: None,
    }
}

/// The state that a plan leads to.
fn after(plan: &Plan, state: &State) -> State {
    let wanted = plan.desired.clone();
    State {
        revision: state.revision + 1,
        metadata: Some(wanted.metadata),
        version: Some(state.version.unwrap_or(0) + i64::from(plan.makes_version())),
        frontend: wanted.frontend.or_else(|| state.frontend.clone()),
        backend: wanted.backend.or_else(|| state.backend.clone()),
        uses: wanted.uses,
        secrets: Secrets {
            key: String::new(),
            digests: wanted.secrets.unwrap_or_else(|| state.secrets.digests.clone()),
        },
        ..state.clone()
    }
}

#[test]
fn the_first_plan_has_everything_and_the_next_has_nothing() {
    let first = plan(&nothing_there(), &wanted());
    assert_eq!((first.action, first.base), (Action::Create, 0));
    let steps = [
        Step::CreateProject,
        Step::WriteMetadata,
        Step::UploadFrontend,
        Step::UploadBackend,
        Step::ProvisionBucket,
        Step::PushSecrets,
        Step::StartBackend,
        Step::Publish,
    ];
    assert_eq!(first.steps, steps);
    assert_eq!(first.secrets.added, ["A", "B"]);
    assert_eq!(first.metadata.len(), 2, "missing fields stay");
    assert_eq!(first.artifacts().len(), 2);
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), first);
    let state = after(&first, &nothing_there());
    let second = plan(&state, &wanted());
    assert_eq!((second.action, second.makes_version()), (Action::Nothing, false));
    assert!(second.steps.is_empty() && second.artifacts().is_empty());
}

#[test]
fn each_change_is_planned_separately() {
    let state = after(&plan(&nothing_there(), &wanted()), &nothing_there());
    let changed = |change: &dyn Fn(&mut Desired)| {
        let mut wanted = wanted();
        change(&mut wanted);
        plan(&state, &wanted)
    };
    let frontend = changed(&|wanted| {
        wanted.frontend = Some(Artifact { sha256: "f2".into(), size: 12 });
    });
    assert_eq!(frontend.steps, [Step::UploadFrontend, Step::Publish]);
    let sizes = frontend.frontend.as_ref().unwrap();
    assert_eq!((sizes.old.as_ref().unwrap().size, sizes.new.size), (10, 12));
    let as_large = changed(&|wanted| {
        wanted.frontend = Some(Artifact { sha256: "f2".into(), size: 10 });
    });
    assert_eq!(as_large.steps, frontend.steps, "the hash tells, not the size");

    let forced = changed(&|wanted| wanted.force_backend = true);
    assert_eq!(forced.steps, [Step::UploadBackend, Step::StartBackend, Step::Publish]);
    let dated = changed(&|wanted| {
        let backend = Backend { compatibility_date: "2026-11-01".into(), ..backend("b1") };
        wanted.backend = Some(backend);
    });
    assert!(dated.backend.is_some());
    assert!(changed(&|wanted| wanted.backend = None).steps.is_empty(), "it stays");

    let secrets = changed(&|wanted| {
        wanted.secrets = Some([("B".into(), "3".into()), ("C".into(), "4".into())].into());
    });
    let named = &secrets.secrets;
    assert_eq!((&named.added[..], &named.updated[..]), (&["C".into()][..], &["B".into()][..]));
    assert_eq!(named.removed, ["A"]);
    assert_eq!(secrets.steps, [Step::PushSecrets, Step::StartBackend, Step::Publish]);
    assert!(
        changed(&|wanted| wanted.secrets = None).steps.is_empty(),
        "without an .env file, secrets stay"
    );

    let renamed = changed(&|wanted| wanted.metadata.name = "Streams".into());
    assert_eq!(renamed.steps, [Step::WriteMetadata]);
    assert!(!renamed.makes_version());
    assert_eq!(renamed.metadata[0].old.as_deref(), Some("Rivers"));
}

#[test]
fn env_files_of_common_tools_are_read() {
    let text = "\u{feff}# comment\nexport A=1 # one\nB = two words \nC='$raw # kept'\n\
                D=\"line\\n\\\"two\\\"\"\nE=\"over\nlines\" # end\nF=\nA=again\n";
    let read = secrets::read(text).unwrap();
    let expected = [
        ("A", "again"),
        ("B", "two words"),
        ("C", "$raw # kept"),
        ("D", "line\n\"two\""),
        ("E", "over\nlines"),
        ("F", ""),
    ];
    let expected: BTreeMap<_, _> =
        expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(read, expected);
    for (text, line) in [
        ("A=1\nhunter2", "line 2"),
        ("1A=hunter2", "line 1"),
        ("A-B=hunter2", "line 1"),
        ("A=\"x\ny\"\nB='hunter2", "line 3"),
        ("A='x'hunter2", "line 1"),
    ] {
        let message = secrets::read(text).unwrap_err().message;
        assert!(message.contains(line) && !message.contains("hunter2"), "{message}");
    }
}

#[test]
fn digests_distinguish_values_and_reveal_nothing_else() {
    let one = secrets::digest(b"key", "A", "value");
    assert_eq!(one, secrets::digest(b"key", "A", "value"));
    assert_eq!(one.len(), 43);
    for other in [
        secrets::digest(b"kez", "A", "value"),
        secrets::digest(b"key", "B", "value"),
        secrets::digest(b"key", "A", "valuf"),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn stored_values_replace_the_literals_in_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lyceum.config.js");
    let text = "export default {\n  name: 'It',   // it\n  \"description\": `old`,\n  \
                emoji: sign(),\n  buildPath: \"dist\",\n};\n";
    let evaluated_with = |name: &str, description: &str| {
        let value = serde_json::json!({
            "name": name, "description": description, "emoji": "x", "buildPath": "dist",
        });
        Config::read(&file, |_| Ok((value, Vec::new()))).unwrap()
    };
    std::fs::write(&file, text).unwrap();
    let config = evaluated_with("It", "old");
    let rewritten = config.with(&[
        ("name", Some("It's \"new\"")),
        ("description", Some("a `b` ${c}")),
        ("emoji", Some("🌊")),
        ("platform", Some("web")),
    ]);
    let expected = "export default {\n  name: 'It\\'s \"new\"',   // it\n  \"description\": \
                    `a \\`b\\` \\${c}`,\n  emoji: sign(),\n  buildPath: \"dist\",\n};\n";
    assert_eq!(rewritten.text, expected);
    assert_eq!(rewritten.fields, ["name", "description"]);
    let by_hand: Vec<_> = rewritten.by_hand.iter().map(|at| (at.field, at.place)).collect();
    assert_eq!(by_hand, [("emoji", Some((4, 10))), ("platform", None)]);
    config.replace(&rewritten.text).unwrap();
    let again = evaluated_with("It's \"new\"", "a `b` ${c}");
    assert_eq!(again.name.as_deref(), Some("It's \"new\""));
    assert_eq!(again.description.as_deref(), Some("a `b` ${c}"));
    let removed = again.with(&[("description", None)]);
    assert_eq!((removed.text == again.text, removed.by_hand[0].place), (true, Some((3, 18))));
}

#[test]
fn integrations_list_the_secrets_that_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lyceum.config.json");
    std::fs::write(&file, r#"{"integrations": {"auth": {"secrets": ["AUTH_SECRET"]}}}"#).unwrap();
    let read = || Config::read(&file, |_| unreachable!("JSON is not evaluated"));
    assert_eq!(read().unwrap().required_secrets, ["AUTH_SECRET"]);
    std::fs::write(&file, r#"{"integrations": {"auth": {"secrets": ["no name"]}}}"#).unwrap();
    let message = read().unwrap_err().message;
    assert!(message.contains("integrations.auth.secrets"), "{message}");
}
