//! A project from its first deploy to production, as a script of a CI job does it.

use std::fs;

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::{client, place_at};
use crate::served::{Served, Store};
use crate::transcript::Place;
use crate::typing::Typing;

const CONFIG: &str = "export default {
  name: 'Word Rivers',
  emoji: '🌊',
  buildPath: 'dist',
  integrations: { customRoutes: true, database: { directory: 'db' }, bucket: true, kv: true },
};
";

const SCHEMA: &str = "import { integer, sqliteTable, text } from \"drizzle-orm/sqlite-core\";
export const scores = sqliteTable(\"scores\", {
  id: integer(\"id\").primaryKey({ autoIncrement: true }),
  player: text(\"player\").notNull(),
  points: integer(\"points\").notNull().default(0),
});
";

/// Reads and writes by drizzle.
const SCORES: &str = "import { drizzle } from \"drizzle-orm/d1\";
import { scores } from \"../../db/schema\";
export const GET = async (c) => c.json(await drizzle(c.env.DB).select().from(scores));
export const POST = async (c) => {
  const [row] = await drizzle(c.env.DB).insert(scores).values(await c.req.json()).returning();
  await c.env.BUCKET.put(`replays/${row.id}.json`, JSON.stringify(row), { httpMetadata: { contentType: \"application/json\" } });
  await c.env.KV.put(\"last\", row.player);
  return c.json(row, 201);
};
";

/// Calls the other route by the loopback.
const SUMMARY: &str = "export const GET = async (c) => {
  const all = await (await c.env.SELF.fetch(\"/api/scores\")).json();
  const replays = (await c.env.BUCKET.list({ prefix: \"replays/\" })).objects.length;
  return c.json({ scores: all.length, replays, last: await c.env.KV.get(\"last\"), key: c.env.secrets.API_KEY, version: VERSION });
};
";

fn write_version(place: &Place, version: u32, schema: &str) {
    place.write("db/schema.ts", schema);
    place.write("server/api/summary.ts", &SUMMARY.replace("VERSION", &version.to_string()));
    place.write("dist/index.html", &format!("<h1>Rivers {version}</h1>"));
}

fn project(staging: &Served, production: &Served) -> Place {
    let mut place = place_at(staging);
    for (name, served) in [("STAGING", staging), ("PRODUCTION", production)] {
        let env = name.to_lowercase();
        let role = ["--role", "administrator", "--env", &env, "--json"];
        let created = served.run(&[&["admin", "key", "create", "ci"][..], &role].concat());
        let created: Value = serde_json::from_str(&created).unwrap();
        place = place.with(&format!("LYCEUM_{name}_URL"), &served.base);
        place = place.with(&format!("LYCEUM_{name}_API_KEY"), created["key"].as_str().unwrap());
    }
    write(&place);
    place
}

/// A project with a database, keys and a bucket.
pub(crate) fn write(place: &Place) {
    fs::remove_dir_all(place.path().join("server/api/users")).unwrap();
    fs::remove_file(place.path().join("server/api/hello.ts")).unwrap();
    fs::create_dir(place.path().join("db")).unwrap();
    place.write("lyceum.config.js", CONFIG);
    place.write("server/api/scores.ts", SCORES);
    write_version(place, 1, SCHEMA);
}

fn at(client: &TestClient, path: &str) -> Value {
    client.get(&format!("/_projects/word-rivers{path}")).expect(200).json()
}

fn add(client: &TestClient, score: &Value) {
    client.post("/_projects/word-rivers/api/scores").json(score).expect(201);
}

#[test]
#[ignore = "rest"]
fn a_project_goes_from_its_first_deploy_to_production() {
    let staging = Served::start_with(Store::Sqlite, &["--env", "staging"]);
    let production = Served::start_with(Store::Sqlite, &["--env", "production"]);
    let place = project(&staging, &production);
    let (here, there) = (client(&staging), client(&production));

    // Deploy, use, change, deploy.
    let first = place.json("deploy --env staging --yes --json");
    assert!(first["backendUrl"].as_str().unwrap().ends_with("/api"), "{first}");
    add(&here, &json!({ "player": "ada", "points": 7 }));
    let summary =
        json!({ "scores": 1, "replays": 1, "last": "ada", "key": "hunter2", "version": 1 });
    assert_eq!(at(&here, "/api/summary"), summary);
    let level = "points: integer(\"points\").notNull().default(1),\n  level: text(\"level\").notNull().default(\"easy\"),";
    let wider = SCHEMA.replace("points: integer(\"points\").notNull().default(0),", level);
    write_version(&place, 2, &wider);
    let plan = place.json("deploy --dry-run --json");
    let second = place.json("deploy --yes --json");
    assert_eq!((&second["version"], &second["database"]), (&json!(2), &plan["database"]));
    let row = json!({ "id": 1, "player": "ada", "points": 7, "level": "easy" });
    assert_eq!(at(&here, "/api/scores"), json!([row]));

    // Somebody renames it on the server: a strict job stops, a plain one goes on and says so.
    here.patch("/api/games/word-rivers").json(&json!({ "displayName": "Streams" })).expect(200);
    assert_eq!(place.fails("deploy --strict").0, 5);
    let (code, _, stderr) = place.run("deploy --yes");
    assert!(
        code == 0 && stderr.contains("overwriting the server's values with the local ones"),
        "{stderr}"
    );

    // From push to migrations.
    place.write(
        "drizzle.config.json",
        r#"{ "dialect": "sqlite", "schema": "./db/schema.ts", "out": "./db/migrations" }"#,
    );
    generate(&place);
    assert_eq!(place.json("deploy --yes --json")["database"]["adopts"], true);
    let longer = wider.replace("level: text", "stars: integer(\"stars\"),\n  level: text");
    write_version(&place, 4, &longer);
    generate(&place);
    let migrated = place.json("deploy --yes --json");
    assert_eq!(migrated["database"]["migrations"].as_array().unwrap().len(), 1);
    add(&here, &json!({ "player": "grace", "points": 9, "stars": 3 }));
    assert_eq!(at(&here, "/api/summary")["scores"], 2);

    // Back to before the migration, and forward again; what was written since is in a restore point.
    place.ok("deployments rollback --yes --restore-database");
    assert_eq!(at(&here, "/api/scores"), json!([row]));
    let again = place.json("deploy --yes --json");
    assert!(again["steps"].as_array().unwrap().contains(&json!("changeSchema")));

    // To production: the same code and schema, none of the data, none of the secrets.
    let question = "of staging on production? (Y/n)";
    let (code, screen) = Typing::start(&place, "deployments promote").answer(question, "n").end();
    assert!(code == 130 && screen.contains("cancelled; nothing was changed"), "{screen}");
    there.get("/api/projects/word-rivers").expect(404);
    let promoted = place.json("deployments promote --yes --json");
    assert_eq!(promoted["environment"], "production");
    assert_eq!(at(&there, "/api/scores"), json!([]));
    place.ok("secrets push --env production --yes");
    add(&there, &json!({ "player": "mary", "stars": 5 }));
    let summary =
        json!({ "scores": 1, "replays": 1, "last": "mary", "key": "hunter2", "version": 4 });
    assert_eq!(at(&there, "/api/summary"), summary);
    let page = there.get("/_projects/word-rivers/").expect(200).text();
    assert_eq!(page, "<h1>Rivers 4</h1>");
    assert_eq!(
        at(&here, "/api/scores"),
        json!([{ "id": 1, "player": "ada", "points": 7, "level": "easy", "stars": null }])
    );
    assert!(
        place
            .json("deployments logs --env production --json")
            .to_string()
            .contains("POST /api/scores 201")
    );
    assert_eq!(place.json("deployments promote --yes --json")["action"], "nothing");

    // What is here is what was promoted; each server has a bucket of its own.
    assert_eq!(place.json("deploy --env production --yes --json")["action"], "nothing");
    place.ok("bucket delete replays/1.json --remote");
    for (flags, key) in [("", "replays/2.json"), (" --env production", "replays/1.json")] {
        let listed = place.json(&format!("bucket list --remote --json{flags}"));
        let keys: Vec<_> =
            listed["objects"].as_array().unwrap().iter().map(|object| &object["key"]).collect();
        assert_eq!(keys, [key], "{listed}");
    }
}

fn generate(place: &Place) {
    let mut kit = std::process::Command::new(place.path().join("node_modules/.bin/drizzle-kit"));
    let output = kit.arg("generate").current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
