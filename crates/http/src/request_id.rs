//! Request ids: the client's if it is short and plain, otherwise a random one.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::limits;

/// The header with the id, in requests and answers.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, which its answer and log line repeat. tower-http's layers accept any id that a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestId {
    /// The client's id.
    Sent(HeaderValue),
    /// A random id. It is formatted only when it is written.
    Random(u64),
}

impl RequestId {
    /// The id that the client sent if it is short and plain, otherwise a new random one.
    pub fn of(headers: &HeaderMap) -> Self {
        match headers.get(X_REQUEST_ID) {
            Some(sent) if is_sane(sent.as_bytes()) => Self::Sent(sent.clone()),
            _ => Self::Random(fastrand::u64(..)),
        }
    }

    /// The value of the header.
    pub fn header(&self) -> HeaderValue {
        match self {
            Self::Sent(sent) => sent.clone(),
            Self::Random(_) => HeaderValue::try_from(self.to_string())
                .expect("hexadecimal digits are valid in a header"),
        }
    }
}

fn is_sane(sent: &[u8]) -> bool {
    (1..=limits::REQUEST_ID_MAX_BYTES).contains(&sent.len())
        && sent.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(sent) => f.write_str(sent.to_str().unwrap_or_default()),
            Self::Random(number) => write!(f, "{number:016x}"),
        }
    }
}
