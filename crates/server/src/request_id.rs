//! The id of a request: the client's where it is sane, else our own.

use std::fmt;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use lyceum_core::limits;

/// The header that carries it, both ways.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id under which a request is answered and logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// The request's own id if it is short and plain, else a new random one.
    pub fn of(headers: &HeaderMap) -> Self {
        match headers.get(X_REQUEST_ID) {
            Some(sent) if is_sane(sent.as_bytes()) => Self(sent.clone()),
            _ => Self::random(),
        }
    }

    fn random() -> Self {
        let text = format!("{:016x}", fastrand::u64(..));
        Self(HeaderValue::try_from(text).expect("hexadecimal digits stand in a header"))
    }

    /// The header's value.
    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

fn is_sane(sent: &[u8]) -> bool {
    (1..=limits::REQUEST_ID_MAX_BYTES).contains(&sent.len())
        && sent.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}
