//! `lyceum deploy` and what belongs to it, against a real server on both stores and a sandbox.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::sandbox::Running;
use crate::served::{Served, Store, on_both_stores, root};
use crate::transcript::Place;
use crate::typing::Typing;

const PATIENCE: Duration = Duration::from_secs(30);
const PAGE: &str = "<h1>Rivers</h1>";

/// A project in a folder: two routes, a helper outside of their folder, a build, secrets.
pub(crate) fn project(place: &Place) {
    let packages = root().join("tests/deploy/node_modules");
    assert!(packages.is_dir(), "run `npm ci` in tests/deploy");
    symlink(packages, place.path().join("node_modules")).unwrap();
    fs::create_dir_all(place.path().join("server/api/users")).unwrap();
    fs::create_dir(place.path().join("dist")).unwrap();
    place.write("server/greet.ts", "export const greet = (name: string) => `Hello ${name}`;\n");
    place.write(
        "server/api/hello.ts",
        "import { greet } from \"../greet\";\nexport const GET = (c) => c.json({ says: greet(\"you\") });\n",
    );
    let user = "export const GET = (c) => c.json({ id: c.req.param(\"id\") });\n";
    place.write("server/api/users/[id].ts", user);
    place.write("dist/index.html", PAGE);
    place.write(
        "lyceum.config.js",
        "export default {\n  name: 'Word Rivers', // shown\n  emoji: \"🌊\",\n  buildPath: 'dist',\n};\n",
    );
    place.write(".env", "API_KEY=hunter2\n");
}

/// A server of staging, which is where deploys go unless somebody says otherwise.
pub(crate) fn staging(store: Store) -> Served {
    Served::start_with(store, &["--env", "staging"])
}

/// A place whose commands go to the server.
pub(crate) fn place_at(served: &Served) -> Place {
    let key = served.client("platform", &[]);
    let place = Place::new()
        .with("LYCEUM_URL", &served.base)
        .with("LYCEUM_CLIENT_ID", &key.id)
        .with("LYCEUM_CLIENT_SECRET", &key.secret);
    project(&place);
    place
}

pub(crate) fn client(served: &Served) -> TestClient {
    let key = served.client("platform", &[]);
    let (id, secret) = (key.id.as_str(), key.secret.as_str());
    let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
    let client = TestClient::new(served.base.clone());
    let answer: Value = client.post("/oauth2/token").form(&form).expect(200).json();
    client.with_token(answer["access_token"].as_str().unwrap())
}

fn rename(served: &Served, to: &str) {
    client(served).patch("/api/games/word-rivers").json(&json!({ "displayName": to })).expect(200);
}

fn stored_name(served: &Served) -> Value {
    client(served).get("/api/games/word-rivers").expect(200).json::<Value>()["displayName"].clone()
}

on_both_stores!(
    a_project_is_deployed_changed_and_rolled_back,
    secrets_reach_the_server_and_are_never_shown
);

