//! The database of a deployed project: its schema changes with the version, and there is a way back.

use std::fs;
use std::process::Command;

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store, rest_on_both_stores};
use crate::transcript::Place;
use crate::typing::Typing;

const TABLE: &str = "CREATE TABLE scores (id INTEGER PRIMARY KEY, points INTEGER NOT NULL);\n";

/// A project with a database, whose one route reads all rows and adds one.
fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { database: true } };\n",
    );
    place.write(
        "server/api/scores.ts",
        "export const GET = async (c) => c.json((await c.env.DB.prepare('SELECT * FROM scores').all()).results);\n\
         export const POST = async (c) => {\n\
           await c.env.DB.prepare('INSERT INTO scores (points) VALUES (?)').bind(Number(await c.req.text())).run();\n\
           return c.json({ ok: true });\n\
         };\n",
    );
    fs::create_dir(place.path().join("db")).unwrap();
    place.write("db/schema.sql", TABLE);
    place
}

const SCORES: &str = "/_projects/word-rivers/api/scores";

fn add(client: &TestClient, points: &str) {
    client.post(SCORES).body("text/plain", points).expect(200);
}

fn scores(client: &TestClient) -> Value {
    client.get(SCORES).expect(200).json()
}

rest_on_both_stores!(a_schema_changes_with_the_version_or_not_at_all);

fn a_schema_changes_with_the_version_or_not_at_all(store: Store) {
    let served = staging(store);
    let (place, client) = (project(&served), client(&served));
    let plan = place.json("deploy --dry-run --json");
    assert!(plan["database"]["statements"][0].as_str().unwrap().starts_with("CREATE TABLE scores"));
    let first = place.json("deploy --yes --json");
    assert_eq!(first["steps"], plan["steps"]);
    assert!(first["steps"].as_array().unwrap().contains(&json!("changeSchema")));
    add(&client, "7");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
    assert_eq!(place.json("deploy --json")["action"], "nothing");

    // Rows that do not fit are told before anything is done.
    let unfit = TABLE.replace("NOT NULL", "NOT NULL, player TEXT NOT NULL");
    place.write("db/schema.sql", &unfit);
    let shown = place.run("deploy --dry-run").2;
    assert!(shown.contains("'scores.player' must not be null and has no default"), "{shown}");
    let (code, stderr) = place.fails("deploy --yes");
    assert_eq!(code, 5, "{stderr}");
    assert!(stderr.contains("there are 1 rows; give it a default"), "{stderr}");

    // A column more, with what was there.
    let wider = TABLE.replace("NOT NULL", "NOT NULL, player TEXT NOT NULL DEFAULT 'ada'");
    place.write("db/schema.sql", &wider);
    let plan = place.json("db diff --remote --json");
    assert_eq!(plan["problems"], json!([]));
    assert_eq!(plan["database"]["losses"], json!([]));
    let second = place.json("deploy --yes --json");
    assert_eq!(second["version"], 2);
    let wide = json!([{ "id": 1, "points": 7, "player": "ada" }]);
    assert_eq!(scores(&client), wide);

    // A loss is named, and needs a word.
    place.write("db/schema.sql", TABLE);
    let (code, stderr) = place.fails("deploy --yes");
    assert_eq!(code, 5);
    assert!(stderr.contains("the column 'scores.player' is dropped with its values"), "{stderr}");
    assert_eq!(scores(&client), wide);

    // What fails in the middle leaves everything as it is.
    place.write(
        "server/api/broken.ts",
        "throw new Error('no start');\nexport const GET = (c) => c.text('');\n",
    );
    let (code, stderr) = place.fails("deploy --yes --accept-data-loss");
    assert!(code == 1 && stderr.contains("no start"), "{stderr}");
    assert_eq!(scores(&client), wide);
    assert_eq!(files(&served).len(), 2, "what was tried is gone: {:?}", files(&served));
    fs::remove_file(place.path().join("server/api/broken.ts")).unwrap();
    let third = place.json("deploy --yes --accept-data-loss --json");
    assert_eq!(third["version"], 3);
    add(&client, "9");
    let narrow = json!([{ "id": 1, "points": 7 }, { "id": 2, "points": 9 }]);
    assert_eq!(scores(&client), narrow);

    // Back, with the database as it was or as it is; after a restart too.
    let (code, stderr) = place.fails("deployments rollback --yes");
    assert!(code == 5 && stderr.contains("--restore-database"), "{stderr}");
    place.json("deployments rollback --yes --restore-database --json");
    assert_eq!(scores(&client), wide);
    let points = place.json("db points --remote --json");
    assert_eq!(points[0]["what"], "rollback");
    let served = served.restart();
    let (place, client) = (place.with("LYCEUM_URL", &served.base), self::client(&served));
    assert_eq!(scores(&client), wide);
    place.ok(&format!("db restore {} --remote", points[0]["id"].as_str().unwrap()));
    assert_eq!(scores(&client), narrow);
    let audit = client.get("/api/projects/word-rivers/audit").expect(200).text();
    assert!(audit.contains("DROP TABLE") && audit.contains("\"restore\""), "{audit}");
}

/// The database files of the project.
fn files(served: &Served) -> Vec<String> {
    let folder = served.file("data/hosting/projects/word-rivers");
    let names = fs::read_dir(folder).unwrap().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".sqlite") && name.starts_with("d1")).collect()
}

