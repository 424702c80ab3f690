//! Questions that are asked beside those of a deploy, each answered by keyboard: refused, and agreed to.

use std::fs;

use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store};
use crate::transcript::Place;
use crate::typing::Typing;

const TABLE: &str = "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER);\n";
const SCORES: &str = "/_projects/word-rivers/api/scores";

/// A deployed project with a database and a bucket, whose one route reads and adds rows.
fn project(served: &Served) -> Place {
    let place = place_at(served);
    let config = "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { database: true, bucket: true } };\n";
    place.write("lyceum.config.js", config);
    place.write(
        "server/api/scores.ts",
        "const all = async (c) => (await c.env.DB.prepare('SELECT points FROM scores').all()).results;\n\
         export const GET = async (c) => c.json((await all(c)).map((row) => row.points));\n\
         export const POST = async (c) => {\n\
           await c.env.DB.prepare('INSERT INTO scores (points) VALUES (7)').run();\n\
           return c.json({});\n\
         };\n",
    );
    fs::create_dir(place.path().join("db")).unwrap();
    place.write("db/schema.sql", TABLE);
    place.ok("deploy --yes");
    add(served);
    place
}

fn add(served: &Served) {
    client(served).post(SCORES).json(&json!({})).expect(200);
}

fn scores(served: &Served) -> Value {
    client(served).get(SCORES).expect(200).json()
}

/// The command ends as it does where nothing is to be done.
fn refused(place: &Place, line: &str, question: &str, keys: &str) {
    let (code, screen) = Typing::start(place, line).answer(question, keys).end();
    assert!(code == 130 && screen.contains("cancelled; nothing was changed"), "{line}: {screen}");
}

fn agreed(place: &Place, line: &str, question: &str, keys: &str) -> String {
    let (code, screen) = Typing::start(place, line).answer(question, keys).end();
    assert_eq!(code, 0, "{line}: {screen}");
    screen
}

#[test]
#[ignore = "rest"]
fn secrets_and_objects() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    place.write(".env", "API_KEY=hunter3\nOTHER=hunter4\n");
    let question = "Push 2 secrets to staging? (Y/n)";
    refused(&place, "secrets push", question, "n");
    assert_eq!(place.ok("secrets list"), "API_KEY\n");
    // What is neither yes nor no is asked again.
    let mut typing = Typing::start(&place, "secrets push");
    let (code, screen) = typing.answer(question, "perhaps").answer(question, "").end();
    assert!(code == 0 && screen.contains("Added: OTHER") && !screen.contains("hunter"), "{screen}");
    assert_eq!(place.ok("secrets list"), "API_KEY\nOTHER\n");
    // Ctrl-C ends a question.
    place.write(".env", "OTHER=hunter6\n");
    let mut typing = Typing::start(&place, "secrets push");
    assert!(!typing.sees("staging? (Y/n): ").contains('['), "there is no default to show");
    let (code, screen) = typing.interrupt().end();
    assert!(
        code == 130 && screen.contains("^C\r\n") && screen.contains("interrupted\r\n"),
        "{screen:?}"
    );
    // A deploy asks once for all that changes.
    place.write(".env", "OTHER=hunter5\n");
    place.write("dist/index.html", "<h1>Two</h1>");
    let screen = agreed(&place, "deploy", "Update Word Rivers to a new version? (Y/n)", "");
    for line in
        ["Updated: OTHER", "Removed: API_KEY", "✔ Uploading frontend", "✔ Pushing 2 secrets"]
    {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    assert_eq!(place.ok("secrets list"), "OTHER\n");

    for target in ["", " --remote"] {
        place.ok(&format!("bucket put game/a lyceum.config.js{target}"));
        place.ok(&format!("bucket put b lyceum.config.js{target}"));
        let delete = format!("bucket delete --prefix game/{target}");
        let question = "Delete 1 object 'game/…'";
        refused(&place, &delete, question, "");
        agreed(&place, &delete, question, "y");
        let left = place.json(&format!("bucket list --json{target}"));
        assert_eq!(left["objects"].as_array().unwrap().len(), 1, "{left}");
    }
}

#[test]
#[ignore = "rest"]
fn databases() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    place.ok("db backup copy.db --remote");
    add(&served);

    place.write("db/schema.sql", &format!("{TABLE}CREATE INDEX by_points ON scores (points);\n"));
    let question = "Change the database on staging? (Y/n)";
    refused(&place, "db push --remote", question, "n");
    agreed(&place, "db push --remote", question, "");
    assert_eq!(place.json("db diff --remote --json")["database"], Value::Null);

    let question = "Replace the database of word-rivers on staging? (y/N)";
    refused(&place, "db restore copy.db --remote", question, "");
    assert_eq!(scores(&served), json!([7, 7]));
    agreed(&place, "db restore copy.db --remote", question, "y");
    assert_eq!(scores(&served), json!([7]));

    place.write("db/seed.sql", "INSERT INTO scores (points) VALUES (1);");
    let question = "Delete all existing rows? (y/N)";
    refused(&place, "db seed --remote", question, "");
    agreed(&place, "db seed --remote", question, "y");
    assert_eq!(scores(&served), json!([1]));

    let question = "Delete all rows of word-rivers on staging? (y/N)";
    refused(&place, "db reset --remote", question, "");
    let mut typing = Typing::start(&place, "db reset --remote");
    typing.answer(question, "y");
    let (code, screen) = typing.answer("Type 'word-rivers' to confirm", "word-rivers").end();
    assert_eq!((code, scores(&served)), (0, json!([])), "{screen}");

    // A version with another schema is served again beside the database as it is, or not at all.
    place.write("db/schema.sql", &TABLE.replace("points INTEGER", "points INTEGER, level TEXT"));
    place.ok("deploy --yes");
    add(&served);
    for (choice, wanted) in [("", 130), ("1", 0)] {
        let mut typing = Typing::start(&place, "deployments rollback");
        typing.answer("Serve version", "y").answer("Choose 1, 2 or 3 [3]", "4");
        let (code, screen) = typing.answer("Choose 1, 2 or 3 [3]", choice).end();
        assert_eq!(code, wanted, "{screen}");
    }
    assert_eq!(scores(&served), json!([7]));
}

/// The server's values go into a config of JSON as into a module; by keyboard too, with every field.
#[test]
#[ignore = "rest"]
fn values_that_were_changed_on_the_server() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    fs::remove_file(place.path().join("lyceum.config.js")).unwrap();
    let config = r#"{
  "name": "Word Rivers",   "description": "Water",
  "emoji": "🌊", "platform": "web",
  "buildPath": "dist"
}
"#;
    place.write("lyceum.config.json", config);
    place.ok("deploy --yes");
    let values = json!({ "description": "A \"dry\" bed", "emoji": "🏜", "platform": "desktop" });
    client(&served).patch("/api/games/word-rivers").json(&values).expect(200);
    let screen = agreed(&place, "deploy", "Choose 1, 2 or 3 [3]", "2");
    assert!(screen.contains("✔ Wrote description, emoji, platform into"), "{screen}");
    let rewritten =
        config.replace("Water", r#"A \"dry\" bed"#).replace("🌊", "🏜").replace("web", "desktop");
    assert_eq!(fs::read_to_string(place.path().join("lyceum.config.json")).unwrap(), rewritten);
    assert_eq!(place.json("deploy --json")["action"], "nothing");
}
