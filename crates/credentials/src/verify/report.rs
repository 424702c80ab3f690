//! The result of a verification.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, message, phrase};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CheckOutcome {
    /// The check passed.
    Passed,
    /// The check failed: the credential is not valid.
    Failed,
    /// The check was not possible, because a document is not available or cannot be read.
    Skipped,
}

impl CheckOutcome {
    /// The name in answers and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => phrase!("passed"),
            Self::Failed => phrase!("failed"),
            Self::Skipped => phrase!("skipped"),
        }
    }
}

/// A check of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationCheck")]
pub struct Check {
    /// The name, such as `proof` or `status`: docs/verifying-credentials.md lists them. A report may contain a name
    /// several times.
    pub name: &'static str,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The explanation for people.
    pub message: Message,
}

impl Check {
    fn new(name: &'static str, outcome: CheckOutcome, message: impl Into<Message>) -> Self {
        Self { name, outcome, message: message.into() }
    }

    pub(super) fn passed(name: &'static str, message: impl Into<Message>) -> Self {
        Self::new(name, CheckOutcome::Passed, message)
    }

    pub(super) fn failed(name: &'static str, message: impl Into<Message>) -> Self {
        Self::new(name, CheckOutcome::Failed, message)
    }

    /// A check that was not possible.
    pub fn skipped(name: &'static str, message: impl Into<Message>) -> Self {
        Self::new(name, CheckOutcome::Skipped, message)
    }
}

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The credential; null if the input contains none.
    pub credential: Value,
    /// Every check, in the order of the standard.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether no check failed. Skipped checks may hide a problem: see [`Self::is_confirmed`].
    pub fn is_valid(&self) -> bool {
        self.checks.iter().all(|check| check.outcome != CheckOutcome::Failed)
    }

    /// Whether every check was made and passed.
    pub fn is_confirmed(&self) -> bool {
        self.checks.iter().all(|check| check.outcome == CheckOutcome::Passed)
    }

    /// Whether the credential is genuine and in force: no check failed, a proof was verified, and the checks of its issuer
    /// and its status were possible.
    pub fn is_verified(&self) -> bool {
        let passed = |check: &Check| check.outcome == CheckOutcome::Passed;
        let mut essential =
            self.checks.iter().filter(|check| matches!(check.name, "issuer" | "status"));
        self.is_valid()
            && self.checks.iter().any(|check| check.name == "proof" && passed(check))
            && essential.all(passed)
    }

    /// The first check that failed.
    pub fn refusal(&self) -> Option<Message> {
        let failed = self.checks.iter().find(|check| check.outcome == CheckOutcome::Failed);
        failed.map(|check| message!("{name}: {check.message}", name = Message::from(check.name)))
    }
}

/// The result of each check of a credential.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerificationReport {
    /// Whether the credential is genuine and in force.
    pub verified: bool,
    /// The checks, in the order of the standard.
    pub checks: Vec<Check>,
}

/// A credential and the result of its verification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCredential {
    /// The credential as it was sent, even if it is not a valid one; null if the input contains none.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub credential: Value,
    /// The credential as it was signed, if it was signed as a compact JWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_jws_string: Option<String>,
    /// The revocation, if this server issued and revoked the credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
    /// The public page of the credential, if this server stores it as a badge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The result of each check.
    pub verification: VerificationReport,
}

/// The revocation of a credential.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Revocation {
    /// The time of the revocation.
    #[schemars(with = "Timestamp")]
    pub at: String,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<Report> for VerifiedCredential {
    fn from(report: Report) -> Self {
        let verified = report.is_verified();
        Self {
            credential: report.credential,
            compact_jws_string: None,
            revoked: None,
            page: None,
            verification: VerificationReport { verified, checks: report.checks },
        }
    }
}
