//! The errors of the two stores as problems of a caller.

use std::error::Error;

use lyceum_core::messages::io_reason;
use lyceum_core::{Message, Problem, ProblemKind, message};
use tokio_postgres::error::SqlState;

/// Marks the problem of a scan that reached its deadline.
#[derive(Debug)]
struct TooSlow;

impl std::fmt::Display for TooSlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the scan reached its deadline")
    }
}

impl Error for TooSlow {}

/// Whether the problem is that of a scan which was broken off at its deadline.
pub fn is_too_slow(problem: &Problem) -> bool {
    problem.cause.as_deref().is_some_and(<dyn Error + Send + Sync>::is::<TooSlow>)
}

/// A scan that was broken off at its deadline.
pub(crate) fn too_slow() -> Problem {
    Problem::new(
        ProblemKind::Unavailable,
        "the server stopped the request because it reads too many records; add a filter on an \
         indexed field, or request a smaller range",
    )
    .because(TooSlow)
}

/// Marks the problem of a request for which the store would have to wait too long for others, and why.
#[derive(Debug)]
struct StoreBusy(String);

impl std::fmt::Display for StoreBusy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for StoreBusy {}

/// Whether the problem is that others were in the way.
pub(crate) fn is_busy(problem: &Problem) -> bool {
    problem.cause.as_deref().is_some_and(<dyn Error + Send + Sync>::is::<StoreBusy>)
}

/// Others were in the way.
pub(crate) fn busy(message: &'static str, retry_after_s: u32, cause: impl Into<String>) -> Problem {
    unavailable(message, retry_after_s).because(StoreBusy(cause.into()))
}

/// The store cannot take the request now.
pub(crate) fn unavailable(message: impl Into<Message>, retry_after_s: u32) -> Problem {
    Problem {
        retry_after_s: Some(retry_after_s),
        ..Problem::new(ProblemKind::Unavailable, message)
    }
}

/// The database can store nothing.
pub(crate) fn disk_full() -> Problem {
    unavailable("the disk of the database is full; free some space on it", 60)
}

/// A write took too long while all others waited for it.
pub(crate) fn turn_is_over() -> Problem {
    unavailable(
        "the request changes too many records while other requests change the same ones; split \
         it and try again",
        10,
    )
}

/// The database does not answer.
pub(crate) fn out_of_reach() -> Problem {
    unavailable("the database cannot be reached; try again later", 2)
}

/// The same problem once more, for another caller.
pub(crate) fn copy(problem: &Problem) -> Problem {
    Problem {
        kind: problem.kind,
        message: problem.message.clone(),
        details: problem.details.clone(),
        places: problem.places.clone(),
        cause: problem.cause.as_ref().map(|cause| match is_busy(problem) {
            true => StoreBusy(cause.to_string()).into(),
            false => cause.to_string().into(),
        }),
        retry_after_s: problem.retry_after_s,
    }
}

/// Text with the character U+0000, which PostgreSQL cannot store; SQLite refuses it likewise.
#[derive(Debug)]
pub(crate) struct NulCharacter;

impl std::fmt::Display for NulCharacter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it must not contain the character U+0000")
    }
}

impl Error for NulCharacter {}

/// A command for SQLite alone.
pub(crate) fn needs_sqlite() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "this command works only with SQLite; back up PostgreSQL with pg_dump and pg_restore",
    )
}

/// A text that cannot be stored.
pub(crate) fn nul() -> Problem {
    Problem::new(ProblemKind::Invalid, message!("a text is rejected: {NulCharacter}"))
}

/// The problem of an SQLite error in a statement.
pub(crate) fn sqlite(error: &rusqlite::Error, sql: &str) -> Problem {
    use rusqlite::ErrorCode;
    if matches!(error, rusqlite::Error::ToSqlConversionFailure(cause) if cause.is::<NulCharacter>())
    {
        return nul();
    }
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => return too_slow(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return busy(
                "the database is locked by another process, such as an import; try again later",
                10,
                format!("{error} in: {sql}"),
            );
        }
        Some(ErrorCode::DiskFull) => disk_full(),
        Some(ErrorCode::ConstraintViolation) if is_duplicate(error) => duplicate(),
        _ => return Problem::internal(format!("{error} in: {sql}")),
    };
    problem.because(format!("{error} in: {sql}"))
}