fn a_project_is_deployed_changed_and_rolled_back(store: Store) {
    let served = staging(store);
    let place = place_at(&served);
    // What the dry run shows is what is done.
    let plan = place.json("deploy --dry-run --json");
    assert_eq!((&plan["action"], &plan["base"]), (&json!("create"), &json!(0)));
    let shown = place.ok("deploy --dry-run");
    for line in [
        "Action:          Create new project",
        "Deploy Frontend: Yes",
        "Deploy Backend:  Yes",
        "Build Size:      ",
        "Backend URL:     http://word-rivers-staging.localhost:",
        "Custom Routes:   2",
        "Integrations:    none",
        "Added: API_KEY",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let first = place.json("deploy --yes --json");
    assert_eq!((&first["version"], &first["steps"]), (&json!(1), &plan["steps"]));
    let backend = first["backendUrl"].as_str().unwrap();
    let frontend = first["frontendUrl"].as_str().unwrap();
    assert!(frontend.starts_with("http://word-rivers-staging.localhost:"), "{frontend}");
    assert_eq!(backend, format!("{frontend}/api"));

    let (_, stdout, stderr) = place.run("deploy");
    assert_eq!(stdout, "✦ Nothing to do\n");
    assert_eq!(stderr.matches("✔ No changes detected in").count(), 3, "{stderr}");
    assert_eq!(place.json("deploy --json")["uploadedBytes"], 0);

    // A helper outside of the routes' folder is a part of the backend.
    place.write("server/greet.ts", "export const greet = (name: string) => `Hi ${name}`;\n");
    let plan = place.json("deploy --dry-run --json");
    assert_eq!(plan["steps"], json!(["uploadBackend", "startBackend", "publish"]));
    assert!(place.ok("deploy --dry-run").contains(" → "), "old and new sizes");
    assert_eq!(place.json("deploy --no-backend --json")["action"], "nothing");
    assert_eq!(place.json("deploy --json")["version"], 2);
    assert_eq!(place.json("deploy --json")["action"], "nothing");
    assert_eq!(place.json("deploy --force-backend --json")["version"], 3);
    let dated = place.json("deploy --compatibility-date 2026-03-01 --json");
    assert_eq!(dated["version"], 4);
    assert_eq!(place.json("deploy --json")["action"], "nothing", "the date is kept");
    // Without routes the backend that is there stays, unless somebody says otherwise.
    let config = config_of(&place);
    let none = config.replace("buildPath", "integrations: { customRoutes: false },\n  buildPath");
    place.write("lyceum.config.js", &none);
    let (code, stdout, stderr) = place.run("deploy");
    assert!(code == 0 && stdout == "✦ Nothing to do\n", "{stderr}");
    assert!(stderr.contains("the deployed backend stays"), "{stderr}");
    let plan = place.json("deploy --backend --dry-run --json");
    assert_eq!(plan["backend"]["new"]["routes"], json!([]));
    place.write("lyceum.config.js", &config);
    for clash in ["--backend --no-backend", "--force-backend --no-backend", "--env moon"] {
        assert_eq!(place.fails(&format!("deploy {clash}")).0, 2, "{clash}");
    }

    let turned = place.json("deployments rollback --version 1 --json");
    assert_eq!(turned["deployment"]["version"], 1);
    let listed = place.json("deployments list --json");
    assert_eq!(
        (&listed["served"], listed["deployments"].as_array().unwrap().len()),
        (&json!(1), 4)
    );
    let served = served.restart();
    let place = place.with("LYCEUM_URL", &served.base);
    assert_eq!(place.json("deployments list --json")["served"], 1);
    assert_eq!(place.json("deploy --json")["version"], 5, "what is here is deployed again");
}

fn secrets_reach_the_server_and_are_never_shown(store: Store) {
    let served = staging(store);
    let place = place_at(&served);
    let mut printed = String::new();
    let mut run = |line: &str| {
        let (code, stdout, stderr) = place.run(line);
        printed += &(stdout.clone() + &stderr);
        (code, stdout)
    };
    assert_eq!(run("deploy --debug").0, 0);
    place.write(".env", "API_KEY=hunter3\nDATABASE_URL='hunter4'\n");
    let (_, plan) = run("deploy --dry-run");
    assert!(plan.contains("Added: DATABASE_URL\n  Updated: API_KEY"), "{plan}");
    let (_, pushed) = run("deploy --json");
    let pushed: Value = serde_json::from_str(&pushed).unwrap();
    assert_eq!(
        pushed["steps"],
        json!(["pushSecrets", "startBackend", "publish"]),
        "no code is sent"
    );
    place.write(".env", "DATABASE_URL=hunter4\n");
    // What is for development alone goes nowhere.
    place.write(".env.local", "LOCAL=hunter7\n");
    place.write(".env.development", "LOCAL=hunter8\n");
    assert_eq!(run("secrets push --debug").0, 0);
    assert_eq!(run("secrets list").1, "DATABASE_URL\n");
    assert!(run("deploy").1.contains("Nothing to do"));
    fs::create_dir(place.path().join("other")).unwrap();
    place.write("other/lyceum.config.json", r#"{ "name": "Word Rivers" }"#);
    place.write("other/.env", "OTHER=hunter6\n");
    assert_eq!(run("secrets push -c other").0, 0);
    assert_eq!(run("secrets list").1, "OTHER\n", "the file beside the config");
    assert_eq!(run("secrets push --file .env").0, 0);
    assert_eq!(run("secrets list").1, "DATABASE_URL\n");
    fs::remove_file(place.path().join(".env")).unwrap();
    assert!(run("deploy").1.contains("Nothing to do"), "without the file they stay");
    assert_eq!(run("secrets push").0, 4);

    // What an integration needs is somewhere, or nothing is deployed.
    let config = "export default { name: 'Word Rivers', buildPath: 'dist', integrations: \
                  { auth: { secrets: ['AUTH_SECRET', 'DATABASE_URL'] } } };";
    place.write("lyceum.config.js", config);
    let (code, stderr) = place.fails("deploy --yes");
    assert_eq!(code, 1);
    assert!(stderr.contains("│ MISSING SECRET: AUTH_SECRET │"), "{stderr}");
    assert!(!stderr.contains("SECRET: DATABASE_URL"), "the server has it: {stderr}");
    place.write(".env", "A B=hunter5\n");
    printed += &place.fails("deploy").1;
    assert!(!printed.contains("hunter"), "{printed}");
    assert!(!served.log().contains("hunter"));
    assert!(!holds(&served.file("data"), b"hunter"), "values are sealed where they are kept");
    let audit = client(&served).get("/api/projects/word-rivers/audit").expect(200).text();
    assert!(audit.contains("DATABASE_URL") && !audit.contains("hunter"), "{audit}");
}

/// Whether a file below the folder has these bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).any(|path| {
        let has = |text: Vec<u8>| text.windows(bytes.len()).any(|part| part == bytes);
        if path.is_dir() { holds(&path, bytes) } else { fs::read(&path).is_ok_and(has) }
    })
}

