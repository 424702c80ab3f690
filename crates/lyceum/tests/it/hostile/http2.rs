//! HTTP/2 as frames (RFC 9113), so that a caller can break the rules.

use std::net::{SocketAddr, TcpStream};

use super::http1::{connect, send};

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const INITIAL_WINDOW_SIZE: u16 = 4;

/// A connection that lets the server send so many bytes for each request.
pub(super) fn open(from: usize, to: SocketAddr, window: u32) -> TcpStream {
    let mut stream = connect(from, to);
    let mut settings = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
    settings.extend(window.to_be_bytes());
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, &settings));
    send(&mut stream, bytes);
    stream
}

/// The frame of a whole request without a body.
pub(super) fn get(stream: u32, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(path, headers))
}

/// The frame with which the headers of a request begin.
pub(super) fn begin(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_STREAM, stream, &head(path, &[]))
}

/// A frame with more headers of a request; it does not say that they are the last ones.
pub(super) fn more(stream: u32, headers: &[(&str, &str)]) -> Vec<u8> {
    frame(CONTINUATION, 0, stream, &packed(headers))
}

/// The frame with which a caller gives a request up.
pub(super) fn reset(stream: u32) -> Vec<u8> {
    const CANCEL: u32 = 8;
    frame(RESET, 0, stream, &CANCEL.to_be_bytes())
}

fn head(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let pseudo =
        [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", path)];
    let mut bytes = packed(&pseudo);
    bytes.extend(packed(headers));
    bytes
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Header fields as literals that no table keeps (RFC 7541, 6.2.2).
fn packed(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in headers {
        bytes.push(0);
        for text in [name, value] {
            length(&mut bytes, text.len());
            bytes.extend(text.as_bytes());
        }
    }
    bytes
}

/// An integer with a prefix of seven bits (RFC 7541, 5.1).
fn length(bytes: &mut Vec<u8>, number: usize) {
    const PREFIX_MAX: usize = 127;
    if number < PREFIX_MAX {
        return bytes.push(u8::try_from(number).unwrap());
    }
    bytes.push(127);
    let mut rest = number - PREFIX_MAX;
    while rest >= 128 {
        bytes.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    bytes.push(u8::try_from(rest).unwrap());
}
