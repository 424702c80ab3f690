//! Linked crates have a licence that `deny.toml` allows.

use std::process::Command;

use serde_json::Value;

use crate::{read, refuse, root};

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed();
    let breaches: Vec<String> = packages()
        .iter()
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or("none told");
            let name = package["name"].as_str().unwrap();
            (!may_pass_on(licence, &allowed)).then(|| format!("{name}: {licence}"))
        })
        .collect();
    refuse(
        &breaches,
        "each dependency has a licence of the list in deny.toml",
        "Lyceum is given away under MIT OR Apache-2.0; copyleft in one crate would bind the whole",
        "choose another crate; a further permissive licence may join the list",
    );
}

/// The list `allow` of the section `[licenses]`.
fn allowed() -> Vec<String> {
    let file = read("deny.toml");
    let list = file.split_once("allow = [").unwrap().1.split_once("\n]").unwrap().0;
    list.lines().filter_map(|line| Some(line.split('"').nth(1)?.to_owned())).collect()
}

/// Whether the SPDX expression can be met: each part joined by AND, by one of its choices.
fn may_pass_on(licence: &str, allowed: &[String]) -> bool {
    licence.replace(['(', ')'], "").replace('/', " OR ").split(" AND ").all(|part| {
        part.split(" OR ").any(|choice| allowed.iter().any(|known| known == choice.trim()))
    })
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed = allowed();
    assert!(allowed.len() > 5);
    let may = |licence| may_pass_on(licence, &allowed);
    assert!(may("MIT"));
    assert!(may("GPL-3.0 OR MIT"));
    assert!(may("MIT/Apache-2.0"));
    assert!(may("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!may("GPL-3.0"));
    assert!(!may("MIT AND GPL-3.0"));
    assert!(!may("none told"));
}

/// Every package that this machine's build can contain.
fn packages() -> Vec<Value> {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let about = String::from_utf8(rustc.stdout).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 100, "cargo metadata tells only {} packages", packages.len());
    packages
}
