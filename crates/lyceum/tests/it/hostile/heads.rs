//! Heads of requests that do not end, or are large.

use std::iter::repeat_n;

use super::http1::{connect, send, status};
use super::http2;
use super::sized;
use super::target::{Cost, Target};

#[test]
#[ignore = "soak"]
fn slow_headers_use_little_memory() {
    let target = Target::start();
    let connections = sized(300, 3_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let begun = |from: usize| {
            let mut stream = connect(from, target.address());
            // Some begin a large head, which takes a larger buffer.
            let bytes = if from.is_multiple_of(2) { 60_000 } else { 6_000 };
            send(
                &mut stream,
                format!("GET /health HTTP/1.1\r\nHost: x\r\nX: {}", "a".repeat(bytes)),
            );
            stream
        };
        (0..connections).map(begun).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn a_head_beyond_the_limit_is_refused() {
    let target = Target::start();
    target.withstands(Cost { connections: 20, ..Cost::default() }, || {
        for from in 0..sized(20, 200) {
            let line = format!("X: {}\r\n", "a".repeat(8_000));
            let head = repeat_n(line, 1_000).collect::<String>();
            let mut stream = connect(from, target.address());
            let answer =
                status(&mut stream, &format!("GET /health HTTP/1.1\r\nHost: x\r\n{head}\r\n"));
            assert!([0, 431].contains(&answer), "{answer}");
        }
    });
}

#[test]
#[ignore = "soak"]
fn headers_of_http2_that_do_not_end_are_cut_off() {
    let target = Target::start();
    let connections = sized(20, 200);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let (value, frames) = ("a".repeat(8_000), sized(500, 5_000));
        let flood = |from| {
            let mut stream = http2::open(from, target.address(), 65_535);
            send(&mut stream, http2::begin(1, "/health"));
            for _ in 0..frames {
                send(&mut stream, http2::more(1, &[("x", &value)]));
            }
            stream
        };
        (0..connections).map(flood).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn many_large_heads_on_one_connection_use_little_memory() {
    let target = Target::start();
    let connections = sized(40, 400);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let value = "a".repeat(7_000);
        let flood = |from| {
            let mut stream = http2::open(from, target.address(), 0);
            for number in 0..100 {
                let large = [("accept-encoding", "gzip"), ("x", &*value), ("y", &*value)];
                send(&mut stream, http2::get(2 * number + 1, "/openapi.json", &large));
            }
            stream
        };
        (0..connections).map(flood).collect::<Vec<_>>()
    });
}
