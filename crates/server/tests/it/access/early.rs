//! Access is decided before a body is read, and bodies that everybody may send are small.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lyceum_access::{Scope, Scopes};
use lyceum_core::Dialect;
use lyceum_core::limits::{BODY_MAX_BYTES, PUBLIC_BODY_MAX_BYTES};
use lyceum_server::route::{Access, Route};
use lyceum_server::routes;
use lyceum_testkit::server::{TestServer, both};

/// Long enough for any decision, and much less than a server waits for the rest of a body.
const PATIENCE: Duration = Duration::from_secs(4);

/// The routes that read a body, with their paths.
fn readers() -> impl Iterator<Item = (String, Route)> {
    let all = routes::all().into_iter().flat_map(|area| {
        let base = area.base;
        area.routes.into_iter().map(move |route| (format!("{base}{}", route.path), route))
    });
    all.filter(|(_, route)| !route.reads.media.is_empty())
}

fn limit(route: &Route) -> usize {
    route.reads.max_bytes.unwrap_or(BODY_MAX_BYTES)
}

/// The status of the answer to the beginning of a body that is announced to be as long as the route takes.
fn early_status(server: &TestServer, (path, route): &(String, Route), token: Option<&str>) -> u16 {
    let mut stream = TcpStream::connect(&server.setup().config.server.listen).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let path = path.replace(['{', '}'], "");
    let (method, media, length) = (&route.method, route.reads.media[0], limit(route));
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\n{token}Content-Type: {media}\r\n\
         Content-Length: {length}\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    let read = stream.read_exact(&mut answer);
    assert!(read.is_ok(), "{method} {path} waits for the body: {read:?}");
    String::from_utf8_lossy(&answer)[9..].parse().unwrap()
}

#[test]
fn a_caller_without_credentials_is_refused_before_the_body_is_read() {
    both(|server| {
        let mut count = 0;
        for place in readers() {
            let wanted = match place.1.access {
                Access::Public | Access::Optional(_) => continue,
                Access::Page(_) => 303,
                _ => 401,
            };
            let status = early_status(server, &place, None);
            assert_eq!(status, wanted, "{} {}", place.1.method, place.0);
            count += 1;
        }
        assert!(count > 100, "{count} routes read bodies");
    });
}

#[test]
fn a_token_without_the_scope_is_refused_before_the_body_is_read() {
    both(|server| {
        let token = |scope: Scope| (scope, server.token(&[scope], Dialect::Platform));
        let tokens = [token(Scope::ObProfileReadonly), token(Scope::ResourcesRead)];
        for place in readers() {
            let Some(scopes) = place.1.access.scopes() else { continue };
            let closed = |scope| !Scopes::from_iter([scope]).rights().allow_any(scopes);
            let (_, token) = tokens.iter().find(|(scope, _)| closed(*scope)).unwrap();
            let status = early_status(server, &place, Some(token));
            assert_eq!(status, 403, "{} {}", place.1.method, place.0);
        }
    });
}

#[test]
fn a_body_that_everybody_may_send_is_small() {
    for (path, route) in readers() {
        if matches!(route.access, Access::Public | Access::Optional(_) | Access::Visitor(_)) {
            let (method, limit) = (&route.method, limit(&route));
            assert!(limit <= PUBLIC_BODY_MAX_BYTES, "{method} {path} reads {limit} bytes");
        }
    }
}
