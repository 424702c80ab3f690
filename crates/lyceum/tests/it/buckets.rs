//! `lyceum bucket` and the log of a backend, on this machine and deployed.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store};
use crate::transcript::Place;

fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { bucket: true } };\n",
    );
    place.write(
        "server/api/files.ts",
        "export const GET = async (c) => {\n\
           console.log('asked for', c.req.query('key'));\n\
           const object = await c.env.BUCKET.get(c.req.query('key'));\n\
           return object ? c.body(await object.text()) : c.notFound();\n\
         };\n\
         export const PUT = async (c) => { await c.env.BUCKET.put('made', 'by the backend'); return c.json({}); };\n",
    );
    place
}

fn keys(listed: &Value) -> Vec<&str> {
    listed["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["key"].as_str().unwrap())
        .collect()
}

#[test]
#[ignore = "rest"]
fn backends_and_commands_see_the_same_objects() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    let (code, stderr) = place.fails("bucket list --remote");
    assert!(code == 4 && stderr.contains("has no bucket here"), "{stderr}");
    place.ok("deploy --yes");
    client.put("/_projects/word-rivers/api/files").json(&json!({})).expect(200);
    fs::create_dir_all(place.path().join("assets/levels")).unwrap();
    for (name, text) in [
        ("a.txt", "one"),
        ("levels/1.json", "{}"),
        ("levels/2.json", "[]"),
        (".hidden", "x"),
        ("levels/draft.psd", "x"),
        (".gitignore", "*.psd\n!a.txt\n"),
    ] {
        place.write(&format!("assets/{name}"), text);
    }
    // Two targets, one behaviour.
    for target in ["", " --remote"] {
        let tried =
            place.json(&format!("bucket bulk assets --prefix game/ --dry-run --json{target}"));
        assert_eq!(tried["put"], json!(["game/a.txt", "game/levels/1.json", "game/levels/2.json"]));
        let put = place.json(&format!("bucket bulk assets --prefix game/ --json{target}"));
        assert_eq!(put["uploadedBytes"], 7);
        let again = place.json(&format!("bucket bulk assets --prefix game/ --json{target}"));
        assert_eq!((&again["uploadedBytes"], &again["unchanged"]), (&json!(0), &json!(3)));
        let listed = place.json(&format!("bucket list --prefix game/levels/ --json{target}"));
        assert_eq!(keys(&listed), ["game/levels/1.json", "game/levels/2.json"]);
        assert_eq!(
            listed["objects"][0]["httpMetadata"],
            json!({ "contentType": "application/json" })
        );
        assert_eq!(listed["truncated"], false);
        let page = place.json(&format!("bucket list --prefix game/ --limit 2 --json{target}"));
        assert_eq!((keys(&page).len(), &page["truncated"]), (2, &json!(true)));
        let cursor = page["cursor"].as_str().unwrap();
        let rest =
            place.json(&format!("bucket list --prefix game/ --cursor {cursor} --json{target}"));
        assert_eq!(keys(&rest), ["game/levels/2.json"]);
        let output = place.json(&format!("bucket get game/levels/1.json --json{target}"));
        assert_eq!(
            (&output["size"], &output["httpMetadata"]["contentType"]),
            (&json!(2), &json!("application/json"))
        );
        place.ok(&format!("bucket get game/a.txt -o got.txt{target}"));
        assert_eq!(fs::read_to_string(place.path().join("got.txt")).unwrap(), "one");
        assert_eq!(place.ok(&format!("bucket get game/a.txt --raw{target}")), "one");
        assert_eq!(place.fails(&format!("bucket get game/none{target}")).0, 4);
        fs::remove_file(place.path().join("assets/levels/2.json")).unwrap();
        let gone =
            place.json(&format!("bucket bulk assets --prefix game/ --delete --json{target}"));
        assert_eq!(gone["deleted"], json!(["game/levels/2.json"]));
        place.write("assets/levels/2.json", "[]");
        place.ok(&format!("bucket put game/odd%20key?&.txt assets/a.txt{target}"));
        let (code, _, stderr) =
            place.run(&format!("bucket delete game/a.txt game/a.txt game/never-there{target}"));
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("no object with the key 'game/never-there'"), "{stderr}");
        assert!(stderr.contains("✔ Deleted 1 object from"), "{stderr}");
        let gone = place.json(&format!("bucket delete game/a.txt --json{target}"));
        assert_eq!(gone, json!({ "deleted": [] }));
        let left = place.json(&format!("bucket list --prefix game/ --json{target}"));
        assert_eq!(keys(&left), ["game/levels/1.json", "game/odd%20key?&.txt"]);
        assert_eq!(place.fails(&format!("bucket delete --prefix game/{target}")).0, 5);
    }
    assert_eq!(place.ok("bucket get made --raw --remote"), "by the backend");
    let seen = client.get("/_projects/word-rivers/api/files?key=game/levels/1.json").expect(200);
    assert_eq!(seen.text(), "{}");
    place.ok("bucket delete --prefix game/ --yes --remote");
    assert_eq!(keys(&place.json("bucket list --json --remote")), ["made"]);
    assert_eq!(
        keys(&place.json("bucket list --json")),
        ["game/levels/1.json", "game/odd%20key?&.txt"]
    );
}

