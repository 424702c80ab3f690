//! Requests of HTTP/2 whose answers nobody reads, and that are given up at once.

use super::http1::{connect, send};
use super::http2;
use super::sized;
use super::target::{Cost, Target};

#[test]
#[ignore = "soak"]
fn answers_of_http2_that_nobody_reads_use_little_memory() {
    let target = Target::start();
    let connections = sized(40, 400);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let unread = |from: usize| {
            // Some windows are closed, some let a few bytes through.
            let window = u32::from(from.is_multiple_of(2));
            let mut stream = http2::open(from, target.address(), window);
            for (number, (path, encoding)) in (0..100).zip(paths().into_iter().cycle()) {
                let headers = [("accept-encoding", encoding)];
                send(&mut stream, http2::get(2 * number + 1, path, &headers));
            }
            stream
        };
        (0..connections).map(unread).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn answers_of_http1_that_nobody_reads_use_little_memory() {
    let target = Target::start();
    let connections = sized(200, 3_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let unread = |from: usize| {
            let mut stream = connect(from, target.address());
            for (path, encoding) in paths() {
                let head = format!(
                    "GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {encoding}\r\n\r\n"
                );
                send(&mut stream, head);
            }
            stream
        };
        (0..connections).map(unread).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn requests_that_are_reset_at_once_cost_others_little() {
    let target = Target::start();
    let connections = sized(20, 200);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let flood = |from| {
            let mut stream = http2::open(from, target.address(), 65_535);
            for number in 0..5_000 {
                let mut bytes = http2::get(2 * number + 1, "/openapi.json", &[]);
                bytes.extend(http2::reset(2 * number + 1));
                send(&mut stream, bytes);
            }
            stream
        };
        (0..connections).map(flood).collect::<Vec<_>>()
    });
}

/// Large answers that are open to everybody: some never change, one is made for each request.
fn paths() -> [(&'static str, &'static str); 4] {
    [
        ("/openapi.json", "gzip"),
        ("/docs/search?q=the", "zstd"),
        ("/docs/settings", "br"),
        ("/docs/search?q=a", "gzip"),
    ]
}
