//! Rosters as CSV files over HTTP: imports as jobs, with their reports and rejected rows, and exports.

use std::io::{Cursor, Read, Write};
use std::thread;
use std::time::Duration;

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};
use zip::{ZipArchive, ZipWriter};

use crate::access::limited_client;

pub(crate) const ORGS: &str = "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\r\n\
                    d1,,,North,district,,\r\ns1,,,Oak,school,,d1\r\n";
const WRONG: &str = "s2,,,Elm,castle,,d1\r\n";
const DEMOGRAPHICS: &str = "sourcedId,status,dateLastModified\r\n";

/// A zip with a manifest of these files.
pub(crate) fn package(files: &[(&str, &str)]) -> Vec<u8> {
    let names = files.iter().map(|(name, _)| format!("file.{name},bulk\r\n"));
    let head = "propertyName,value\r\nmanifest.version,1.0\r\noneroster.version,1.2\r\n";
    let manifest = format!("{head}{}", names.collect::<String>());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files.iter().copied().chain([("manifest", &*manifest)]) {
        zip.start_file(format!("{name}.csv"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Sends a zip, and waits until the server has read it.
pub(crate) fn import(client: &TestClient, query: &str, zip: &[u8]) -> Value {
    let path = format!("/imports{query}");
    let reply = client.post(&path).body("application/zip", zip.to_vec()).expect(202);
    let accepted: Value = reply.json();
    assert!(reply.header("location").ends_with(&format!("/imports/{}", accepted["id"])));
    ended(client, &accepted["id"])
}

fn ended(client: &TestClient, id: &Value) -> Value {
    for _ in 0..1000 {
        let import: Value = client.get(&format!("/imports/{id}")).expect(200).json();
        if import["state"] != "checking" && import["state"] != "importing" {
            return import;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the import {id} does not end");
}

const ORG: &str = "/ims/oneroster/rostering/v1p2/orgs";

#[test]
fn a_client_imports_a_zip_and_reads_the_report() {
    both(|server| {
        let client = server.client();
        let import = import(&client, "?name=north.zip", &package(&[("orgs", ORGS)]));
        assert_eq!((&import["state"], &import["name"]), (&json!("done"), &json!("north.zip")));
        let file = &import["files"][0];
        assert_eq!((&file["file"], &file["created"]), (&json!("orgs"), &json!(2)), "{import}");
        assert_eq!((&import["errorCount"], &import["rejected"]), (&json!(0), &Value::Null));
        client.get(&format!("{ORG}/s1")).expect(200);
        let listed: Value = client.get("/imports").expect(200).json();
        assert_eq!(listed["imports"], json!([import]));
        client.get(&format!("/imports/{}/rejected.csv", import["id"])).expect(404);
        client.post(&format!("/imports/{}/start", import["id"])).expect(409);
        // Another client does not learn of it.
        let other = server.client();
        other.get(&format!("/imports/{}", import["id"])).expect(404);
        assert_eq!(other.get("/imports").expect(200).json::<Value>()["imports"], json!([]));
    });
}

#[test]
fn rejected_rows_stop_an_import_or_are_left_out() {
    both(|server| {
        let client = server.client();
        let zip = package(&[("orgs", &[ORGS, WRONG].concat())]);
        for query in ["?check=true", ""] {
            let stopped = import(&client, query, &zip);
            assert_eq!((&stopped["state"], &stopped["errorCount"]), (&json!("checked"), &json!(1)));
            assert_eq!(stopped["errors"][0]["path"], "orgs.csv line 4, column type", "{stopped}");
            let path = format!("/imports/{}", stopped["id"]);
            assert!(
                stopped["rejected"].as_str().unwrap().ends_with(&format!("{path}/rejected.csv"))
            );
            let rows = client.get(&format!("{path}/rejected.csv")).expect(200);
            assert!(rows.header("content-type").starts_with("text/csv"));
            assert!(rows.text().contains("s2,,,Elm,castle"), "{}", rows.text());
            client.get(&format!("{ORG}/s1")).expect(404);
            let discarded: Value = client.post(&format!("{path}/discard")).expect(200).json();
            assert_eq!(discarded["state"], "discarded");
        }
        let partly = import(&client, "?keepGoing=true", &zip);
        assert_eq!((&partly["state"], &partly["errorCount"]), (&json!("done"), &json!(1)));
        client.get(&format!("{ORG}/s1")).expect(200);
        client.get(&format!("{ORG}/s2")).expect(404);
        client.get(&format!("/imports/{}/rejected.csv", partly["id"])).expect(200);

        let checked = import(&client, "?check=true", &zip);
        let path = format!("/imports/{}/start", checked["id"]);
        client.post(&path).expect(200);
        assert_eq!(ended(&client, &checked["id"])["state"], "done");
    });
}

#[test]
fn an_import_needs_a_zip_and_the_scopes_of_its_files() {
    both(|server| {
        let client = server.client();
        let send = |client: &TestClient, body: Vec<u8>, status| {
            client.post("/imports").body("application/zip", body).expect(status).text()
        };
        let refused = send(&client, b"not a zip".to_vec(), 422);
        assert!(refused.contains("the body is not a zip file"), "{refused}");
        client.post("/imports").json(&json!({})).expect(415);
        client.post("/imports?keepgoing=true").expect(422);
        server.anonymous().post("/imports").expect(401);
        let roster = server.client_with(&[Scope::RosterWrite], PayloadDialect::Platform);
        let zip = package(&[("orgs", ORGS), ("demographics", DEMOGRAPHICS)]);
        let refused = send(&roster, zip, 403);
        assert!(
            refused.contains("demographics.csv") && refused.contains("lyceum/demographics.write")
        );
        assert_eq!(import(&roster, "", &package(&[("orgs", ORGS)]))["state"], "done");
        let reader = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
        send(&reader, package(&[("orgs", ORGS)]), 403);
    });
}

#[test]
fn a_client_exports_what_it_may_read() {
    both(|server| {
        let client = server.client();
        let others = "d2,,,South,district,,\r\ns2,,,Elm,school,,d2\r\n";
        import(&client, "", &package(&[("orgs", &[ORGS, others].concat())]));
        let orgs = |client: &TestClient, query: &str| {
            let reply = client.get(&format!("/exports/roster.zip{query}")).expect(200);
            let mut zip = ZipArchive::new(Cursor::new(reply.body)).unwrap();
            let mut orgs = String::new();
            zip.by_name("orgs.csv").unwrap().read_to_string(&mut orgs).unwrap();
            let rows = orgs.lines().skip(1);
            rows.map(|row| row.split(",20").next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let [north, oak] = ["d1,,,North,district,,", "s1,,,Oak,school,,d1"];
        let [south, elm] = ["d2,,,South,district,,", "s2,,,Elm,school,,d2"];
        assert_eq!(orgs(&client, ""), [north, south, oak, elm]);
        let complete = orgs(&client, "?content=complete");
        assert_eq!(complete, ["d1,active", "d2,active", "s1,active", "s2,active"]);
        let limited = limited_client(server, &["d2"]);
        assert_eq!(orgs(&limited, ""), [south, elm]);
        limited.get("/exports/roster.zip?content=complete").expect(422);
        client.get("/exports/roster.zip?content=all").expect(422);
        let roster = server.client_with(&[Scope::RosterRead], PayloadDialect::Platform);
        let refused = roster.get("/exports/roster.zip").expect(403).text();
        assert!(refused.contains("lyceum/"), "{refused}");
        server.anonymous().get("/exports/roster.zip").expect(401);
    });
}

#[test]
fn a_limited_client_imports_only_within_its_organizations() {
    both(|server| {
        let others = "d2,,,South,district,,\r\ns2,,,Elm,school,,d2\r\n";
        import(&server.client(), "", &package(&[("orgs", &[ORGS, others].concat())]));
        let limited = limited_client(server, &["d2"]);
        // Its district unchanged, a new school in it, a school of the other district, and a new school there.
        let head = ORGS.lines().next().unwrap();
        let rows = "s3,,,Ash,school,,d2\r\ns1,,,Taken,school,,d2\r\ns4,,,Fir,school,,d1\r\n";
        let zip = package(&[("orgs", &format!("{head}\r\n{others}{rows}"))]);
        let stopped = import(&limited, "", &zip);
        assert_eq!((&stopped["state"], &stopped["errorCount"]), (&json!("checked"), &json!(2)));
        let errors: Vec<_> = stopped["errors"].as_array().unwrap().iter().collect();
        assert_eq!(errors.len(), 2, "{stopped}");
        for error in errors {
            assert!(error["message"].as_str().unwrap().contains("'d2'"), "{error}");
        }
        limited.get(&format!("{ORG}/s3")).expect(404);
        limited.post(&format!("/imports/{}/start", stopped["id"])).expect(200);
        assert_eq!(ended(&limited, &stopped["id"])["state"], "done");
        limited.get(&format!("{ORG}/s3")).expect(200);
        let client = server.client();
        client.get(&format!("{ORG}/s4")).expect(404);
        let kept: Value = client.get(&format!("{ORG}/s1")).expect(200).json();
        assert_eq!(kept["org"]["name"], "Oak");
    });
}