#[test]
#[ignore = "rest"]
fn an_object_has_the_cache_control_and_metadata_of_its_upload() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    place.write(
        "server/api/about.ts",
        "export const GET = async (c) => {\n\
           const { httpMetadata, customMetadata } = await c.env.BUCKET.head(c.req.query('key'));\n\
           return c.json({ httpMetadata, customMetadata });\n\
         };\n",
    );
    place.ok("deploy --yes");
    place.write("map.json", "{}");
    let flags = "--cache-control max-age=3600 --metadata author=ada --metadata scale=1=50";
    let whole = json!({ "contentType": "application/json", "cacheControl": "max-age=3600" });
    let custom = json!({ "author": "ada", "scale": "1=50" });
    for target in ["", " --remote"] {
        place.ok(&format!("bucket put map map.json {flags} --dry-run{target}"));
        assert_eq!(place.fails(&format!("bucket get map{target}")).0, 4);
        place.ok(&format!("bucket put map map.json {flags}{target}"));
        let output = place.json(&format!("bucket get map --json{target}"));
        assert_eq!((&output["httpMetadata"], &output["customMetadata"]), (&whole, &custom));
    }
    let about =
        || -> Value { client.get("/_projects/word-rivers/api/about?key=map").expect(200).json() };
    assert_eq!(about(), json!({ "httpMetadata": whole, "customMetadata": custom }));
    // An upload without them replaces them too.
    place.ok("bucket put map map.json --remote");
    let about = about();
    assert_eq!(about["httpMetadata"], json!({ "contentType": "application/json" }));
    assert!(about["customMetadata"].as_object().is_none_or(serde_json::Map::is_empty), "{about}");
    let (code, stderr) = place.fails("bucket put map map.json --metadata author");
    assert!(code == 2 && stderr.contains("it must have the form KEY=VALUE"), "{stderr}");
}

#[test]
#[ignore = "rest"]
fn a_large_object_is_sent_in_parts_and_resumed_after_an_interruption() {
    let served = staging(Store::Sqlite);
    let place = project(&served);
    place.ok("deploy --yes");
    let bytes: Vec<u8> =
        (0..40 * 1024 * 1024_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::create_dir(place.path().join("files")).unwrap();
    fs::write(place.path().join("files/big"), &bytes).unwrap();
    let here = || {
        let folder = served.file("data/hosting/projects/word-rivers/bucket/objects/blobs");
        size_of(&folder)
    };
    let mut killed = place.command("bucket put big files/big --remote");
    let mut killed = killed.stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while here() == 0 && killed.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(30), "nothing arrives");
        sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let put = place.json("bucket put big files/big --remote --json");
    let sent = put["uploadedBytes"].as_u64().unwrap();
    assert!(sent < bytes.len() as u64, "{sent} bytes were sent again");
    place.ok("bucket get big -o back.bin --remote");
    assert!(fs::read(place.path().join("back.bin")).unwrap() == bytes);
    let again = place.json("bucket bulk files --dry-run --remote --json");
    assert_eq!(again["put"], json!([]), "{again}");
}

fn size_of(folder: &std::path::Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path() {
            path if path.is_dir() => size_of(&path),
            path => fs::metadata(path).map_or(0, |data| data.len()),
        })
        .sum()
}

#[test]
#[ignore = "rest"]
fn the_log_of_a_backend_has_its_output_and_its_requests() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    assert_eq!(place.fails("deployments logs").0, 4);
    place.ok("deploy --yes");
    client.get("/_projects/word-rivers/api/files?key=secret-name").expect(404);
    let logs = || place.json("deployments logs --json");
    let has = |logs: &Value, stream: &str, text: &str| {
        let lines = logs.as_array().unwrap();
        lines.iter().any(|line| {
            line["stream"] == stream && line["text"].as_str().unwrap().starts_with(text)
        })
    };
    let since = Instant::now();
    while !has(&logs(), "out", "asked for secret-name") {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", logs());
        sleep(Duration::from_millis(50));
    }
    assert!(has(&logs(), "request", "GET /api/files 404 Not Found ("), "{}", logs());
    assert_eq!(place.json("deployments logs --limit 1 --json").as_array().unwrap().len(), 1);
    assert_eq!(place.fails("deployments logs --limit 0").0, 1);

    // A reader that follows the log gets new lines, also of a new version.
    let mut following = place.command("deployments logs --follow --json");
    let mut following =
        following.stdout(fs::File::create(place.path().join("followed")).unwrap()).spawn().unwrap();
    place.write(
        "server/api/other.ts",
        "export const GET = (c) => { console.log('the new version'); return c.json({}); };\n",
    );
    place.ok("deploy --yes");
    client.get("/_projects/word-rivers/api/other").expect(200);
    let since = Instant::now();
    let heard = || fs::read_to_string(place.path().join("followed")).unwrap();
    while !heard().contains("the new version") {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", heard());
        sleep(Duration::from_millis(50));
    }
    following.kill().unwrap();
    following.wait().unwrap();
    assert_eq!(heard().matches("asked for secret-name").count(), 1, "{}", heard());
}
