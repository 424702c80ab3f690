//! Access is decided before a body is read, and anonymous callers can send only small bodies.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Builder;
use hyper::body::{Body, Frame};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lyceum_access::{Scope, Scopes};
use lyceum_api::Route;
use lyceum_core::PayloadDialect;
use lyceum_core::limits::BODY_MAX_BYTES;
use lyceum_http::limits::{HEADERS_MAX_COUNT, PUBLIC_BODY_MAX_BYTES};
use lyceum_http::route::Access;
use lyceum_server::routes;
use lyceum_testserver::server::{TestServer, both};
use tokio::time::timeout;

/// Longer than any decision takes, and much shorter than the time that a server waits for the rest of a body.
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

/// Sends the head of a request and the first byte of its body. Returns the status of the answer, if one arrives.
type Begin = fn(&TestServer, Builder) -> Option<u16>;

/// Each version of HTTP, by its name.
const VERSIONS: [(&str, Begin); 2] =
    [("HTTP/1.1", status_over_http1), ("HTTP/2", status_over_http2)];

/// The status of the answer to the beginning of a body, whose announced length is the route's limit.
fn early_status(
    server: &TestServer,
    (path, route): &(String, Route),
    token: Option<&str>,
    (version, begin): (&str, Begin),
) -> u16 {
    let path = path.replace(['{', '}'], "");
    let mut request = hyper::Request::builder()
        .method(&route.method)
        .uri(format!("http://x{path}"))
        .header("content-type", route.reads.media[0])
        .header("content-length", limit(route));
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let status = begin(server, request);
    status.unwrap_or_else(|| panic!("{} {path} waits for the body over {version}", route.method))
}

fn status_over_http1(server: &TestServer, request: Builder) -> Option<u16> {
    let mut stream = TcpStream::connect(&server.setup().config.server.listen).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = request.body(()).unwrap();
    let mut head = format!("{} {} HTTP/1.1\r\nHost: x\r\n", request.method(), request.uri().path());
    for (name, value) in request.headers() {
        write!(head, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    stream.write_all(format!("{head}\r\n{{").as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    String::from_utf8_lossy(&answer)[9..].parse().ok()
}

fn status_over_http2(server: &TestServer, request: Builder) -> Option<u16> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listen = &server.setup().config.server.listen;
        let stream = tokio::net::TcpStream::connect(listen).await.unwrap();
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let request = request.body(UnfinishedBody(Some(Bytes::from_static(b"{")))).unwrap();
        let answer = timeout(PATIENCE, sender.send_request(request)).await.ok()?;
        Some(answer.unwrap().status().as_u16())
    })
}

/// A body whose rest never arrives.
struct UnfinishedBody(Option<Bytes>);

impl Body for UnfinishedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.take().map_or(Poll::Pending, |first| Poll::Ready(Some(Ok(Frame::data(first)))))
    }
}

#[test]
fn a_caller_without_credentials_is_refused_before_the_body_is_read() {
    both(|server| {
        let mut count = 0;
        for place in readers() {
            let wanted = match place.1.access {
                Access::Public | Access::Optional(_) => continue,
                Access::Page(_) => 303,
                Access::Student(_) if place.0.starts_with("/learn/") => 303,
                _ => 401,
            };
            for version in VERSIONS {
                let status = early_status(server, &place, None, version);
                assert_eq!(status, wanted, "{} {} {}", place.1.method, place.0, version.0);
            }
            count += 1;
        }
        assert!(count > 100, "{count} routes read bodies");
    });
}

#[test]
fn a_request_with_too_many_headers_is_not_told_to_try_again() {
    both(|server| {
        // hyper answers for HTTP/1.1.
        for ((version, begin), wanted) in VERSIONS.into_iter().zip([431, 413]) {
            let mut request = hyper::Request::builder().method("POST").uri("http://x/token");
            for number in 0..=HEADERS_MAX_COUNT {
                request = request.header(format!("x-{number}"), "a");
            }
            assert_eq!(begin(server, request), Some(wanted), "{version}");
        }
    });
}

#[test]
fn a_token_without_the_scope_is_refused_before_the_body_is_read() {
    both(|server| {
        let token = |scope: Scope| (scope, server.token(&[scope], PayloadDialect::Platform));
        let tokens = [token(Scope::ObProfileReadonly), token(Scope::ResourcesRead)];
        for place in readers() {
            let Some(scopes) = place.1.access.scopes() else { continue };
            let closed = |scope| !Scopes::from_iter([scope]).rights().allow_any(scopes);
            let (_, token) = tokens.iter().find(|(scope, _)| closed(*scope)).unwrap();
            for version in VERSIONS {
                let status = early_status(server, &place, Some(token), version);
                assert_eq!(status, 403, "{} {} {}", place.1.method, place.0, version.0);
            }
        }
    });
}

#[test]
fn public_routes_accept_only_small_bodies() {
    for (path, route) in readers() {
        if matches!(route.access, Access::Public | Access::Optional(_) | Access::Visitor(_)) {
            let (method, limit) = (&route.method, limit(&route));
            assert!(limit <= PUBLIC_BODY_MAX_BYTES, "{method} {path} reads {limit} bytes");
        }
    }
}
