//! The licences of what the binary and its pages contain, as their authors require.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::files::json;
use crate::run::{cargo, output, root};

/// The packages of the workspace and what they depend on, as `cargo metadata` prints them.
pub(super) fn metadata() -> Result<Value> {
    let text = output(cargo(["metadata", "--format-version", "1", "--locked"]))?;
    serde_json::from_str(&text).context("cargo metadata printed no JSON")
}

/// Each licence text once, below the packages that it covers.
pub(super) fn text() -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in crates()? {
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent();
        add(&mut texts, &package, folder.context("a package has no folder")?);
    }
    for folder in npm_packages()? {
        add(&mut texts, &json(&folder.join("package.json"))?, &folder);
    }
    let mut all = String::from("Lyceum contains the following software.\n");
    for (text, names) in texts {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        write!(all, "\n{}\n\n{names}\n\n{}\n", "=".repeat(80), text.trim())?;
    }
    Ok(all)
}

fn add(texts: &mut BTreeMap<String, BTreeSet<String>>, package: &Value, folder: &Path) {
    let text = |member: &str| package[member].as_str().unwrap_or_default();
    let name = format!("{} {}", text("name"), text("version"));
    let mut found: Vec<String> = files(folder).iter().flat_map(fs::read_to_string).collect();
    if found.is_empty() {
        found.push(format!("Licence: {}", text("license")));
    }
    for licence in found {
        texts.entry(licence).or_default().insert(name.clone());
    }
}

/// The files of a package that state its licence.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|word| name.starts_with(word))
                && path.is_file()
        })
        .collect();
    files.sort();
    files
}

/// The crates that are linked into the program: no tools for building and testing.
fn crates() -> Result<Vec<Value>> {
    let metadata = metadata()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: HashMap<Value, Value> = list(&metadata["packages"])
        .into_iter()
        .map(|package| (package["id"].clone(), package))
        .collect();
    let nodes: HashMap<Value, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].clone(), node))
        .collect();
    let program = packages.values().find(|package| package["name"] == "lyceum");
    let mut open: Vec<Value> = program.iter().map(|package| package["id"].clone()).collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.to_string()) {
            continue;
        }
        let Some(package) = packages.get(&id) else { continue };
        // Packages of the workspace have no source.
        if !package["source"].is_null() {
            found.push(package.clone());
        }
        for dependency in list(&nodes[&id]["deps"]) {
            let kinds = list(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].clone());
            }
        }
    }
    Ok(found)
}

/// The npm packages whose files are in the console's pages, and the runtime of backends.
fn npm_packages() -> Result<Vec<PathBuf>> {
    let console = root().join("web/console");
    let manifest = json(&console.join("package.json"))?;
    let names = manifest["dependencies"].as_object().into_iter().flat_map(|names| names.keys());
    let mut folders: Vec<_> = names.map(|name| console.join("node_modules").join(name)).collect();
    folders.push(root().join("tests/hosting/node_modules/workerd"));
    Ok(folders)
}
