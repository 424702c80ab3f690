//! Answers of a project's backend that do not end, to callers without a token: event streams and web sockets.

use std::io::Read;
use std::net::TcpStream;

use super::http1::{connect, send};
use super::sized;
use super::target::{Cost, Target};
use crate::deploy::{place_at, staging};
use crate::served::Store;

/// A stream of events that goes on for as long as somebody reads it.
const EVENTS: &str = r#"export const GET = () => {
  const events = new ReadableStream({
    start(to) { to.enqueue(new TextEncoder().encode("data: first\n\n")); },
    pull() { return new Promise(() => {}); },
  });
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
};
"#;
/// As much as anybody reads.
const FLOOD: &str = r#"export const GET = () => {
  const piece = new Uint8Array(65536);
  const flood = new ReadableStream({ pull(to) { to.enqueue(piece); } });
  return new Response(flood, { headers: { "content-type": "text/event-stream" } });
};
"#;
const SOCKET: &str = r#"export const GET = () => {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.send("first");
  return new Response(null, { status: 101, webSocket: client });
};
"#;

/// A server with a deployed project that has the routes.
fn target() -> Target {
    Target::of(|| {
        let served = staging(Store::Sqlite);
        let place = place_at(&served);
        for (name, route) in [("events", EVENTS), ("flood", FLOOD), ("socket", SOCKET)] {
            place.write(&format!("server/api/{name}.js"), route);
        }
        place.ok("deploy --yes");
        served
    })
}

/// Begins an answer of the backend; whether its head came.
fn begin(target: &Target, from: usize, name: &str, headers: &str) -> (TcpStream, String) {
    let mut stream = connect(from, target.address());
    let path = format!("/_projects/word-rivers/api/{name}");
    send(&mut stream, format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n"));
    let mut head = [0; 12];
    let read = stream.read_exact(&mut head);
    let status = read.map(|()| String::from_utf8_lossy(&head[9..]).into_owned());
    (stream, status.unwrap_or_default())
}

#[test]
#[ignore = "soak"]
fn event_streams_without_a_token_use_little_memory() {
    let target = target();
    let connections = sized(200, 2_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let open = |from| begin(&target, from, "events", "");
        let open: Vec<_> = (0..connections).map(open).collect();
        assert!(open.iter().any(|(_, status)| status == "200"));
        open
    });
}

#[test]
#[ignore = "soak"]
fn answers_of_backends_that_nobody_reads_use_little_memory() {
    let target = target();
    let connections = sized(200, 2_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let open = |from| begin(&target, from, "flood", "");
        let open: Vec<_> = (0..connections).map(open).collect();
        assert!(open.iter().any(|(_, status)| status == "200"));
        open
    });
}

#[test]
#[ignore = "soak"]
fn web_sockets_without_a_token_use_little_memory() {
    let target = target();
    let connections = sized(200, 2_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let open = |from| begin(&target, from, "socket", upgrade);
        let open: Vec<_> = (0..connections).map(open).collect();
        assert!(open.iter().any(|(_, status)| status == "101"));
        open
    });
}
