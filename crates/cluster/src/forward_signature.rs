//! The header on a request that one node forwards to another. It names the caller's place, and proves that a node
//! with the same master key forwarded exactly this request a moment ago. A request with the header is never forwarded
//! again.
//!
//! The value of the header: the id of the node that receives the request, the time in milliseconds since 1970, the
//! caller's place and the signature, with spaces between them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use lyceum_access::{CallerPlace, Keyring};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::nodes::FORWARD_HEADER;
use ring::hmac;

use crate::{Cluster, limits};

/// The header's value for a request to the node with this id.
pub(crate) fn signed(
    cluster: &Cluster,
    parts: &Parts,
    target: &str,
    caller: &CallerPlace,
) -> HeaderValue {
    let claims = format!("{target} {} {caller}", cluster.clock.now().milliseconds());
    let tag = hmac::sign(&cluster.forward_key, signed_text(parts, &claims).as_bytes());
    HeaderValue::try_from(format!("{claims} {}", BASE64_URL_SAFE_NO_PAD.encode(tag)))
        .expect("ids, numbers, addresses and slugs are valid in a header")
}

impl Cluster {
    /// The caller of a forwarded request; `None` for other requests.
    ///
    /// Errors: `Forbidden` for a header that no node signed for this request; `Misdirected` if it was sent to another node.
    pub fn forwarded_caller(&self, parts: &Parts) -> Result<Option<CallerPlace>> {
        let Some(value) = parts.headers.get(FORWARD_HEADER) else { return Ok(None) };
        let forged = || {
            let message = message!(
                "only servers of this installation may send the header '{FORWARD_HEADER}'"
            );
            Problem::new(ProblemKind::Forbidden, message)
        };
        let (claims, tag) =
            value.to_str().ok().and_then(|text| text.rsplit_once(' ')).ok_or_else(forged)?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).map_err(|_| forged())?;
        let text = signed_text(parts, claims);
        hmac::verify(&self.forward_key, text.as_bytes(), &tag).map_err(|_| forged())?;
        let mut words = claims.split(' ');
        let target = words.next().unwrap_or_default();
        let sent: i64 = words.next().and_then(|word| word.parse().ok()).ok_or_else(forged)?;
        let caller = words.next().and_then(|word| word.parse().ok()).ok_or_else(forged)?;
        let age_ms = self.clock.now().milliseconds().abs_diff(sent);
        if age_ms > limits::FORWARDED_MAX_AGE_MS {
            let message = message!(
                "a server forwarded this request {age_ms} ms ago, or the clocks of two servers differ; the limit is {most} ms",
                most = limits::FORWARDED_MAX_AGE_MS
            );
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
        if target != self.node.id() {
            let message = message!(
                "a server forwarded this request to another server, but it arrived at '{node}'; check 'server.node_address' of all servers",
                node = self.node.name()
            );
            return Err(Problem::new(ProblemKind::Misdirected, message));
        }
        Ok(Some(caller))
    }
}

/// The part of the request that says which project it is for and what it does, and the claims.
fn signed_text(parts: &Parts, claims: &str) -> String {
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("{}\n{target}\n{}\n{claims}", parts.method, host.unwrap_or_default())
}

/// The key with which the servers of an installation sign.
pub(crate) fn key(keyring: &Keyring) -> hmac::Key {
    let key = keyring.master().derive("requests that nodes forward");
    hmac::Key::new(hmac::HMAC_SHA256, &key)
}
