//! The crates that each crate may use: the arrows of ARCHITECTURE.md and crates/README.md.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use serde_json::Value;

use crate::{read, refuse, root, rust_sources};

/// Package, and what its normal dependencies in the workspace may be.
const ARROWS: &[(&str, &[&str])] = &[
    ("lyceum-message-macro", &[]),
    ("lyceum-core", &["lyceum-message-macro"]),
    ("lyceum-store", &["lyceum-core"]),
    ("lyceum-runs", &["lyceum-store", "lyceum-core"]),
    ("lyceum-access", &["lyceum-store", "lyceum-core"]),
    ("lyceum-webhooks", &["lyceum-access", "lyceum-store", "lyceum-core"]),
    ("lyceum-roster", &["lyceum-store", "lyceum-core"]),
    ("lyceum-demo", &["lyceum-roster", "lyceum-core"]),
    ("lyceum-qti", &["lyceum-core"]),
    ("lyceum-events", &["lyceum-runs", "lyceum-store", "lyceum-core"]),
    ("lyceum-bridge", &["lyceum-roster", "lyceum-events", "lyceum-store", "lyceum-core"]),
    ("lyceum-assessment", &["lyceum-qti", "lyceum-store", "lyceum-core"]),
    ("lyceum-credentials", &["lyceum-access", "lyceum-roster", "lyceum-store", "lyceum-core"]),
    ("lyceum-standards", &["lyceum-assessment", "lyceum-roster", "lyceum-store", "lyceum-core"]),
    (
        "lyceum-adaptive",
        &[
            "lyceum-assessment",
            "lyceum-bridge",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-qti",
            "lyceum-store",
            "lyceum-core",
        ],
    ),
    ("lyceum-project", &["lyceum-core"]),
    ("lyceum-blob", &["lyceum-core"]),
    // It makes its bucket as `blob` does.
    ("lyceum-replica", &["lyceum-blob", "lyceum-core"]),
    ("lyceum-client", &["lyceum-core"]),
    ("lyceum-console", &["lyceum-core"]),
    (
        "lyceum-games",
        &[
            "lyceum-roster",
            "lyceum-bridge",
            "lyceum-events",
            "lyceum-project",
            "lyceum-store",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-hosting",
        &[
            "lyceum-games",
            "lyceum-access",
            "lyceum-bridge",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-project",
            "lyceum-replica",
            "lyceum-blob",
            "lyceum-store",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-erasure",
        &[
            "lyceum-hosting",
            "lyceum-credentials",
            "lyceum-access",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-store",
            "lyceum-core",
        ],
    ),
    ("lyceum-deploy", &["lyceum-project", "lyceum-core"]),
    // A backend under development is one that is bundled as a deploy bundles it, and run as a server does.
    ("lyceum-dev", &["lyceum-deploy", "lyceum-hosting", "lyceum-project", "lyceum-core"]),
    // `http` does not know what the routes do, and `cluster` knows no route.
    (
        "lyceum-http",
        &[
            "lyceum-hosting",
            "lyceum-deploy",
            "lyceum-games",
            "lyceum-credentials",
            "lyceum-roster",
            "lyceum-access",
            "lyceum-store",
            "lyceum-replica",
            "lyceum-console",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-cluster",
        &[
            "lyceum-hosting",
            "lyceum-access",
            "lyceum-store",
            "lyceum-replica",
            "lyceum-blob",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-api",
        &[
            "lyceum-cluster",
            "lyceum-http",
            "lyceum-erasure",
            "lyceum-hosting",
            "lyceum-deploy",
            "lyceum-adaptive",
            "lyceum-games",
            "lyceum-bridge",
            "lyceum-credentials",
            "lyceum-standards",
            "lyceum-webhooks",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-access",
            "lyceum-assessment",
            "lyceum-store",
            "lyceum-project",
            "lyceum-blob",
            "lyceum-client",
            "lyceum-console",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-pages",
        &[
            "lyceum-api",
            "lyceum-http",
            "lyceum-erasure",
            "lyceum-hosting",
            "lyceum-deploy",
            "lyceum-adaptive",
            "lyceum-games",
            "lyceum-bridge",
            "lyceum-credentials",
            "lyceum-standards",
            "lyceum-webhooks",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-access",
            "lyceum-assessment",
            "lyceum-store",
            "lyceum-project",
            "lyceum-blob",
            "lyceum-console",
            "lyceum-core",
        ],
    ),
    (
        "lyceum-server",
        &[
            "lyceum-pages",
            "lyceum-api",
            "lyceum-cluster",
            "lyceum-http",
            "lyceum-hosting",
            "lyceum-adaptive",
            "lyceum-webhooks",
            "lyceum-events",
            "lyceum-access",
            "lyceum-assessment",
            "lyceum-store",
            "lyceum-core",
            "lyceum-credentials",
            "lyceum-games",
            "lyceum-standards",
            "lyceum-roster",
            "lyceum-project",
            "lyceum-blob",
            "lyceum-console",
        ],
    ),
    (
        "lyceum-sandbox",
        &[
            "lyceum-games",
            "lyceum-roster",
            "lyceum-access",
            "lyceum-project",
            "lyceum-store",
            "lyceum-core",
        ],
    ),
    (
        "lyceum",
        &[
            "lyceum-blob",
            "lyceum-erasure",
            "lyceum-demo",
            "lyceum-deploy",
            "lyceum-dev",
            "lyceum-sandbox",
            "lyceum-hosting",
            "lyceum-project",
            "lyceum-client",
            "lyceum-server",
            "lyceum-credentials",
            "lyceum-games",
            "lyceum-adaptive",
            "lyceum-standards",
            "lyceum-assessment",
            "lyceum-bridge",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-qti",
            "lyceum-access",
            "lyceum-store",
            "lyceum-core",
            "lyceum-http",
            "lyceum-api",
        ],
    ),
    ("lyceum-testkit", &["lyceum-roster", "lyceum-store", "lyceum-core"]),
    (
        "lyceum-testserver",
        &[
            "lyceum-testkit",
            "lyceum-server",
            "lyceum-credentials",
            "lyceum-adaptive",
            "lyceum-roster",
            "lyceum-events",
            "lyceum-qti",
            "lyceum-access",
            "lyceum-store",
            "lyceum-core",
            "lyceum-api",
        ],
    ),
    ("xtask", &[]),
    // The bench drives the binary from outside, as a client would, and signs badges in its own process.
    // It shares the private PostgreSQL cluster with the tests.
    ("lyceum-bench", &["lyceum-testkit", "lyceum-credentials", "lyceum-core"]),
];

/// The crates that tests of any crate may use.
const FOR_TESTS: [&str; 2] = ["lyceum-testkit", "lyceum-demo"];

/// The crate that only tests may use that need a server, or the tables of all crates. It compiles the whole product, so
/// the tests of a domain crate do without it.
const SERVER_FOR_TESTS: &str = "lyceum-testserver";
const TESTED_WITH_A_SERVER: &[&str] =
    &["lyceum-server", "lyceum-sandbox", "lyceum-erasure", "lyceum"];

/// The framework of HTTP, and who may know it: the crate `http`, and the bench, whose bare anchor shows
/// what the framework alone can do.
const HTTP: &[&str] = &["axum", "axum-server", "axum-core", "axum-extra", "tower-http"];
const KNOW_HTTP: &[&str] = &["lyceum-http", "lyceum-bench"];

/// Crates without asynchronous code and without a network, and what they therefore lack.
const SYNCHRONOUS: &[&str] = &[
    "lyceum-core",
    "lyceum-access",
    "lyceum-roster",
    "lyceum-demo",
    "lyceum-runs",
    "lyceum-events",
    "lyceum-bridge",
    "lyceum-qti",
    "lyceum-assessment",
    "lyceum-standards",
    "lyceum-adaptive",
    "lyceum-games",
    "lyceum-project",
    "lyceum-webhooks",
    "lyceum-console",
];
const ASYNCHRONOUS: &[&str] =
    &["tokio", "futures", "futures-util", "async-trait", "hyper", "tower", "ureq", "reqwest"];

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    let mut breaches = Vec::new();
    for (package, dependency, kind) in dependencies() {
        let is_ours = dependency == "lyceum" || dependency.starts_with("lyceum-");
        let for_tests = kind == "dev"
            && (FOR_TESTS.contains(&dependency.as_str())
                || dependency == SERVER_FOR_TESTS
                    && TESTED_WITH_A_SERVER.contains(&package.as_str()));
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package) else {
            breaches.push(format!("{package} is not in the table"));
            continue;
        };
        // A dev-dependency may be anything that a normal one may be.
        if is_ours && !for_tests && !allowed.contains(&dependency.as_str()) {
            breaches.push(format!("{package} → {dependency} ({kind} dependency)"));
        }
    }
    refuse(
        &breaches,
        "a crate leans only on the crates that ARCHITECTURE.md draws below it",
        "arrows in one direction keep each crate readable, testable and compiled alone",
        "move the code to the crate that may know it; a new arrow needs a decision in \
         docs/decisions, the lists in ARCHITECTURE.md, crates/README.md and xtask/tests/it/arrows.rs",
    );
}

#[test]
fn the_list_of_crates_names_what_each_one_uses() {
    let list = read("crates/README.md");
    let dependencies = dependencies();
    let short = |package: &str| package.strip_prefix("lyceum-").unwrap_or(package).to_owned();
    let mut breaches = Vec::new();
    let mut rows = 0;
    for row in list.lines().filter(|line| line.starts_with("| [`")) {
        rows += 1;
        let name = row.split('`').nth(1).unwrap();
        let uses = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut listed: Vec<String> =
            uses.split(", ").filter(|name| *name != "–").map(str::to_owned).collect();
        let mut real: Vec<String> = dependencies
            .iter()
            .filter(|(package, dependency, kind)| {
                let is_ours = dependency.starts_with("lyceum-") && dependency != "lyceum-core";
                short(package) == name && is_ours && kind == "normal"
            })
            .map(|(_, dependency, _)| short(dependency))
            .collect();
        listed.sort();
        real.sort();
        if listed != real {
            breaches.push(format!("{name}: the list has {listed:?}, Cargo.toml has {real:?}"));
        }
    }
    assert!(rows > 20, "only {rows} crates were found");
    refuse(
        &breaches,
        "crates/README.md lists what each crate uses",
        "a newcomer sees from it what a change can affect",
        "correct the last column of the row",
    );
}

#[test]
fn only_one_crate_uses_axum() {
    let breaches: Vec<String> = dependencies()
        .into_iter()
        .filter(|(package, dependency, _)| {
            HTTP.contains(&dependency.as_str()) && !KNOW_HTTP.contains(&package.as_str())
        })
        .map(|(package, dependency, _)| format!("{package} → {dependency}"))
        .collect();
    refuse(
        &breaches,
        "lyceum-http is the only crate of the program that knows axum",
        "rules that know no HTTP can be called from the command line and from tests",
        "return a lyceum_core::Problem or a plain value and let lyceum-http render it",
    );
}

#[test]
fn domain_crates_are_synchronous() {
    let breaches: Vec<String> = dependencies()
        .into_iter()
        .filter(|(package, dependency, kind)| {
            kind != "dev"
                && SYNCHRONOUS.contains(&package.as_str())
                && ASYNCHRONOUS.contains(&dependency.as_str())
        })
        .map(|(package, dependency, _)| format!("{package} → {dependency}"))
        .collect();
    refuse(
        &breaches,
        "domain crates know no HTTP and no async",
        "a function over a transaction runs the same on both stores, in tests and in the command \
         line, without a runtime",
        "take a `&mut Tx` and plain values; what needs the network is fetched by lyceum-api",
    );
}

/// Facts and their rows are one algorithm in two modules.
const KNOWN_BY_ITS_REPOSITORY: &str = "crates/events/";

#[test]
fn repositories_do_not_import_the_modules_that_call_them() {
    let texts: HashMap<String, String> =
        rust_sources().map(|source| (source.path, source.text)).collect();
    let mut breaches = Vec::new();
    for (path, text) in &texts {
        let Some((folder, _)) = path.split_once("/src/repository") else { continue };
        if path.starts_with(KNOWN_BY_ITS_REPOSITORY) {
            continue;
        }
        for import in imports(text) {
            let file = |module: &str| {
                [format!("{folder}/src/{module}.rs"), format!("{folder}/src/{module}/mod.rs")]
                    .into_iter()
                    .find(|file| texts.contains_key(file))
            };
            // The longest part of the path that is a file; the rest names what is in it.
            let ends = import.match_indices('/').map(|(end, _)| end).chain([import.len()]);
            let Some(imported) = ends.rev().find_map(|end| file(&import[..end])) else { continue };
            let mut its_imports = imports(&texts[&imported]);
            if !imported.contains("/src/repository")
                && its_imports.any(|import| import.starts_with("repository"))
            {
                breaches.push(format!("{path}: {imported}"));
            }
        }
    }
    refuse(
        &breaches,
        "a module below `repository` imports no module that imports `repository`",
        "a reader of the SQL must not need the rules that call it",
        "declare the type of the row in the repository module; the other module re-exports it",
    );
}

/// The imports of a file from its crate, with `/` between the names; of a group in braces, each member.
fn imports(text: &str) -> impl Iterator<Item = String> {
    let statements = text.split("use crate::").skip(1).map(|rest| rest.split(';').next().unwrap());
    statements.flat_map(|statement| {
        let members = statement.strip_prefix('{').unwrap_or(statement).split(',');
        let path = |member: &str| {
            let names = member.trim().split("::").take_while(|name| !name.starts_with('{'));
            names.collect::<Vec<_>>().join("/")
        };
        members.map(path).collect::<Vec<_>>()
    })
}

#[test]
fn the_benchmarks_need_no_other_features_than_the_program() {
    let (program, both) = (features(&["lyceum"]), features(&["lyceum", "lyceum-bench"]));
    let name = |line: &str| line.split(" v").next().unwrap().to_owned();
    let built: BTreeSet<String> = program.iter().map(|line| name(line)).collect();
    let others = both.difference(&program).filter(|line| built.contains(&name(line)));
    refuse(
        &others.cloned().collect::<Vec<_>>(),
        "a release build for the benchmarks uses the libraries that the program was built with",
        "with other features, cargo compiles the whole product a second time",
        "remove the dependency that adds the feature, or put it behind a feature that the bench does not use",
    );
}

/// The libraries of packages, each as a line with its version and features.
fn features(packages: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--edges=normal,build", "--prefix=none", "--format={p} {f}"]);
    cargo.args(packages.iter().flat_map(|package| ["--package", package])).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.trim_end_matches(" (*)").trim().to_owned()).collect()
}

/// Package, dependency and the kind of the arrow (`normal`, `dev`, `build`), for the workspace.
fn dependencies() -> Vec<(String, String, String)> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let mut arrows = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            arrows.push((
                package["name"].as_str().unwrap().to_owned(),
                dependency["name"].as_str().unwrap().to_owned(),
                dependency["kind"].as_str().unwrap_or("normal").to_owned(),
            ));
        }
    }
    assert!(arrows.len() > 50, "cargo metadata tells only {} dependencies", arrows.len());
    arrows
}
