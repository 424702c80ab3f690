//! Dry runs of commands that write to a server change nothing there.

use std::fs;

use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store};
use crate::transcript::Place;

fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist',\n\
           integrations: { database: true, kv: true, bucket: true } };\n",
    );
    fs::create_dir(place.path().join("db")).unwrap();
    place.write("db/schema.sql", "CREATE TABLE scores (points INTEGER);\n");
    place.write("db/seed.sql", "INSERT INTO scores (points) VALUES (5);");
    place.ok("deploy --yes");
    place.write("dist/index.html", "<h1>Two</h1>");
    place.ok("deploy --yes");
    place.ok("db seed --remote --yes");
    place.ok("db backup copy.db --remote");
    place.ok("kv set key value --remote");
    place.ok("bucket put object .env --remote");
    place
}

/// All that the commands could change.
fn everything(served: &Served, place: &Place) -> Vec<Value> {
    let client = client(served);
    let read = |path: &str| client.get(path).expect(200).json::<Value>();
    let mut all: Vec<Value> =
        ["", "/state", "/deployments", "/database/points", "/kv", "/bucket", "/audit"]
            .iter()
            .map(|path| read(&format!("/api/projects/word-rivers{path}")))
            .collect();
    all.push(read("/caliper/events"));
    let ours = |client: &Value| client["name"] == "reports";
    let clients: Vec<Value> =
        serde_json::from_str(&served.run(&["client", "list", "--json"])).unwrap();
    all.push(clients.into_iter().filter(ours).collect());
    let copy = place.path().join("now.db");
    let _ = fs::remove_file(&copy);
    place.ok("db backup now.db --remote");
    let rows = place.ok("db schema --file now.db");
    all.push(json!(rows));
    all
}

#[test]
fn dry_runs_change_nothing() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    let created: Value =
        serde_json::from_str(&served.run(&["client", "create", "reports", "--json"])).unwrap();
    let id = created["id"].as_str().unwrap();
    place.write(".env", "API_KEY=other\nMORE=x\n");
    place.write("db/schema.sql", "CREATE TABLE scores (points INTEGER, level TEXT);\n");
    fs::create_dir(place.path().join("files")).unwrap();
    place.write("files/new", "new");
    let before = everything(&served, &place);
    for line in [
        "deploy",
        "deployments rollback",
        "secrets push",
        "projects delete word-rivers",
        "db push --remote",
        "db seed --remote",
        "db reset --remote",
        "db restore copy.db --remote",
        "bucket put object files/new --remote",
        "bucket delete object --remote",
        "bucket delete --prefix obj --remote",
        "bucket bulk files --delete --remote",
        "kv set key other --remote",
        "kv delete key --remote",
        "kv delete --prefix k --remote",
    ] {
        let stdout = place.ok(&format!("{line} --dry-run"));
        assert!(!stdout.is_empty(), "{line} shows nothing");
        let json = place.ok(&format!("{line} --dry-run --json"));
        assert!(serde_json::from_str::<Value>(&json).is_ok(), "{line}: {json}");
    }
    let sent = place.json(&format!("trigger time.spent --server {} --dry-run", served.base));
    assert_eq!(sent["sensor"], "urn:lyceum:trigger");
    let on_data = [vec!["create", "more"], vec!["rotate", id], vec!["revoke", id]];
    for line in on_data {
        let line: Vec<&str> = ["client"].into_iter().chain(line).chain(["--dry-run"]).collect();
        let stdout = served.run(&line);
        assert!(stdout.contains("the client"), "{line:?}: {stdout}");
    }
    assert_eq!(everything(&served, &place), before);
    assert!(!served.run(&["client", "list"]).contains("more"));
    // A database that does not exist is not made for it.
    let empty = Place::new();
    assert_eq!(empty.fails("client create x --dry-run").0, 4);
    assert!(empty.path().read_dir().unwrap().next().is_none());
}
