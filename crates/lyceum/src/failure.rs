//! Why a command failed, and its exit code.

use std::process::ExitCode;

use lyceum_core::config;
use lyceum_core::{Problem, ProblemKind};

/// The result of every command.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// An error: its message, the individual errors, and a hint what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
    pub(crate) hint: Option<String>,
}

/// The exit codes. The argument parser also uses 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Failed = 1,
    Usage = 2,
    NotAllowed = 3,
    NotFound = 4,
    Conflict = 5,
    Interrupted = 130,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), hint: None }
    }

    /// A failure with exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Code::Failed, message)
    }

    /// Adds a hint what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code as u8)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let code = match problem.kind {
            ProblemKind::Unauthorized | ProblemKind::Forbidden => Code::NotAllowed,
            ProblemKind::NotFound => Code::NotFound,
            ProblemKind::Conflict
            | ProblemKind::Gone
            | ProblemKind::Misdirected
            | ProblemKind::PreconditionFailed => Code::Conflict,
            _ => Code::Failed,
        };
        // A command has no log that the user could read, so the message contains the cause.
        let message = match (problem.kind, problem.cause) {
            (ProblemKind::Internal, Some(cause)) => cause.to_string(),
            (ProblemKind::Unavailable, Some(cause)) => format!("{}: {cause}", problem.message),
            _ => problem.message.to_string(),
        };
        let details = match problem.details.as_slice() {
            // The message already contains a single error.
            [] | [_] => Vec::new(),
            faults => faults.iter().map(ToString::to_string).collect(),
        };
        Self { code, message, details, hint: None }
    }
}

impl From<config::SettingError> for Failure {
    fn from(error: config::SettingError) -> Self {
        Self { hint: error.hint.clone(), ..Self::new(Code::Usage, error.to_string()) }
    }
}
