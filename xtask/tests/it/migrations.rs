//! Migrations are numbered over all crates.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, refuse, rust_sources, sources};

/// The version, name and place of every migration in a list of a crate.
fn migrations(sources: &[Source]) -> Vec<(u32, String, String)> {
    let mut migrations = Vec::new();
    for source in sources.iter().filter(|source| source.path.contains("/src/")) {
        for call in source.text.split("migration!(").skip(1) {
            let arguments = call.split(')').next().unwrap_or_default().split_once(',');
            let Some((version, name)) = arguments else { continue };
            let version = version.trim().parse().expect("a version is a number");
            let name = name.trim().trim_matches('"').to_owned();
            migrations.push((version, name, source.path.clone()));
        }
    }
    migrations
}

#[test]
fn migration_versions_are_unique() {
    let sources: Vec<Source> = rust_sources().collect();
    let mut places = BTreeMap::<u32, Vec<String>>::new();
    for (version, _, place) in migrations(&sources) {
        places.entry(version).or_default().push(place);
    }
    assert!(!places.is_empty(), "no migration was found: the test looks for `migration!(`");
    let breaches: Vec<String> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(version, places)| format!("version {version}: {}", places.join(", ")))
        .collect();
    refuse(
        &breaches,
        "a migration's version is unique over all crates",
        "versions order all migrations of a database; two with one number never both run",
        "take the next free number; a released migration is never changed",
    );
}

#[test]
fn migrations_say_whether_older_servers_may_run() {
    let breaches: Vec<String> = sources()
        .iter()
        .filter(|source| source.has_extension("sql") && source.path.contains("/migrations/"))
        .filter(|source| !says_whether_older_servers_may_run(&source.text))
        .map(|source| source.path.clone())
        .collect();
    refuse(
        &breaches,
        "a migration begins with a line about older servers",
        "servers of one database are upgraded one after the other, so older ones meet the new schema",
        "begin it with `-- Older servers may run.` or `-- Older servers must stop: REASON` (docs/compatibility.md)",
    );
}

fn says_whether_older_servers_may_run(sql: &str) -> bool {
    let first = sql.lines().next().unwrap_or_default();
    let reason = first.strip_prefix("-- Older servers must stop: ");
    first == "-- Older servers may run." || reason.is_some_and(|reason| reason.len() > 10)
}

#[test]
fn the_rule_reads_the_line_about_older_servers() {
    let says = says_whether_older_servers_may_run;
    assert!(says("-- Older servers may run.\nCREATE TABLE t (a TEXT);"));
    assert!(says("-- Older servers must stop: they do not keep up the counts.\n"));
    assert!(!says("-- Older servers must stop: \n"));
    assert!(!says("CREATE TABLE t (a TEXT);\n-- Older servers may run."));
}

#[test]
fn every_migration_file_is_listed() {
    let rust: Vec<Source> = rust_sources().collect();
    let listed: BTreeSet<String> = migrations(&rust)
        .into_iter()
        .map(|(version, name, place)| {
            let folder = place.rsplit_once("/src/").map_or("", |(folder, _)| folder);
            format!("{folder}/migrations/V{version}__{name}.sql")
        })
        .collect();
    let breaches: Vec<String> = sources()
        .iter()
        .filter(|source| source.has_extension("sql") && source.path.contains("/migrations/"))
        .filter(|file| !listed.contains(&file.path))
        .map(|file| file.path.clone())
        .collect();
    refuse(
        &breaches,
        "each file under migrations/ stands in its crate's list of migrations",
        "a file that no list names never runs",
        "add a `migration!` of it to the list",
    );
}