#[test]
fn without_a_terminal_local_metadata_is_used_unless_a_flag_forbids_it() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    place.ok("deploy");
    let flags = "-c . -n Word-Rivers -d Water -e x -b dist --env staging";
    let plan = place.json(&format!("deploy {flags} --dry-run --json"));
    let field_change =
        |field: &str, old: Value, new: &str| json!({ "field": field, "old": old, "new": new });
    let changed = json!([
        field_change("name", json!("Word Rivers"), "Word-Rivers"),
        field_change("description", Value::Null, "Water"),
        field_change("emoji", json!("🌊"), "x"),
    ]);
    assert_eq!((&plan["metadata"], &plan["frontend"]), (&changed, &Value::Null));
    for flag in ["-v", "--debug"] {
        let stderr = place.run(&format!("deploy {flag}")).2;
        assert!(stderr.contains("GET /api/projects/word-rivers/state 200"), "{flag}: {stderr}");
    }
    rename(&served, "Renamed");
    let (code, stderr) = place.fails("deploy --strict");
    assert_eq!(code, 5);
    assert!(stderr.contains("name: 'Renamed' → 'Word Rivers'"), "{stderr}");
    assert_eq!(stored_name(&served), "Renamed");
    let (code, _, stderr) = place.run("deploy");
    assert!(code == 0 && stderr.contains("overwriting the server's values"), "{stderr}");
    assert_eq!(stored_name(&served), "Word Rivers");

    let elsewhere = place.fails("deploy --env production");
    assert!(elsewhere.0 == 5 && elsewhere.1.contains("is a staging server"), "{}", elsewhere.1);
    let (_, stderr) = place.fails("deploy --compatibility-date 2025-02-30");
    assert!(stderr.contains("'2025-02-30' is not a date"), "{stderr}");
    assert_eq!(place.fails("deploy --name ★").0, 1);
    assert_eq!(place.fails("deploy --build nowhere.zip").0, 4);
    place
        .write("server/api/broken.ts", "import x from \"nothing-there\";\nexport const GET = x;\n");
    let (code, stderr) = place.fails("deploy");
    assert!(code == 1 && stderr.contains("nothing-there"), "{stderr}");
    let nobody = Place::new().with("LYCEUM_URL", &served.base);
    project(&nobody);
    assert_eq!(nobody.fails("deploy").0, 3);
    let page = Place::new().with("LYCEUM_URL", &crate::elsewhere::pages());
    let page = page.with("LYCEUM_API_KEY", "none");
    project(&page);
    let (_, stderr) = page.fails("deploy");
    assert!(stderr.contains("the server is not running there, or the address or port"), "{stderr}");
}

