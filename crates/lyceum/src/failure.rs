//! Why a command did not succeed, and the exit code for it.

use std::process::ExitCode;

use lyceum_core::config;
use lyceum_core::{Problem, ProblemKind};

/// The answer of every command.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// What went wrong: the message, its faults one by one, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
    pub(crate) hint: Option<String>,
}

/// The exit codes; 2 is also what the parser of the command line uses.
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

    /// The same failure with what to do next.
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
            ProblemKind::Conflict | ProblemKind::Misdirected | ProblemKind::PreconditionFailed => {
                Code::Conflict
            }
            _ => Code::Failed,
        };
        // There is no log to look into here: the cause is what the reader needs.
        let message = match (problem.kind, problem.cause) {
            (ProblemKind::Internal, Some(cause)) => cause.to_string(),
            (ProblemKind::Unavailable, Some(cause)) => format!("{}: {cause}", problem.message),
            _ => problem.message,
        };
        let details = match problem.details.as_slice() {
            // A single fault stands in the message already.
            [] | [_] => Vec::new(),
            faults => faults.iter().map(|at| format!("{}: {}", at.path, at.message)).collect(),
        };
        Self { code, message, details, hint: None }
    }
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        Self { hint: error.hint.clone(), ..Self::new(Code::Usage, error.to_string()) }
    }
}