fn is_duplicate(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    error.sqlite_error().is_some_and(|error| {
        [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE].contains(&error.extended_code)
    })
}

fn duplicate() -> Problem {
    Problem::new(ProblemKind::Conflict, "a record with the same key exists already")
}

/// The reason why PostgreSQL failed.
#[derive(Debug)]
pub(crate) enum PostgresFailure {
    /// It, or the way to it, told an error.
    Told(tokio_postgres::Error),
    /// Nothing came back for as long as is waited.
    Silence,
}

impl From<tokio_postgres::Error> for PostgresFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Told(error)
    }
}

impl std::fmt::Display for PostgresFailure {
    /// The error with what the server, or the system, says about it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silence => f.write_str("the database did not answer in time"),
            Self::Told(error) => match Error::source(error) {
                Some(cause) => match cause.downcast_ref() {
                    Some(cause) => write!(f, "{error}: {}", io_reason(cause)),
                    None => write!(f, "{error}: {cause}"),
                },
                None => write!(f, "{error}"),
            },
        }
    }
}

impl PostgresFailure {
    /// The server's code; `None` if it sent no code.
    pub(crate) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Told(error) => error.code(),
            Self::Silence => None,
        }
    }

    /// Whether the server itself told it.
    pub(crate) fn is_refusal(&self) -> bool {
        self.code().is_some()
    }

    /// Whether the connection is of no further use.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Silence => true,
            Self::Told(error) => match error.code() {
                Some(code) => is_outage(code),
                None => error.is_closed() || self.is_caused_by::<std::io::Error>(),
            },
        }
    }

    /// Whether the two could not agree on TLS.
    pub(crate) fn is_of_tls(&self) -> bool {
        // The client library does not tell its kinds of errors apart otherwise.
        matches!(self, Self::Told(error) if error.to_string().contains("TLS"))
    }

    /// Whether the server has no rule for who comes in this way. A wrong password is something else.
    pub(crate) fn is_not_let_in(&self) -> bool {
        self.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
    }

    fn is_caused_by<E: Error + 'static>(&self) -> bool {
        matches!(self, Self::Told(error) if Error::source(error).is_some_and(<dyn Error>::is::<E>))
    }
}

/// The problem of a PostgreSQL failure in a statement.
pub(crate) fn postgres(failure: &PostgresFailure, sql: &str) -> Problem {
    if failure.is_caused_by::<NulCharacter>() {
        return nul();
    }
    let problem = match failure.code() {
        Some(&SqlState::QUERY_CANCELED) => return too_slow(),
        Some(&SqlState::UNIQUE_VIOLATION) => duplicate(),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return busy(
                "another transaction, such as an import, has locked the records; try again",
                10,
                format!("{failure} in: {sql}"),
            );
        }
        Some(&SqlState::DISK_FULL) => disk_full(),
        // A write begins by saying that it writes, which a standby refuses.
        Some(&SqlState::FEATURE_NOT_SUPPORTED) if sql.starts_with("BEGIN") => {
            unavailable("the database is read-only at the moment; try again later", 10)
        }
        Some(code) if is_retryable(code) => {
            return busy(
                "too many requests change the same records at the same time; try again",
                1,
                format!("{failure} in: {sql}"),
            );
        }
        _ if failure.is_lost() => out_of_reach(),
        _ => return Problem::internal(format!("{failure} in: {sql}")),
    };
    problem.because(format!("{failure} in: {sql}"))
}

/// Whether running the same transaction again can succeed. Memory is what PostgreSQL has too little of when
/// many serializable transactions read much at once.
pub(crate) fn is_retryable(code: &SqlState) -> bool {
    let retryable = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::OUT_OF_MEMORY,
    ];
    retryable.contains(code)
}

fn is_outage(code: &SqlState) -> bool {
    // Classes 08 (connection), 57P (shutdown, start-up), 53300 (too many connections).
    code.code().starts_with("08")
        || code.code().starts_with("57P")
        || *code == SqlState::TOO_MANY_CONNECTIONS
}
