//! The tests that a change can break, by the graph of the crates.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::run::{cargo, command, output, root};

/// Crates that tests use. A change of one reaches the tests of all crates that depend on it for tests; a change below one
/// reaches only the crates that are built from it.
const FOR_TESTS: [&str; 2] = ["lyceum-testkit", "lyceum-testserver"];

/// A crate of the workspace.
struct Package {
    name: String,
    /// Its folder below the root, with a slash at the end.
    folder: String,
    /// The crates that it is built from.
    uses: Vec<String>,
    /// The crates that only its tests need.
    test_uses: Vec<String>,
}

/// The arguments of `cargo test` for what changed since the commit, committed or not.
pub(crate) fn tests(base: &str) -> Result<Vec<String>> {
    let changed = output(command("git", ["diff", "--name-only", base]))?;
    let new = output(command("git", ["ls-files", "--others", "--exclude-standard"]))?;
    let files: Vec<&str> = changed.lines().chain(new.lines()).collect();
    if files.is_empty() {
        bail!("nothing changed since {base}");
    }
    let packages = packages()?;
    let reached = reached(&packages, &files);
    println!("{} files changed since {base}; tested: {}", files.len(), reached.join(", "));
    Ok(reached.into_iter().flat_map(|name| ["--package".to_owned(), name]).collect())
}

/// The names of the crates whose tests a change of the files can break, sorted. The rules of the repository, in xtask, read
/// all files.
fn reached(packages: &[Package], files: &[&str]) -> Vec<String> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        reached.extend(owners(packages, file));
    }
    let for_tests: Vec<&str> =
        FOR_TESTS.into_iter().filter(|name| reached.contains(name)).collect();
    loop {
        let more: Vec<&str> = packages
            .iter()
            .filter(|package| {
                !reached.contains(package.name.as_str())
                    && (package.uses.iter().any(|used| {
                        reached.contains(used.as_str()) && !FOR_TESTS.contains(&used.as_str())
                    }) || package
                        .test_uses
                        .iter()
                        .any(|used| for_tests.contains(&used.as_str())))
            })
            .map(|package| package.name.as_str())
            .collect();
        if more.is_empty() {
            reached.insert("xtask");
            return reached.into_iter().map(str::to_owned).collect();
        }
        reached.extend(more);
    }
}

/// The crates that contain the file, embed it or test with it.
fn owners<'a>(packages: &'a [Package], file: &str) -> Vec<&'a str> {
    let names = || packages.iter().map(|package| package.name.as_str());
    if let Some(owner) = packages.iter().find(|package| file.starts_with(&package.folder)) {
        return vec![&owner.name];
    }
    match file.split('/').next() {
        // The build of everything.
        Some("Cargo.toml" | "Cargo.lock" | ".cargo" | "clippy.toml") => names().collect(),
        // Pages have embedded files and texts, and backends of tests have npm packages.
        Some("web" | "docs" | "tests" | "packaging") => names()
            .filter(|name| ["lyceum-console", "lyceum-pages", "lyceum-server"].contains(name))
            .collect(),
        Some("openapi.json") => names().filter(|name| *name == "lyceum-server").collect(),
        _ => Vec::new(),
    }
}

fn packages() -> Result<Vec<Package>> {
    let metadata = output(cargo(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().into_iter().flatten().map(|package| {
        let manifest = text(&package["manifest_path"]);
        let folder = manifest.trim_end_matches("Cargo.toml");
        let uses = |is_for_tests: bool| {
            let all = package["dependencies"].as_array().into_iter().flatten();
            all.filter(|dependency| (dependency["kind"] == "dev") == is_for_tests)
                .map(|dependency| text(&dependency["name"]))
                .collect()
        };
        Package {
            name: text(&package["name"]),
            folder: folder
                .strip_prefix(&format!("{}/", root().display()))
                .unwrap_or(folder)
                .to_owned(),
            uses: uses(false),
            test_uses: uses(true),
        }
    });
    Ok(packages.collect())
}

#[cfg(test)]
mod tests {
    use super::{packages, reached};

    #[test]
    fn a_change_reaches_the_crates_that_are_built_from_it() {
        let packages = packages().expect("cargo tells the packages");
        let of = |file: &str| reached(&packages, &[file]);
        let qti = of("crates/qti/src/lib.rs");
        for name in ["lyceum-qti", "lyceum-assessment", "lyceum-server", "lyceum", "xtask"] {
            assert!(qti.iter().any(|reached| reached == name), "{name} in {qti:?}");
        }
        // It only uses the test kit, which is built from `roster`.
        assert!(!of("crates/roster/src/lib.rs").contains(&"lyceum-qti".to_owned()));
        assert!(of("crates/testkit/src/fuzz.rs").contains(&"lyceum-qti".to_owned()));
        assert_eq!(of("README.md"), ["xtask"]);
        assert_eq!(of("Cargo.lock").len(), packages.len());
    }
}
