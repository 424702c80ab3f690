//! Headers of a backend that is reached by a path of the server: the host is the server's own then.
//!
//! Many headers of an answer are about the whole host, not about what is answered: `Strict-Transport-Security`
//! and `Alt-Svc` change how a browser connects, `NEL` and `Report-To` have it report every failed visit
//! elsewhere, `Set-Cookie` and `Clear-Site-Data` change what it keeps. Browsers learn further ones each year.
//! So only headers that describe the answer itself pass, and a project's own, whose names begin with `X-`:
//! browsers give no new header such a name (RFC 6648). A project that needs others has its own host.

use axum::http::{HeaderMap, HeaderName, header};

/// What a browser sends to the server, which is none of the project's business.
pub(super) const CREDENTIALS: [HeaderName; 2] = [header::COOKIE, header::AUTHORIZATION];

/// Headers that say something of the answer alone.
const ALLOWED: [HeaderName; 23] = [
    header::ACCEPT_RANGES,
    header::AGE,
    header::ALLOW,
    header::CACHE_CONTROL,
    header::CONNECTION,
    header::CONTENT_DISPOSITION,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LENGTH,
    header::CONTENT_LOCATION,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::LINK,
    header::LOCATION,
    header::RETRY_AFTER,
    header::UPGRADE,
    header::VARY,
    header::X_CONTENT_TYPE_OPTIONS,
    // A proxy is told not to hold back what comes piece by piece.
    HeaderName::from_static("x-accel-buffering"),
];

/// Which pages may read the answer; the handshake of a web socket.
const ALLOWED_FAMILIES: [&str; 2] = ["access-control-", "sec-websocket-"];

/// Beginnings of names with `X-` that browsers or proxies in front of the server know: `X-Accel-Redirect` and
/// `X-Sendfile` have a proxy send a file of its machine.
const KNOWN_ELSEWHERE: [&str; 10] = [
    "x-accel-",
    "x-content-security-policy",
    "x-dns-prefetch-control",
    "x-forwarded-",
    "x-frame-options",
    "x-lighttpd-",
    "x-permitted-cross-domain-policies",
    "x-reproxy-",
    "x-sendfile",
    "x-xss-protection",
];

/// Removes every header that is not allowed.
pub(super) fn keep_allowed(headers: &mut HeaderMap) {
    let begins = |name: &HeaderName, ways: &[&str]| {
        ways.iter().any(|beginning| name.as_str().starts_with(beginning))
    };
    let is_allowed = |name: &HeaderName| {
        ALLOWED.contains(name)
            || begins(name, &ALLOWED_FAMILIES)
            || begins(name, &["x-"]) && !begins(name, &KNOWN_ELSEWHERE)
    };
    let others: Vec<HeaderName> =
        headers.keys().filter(|name| !is_allowed(name)).cloned().collect();
    for name in others {
        headers.remove(name);
    }
}
