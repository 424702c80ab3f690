//! Problems: each has a kind for the client's program, a message for its developer, and a cause for the server's
//! log. The server renders a problem in the error format of each standard.

use std::error::Error;
use std::fmt;

use crate::message;
use crate::message::Message;

/// The result of every function that can fail because of data or the environment.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// The kind of a failure. One table in the server maps kinds to status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The bytes are not the format they claim to be (400).
    Malformed,
    /// A filter does not parse, or names a field that cannot be filtered (400 `invalid_filter_field`).
    BadFilter,
    /// `fields` or `sort` names a field that the record does not have (400 `invalid_selection_field`).
    BadSelection,
    /// An id has the wrong form, such as text where ids are UUIDs (400 `invalid_uuid`).
    BadId,
    /// The token is missing, or this server does not accept it (401).
    Unauthorized,
    /// The token is valid, but does not give access (403).
    Forbidden,
    /// No record has the id, or no route has the path (404).
    NotFound,
    /// The path exists, but not with this method (405).
    MethodNotAllowed,
    /// The id is taken, or the record's state does not allow the change (409).
    Conflict,
    /// The cursor is so old that the server no longer knows what was removed since (410).
    Gone,
    /// Another node of the cluster holds the files for this response (421).
    Misdirected,
    /// `If-Match` named another version (412).
    PreconditionFailed,
    /// A body, page or batch above its limit (413).
    TooLarge,
    /// The route does not accept this content type (415).
    UnsupportedMediaType,
    /// Well-formed, but the data breaks a rule (422 `invaliddata`).
    Invalid,
    /// The client sent more requests than its limit (429).
    TooManyRequests,
    /// An error in the server; the cause is logged and never shown to the client (500).
    Internal,
    /// The store or a worker is too busy to take the request; the client should try again later (503).
    Unavailable,
}

/// An error in the data: its place and what is wrong.
#[derive(
    Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[schemars(rename = "ErrorDetail")]
pub struct Detail {
    /// The place, as a path from the request's body, such as `course.org.sourcedId`.
    pub path: String,
    /// The error and how to fix it. Begins with a verb, because the path stands before it.
    pub message: Message,
}

impl Detail {
    /// The path and what is wrong there. An error about the whole body has no path.
    pub fn text(&self) -> Message {
        match self.path.as_str() {
            "" => self.message.clone(),
            path => message!("{path}: {self.message}"),
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// A failure with everything that a client and an operator need to know about it.
#[derive(Debug)]
pub struct Problem {
    /// The kind of failure.
    pub kind: ProblemKind,
    /// For the client: what is wrong, where, and what to do.
    pub message: Message,
    /// The errors in the data; empty if the problem has another cause.
    pub details: Vec<Detail>,
    /// Line and column of each detail, counted from 1, if the details are about a document;
    /// empty otherwise.
    pub places: Box<[(u32, u32)]>,
    /// The technical cause. It is written to the log and never sent to a client.
    pub cause: Option<Box<dyn Error + Send + Sync>>,
    /// How long the client should wait before it tries again, in seconds.
    pub retry_after_s: Option<u32>,
}

impl Problem {
    /// Creates a problem with a message for the client.
    pub fn new(kind: ProblemKind, message: impl Into<Message>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: Vec::new(),
            places: Box::default(),
            cause: None,
            retry_after_s: None,
        }
    }

    /// Creates a problem for well-formed data that breaks a rule, with the path of the value.
    pub fn invalid(path: impl Into<String>, message: impl Into<Message>) -> Self {
        Self::invalid_all(vec![Detail { path: path.into(), message: message.into() }])
    }

    /// Creates a problem for well-formed data that breaks rules. Panics if there are no details.
    pub fn invalid_all(details: Vec<Detail>) -> Self {
        let first = details.first().expect("a refusal names at least one fault");
        let first = first.text();
        let message = match details.len() {
            1 => first,
            n => message!("{first} (and {n} more)", n = n - 1),
        };
        Self { details, ..Self::new(ProblemKind::Invalid, message) }
    }

    /// Creates a problem for an id that no record has.
    pub fn not_found(what: &str, id: &str) -> Self {
        Self::new(
            ProblemKind::NotFound,
            message!("Unknown Object: there is no {what} with the sourcedId '{id}'"),
        )
    }

    /// Creates a problem for an error in the server. Only the log gets the cause.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(
                ProblemKind::Internal,
                "The server could not complete the request because of an internal error; its log \
                 has the cause under this request's X-Request-Id",
            )
        }
    }

    /// Adds a cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)?;
        match &self.cause {
            Some(cause) if self.kind == ProblemKind::Internal => write!(f, " ({cause})"),
            _ => Ok(()),
        }
    }
}

impl Error for Problem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}
