//! `lyceum deploy --dry-run`: the server tries all of a plan and keeps nothing of it; and what a deploy says of
//! what it leaves out.

use std::fs;

use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Store, rest_on_both_stores};
use crate::transcript::Place;

rest_on_both_stores!(a_dry_run_rehearses_the_whole_deploy_and_changes_nothing);

fn a_dry_run_rehearses_the_whole_deploy_and_changes_nothing(store: Store) {
    let served = staging(store);
    let place = place_at(&served);
    place.write("notes.txt", "not a zip at all");
    fs::create_dir(place.path().join("empty")).unwrap();
    place.write("empty/page.html", "<h1>no index</h1>");
    for (flags, wanted) in [
        ("--build notes.txt", "'notes.txt' is not a zip"),
        ("--build empty", "the zip has no 'index.html' at its root"),
        ("--compatibility-date 2099-01-01", "requires compatibility date \"2099-01-01\""),
    ] {
        let (code, stderr) = place.fails(&format!("deploy --dry-run {flags}"));
        assert!(code == 1 && stderr.contains(wanted), "{flags}: {stderr}");
        assert!(!stderr.contains("/tmp/"), "no file of the server's is told: {stderr}");
    }
    let route = "export const GET = (c) => c.json(1);\n";
    place.write("server/api/later.ts", &format!("throw new Error('no start');\n{route}"));
    let (code, stderr) = place.fails("deploy --dry-run");
    assert!(code == 1 && stderr.contains("no start"), "{stderr}");
    assert!(
        stderr.contains("Deployment Plan (Dry Run)"),
        "the plan is shown all the same: {stderr}"
    );
    place.write("server/api/later.ts", route);
    place.ok("deploy --dry-run");
    client(&served).get("/api/projects/word-rivers").expect(404);
    client(&served).get("/api/games/word-rivers").expect(404);

    // With a database: the schema is tried on a copy, and what it loses is shown.
    let config = "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { database: true } };";
    place.write("lyceum.config.js", config);
    let (code, stderr) = place.fails("deploy --yes");
    assert!(code == 4 && stderr.contains("the project has a database but no schema"), "{stderr}");
    fs::create_dir_all(place.path().join("db/schema")).unwrap();
    place.write("db/schema/scores.ts", TABLE);
    place.write("db/schema/index.ts", "export * from './scores';\n");
    place.write(
        "server/api/later.ts",
        "export const GET = async (c) => { await c.env.DB.exec('INSERT INTO scores (points) VALUES (7)');\n\
         return c.json((await c.env.DB.prepare('SELECT points FROM scores').all()).results); };\n",
    );
    assert_eq!(place.json("deploy --yes --json")["version"], 1);
    let later = "/_projects/word-rivers/api/later";
    assert_eq!(client(&served).get(later).expect(200).json::<Value>(), json!([{ "points": 7 }]));
    place.write(
        "db/schema/scores.ts",
        &TABLE.replace("points: integer()", "points: integer(), by: integer().notNull()"),
    );
    let (code, stderr) = place.fails("deploy --dry-run");
    assert!(code == 5 && stderr.contains("must not be null and has no default"), "{stderr}");
    place.write("db/schema/scores.ts", &TABLE.replace("points: integer()", "other: integer()"));
    let shown = place.ok("deploy --dry-run");
    assert!(shown.contains("Loses: the column 'scores.points' is dropped"), "{shown}");
    assert_eq!(client(&served).get(later).expect(200).json::<Value>().as_array().unwrap().len(), 2);
    let files = fs::read_dir(served.file("data/hosting/projects/word-rivers")).unwrap().flatten();
    let files = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let files: Vec<_> = files.filter(|name| name.ends_with(".sqlite")).collect();
    assert!(files.len() <= 2, "what was tried is gone: {files:?}");
}

const TABLE: &str = "import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';\n\
                     export const scores = sqliteTable('scores', { id: integer().primaryKey(), points: integer() });\n";

#[test]
#[ignore = "rest"]
fn a_skipped_backend_is_reported() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    place.ok("deploy --yes");
    let stderr = place.run("deploy --no-backend").2;
    assert!(stderr.contains("– API routes: skipped (--no-backend)"), "{stderr}");
    assert_eq!(
        place.json("deploy --no-backend --json")["backendSkipped"],
        json!({ "changed": false })
    );
    place.write("server/api/hello.ts", "export const GET = (c) => c.json(2);\n");
    let (code, stdout, stderr) = place.run("deploy --no-backend");
    assert_eq!((code, stdout.as_str()), (0, "✦ Nothing to do\n"));
    assert!(stderr.contains("– API routes: changed, skipped (--no-backend)"), "{stderr}");
    assert!(!stderr.contains("No changes detected in API routes"), "{stderr}");
    let shown = place.ok("deploy --no-backend --dry-run");
    assert!(shown.contains("Deploy Backend:  changed, skipped (--no-backend)"), "{shown}");
    place.write("dist/index.html", "<h1>another page</h1>");
    let (_, _, stderr) = place.run("deploy --no-backend --yes");
    assert!(stderr.contains("Custom Routes: changed, skipped (--no-backend)"), "{stderr}");
}

#[test]
#[ignore = "rest"]
fn a_remote_diff_of_migrations_prints_their_sql() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    let config = "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { database: true } };";
    place.write("lyceum.config.js", config);
    let journal = |place: &Place, tags: &[&str]| {
        let entries = tags.iter().enumerate().map(|(idx, tag)| json!({ "idx": idx, "tag": tag }));
        let entries: Vec<_> = entries.collect();
        let text = json!({ "version": "7", "dialect": "sqlite", "entries": entries }).to_string();
        place.write("db/migrations/meta/_journal.json", &text);
    };
    fs::create_dir_all(place.path().join("db/migrations/meta")).unwrap();
    journal(&place, &["0000_start"]);
    place.write("db/migrations/0000_start.sql", "CREATE TABLE notes (body text);\n");
    place.ok("deploy --yes");
    journal(&place, &["0000_start", "0001_more"]);
    place.write("db/migrations/0001_more.sql", "ALTER TABLE notes ADD COLUMN at text;\n");
    let wanted = "-- 0001_more\nALTER TABLE notes ADD COLUMN at text;\n";
    assert_eq!(place.ok("db diff --remote"), wanted);
    assert_eq!(place.json("db diff --remote --json")["sql"], json!([wanted]));
}
