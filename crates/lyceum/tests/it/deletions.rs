//! `lyceum projects`: what is deleted, what stays, and what a new project with the slug finds.

use std::fs;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store, rest_on_both_stores};
use crate::transcript::Place;
use crate::typing::Typing;

const STATE: &str = "/_projects/word-rivers/api/state";

/// A deployed project that uses everything, with one row, one key and one object.
fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist',\n\
           integrations: { database: true, kv: true, bucket: true } };\n",
    );
    fs::create_dir(place.path().join("db")).unwrap();
    place.write("db/schema.sql", "CREATE TABLE scores (points INTEGER);\n");
    place.write(
        "server/api/state.ts",
        "export const GET = async (c) => {\n\
           const rows = await c.env.DB.prepare('SELECT count(*) AS n FROM scores').first('n');\n\
           const key = await c.env.KV.get('key');\n\
           const object = await c.env.BUCKET.get('object');\n\
           return c.json({ rows, key, object: object && await object.text(), secret: c.env.secrets.API_KEY });\n\
         };\n\
         export const POST = async (c) => {\n\
           await c.env.DB.prepare('INSERT INTO scores VALUES (1)').run();\n\
           await c.env.KV.put('key', 'value');\n\
           await c.env.BUCKET.put('object', 'bytes');\n\
           return c.json({});\n\
         };\n\
         export const DELETE = async (c) => {\n\
           await c.env.BUCKET.delete('object');\n\
           return c.json({});\n\
         };\n",
    );
    place.ok("deploy --yes");
    client(served).post(STATE).json(&json!({})).expect(200);
    place
}

fn data(served: &Served) -> Value {
    client(served).get(STATE).expect(200).json()
}

rest_on_both_stores!(a_project_is_deleted_with_everything_but_its_game);

fn a_project_is_deleted_with_everything_but_its_game(store: Store) {
    let served = staging(store);
    let place = project(&served);
    let full = json!({ "rows": 1, "key": "value", "object": "bytes", "secret": "hunter2" });
    assert_eq!(data(&served), full);
    let listed = place.json("projects list --json");
    assert_eq!((&listed[0]["slug"], &listed[0]["version"]), (&json!("word-rivers"), &json!(1)));
    assert!(place.ok("projects list").starts_with("project      version  created"));

    // Nothing is deleted without the name.
    let output = place.json("projects delete word-rivers --dry-run --json");
    assert_eq!(
        output,
        json!({ "slug": "word-rivers", "environment": "staging", "deleted": false, "versions": 1,
            "secrets": ["API_KEY"], "data": ["database", "KV", "bucket"] })
    );
    let (code, why) = place.fails("projects delete word-rivers");
    assert!(code == 5 && why.contains("hint: confirm it with --yes"), "{why}");
    let question = "Type 'word-rivers' to delete it: ";
    let mut typing = Typing::start(&place, "projects delete word-rivers");
    let (code, screen) = typing.answer(question, "yes").end();
    assert!(code == 130 && screen.contains("secrets   API_KEY"), "{screen}");
    assert_eq!(place.fails("projects delete nothing --yes").0, 4);
    assert_eq!(data(&served), full);

    let mut typing = Typing::start(&place, "projects delete word-rivers");
    let (code, screen) = typing.answer(question, "word-rivers").end();
    assert!(code == 0 && screen.contains("✔ Deleted 'word-rivers' from staging"), "{screen}");
    assert_eq!(place.json("projects list --json"), json!([]));
    let client = client(&served);
    client.get(STATE).expect(404);
    client.get("/_projects/word-rivers/").expect(404);
    client.get("/api/projects/word-rivers").expect(404);
    client.get("/api/games/word-rivers").expect(200);
    let hosting = served.file("data/hosting");
    assert!(!hosting.join("projects/word-rivers").exists());
    assert_eq!(fs::read_dir(hosting.join("deleted")).unwrap().count(), 0);
    assert_eq!(place.fails("logs").0, 4);

    // A new project with the slug begins empty, and its versions continue the numbers.
    place.write(".env", "");
    place.write("dist/index.html", "<h1>Changed</h1>");
    assert_eq!(place.json("deploy --yes --json")["version"], 2);
    assert_eq!(data(&served), json!({ "rows": 0, "key": null, "object": null }));
    assert_eq!(client.get("/_projects/word-rivers/").expect(200).text(), "<h1>Changed</h1>");
    let audit: Value = client.get("/api/projects/word-rivers/audit").expect(200).json();
    let what: Vec<_> = audit.as_array().unwrap().iter().map(|entry| &entry["what"]).collect();
    assert_eq!(what, ["deploy", "delete", "deploy"]);
}

#[test]
#[ignore = "rest"]
fn a_deletion_that_a_crash_interrupted_is_finished_or_undone() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    let hosting = served.file("data/hosting");
    let move_aside = || {
        let parent = hosting.join("deleted").join(Uuid::now_v7().to_string());
        fs::create_dir_all(&parent).unwrap();
        fs::rename(hosting.join("projects/word-rivers"), parent.join("word-rivers")).unwrap();
    };
    // The rows are still there, so the files come back.
    let mut served = served;
    served.kill();
    move_aside();
    let served = served.again();
    let place = place.with("LYCEUM_URL", &served.base);
    assert_eq!(data(&served)["rows"], 1);
    // The rows are gone, so the files go.
    place.ok("projects delete word-rivers --yes");
    let mut served = served;
    served.kill();
    fs::create_dir_all(hosting.join("projects/word-rivers")).unwrap();
    move_aside();
    let served = served.again();
    assert!(!hosting.join("projects/word-rivers").exists());
    assert_eq!(fs::read_dir(hosting.join("deleted")).unwrap().count(), 0);
    drop(served);
}
