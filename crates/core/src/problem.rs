//! What can go wrong, told once: a kind for the caller's program, a message for the caller,
//! a cause for our log. The server renders a problem in the body that each standard wants.

use std::error::Error;
use std::fmt;

/// The answer of every domain function.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// What sort of failure this is. One table in the server maps kinds to status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The bytes are not the format they claim to be (400).
    Malformed,
    /// A filter names a field that cannot be filtered, or does not parse (400 `invalid_filter_field`).
    BadFilter,
    /// `fields` or `sort` names a field that the record does not have (400 `invalid_selection_field`).
    BadSelection,
    /// An id of a form that no record here can have, as where ids are UUIDs (400 `invalid_uuid`).
    BadId,
    /// No token, or one that is not valid here (401).
    Unauthorized,
    /// A valid token without the right (403).
    Forbidden,
    /// Nothing under that id or address (404).
    NotFound,
    /// The address exists, the method does not (405).
    MethodNotAllowed,
    /// The id is taken, or the state does not allow it (409).
    Conflict,
    /// Another node holds the files that the answer needs (421).
    Misdirected,
    /// `If-Match` named another version (412).
    PreconditionFailed,
    /// A body, page or batch above its limit (413).
    TooLarge,
    /// A body type that the address does not read (415).
    UnsupportedMediaType,
    /// Well-formed, but the data breaks a rule (422 `invaliddata`).
    Invalid,
    /// More requests than the client's share (429).
    TooManyRequests,
    /// A failure of ours; the cause is logged, never shown (500).
    Internal,
    /// The store or a worker cannot take the request now; trying again later is right (503).
    Unavailable,
}

/// One fault inside the data: where it is and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Detail {
    /// The place, as a path from the request's body, such as `course.org.sourcedId`.
    pub path: String,
    /// What is wrong there and how to mend it.
    pub message: String,
}

/// A failure with everything that its reader needs.
#[derive(Debug)]
pub struct Problem {
    /// What sort of failure.
    pub kind: Kind,
    /// For the caller: what happened, why, what to do next.
    pub message: String,
    /// The faults, one by one, where the data is at fault.
    pub details: Vec<Detail>,
    /// Line and column of each of the details, from 1, where they are about a document as sent;
    /// empty otherwise.
    pub places: Vec<(u32, u32)>,
    /// For the log alone.
    pub cause: Option<Box<dyn Error + Send + Sync>>,
    /// How long the caller should wait before it tries again, in seconds.
    pub retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem of the kind with a message for the caller.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: Vec::new(),
            places: Vec::new(),
            cause: None,
            retry_after_s: None,
        }
    }

    /// Well-formed data that breaks a rule, at one place.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_all(vec![Detail { path: path.into(), message: message.into() }])
    }

    /// Well-formed data that breaks rules at the given places; there must be one.
    pub fn invalid_all(details: Vec<Detail>) -> Self {
        let first = details.first().expect("a refusal names at least one fault");
        let message = match details.len() {
            1 => format!("{}: {}", first.path, first.message),
            n => format!("{}: {} (and {} more)", first.path, first.message, n - 1),
        };
        Self { details, ..Self::new(Kind::Invalid, message) }
    }

    /// Nothing of that sort under that id.
    pub fn not_found(what: &str, id: &str) -> Self {
        Self::new(Kind::NotFound, format!("Unknown Object: no {what} with the sourcedId '{id}'"))
    }

    /// A failure of ours. The caller sees no more than that; the cause goes to the log.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(
                Kind::Internal,
                "Something failed on our side; the log has it under this request's X-Request-Id",
            )
        }
    }

    /// The same problem with a cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.cause {
            Some(cause) if self.kind == Kind::Internal => write!(f, " ({cause})"),
            _ => Ok(()),
        }
    }
}

impl Error for Problem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}
