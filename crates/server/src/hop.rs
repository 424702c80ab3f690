//! The header on a request that one node forwards to another. It names the caller's place, and proves that a node
//! with the same master key forwarded exactly this request a moment ago. A request with the header is never forwarded
//! again.

use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Request, header};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_access::CallerPlace;
use lyceum_core::{Problem, ProblemKind, Result};
use ring::hmac;

use crate::connection::RunningRequest;
use crate::limits;
use crate::state::App;

/// The header. Its value: the id of the node that receives the request, the time in milliseconds since 1970, the
/// caller's place and the signature, with spaces between them.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("lyceum-forwarded");

/// The caller of a forwarded request. It is an extension of the request.
#[derive(Clone)]
pub(crate) struct ForwardedCaller(pub(crate) CallerPlace);

/// The header's value for a request to the node with this id.
pub(crate) fn signed(app: &App, parts: &Parts, target: &str, caller: &CallerPlace) -> HeaderValue {
    let claims = format!("{target} {} {caller}", app.clock.now().milliseconds());
    let tag = hmac::sign(&key(app), signed_text(parts, &claims).as_bytes());
    HeaderValue::try_from(format!("{claims} {}", BASE64_URL_SAFE_NO_PAD.encode(tag)))
        .expect("ids, numbers, addresses and slugs are valid in a header")
}

/// The caller of a forwarded request; `None` for other requests.
///
/// Errors: `Forbidden` for a header that no node signed for this request; `Misdirected` if it was sent to another node.
pub(crate) fn caller(app: &App, parts: &Parts) -> Result<Option<ForwardedCaller>> {
    let Some(value) = parts.headers.get(HEADER) else { return Ok(None) };
    let forged = || {
        let message = format!("only servers of this installation may send the header '{HEADER}'");
        Problem::new(ProblemKind::Forbidden, message)
    };
    let (claims, tag) =
        value.to_str().ok().and_then(|text| text.rsplit_once(' ')).ok_or_else(forged)?;
    let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).map_err(|_| forged())?;
    let text = signed_text(parts, claims);
    hmac::verify(&key(app), text.as_bytes(), &tag).map_err(|_| forged())?;
    let mut words = claims.split(' ');
    let target = words.next().unwrap_or_default();
    let sent: i64 = words.next().and_then(|word| word.parse().ok()).ok_or_else(forged)?;
    let caller = words.next().and_then(|word| word.parse().ok()).ok_or_else(forged)?;
    let age_ms = app.clock.now().milliseconds().abs_diff(sent);
    if age_ms > limits::FORWARDED_MAX_AGE_MS {
        let message = format!(
            "a server forwarded this request {age_ms} ms ago, or the clocks of two servers differ; the limit is {} ms",
            limits::FORWARDED_MAX_AGE_MS
        );
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    if target != app.node.id() {
        let message = format!(
            "a server forwarded this request to another server, but it arrived at '{}'; check 'server.node_address' of all servers",
            app.node.name()
        );
        return Err(Problem::new(ProblemKind::Misdirected, message));
    }
    Ok(Some(ForwardedCaller(caller)))
}

/// Marks a request that another node forwarded. A forged header stays, and is refused later.
pub(crate) fn recognize<B>(app: &App, request: Request<B>, running: &RunningRequest) -> Request<B> {
    let (mut parts, body) = request.into_parts();
    if let Ok(Some(caller)) = caller(app, &parts) {
        parts.extensions.insert(caller);
        running.sent_by_node();
    }
    Request::from_parts(parts, body)
}

/// The part of the request that says which project it is for and what it does, and the claims.
fn signed_text(parts: &Parts, claims: &str) -> String {
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("{}\n{target}\n{}\n{claims}", parts.method, host.unwrap_or_default())
}

fn key(app: &App) -> hmac::Key {
    let key = app.gate.keyring().master().derive("requests that nodes forward");
    hmac::Key::new(hmac::HMAC_SHA256, &key)
}