#[test]
fn a_first_deploy_has_a_backend_if_there_are_routes_or_integrations() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    remove(place.path(), "server");
    let config = |more: &str| {
        let text = format!("export default {{ name: 'Word Rivers', buildPath: 'dist', {more} }};");
        place.write("lyceum.config.js", &text);
    };
    config("");
    assert!(place.ok("deploy --dry-run").contains("Deploy Backend:  No"));
    config("integrations: { kv: true, bucket: true }");
    let shown = place.ok("deploy --dry-run");
    for line in ["Deploy Backend:  Yes", "Custom Routes:   0", "Integrations:    kv, bucket"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    place.ok("deploy --yes");
    let index: Value = client(&served).get("/_projects/word-rivers/api").expect(200).json();
    assert_eq!(index["routes"], json!([]));
    // Another page alone: its sizes are told, and the backend stays.
    place.write("dist/index.html", &PAGE.repeat(99));
    let (code, _, stderr) = place.run("deploy");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("Frontend\n  Build: ") && stderr.contains("(↑ "), "{stderr}");
    assert!(!stderr.contains("Backend"), "{stderr}");
}

#[test]
fn a_deploy_finds_the_running_sandbox_and_needs_no_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    project(&place);
    let sandbox = Running::start(&place, "--db-path sandbox.db");
    let deployed = place.json("deploy --env local --json");
    assert_eq!((&deployed["environment"], &deployed["version"]), (&json!("local"), &json!(1)));
    let port = &sandbox.printed["port"];
    assert_eq!(deployed["frontendUrl"], format!("http://word-rivers.localhost:{port}"));
    assert_eq!(place.json("deploy --env local --json")["action"], "nothing");
    // Of several the project's own is meant, or none.
    let other = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    let second = Running::start(&other, "--memory --project-name Second");
    assert_eq!(place.json("deploy --env local --json")["action"], "nothing");
    let (code, stderr) = place.fails("deploy --env local --name Third");
    assert!(code == 2 && stderr.contains("several sandboxes are running"), "{stderr}");
    second.stop();
    sandbox.stop();
    // Without one in the list it is looked for where a sandbox usually is. Another test's may be there for a
    // while, and is not to be deployed to.
    let since = Instant::now();
    let (code, stderr) = loop {
        let (code, _, stderr) = place.run("deployments list --env local");
        if stderr.contains("cannot reach") || since.elapsed() > Duration::from_mins(1) {
            break (code, stderr);
        }
        sleep(Duration::from_millis(200));
    };
    assert!(code == 1 && stderr.contains("cannot reach http://127.0.0.1:4321"), "{stderr}");
    assert!(stderr.contains("`lyceum sandbox` starts one"), "{stderr}");
    let place = place.with("LYCEUM_LOCAL_URL", "http://127.0.0.1:1");
    let (code, stderr) = place.fails("deploy --env local");
    assert!(code == 1 && stderr.contains("cannot reach"), "{stderr}");
}

