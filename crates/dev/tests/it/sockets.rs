//! Web sockets are passed through to the backend (RFC 6455).

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::project::{PATIENCE, Project};

const ECHO: &str = r#"
export const GET = (c) => {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", ({ data }) => server.send(`heard ${data}`));
  return new Response(null, { status: 101, webSocket: client });
};
"#;

#[test]
fn a_websocket_stays_open_until_one_side_closes_it() {
    let project = Project::of(&[("server/api/echo.js", ECHO)]);
    let mut stream = TcpStream::connect(&project.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET /api/echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
    for word in ["one", "two"] {
        // A whole text message, masked as RFC 6455 requires of clients.
        let mut frame = vec![0x81, 0x80 | 3, 1, 2, 3, 4];
        frame.extend(word.bytes().zip([1, 2, 3]).map(|(byte, mask)| byte ^ mask));
        stream.write_all(&frame).unwrap();
        let mut answer = [0; 11];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..2], [0x81, 9]);
        assert_eq!(&answer[2..], format!("heard {word}").as_bytes());
    }
    assert_eq!(project.get("/api").0, 200, "other requests are served meanwhile");
}
