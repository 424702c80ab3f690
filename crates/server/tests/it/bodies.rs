//! Bodies of requests: type, size and missing bodies.

use std::io::{Read, Write};
use std::net::TcpStream;

use flate2::Compression;
use flate2::write::GzEncoder;
use lyceum_core::limits::BODY_MAX_BYTES;
use lyceum_http::limits::PUBLIC_BODY_MAX_BYTES;
use lyceum_testserver::server::both_as;
use serde_json::{Value, json};

use crate::probe;

#[test]
fn a_body_up_to_the_limit_is_read_and_a_longer_one_refused() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let send =
            |bytes: usize| client.post("/probe/echo").body("application/json", vec![b' '; bytes]);
        assert_eq!(
            send(BODY_MAX_BYTES).expect(201).json::<Value>(),
            json!({"bytes": BODY_MAX_BYTES})
        );
        for bytes in [BODY_MAX_BYTES + 1, 4 * BODY_MAX_BYTES] {
            let refused = send(bytes).expect(413);
            assert!(refused.text().contains("4194304 bytes"), "{}", refused.text());
            assert!(!refused.header("x-request-id").is_empty());
        }
    });
}

#[test]
fn bodies_without_a_token_are_short() {
    both_as(&probe::setup(), |server| {
        let long = vec![b' '; PUBLIC_BODY_MAX_BYTES + 1];
        let client = server.anonymous();
        client.post("/api/games/any/demo").body("application/json", long.clone()).expect(413);
        client.post("/oauth2/device_authorization").body(FORM, long).expect(413);
    });
}

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn a_body_without_a_content_length_is_limited_too() {
    both_as(&probe::setup(), |server| {
        let head = "POST /probe/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut request = head.as_bytes().to_vec();
        for _ in 0..=BODY_MAX_BYTES / 65_536 {
            request.extend_from_slice(b"10000\r\n");
            request.extend_from_slice(&vec![b' '; 65_536]);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"0\r\n\r\n");
        let mut stream = connect(&server.setup().config.server.listen);
        stream.write_all(&request).unwrap();
        assert!(first_line(&mut stream).contains(" 413 "));
    });
}

#[test]
fn a_client_that_announces_too_large_a_body_is_refused_at_once() {
    both_as(&probe::setup(), |server| {
        let mut stream = connect(&server.setup().config.server.listen);
        let head = "POST /probe/echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\
                    Content-Length: 99999999\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        assert!(first_line(&mut stream).contains(" 413 "));
    });
}

#[test]
fn a_refused_sender_of_a_large_body_reads_why() {
    both_as(&probe::setup(), |server| {
        let body = vec![b' '; 8 * 1024 * 1024];
        for (path, status) in [("/probe/guarded", 401), ("/probe/nothing", 404)] {
            server.anonymous().post(path).body("application/json", body.clone()).expect(status);
        }
    });
}

#[test]
fn only_the_content_types_that_a_route_reads_are_accepted() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let send =
            |media: &str, status| client.post("/probe/echo").body(media, "{}").expect(status);
        for media in ["application/json", "Application/JSON; charset=utf-8", "application/vc+json"]
        {
            send(media, 201);
        }
        for media in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
        {
            let refused = send(media, 415);
            assert!(refused.text().contains("send application/json"), "{}", refused.text());
        }
    });
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_compressed_body_is_read_up_to_the_same_limit() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let send = |encoding: &str, body: Vec<u8>, status| {
            let call = client.post("/probe/echo").header("content-encoding", encoding);
            call.body("application/json", body).expect(status)
        };
        for (encoding, body) in [
            ("gzip", gzip(b"{\"a\": 1}")),
            ("X-GZIP", [gzip(b"{\"a\":"), gzip(b" 1}")].concat()),
            ("identity", b"{\"a\": 1}".to_vec()),
        ] {
            assert_eq!(
                send(encoding, body, 201).json::<Value>(),
                json!({"bytes": 8}),
                "{encoding}"
            );
        }
        let spaces = |bytes: usize| gzip(&vec![b' '; bytes]);
        let largest = send("gzip", spaces(BODY_MAX_BYTES), 201);
        assert_eq!(largest.json::<Value>(), json!({"bytes": BODY_MAX_BYTES}));
        // Some kilobytes that stand for many megabytes.
        for bytes in [BODY_MAX_BYTES + 1, 64 * BODY_MAX_BYTES] {
            let refused = send("gzip", spaces(bytes), 413);
            assert!(refused.text().contains("4194304 bytes"), "{}", refused.text());
        }
        let whole = gzip(b"{\"a\": 1}");
        for damaged in [whole[..whole.len() - 1].to_vec(), b"{\"a\": 1}".to_vec()] {
            let refused = send("gzip", damaged, 400);
            assert!(refused.text().contains("is not complete gzip"), "{}", refused.text());
        }
        let repeated = send("gzip", gzip(b"{\"a\": 1, \"a\": 2}"), 400);
        assert!(repeated.text().contains("a: appears twice"), "{}", repeated.text());
        for encoding in ["br", "zstd", "gzip, gzip"] {
            let refused = send(encoding, gzip(b"{}"), 415);
            assert!(refused.text().contains(&format!("the encoding '{encoding}'")));
            assert_eq!(refused.header("accept-encoding"), "gzip");
        }
    });
}

#[test]
fn a_content_type_without_a_body_is_fine() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let json = |call: lyceum_testserver::client::Call<'_>, status| {
            drop(call.header("content-type", "application/json").expect(status));
        };
        json(client.get("/health"), 200);
        json(client.post("/probe/echo"), 201);
        client.post("/probe/echo").header("content-type", "text/plain").expect(201);
    });
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    stream
}

fn first_line(stream: &mut TcpStream) -> String {
    let mut answer = [0; 512];
    let length = stream.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    answer.lines().next().unwrap_or_default().to_owned()
}