#[test]
#[ignore = "rest"]
fn an_upload_is_resumed_after_its_client_was_killed() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    let full = crate::served::variable("LYCEUM_TEST_SIZE").as_deref() == Some("full");
    let size: u32 = if full { 100 } else { 24 };
    let bytes: Vec<u8> =
        (0..size * 1024 * 1024).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut zip = zip::ZipWriter::new(fs::File::create(place.path().join("big.zip")).unwrap());
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("index.html", PAGE.as_bytes()), ("big.bin", &bytes)] {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    let uploads = served.file("data/hosting/uploads");
    let here = || -> u64 {
        let files = fs::read_dir(&uploads).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
    };
    let mut killed = place.command("deploy --build big.zip --no-backend --yes");
    let mut killed = killed.stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while here() == 0 {
        assert!(since.elapsed() < PATIENCE, "nothing arrives");
        sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let total = fs::metadata(place.path().join("big.zip")).unwrap().len();
    let done = place.json("deploy --build big.zip --no-backend --yes --json");
    let sent = done["uploadedBytes"].as_u64().unwrap();
    assert!(sent < total, "{sent} of {total} bytes were sent again");
    assert_eq!(done["version"], 1);
    assert_eq!(here(), 0, "nothing is left of the upload");
    if full {
        let status = fs::read_to_string(format!("/proc/{}/status", served.pid())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
        println!("the server took {kilobytes} kB at most");
        assert!(kilobytes < 150_000, "{kilobytes} kB");
        let since = Instant::now();
        place.ok("deploy --build big.zip --no-backend");
        println!("an unchanged deploy took {:?}", since.elapsed());
        let since = Instant::now();
        place.ok("deploy --build dist --no-backend --yes");
        place.ok("deploy --build dist --yes");
        println!("two changed deploys took {:?}", since.elapsed());
        let since = Instant::now();
        place.ok("deploy --build dist");
        let unchanged = since.elapsed();
        println!("an unchanged deploy of all took {unchanged:?}");
        assert!(unchanged < Duration::from_millis(300), "{unchanged:?}");
        return;
    }
    assert_eq!(place.json("deploy --build big.zip --no-backend --json")["uploadedBytes"], 0);
}

fn config_of(place: &Place) -> String {
    fs::read_to_string(place.path().join("lyceum.config.js")).unwrap()
}

#[test]
#[ignore = "rest"]
fn each_question_is_answered_by_keyboard() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    let deploy = |line: &str| Typing::start(&place, &format!("deploy {line}"));
    let (code, screen) = deploy("").answer("Create Word Rivers on staging? (Y/n)", "n").end();
    assert!(code == 130 && screen.contains("cancelled; nothing was changed"), "{screen}");
    client(&served).get("/api/projects/word-rivers").expect(404);
    let (code, screen) = deploy("").answer("Create Word Rivers on staging?", "").end();
    assert!(code == 0 && screen.contains("✔ word-rivers 1 is served"), "{screen}");

    // Cancelled, by the choice that an empty line is.
    rename(&served, "It's new");
    let (code, screen) = deploy("").answer("Choose 1, 2 or 3 [3]", "").end();
    assert!(code == 130 && screen.contains("name: 'It's new' → 'Word Rivers'"), "{screen}");
    // The name goes into the config only where that is said twice.
    let before = config_of(&place);
    let (code, screen) =
        deploy("").answer("Choose 1", "2").answer("Write the name 'It's new'", "").end();
    assert!(
        code == 130 && screen.contains("later deploys go to the project 'it-s-new'"),
        "{screen}"
    );
    assert_eq!((config_of(&place), stored_name(&served)), (before.clone(), json!("It's new")));
    place.write("dist/index.html", "<h1>Two</h1>");
    let mut typing = deploy("");
    typing.answer("Choose 1", "2").answer("Write the name", "y");
    let (code, screen) = typing.answer("Update It's new to a new version?", "y").end();
    assert!(code == 0 && screen.contains("✔ word-rivers 2 is served"), "the slug stays: {screen}");
    assert_eq!(config_of(&place), before.replace("'Word Rivers'", "'It\\'s new'"));
    assert_eq!(stored_name(&served), "It's new");

    // Local values over the server's.
    place.write("lyceum.config.js", &before);
    let (code, screen) = deploy("").answer("Choose 1", "1").answer("Update Word Rivers", "").end();
    assert_eq!((code, stored_name(&served)), (0, json!("Word Rivers")), "{screen}");

    // What is built from an expression is told, and left as it is.
    let built =
        before.replace("\"🌊\"", "sign()").replace("export", "const sign = () => 'x';\nexport");
    place.write("lyceum.config.js", &built);
    let (code, screen) = deploy("--emoji x").answer("Choose 1", "2").end();
    assert!(code == 0 && screen.contains("change 'emoji' to '🌊' by hand"), "{screen}");
    assert!(screen.contains("line 4, column 10"), "{screen}");
    assert_eq!(config_of(&place), built);

    // Where the build is.
    place.write("lyceum.config.js", &before.replace("buildPath: 'dist',", ""));
    let (code, screen) = deploy("").answer("Path of the build (zip or folder) [dist]", "").end();
    assert!(code == 0 && screen.contains("Nothing to do"), "{screen}");
    assert_eq!(place.fails("deploy").0, 2);
    let (code, screen) = Typing::start(&place, "deployments rollback")
        .answer("Serve version 1 of word-rivers in place of 2? (Y/n)", "y")
        .end();
    assert!(code == 0 && screen.contains("is served again"), "{screen}");
}

#[test]
#[ignore = "rest"]
fn the_version_on_staging_is_promoted_without_a_build() {
    let production = Served::start_with(Store::Sqlite, &["--env", "production"]);
    let staging = staging(Store::Sqlite);
    let (one, two) = (staging.client("platform", &[]), production.client("platform", &[]));
    let mut place = Place::new();
    for (name, served, key) in [("STAGING", &staging, &one), ("PRODUCTION", &production, &two)] {
        place = place.with(&format!("LYCEUM_{name}_URL"), &served.base);
        place = place.with(&format!("LYCEUM_{name}_CLIENT_ID"), &key.id);
        place = place.with(&format!("LYCEUM_{name}_CLIENT_SECRET"), &key.secret);
    }
    project(&place);
    assert_eq!(place.fails("deployments promote --yes").0, 4, "staging has nothing yet");
    let deployed = place.json("deploy --yes --json");
    remove(place.path(), "dist");
    let plan = place.json("deployments promote --dry-run --json");
    assert_eq!((&plan["action"], &plan["missingSecrets"]), (&json!("create"), &json!(["API_KEY"])));
    let stderr = place.run("deployments promote --dry-run").2;
    assert!(stderr.contains("production lacks secrets that staging has: API_KEY"), "{stderr}");
    let promoted = place.json("deployments promote --yes --json");
    assert_eq!((&promoted["environment"], &promoted["version"]), (&json!("production"), &json!(1)));
    let url = promoted["frontendUrl"].as_str().unwrap();
    assert!(url.starts_with("http://word-rivers.localhost:"), "{url}");
    assert_ne!(deployed["frontendUrl"], promoted["frontendUrl"]);
    assert_eq!(place.ok("secrets list --env production"), "", "secrets never travel");
    assert_eq!(place.json("deployments promote --yes --json")["action"], "nothing");
}

#[test]
#[ignore = "rest"]
fn exceptions_of_a_project_are_logged_with_the_request_id() {
    let mut served = staging(Store::Sqlite);
    place_at(&served).ok("deploy --yes");
    served.kill();
    remove(&served.file("data/hosting"), "blobs");
    let served = served.again();
    let client = client(&served);
    let call = client.get("/_projects/word-rivers/api/hello");
    let call = call.header("x-request-id", "find-me").header("origin", "https://games.example");
    let failed = call.expect(500);
    assert_eq!(failed.header("x-request-id"), "find-me");
    assert_eq!(failed.header("access-control-allow-origin"), "https://games.example");
    let found = served.log();
    let line =
        found.lines().find(|line| line.contains("find-me") && line.contains("does not exist"));
    assert!(line.is_some_and(|line| line.contains("word-rivers")), "{found}");
}

fn remove(folder: &Path, name: &str) {
    fs::remove_dir_all(folder.join(name)).unwrap();
}