#[test]
#[ignore = "rest"]
fn a_deployed_database_is_copied_reset_and_put_back() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    assert_eq!(place.fails("db diff --remote").0, 4, "it is not deployed yet");
    place.ok("deploy --yes");
    add(&client, "7");
    let copied = place.json("db backup copy.db --remote --json");
    assert!(copied["size"].as_u64().unwrap() > 0);
    assert_eq!(place.fails("db backup copy.db --remote").0, 5);
    let (code, stderr) = place.fails("db reset --remote");
    assert!(code == 5 && stderr.contains("--yes"), "{stderr}");
    let mut typing = Typing::start(&place, "db reset --remote");
    typing.answer("Delete all rows of word-rivers on staging? (y/N)", "y");
    let (code, screen) = typing.answer("Type 'word-rivers' to confirm", "rivers").end();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(scores(&client).as_array().unwrap().len(), 1);
    place.ok("db reset --remote --yes");
    assert_eq!(scores(&client), json!([]));
    place.ok("db restore copy.db --remote");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
    place.write("no.db", "no database");
    assert!(place.fails("db restore no.db --remote").1.contains("not a SQLite database"));
    place.write("db/schema.sql", &format!("{TABLE}CREATE INDEX by_points ON scores (points);\n"));
    let pushed = place.json("db push --remote --json");
    assert_eq!(pushed["database"]["statements"][0], "CREATE INDEX by_points ON scores (points)");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
}

#[test]
#[ignore = "rest"]
fn losses_are_agreed_to_by_keyboard() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    place.ok("deploy --yes");
    add(&client, "7");
    place.write("db/schema.sql", "CREATE TABLE scores (id INTEGER PRIMARY KEY, level INTEGER);\n");
    let question = "The database loses the data listed above. Continue? (y/N)";
    let (code, screen) = Typing::start(&place, "deploy").answer(question, "").end();
    assert!(code == 130 && screen.contains("Loses: the column 'scores.points'"), "{screen}");
    let (code, screen) =
        Typing::start(&place, "deploy --rename scores.points=level").answer("Update", "n").end();
    assert!(code == 130 && screen.contains("RENAME COLUMN"), "{screen}");
    let (code, screen) =
        Typing::start(&place, "deploy").answer(question, "y").answer("Update", "y").end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(scores(&client), json!([{ "id": 1, "level": null }]));
    let mut typing = Typing::start(&place, "deployments rollback");
    typing.answer("Serve version 1", "y");
    let (code, screen) = typing.answer("Choose 1, 2 or 3 [3]", "2").end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
}

#[test]
#[ignore = "rest"]
fn a_database_is_filled_by_sql_and_by_the_project_s_own_code() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    place.ok("deploy --yes");
    add(&client, "7");
    assert_eq!(place.fails("db seed").0, 4, "there is nothing to fill it with");
    place.write("db/seed.sql", "INSERT INTO scores (points) VALUES (1), (2);");
    place.ok("db seed");
    assert_eq!(place.fails("db seed").0, 5, "rows would go");
    place.ok("db seed --no-reset");
    fs::create_dir(place.path().join("server/db")).unwrap();
    place.write(
        "server/db/seed.ts",
        "export async function seed(c) {\n\
           console.log('filling');\n\
           const key = c.env.secrets.API_KEY.length;\n\
           await c.env.DB.prepare('INSERT INTO scores (points) VALUES (?)').bind(key).run();\n\
         }\n",
    );
    let (code, _, stderr) = place.run("db seed --remote --no-reset");
    assert!(code == 0 && stderr.contains("filling"), "{stderr}");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }, { "id": 2, "points": 7 }]));
    place.ok("db seed --remote --force");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
    place.write("server/db/seed.ts", "export const seed = () => { throw new Error('dry'); };\n");
    let (code, stderr) = place.fails("db seed --remote --force");
    assert!(code == 1 && stderr.contains("dry"), "{stderr}");
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
}

const TYPED: &str = "import { integer, sqliteTable, text } from \"drizzle-orm/sqlite-core\";
export const scores = sqliteTable(\"scores\", {
  id: integer(\"id\").primaryKey({ autoIncrement: true }),
  points: integer(\"points\").notNull().default(0),
});
";

#[test]
#[ignore = "rest"]
fn drizzle_kit_exports_the_schema_and_writes_the_migrations() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    fs::remove_file(place.path().join("db/schema.sql")).unwrap();
    place.write("db/schema.ts", TYPED);
    place.write(
        "drizzle.config.ts",
        "import { defineConfig } from \"drizzle-kit\";\n\
         export default defineConfig({ dialect: \"sqlite\", schema: \"./db/schema.ts\", out: \"./db/migrations\" });\n",
    );
    let first = place.json("deploy --yes --json");
    assert_eq!(first["database"]["strategy"], "push");
    add(&client, "7");
    assert_eq!(place.json("deploy --json")["action"], "nothing");

    // From here on migrations count; those that made what is there are noted as applied.
    generate(&place);
    let adopted = place.json("deploy --yes --json");
    assert_eq!(
        (&adopted["database"]["strategy"], &adopted["database"]["adopts"]),
        (&json!("migrate"), &json!(true))
    );
    assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
    // What drizzle-kit generates of this loses rows elsewhere: a default changes, and a column comes.
    let changed = TYPED
        .replace("default(0),", "default(1),\n  level: text(\"level\").notNull().default(\"x\"),");
    place.write("db/schema.ts", &changed);
    generate(&place);
    let (code, _, stderr) = place.run("deploy --yes");
    if code == 0 {
        assert_eq!(scores(&client), json!([{ "id": 1, "points": 7, "level": "x" }]));
    } else {
        assert!(
            stderr.contains("no such column: level")
                || stderr.contains("no such column: \"level\""),
            "{stderr}"
        );
        assert_eq!(scores(&client), json!([{ "id": 1, "points": 7 }]));
    }
}

fn generate(place: &Place) {
    let program = place.path().join("node_modules/.bin/drizzle-kit");
    let output = Command::new(program).arg("generate").current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
