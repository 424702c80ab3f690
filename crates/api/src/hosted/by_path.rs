//! Filters headers of a backend that is reached by a path of the server, because then the host is the server's own.
//!
//! Many answer headers affect the whole host. `Strict-Transport-Security` and `Alt-Svc` change how a browser connects,
//! `NEL` and `Report-To` make it report failed visits to another server, and `Set-Cookie` and `Clear-Site-Data` change
//! its stored data. Browsers add further headers each year. Therefore only headers that describe the answer pass, and a
//! project's own headers whose names begin with `X-`, because new standard headers never do (RFC 6648). A project that
//! needs other headers can use its own host.

use http::{HeaderMap, HeaderName, header};

/// Request headers that a browser sends for the server and that the project must not see.
pub(super) const CREDENTIALS: [HeaderName; 2] = [header::COOKIE, header::AUTHORIZATION];

/// Headers that only describe the answer.
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
    // This header tells proxies not to buffer a streamed answer.
    HeaderName::from_static("x-accel-buffering"),
];

/// Headers of CORS and of the web socket handshake.
const ALLOWED_FAMILIES: [&str; 2] = ["access-control-", "sec-websocket-"];

/// Prefixes of `X-` headers that browsers or proxies act on. For example, `X-Accel-Redirect` and `X-Sendfile` make a
/// proxy send a file of its machine.
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
