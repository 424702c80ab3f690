//! Documents with a token that are small to send and would be large to read.

use std::io::Write;
use std::thread;

use serde_json::json;
use ureq::Agent;

use super::sized;
use super::target::{Cost, Target};

const JSON: &str = "application/json";

#[test]
#[ignore = "soak"]
fn deep_json_is_refused() {
    let deep = |open: &str, bytes: usize| open.repeat(bytes / open.len()).into_bytes();
    let bodies = vec![deep("[", 4_000_000), deep(r#"{"a":"#, 4_000_000), deep(r#"[{"a":"#, 60_000)];
    refused("/ims/oneroster/rostering/v1p2/orgs", &[], &bodies, &[400]);
}

#[test]
#[ignore = "soak"]
fn deep_xml_is_refused() {
    let item = |xml: String| json!({ "schema": "item", "xml": xml }).to_string().into_bytes();
    let bodies = vec![
        item("<a>".repeat(1_000_000)),
        item(format!("<!DOCTYPE a [{}]><a>&e9;</a>", entities())),
        item(format!("<a {}/>", "b='' ".repeat(500_000))),
    ];
    refused("/validate", &[], &bodies, &[200, 400, 422]);
}

#[test]
#[ignore = "soak"]
fn packed_bodies_are_not_unpacked() {
    let mut packed = Vec::new();
    // 200 MB of spaces in a few hundred kilobytes.
    let mut gzip = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::best());
    for _ in 0..200 {
        gzip.write_all(&vec![b' '; 1_000_000]).unwrap();
    }
    gzip.finish().unwrap();
    let named = [("Content-Encoding", "gzip")];
    refused("/ims/oneroster/rostering/v1p2/orgs", &named, &[packed], &[400, 415]);
}

/// Entities that would unpack to a billion characters.
fn entities() -> String {
    let more =
        |level: usize| format!("<!ENTITY e{level} '{}'>", format!("&e{};", level - 1).repeat(10));
    let all: String = (1..10).map(more).collect();
    format!("<!ENTITY e0 'ha'>{all}")
}

/// Several callers with a token send each body; the answers have one of these statuses.
fn refused(path: &str, headers: &[(&str, &str)], bodies: &[Vec<u8>], statuses: &[u16]) {
    let target = Target::start();
    let callers = sized(4, 16);
    let largest = bodies.iter().map(Vec::len).max().unwrap();
    // The body, and what is read of it.
    let with_token_kb = (callers * largest * 4 / 1024) as u64;
    target.withstands(Cost { connections: callers, with_token_kb, ..Cost::default() }, || {
        thread::scope(|scope| {
            for _ in 0..callers {
                scope.spawn(|| {
                    let agent: Agent =
                        Agent::config_builder().http_status_as_error(false).build().into();
                    for body in bodies {
                        let mut request = agent
                            .post(format!("{}{path}", target.served.base))
                            .header("Authorization", format!("Bearer {}", target.token))
                            .header("Content-Type", JSON);
                        for (name, value) in headers {
                            request = request.header(*name, *value);
                        }
                        let answer = request.send(&body[..]).unwrap();
                        let status = answer.status().as_u16();
                        assert!(statuses.contains(&status), "{status}");
                    }
                });
            }
        });
    });
}
