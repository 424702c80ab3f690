//! Routes, their data, and their changes.

use std::time::{Duration, Instant};

use lyceum_dev::DevMessage;
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
        (
            "node_modules/@lyceum/sdk/package.json",
            r#"{ "exports": { "./server": "./server.js" } }"#,
        ),
        ("node_modules/@lyceum/sdk/server.js", "export const backend = () => undefined;\n"),
        (".env", "API_KEY=one\n"),
        (".env.development", "API_KEY=two\n"),
        ("server/greet.ts", "export const greet = (name: string) => `Hello ${name}`;\n"),
        ("server/api/all.ts", ALL),
        (
            "server/api/users/[id].ts",
            "export const GET = (c) => c.json({ id: c.req.param('id') });\n",
        ),
        (
            "server/api/users/own.ts",
            "export const GET = (c) => c.json(1, 200, { 'Access-Control-Allow-Origin': 'https://one.example' });\n",
        ),
        ("server/api/users/me.ts", "export const GET = (c) => c.json({ id: 'mine' });\n"),
        (
            "server/api/files/[...path].ts",
            "export const GET = (c) => c.json({ path: c.req.param('path') });\n",
        ),
    ]
}

#[test]
fn routes_are_served_with_local_data_and_reloaded_after_every_save() {
    let project = Project::of(&files());
    let (status, all) = project.get("/api/all");
    let expected = json!({
        "says": "Hello you", "self": { "id": "7" }, "kv": "kept", "secret": "two", "missing": null,
        "object": "bytes", "listed": [false, [["shots/1.png", 5]]], "game": "word-rivers", "user": null,
    });
    assert_eq!((status, &all), (200, &expected));
    let routes = project.hears(|message| match message {
        DevMessage::Serves { routes, again: false, .. } => Some(routes),
        _ => None,
    });
    let methods = |path: &str| routes.iter().find(|(one, _)| one == path).unwrap().1.join(",");
    assert_eq!((methods("/api/all"), routes.len()), ("GET,POST".to_owned(), 5));
    let path = project.hears(|message| match message {
        DevMessage::Answered { path, status, .. } if status == "200 OK" => Some(path),
        _ => None,
    });
    assert_eq!(path, "/api/all");

    assert_eq!(
        project.get("/api/users/me").1,
        json!({ "id": "mine" }),
        "static paths come before parameters"
    );
    assert_eq!(project.get("/api/files/a/b.png").1, json!({ "path": "a/b.png" }));
    assert_eq!(project.get("/health").1["status"], "ok");
    assert_eq!(project.get("/api").1["routes"].as_array().unwrap().len(), 5);
    assert_eq!(project.get("/api/none").0, 404);
    assert_eq!(project.get("/nothing").1["error"]["code"], "NOT_FOUND");

    // Pages of any origin may send requests, because a token identifies the caller.
    let page = [("Origin", "https://games.example")];
    let reply = project.send("GET", "/api/users/me", &page);
    assert_eq!(reply.headers()["access-control-allow-origin"], "*");
    let preflight = [
        page[0],
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    let allowed = project.send("OPTIONS", "/api/all", &preflight);
    assert_eq!(allowed.status(), 204);
    assert_eq!(allowed.headers()["access-control-allow-headers"], "authorization,content-type");
    assert!(allowed.headers()["access-control-allow-methods"].to_str().unwrap().contains("POST"));
    let own = project.send("GET", "/api/users/own", &page);
    assert_eq!(own.headers()["access-control-allow-origin"], "https://one.example");
    assert!(
        project.send("GET", "/api/all", &[]).headers().get("access-control-allow-origin").is_none()
    );

    // Editors get the types of what routes receive.
    let types = project.read("lyceum-env.d.ts");
    let own = "RouteEnvironment<\"DB\" | \"KV\" | \"BUCKET\", \"API_KEY\">;";
    assert!(types.contains(own), "{types}");
    assert!(!types.contains("two"), "secret values must not be written: {types}");

    // A save is served, whether it changes a helper outside the folder of routes, adds a file, or deletes one.
    project.write("server/greet.ts", "export const greet = (name: string) => `Bye ${name}`;\n");
    let mut wanted = expected.clone();
    wanted["says"] = "Bye you".into();
    project.until("/api/all", &(200, wanted));
    project.write("server/api/new.js", "export const GET = (c) => c.json({ new: true });\n");
    project.until("/api/new", &(200, json!({ "new": true })));
    project.remove("server/api/new.js");
    let gone = json!({ "error": { "code": "NOT_FOUND", "message": "there is no route /api/new; GET /api lists all", "details": [] } });
    project.until("/api/new", &(404, gone));
    project.write(".env.local", "API_KEY=three\nOTHER=x\n");
    let mut wanted = expected.clone();
    (wanted["says"], wanted["secret"]) = ("Bye you".into(), "three".into());
    project.until("/api/all", &(200, wanted.clone()));
    assert!(project.read("lyceum-env.d.ts").contains("\"API_KEY\" | \"OTHER\">"));

    // If the new code does not start, the error is reported and the old code keeps running.
    project.write("server/greet.ts", "export const greet = ;\n");
    let fault = project.hears(|message| match message {
        DevMessage::NotServed(failure) => Some(failure.message),
        _ => None,
    });
    assert!(fault.contains("server/greet.ts:1"), "{fault}");
    assert_eq!(project.get("/api/all").1, wanted);
    project
        .write("server/greet.ts", "throw new Error('at start'); export const greet = () => '';\n");
    let fault = project.hears(|message| match message {
        DevMessage::NotServed(failure) => Some(failure.message),
        _ => None,
    });
    assert!(fault.contains("at start"), "{fault}");
    project.write(
        "server/greet.ts",
        "export const greet = () => { console.log('greets'); return 'well'; };\n",
    );
    wanted["says"] = "well".into();
    project.until("/api/all", &(200, wanted));
    let line = project.hears(|message| match message {
        DevMessage::Output { line, .. } if line.text == "greets" => Some(line.text),
        _ => None,
    });
    assert_eq!(line, "greets");
}

#[test]
fn a_backend_that_never_started_answers_with_the_reason() {
    let project =
        Project::of(&[("server/api/a.ts", "import x from 'nowhere';\nexport const GET = x;\n")]);
    let (status, answer) = project.get("/api/a");
    assert_eq!((status, &answer["error"]["code"]), (503, &json!("NOT_BUILT")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("nowhere"), "{answer}");
    project.write("server/api/a.ts", "export const GET = (c) => c.json(1);\n");
    project.until("/api/a", &(200, json!(1)));
}

/// Measured only on a machine that is otherwise idle.
#[test]
#[expect(clippy::disallowed_methods, reason = "a variable says which size of tests to run")]
fn a_save_is_served_within_half_a_second() {
    let route = |turn: usize| format!("export const GET = (c) => c.json({turn});\n");
    let project = Project::of(&[("server/api/turn.ts", &route(0))]);
    project.until("/api/turn", &(200, json!(0)));
    let mut times = Vec::new();
    for turn in 1..=9 {
        let since = Instant::now();
        project.write("server/api/turn.ts", &route(turn));
        project.until("/api/turn", &(200, json!(turn)));
        let served = since.elapsed();
        let (took, bundled) = project.hears(|message| match message {
            DevMessage::Serves { took, bundled, again: true, .. } => Some((took, bundled)),
            _ => None,
        });
        times.push((served, took, bundled));
    }
    times.sort();
    let (median, took, bundled) = times[times.len() / 2];
    println!(
        "from a save to its answer {} ms: {} ms until it was seen, {} ms bundling, {} ms starting; at \
         most {} ms",
        median.as_millis(),
        median.saturating_sub(took).as_millis(),
        bundled.as_millis(),
        took.saturating_sub(bundled).as_millis(),
        times[times.len() - 1].0.as_millis()
    );
    let is_quiet = std::env::var("LYCEUM_TEST_SIZE").is_ok_and(|size| size == "full");
    let most = if is_quiet { Duration::from_millis(500) } else { Duration::from_secs(5) };
    assert!(median <= most, "{times:?}");
}

#[test]
fn foreign_host_names_are_refused() {
    let project = Project::of(&[("server/api/hello.js", "export const GET = (c) => c.json(1);")]);
    let status = |host| project.send("GET", "/api/hello", &[("host", host)]).status().as_u16();
    assert_eq!(status("localhost:8788"), 200);
    assert_eq!(status("127.0.0.1:8788"), 200);
    assert_eq!(status("evil.example:8788"), 403);
}
