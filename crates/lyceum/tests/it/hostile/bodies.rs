//! Bodies without a token: large, slow, and many at once.

use std::io::Write;
use std::thread;

use super::http1::{connect, post, send, status};
use super::sized;
use super::target::{Cost, Target};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// Routes that accept a body without a token.
const OPEN: [(&str, &str); 5] = [
    ("/oauth2/token", FORM),
    ("/oauth2/device_authorization", FORM),
    ("/sign-in", FORM),
    ("/api/auth/sign-in", JSON),
    ("/api/games/any/demo", JSON),
];

#[test]
#[ignore = "soak"]
fn slow_bodies_use_little_memory() {
    let target = Target::start();
    let connections = sized(300, 3_000);
    target.withstands(Cost { connections, ..Cost::default() }, || {
        let begun = |from: usize| {
            let mut stream = connect(from, target.address());
            let (path, media) = OPEN[from % OPEN.len()];
            send(&mut stream, post(path, media, 16_000));
            send(&mut stream, "a".repeat(15_000));
            stream
        };
        (0..connections).map(begun).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn large_bodies_without_a_token_are_refused_and_not_kept() {
    let target = Target::start();
    let paths = ["/ims/oneroster/rostering/v1p2/orgs", "/ims/caliper/v1p2", "/api/projects/x/plan"];
    let callers = sized(16, 64);
    target.withstands(Cost { connections: callers, ..Cost::default() }, || {
        thread::scope(|scope| {
            for from in 0..callers {
                let (to, paths) = (target.address(), &paths);
                scope.spawn(move || {
                    let all = OPEN.iter().map(|(path, media)| (*path, *media));
                    let all = all.chain(paths.iter().map(|path| (*path, JSON)));
                    for (path, media) in all {
                        let mut stream = connect(from, to);
                        send(&mut stream, post(path, media, 20_000_000));
                        send(&mut stream, vec![b' '; 20_000_000]);
                        let answer = status(&mut stream, "");
                        assert!((400..500).contains(&answer) || answer == 0, "{path}: {answer}");
                    }
                });
            }
        });
    });
}

/// Bodies of 125 MB, as an import of a whole school may have.
#[test]
#[ignore = "soak"]
fn four_imports_without_a_session_are_not_kept() {
    let target = Target::start();
    let places = [
        ("/console/imports", "multipart/form-data; boundary=x", 303),
        ("/ims/oneroster/rostering/v1p2/courses/bulk", "application/x-ndjson", 401),
    ];
    let callers = 4;
    target.withstands(Cost { connections: callers, ..Cost::default() }, || {
        for (path, media, wanted) in places {
            thread::scope(|scope| {
                for from in 0..callers {
                    let to = target.address();
                    scope.spawn(move || {
                        let (part, parts) = (vec![b'a'; 1_000_000], 125);
                        let mut stream = connect(from, to);
                        send(&mut stream, post(path, media, parts * part.len()));
                        send(&mut stream, &part);
                        assert_eq!(status(&mut stream, ""), wanted, "{path}");
                        // Who goes on sends until the server closes.
                        (1..parts).all(|_| stream.write_all(&part).is_ok());
                    });
                }
            });
        }
    });
}

#[test]
#[ignore = "soak"]
fn many_sign_ins_hash_two_passwords_at_a_time() {
    let target = Target::start();
    let callers = sized(100, 500);
    target.withstands(Cost { connections: callers, hashes: 2, ..Cost::default() }, || {
        thread::scope(|scope| {
            for from in 0..callers {
                let to = target.address();
                scope.spawn(move || {
                    let body =
                        format!(r#"{{"email":"a{from}@example.org","password":"wrong horse"}}"#);
                    let mut stream = connect(from, to);
                    let head = post("/api/auth/sign-in", JSON, body.len());
                    let answer = status(&mut stream, &format!("{head}{body}"));
                    assert!([401, 429, 503].contains(&answer), "{answer}");
                });
            }
        });
    });
}
