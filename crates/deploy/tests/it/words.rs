//! A plan in words.

use lyceum_deploy::summary::{bytes, changes, fields};
use lyceum_project::{Artifact, FieldChange, Plan, Replacement};

use crate::no_project;

/// A plan without changes.
fn plan() -> Plan {
    let desired = lyceum_project::Desired {
        slug: "rivers".into(),
        metadata: lyceum_project::Metadata::default(),
        frontend: None,
        backend: None,
        force_backend: false,
        uses: lyceum_project::Uses::default(),
        secrets: None,
        database: None,
        lms: None,
    };
    let mut plan = lyceum_project::plan(&no_project(), &desired).unwrap();
    plan.metadata.clear();
    plan.uses = None;
    plan
}

fn artifact(size: u64) -> Artifact {
    Artifact { sha256: format!("{size:x}"), size }
}

#[test]
fn sizes_have_the_unit_that_fits() {
    for (count, text) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KB"),
        (1_048_575, "1024.00 KB"),
        (1_048_576, "1.00 MB"),
    ] {
        assert_eq!(bytes(count), text);
    }
}

#[test]
fn a_change_shows_both_sizes_and_their_difference() {
    assert_eq!(changes(&plan()), "");
    let shown = |old: Option<u64>, new: u64| {
        let frontend = Replacement { old: old.map(artifact), new: artifact(new) };
        changes(&Plan { frontend: Some(frontend), ..plan() })
    };
    for (old, new, expected) in [
        (None, 10, "10 B"),
        (Some(2048), 1024, "2.00 KB → 1.00 KB  (↓ 1.00 KB)"),
        (Some(10), 12, "10 B → 12 B  (↑ 2 B)"),
        (Some(10), 10, "10 B → 10 B  (same size)"),
    ] {
        assert_eq!(shown(old, new), format!("Frontend\n  Build: {expected}\n"));
    }
}

#[test]
fn fields_and_secrets_are_listed_by_name() {
    let change = |field: &str, old: Option<&str>, new: &str| FieldChange {
        field: field.into(),
        old: old.map(str::to_owned),
        new: new.into(),
    };
    let metadata = vec![change("name", Some("Rivers"), "Lakes"), change("emoji", None, "🗺")];
    assert_eq!(fields(&metadata), "  name: 'Rivers' → 'Lakes'\n  emoji: '🗺'\n");
    let mut changed = Plan { metadata, ..plan() };
    changed.secrets.added = vec!["A".into(), "B".into()];
    changed.secrets.removed = vec!["C".into()];
    let expected = "Project\n  name: 'Rivers' → 'Lakes'\n  emoji: '🗺'\n\
                    Secrets\n  Added: A, B\n  Removed: C\n";
    assert_eq!(changes(&changed), expected);
}
