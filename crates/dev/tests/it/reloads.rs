//! Routes, their data, and changes of them.

use std::time::Duration;

use lyceum_dev::Told;
use serde_json::json;

use crate::project::Project;

const CONFIG: &str = r#"{ "name": "Word Rivers", "integrations": { "database": true, "kv": true, "bucket": true } }"#;
const ALL: &str = r#"
import { greet } from "../greet";
export const GET = async (c) => {
  const { DB, KV, BUCKET, SELF, secrets } = c.env;
  await DB.exec("CREATE TABLE IF NOT EXISTS visit (at TEXT)");
  await DB.prepare("INSERT INTO visit VALUES ('now')").run();
  await KV.put("k", "kept");
  await BUCKET.put("shots/1.png", "bytes", { httpMetadata: { contentType: "image/png" }, customMetadata: { by: "me" } });
  const listed = await BUCKET.list({ prefix: "shots/", include: ["httpMetadata"] });
  const self = await (await SELF.fetch("/api/users/7")).json();
  return c.json({
    says: greet("you"), self, kv: await KV.get("k"), secret: secrets.API_KEY, missing: await BUCKET.get("none"),
    object: await (await BUCKET.get("shots/1.png")).text(),
    listed: [listed.truncated, listed.objects.map(({ key, size }) => [key, size])],
    game: c.env.GAME_ID, user: c.get("user"),
  });
};
export const POST = async (c) => c.json(await c.req.json(), 201);
"#;

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("lyceum.config.json", CONFIG),
        (".env", "API_KEY=one\n"),
        (".env.development", "API_KEY=two\n"),
        ("server/greet.ts", "export const greet = (name: string) => `Hello ${name}`;\n"),
        ("server/api/all.ts", ALL),
        (
            "server/api/users/[id].ts",
            "export const GET = (c) => c.json({ id: c.req.param('id') });\n",
        ),
        ("server/api/users/me.ts", "export const GET = (c) => c.json({ id: 'mine' });\n"),
        (
            "server/api/files/[...path].ts",
            "export const GET = (c) => c.json({ path: c.req.param('path') });\n",
        ),
    ]
}

#[test]
fn routes_are_served_with_the_data_of_this_machine_and_again_with_every_save() {
    let project = Project::of(&files());
    let (status, all) = project.get("/api/all");
    let expected = json!({
        "says": "Hello you", "self": { "id": "7" }, "kv": "kept", "secret": "two", "missing": null,
        "object": "bytes", "listed": [false, [["shots/1.png", 5]]], "game": "word-rivers", "user": null,
    });
    assert_eq!((status, &all), (200, &expected));
    let routes = project.hears(|told| match told {
        Told::Serves { routes, again: false, .. } => Some(routes),
        _ => None,
    });
    let methods = |path: &str| routes.iter().find(|(one, _)| one == path).unwrap().1.join(",");
    assert_eq!((methods("/api/all"), routes.len()), ("GET,POST".to_owned(), 4));
    let path = project.hears(|told| match told {
        Told::Answered { path, status, .. } if status == "200 OK" => Some(path),
        _ => None,
    });
    assert_eq!(path, "/api/all");

    assert_eq!(project.get("/api/users/me").1, json!({ "id": "mine" }), "words before parameters");
    assert_eq!(project.get("/api/files/a/b.png").1, json!({ "path": "a/b.png" }));
    assert_eq!(project.get("/health").1["status"], "ok");
    assert_eq!(project.get("/api").1["routes"].as_array().unwrap().len(), 4);
    assert_eq!(project.get("/api/none").0, 404);
    assert_eq!(project.get("/nothing").1["error"]["code"], "NOT_FOUND");

    // A save is served: a route, a helper outside of their folder, a new file, a file that goes.
    let mut times = Vec::new();
    for turn in 0..5 {
        let greet = format!("export const greet = (name: string) => `Bye ${{name}} {turn}`;\n");
        project.write("server/greet.ts", &greet);
        let mut wanted = expected.clone();
        wanted["says"] = format!("Bye you {turn}").into();
        times.push(project.until("/api/all", &(200, wanted)));
    }
    times.sort();
    println!(
        "from a save to its answer: {} ms, at most {} ms",
        times[2].as_millis(),
        times[4].as_millis()
    );
    // 500 ms on a machine that does nothing else.
    assert!(times[2] < Duration::from_secs(5), "{times:?}");
    project.write("server/api/new.js", "export const GET = (c) => c.json({ new: true });\n");
    project.until("/api/new", &(200, json!({ "new": true })));
    project.remove("server/api/new.js");
    let gone = json!({ "error": { "code": "NOT_FOUND", "message": "there is no route /api/new; GET /api lists all", "details": [] } });
    project.until("/api/new", &(404, gone));
    project.write(".env.local", "API_KEY=three\n");
    let mut wanted = expected.clone();
    (wanted["says"], wanted["secret"]) = ("Bye you 4".into(), "three".into());
    project.until("/api/all", &(200, wanted.clone()));

    // What does not start is told; what did serves on.
    project.write("server/greet.ts", "export const greet = ;\n");
    let fault = project.hears(|told| match told {
        Told::Fault(fault) => Some(fault),
        _ => None,
    });
    assert!(fault.contains("server/greet.ts:1"), "{fault}");
    assert_eq!(project.get("/api/all").1, wanted);
    project
        .write("server/greet.ts", "throw new Error('at start'); export const greet = () => '';\n");
    let fault = project.hears(|told| match told {
        Told::Fault(fault) => Some(fault),
        _ => None,
    });
    assert!(fault.contains("at start"), "{fault}");
    project.write(
        "server/greet.ts",
        "export const greet = () => { console.log('greets'); return 'well'; };\n",
    );
    wanted["says"] = "well".into();
    project.until("/api/all", &(200, wanted));
    let line = project.hears(|told| match told {
        Told::Line(line) if line.text == "greets" => Some(line.text),
        _ => None,
    });
    assert_eq!(line, "greets");
}

#[test]
fn what_never_started_says_why_to_whoever_asks() {
    let project =
        Project::of(&[("server/api/a.ts", "import x from 'nowhere';\nexport const GET = x;\n")]);
    let (status, answer) = project.get("/api/a");
    assert_eq!((status, &answer["error"]["code"]), (503, &json!("NOT_BUILT")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("nowhere"), "{answer}");
    project.write("server/api/a.ts", "export const GET = (c) => c.json(1);\n");
    project.until("/api/a", &(200, json!(1)));
}
