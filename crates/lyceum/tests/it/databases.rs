//! `lyceum db`, on the database of a project.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::served::binary;
use crate::transcript::Place;

fn project() -> Place {
    let place = Place::new().running(binary());
    std::fs::create_dir_all(place.path().join("db")).unwrap();
    place.write("db/schema.sql", "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER);\n");
    place
}

#[test]
#[ignore = "rest"]
fn a_schema_is_pushed_step_by_step_and_losses_need_consent() {
    let place = project();
    let (code, sql, stderr) = place.run("db diff");
    assert_eq!(
        (code, sql.as_str(), stderr.as_str()),
        (0, "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER);\n", "")
    );
    assert!(!place.path().join(".lyceum").exists(), "a diff makes nothing");
    let (code, _, stderr) = place.run("db push");
    assert_eq!(
        (code, stderr.as_str()),
        (0, "the database now matches the project's schema: applied 1 steps\n")
    );
    assert_eq!(place.run("db push").2, "the database already matches the project's schema\n");

    place.write("db/schema.sql", "CREATE TABLE scores (id INTEGER PRIMARY KEY, score INTEGER);\n");
    let plan = place.json("db diff --json");
    assert_eq!(plan["losses"][0], "the column 'scores.points' is dropped with its values");
    let (code, stderr) = place.fails("db push");
    assert_eq!(code, 5);
    assert!(
        stderr.starts_with("error: this would lose data: the column 'scores.points'"),
        "{stderr}"
    );
    let done = place.json("db push --rename scores.points=score --json");
    assert_eq!(done["done"][0], r#"ALTER TABLE "scores" RENAME COLUMN "points" TO "score""#);
    assert!(place.path().join(done["restorePoint"].as_str().unwrap()).is_file());

    place.ok("db backup copy.db");
    assert_eq!(place.fails("db backup copy.db").0, 5);
    assert_eq!(place.fails("db reset").0, 5);
    place.ok("db reset --force");
    place.write("db/schema.sql", "");
    place.ok("db push --accept-data-loss");
    let (code, stderr) = place.fails("db restore nowhere.db");
    assert!(code == 4 && stderr.contains("`lyceum db points`"), "{stderr}");
    let (_, _, stderr) = place.run("db restore copy.db");
    assert!(place.ok("db diff").starts_with(r#"DROP TABLE "scores";"#));
    // What was replaced can be had back.
    let point = stderr.split('`').nth(1).unwrap().strip_prefix("lyceum ").unwrap();
    place.ok(point);
    assert_eq!(place.run("db diff").2, "the database matches the project's schema\n");
}

#[test]
#[ignore = "rest"]
fn migrations_are_found_by_their_journal() {
    let place = project();
    std::fs::create_dir_all(place.path().join("db/migrations/meta")).unwrap();
    let journal = r#"{"version":"7","dialect":"sqlite","entries":[{"idx":0,"tag":"0000_start"}]}"#;
    place.write("db/migrations/meta/_journal.json", journal);
    place.write("db/migrations/0000_start.sql", "CREATE TABLE t (a text);");
    assert_eq!(place.json("db diff --json")["pending"][0], "0000_start");
    let config = |strategy: &str| {
        let text = r#"{ "name": "Rivers", "integrations": { "database": { "strategy": "HOW" } } }"#;
        place.write("lyceum.config.json", &text.replace("HOW", strategy));
    };
    config("push");
    assert!(place.ok("db diff").starts_with("CREATE TABLE scores"), "what the config says counts");
    config("migrate");
    assert_eq!(place.json("db diff --json")["pending"][0], "0000_start");
    place.ok("db migrate");
    assert_eq!(place.run("db diff").2, "all migrations are applied\n");
    // A migration that deletes rows needs consent, and the refusal names the flag.
    let add = |index: usize, tag: &str, sql: &str| {
        let entries: Vec<_> = std::iter::once((0, "0000_start"))
            .chain([(1, "0001_fill"), (2, "0002_clear")].into_iter().take(index))
            .map(|(idx, tag)| json!({ "idx": idx, "tag": tag }))
            .collect();
        let journal = json!({ "version": "7", "dialect": "sqlite", "entries": entries });
        place.write("db/migrations/meta/_journal.json", &journal.to_string());
        place.write(&format!("db/migrations/{tag}.sql"), sql);
    };
    add(1, "0001_fill", "INSERT INTO t VALUES ('kept');");
    place.ok("db migrate");
    add(2, "0002_clear", "DELETE FROM t;");
    let (code, stderr) = place.fails("db migrate");
    assert_eq!(
        (code, stderr.as_str()),
        (
            5,
            "error: the table 't' would have 0 rows instead of 1; accept the loss with \
             --accept-data-loss\n"
        )
    );
    place.ok("db migrate --accept-data-loss");
    place.write("db/migrations/0000_start.sql", "CREATE TABLE t (a integer);");
    let (code, stderr) = place.fails("db migrate");
    assert_eq!(code, 5);
    assert!(stderr.contains("'0000_start' was changed after it was applied"), "{stderr}");
}

#[test]
#[ignore = "rest"]
fn drizzle_kit_exports_a_schema_in_typescript() {
    let place = project();
    place.write("db/schema.ts", "export {};");
    assert!(place.fails("db diff").1.contains("which is not installed"));
    let bin = place.path().join("node_modules/.bin");
    std::fs::create_dir_all(&bin).unwrap();
    let kit = bin.join("drizzle-kit");
    std::fs::write(
        &kit,
        "#!/bin/sh\n[ \"$1\" = export ] && echo 'CREATE TABLE `typed` (`id` integer);'\n",
    )
    .unwrap();
    std::fs::set_permissions(&kit, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.ok("db diff"), "CREATE TABLE `typed` (`id` integer);\n");
    std::fs::write(&kit, "#!/bin/sh\necho 'no such file' >&2; exit 1\n").unwrap();
    let (code, stderr) = place.fails("db diff");
    assert_eq!(
        (code, stderr.as_str()),
        (1, "error: drizzle-kit cannot export the schema:\nno such file\n")
    );
}
