//! Badges and learner records: lists, and pages to issue, revoke and verify them.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{Column, FactList, Frame, List};

/// The columns of the list of issued badges.
pub(crate) const ISSUED: &[Column] = &[
    Column::text("badge", "Badge"),
    Column::text("learner", "Learner"),
    Column::text("issuer", "Issuer"),
    Column::text("validFrom", "Valid from"),
    Column::text("state", "State"),
    Column::text("page", "Public page"),
];

/// The columns of the list of badge definitions.
pub(crate) const DEFINITIONS: &[Column] = &[
    Column::text("name", "Badge"),
    Column::text("achievement", "Achievement"),
    Column::number("issued", "Issued"),
    Column::text("updated", "Changed"),
];

/// The columns of the list of learner records.
pub(crate) const RECORDS: &[Column] = &[
    Column::text("name", "Record"),
    Column::text("learner", "Learner"),
    Column::number("achievements", "Achievements"),
    Column::text("validFrom", "Valid from"),
    Column::number("version", "Version"),
];

/// The columns of the list of a record's achievements.
pub(crate) const ACHIEVEMENTS: &[Column] = &[
    Column::text("name", "Achievement"),
    Column::text("description", "Description"),
    Column::text("id", "Id"),
];

/// The pages of this screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadgesTab {
    /// Issued badges.
    Issued,
    /// Badge definitions.
    Definitions,
    /// Learner records.
    Records,
    /// Verification of a file.
    Verify,
}

/// A page that shows a list.
#[derive(Template)]
#[template(path = "console/badges/badges.html")]
pub(crate) struct BadgesPage {
    /// The frame.
    pub frame: Frame,
    /// The page that is open.
    pub tab: BadgesTab,
    /// The list.
    pub list: List,
}

/// The page of one learner record.
#[derive(Template)]
#[template(path = "console/badges/learner_record.html")]
pub(crate) struct LearnerRecordPage {
    /// The frame.
    pub frame: Frame,
    /// The learner, the version and other facts.
    pub facts: FactList,
    /// Its achievements.
    pub list: List,
    /// The credential as indented JSON.
    pub body: String,
}

/// A check of a credential.
pub(crate) struct CredentialCheck {
    /// The name of the check.
    pub name: String,
    /// `passed`, `failed` or `skipped`.
    pub outcome: &'static str,
    /// Explains the outcome.
    pub message: String,
}

impl CredentialCheck {
    /// The tone of the outcome's label.
    fn tone(&self) -> &'static str {
        match self.outcome {
            "passed" => "good",
            "failed" => "bad",
            _ => "warn",
        }
    }
}

/// The result of verifying a credential.
pub(crate) struct VerificationResult {
    /// Whether the credential is genuine and valid.
    pub is_verified: bool,
    /// The outcome of each check.
    pub checks: Vec<CredentialCheck>,
    /// Names and values from the credential; empty if it could not be parsed.
    pub description: Vec<(String, String)>,
}

/// The page of one credential.
#[derive(Template)]
#[template(path = "console/badges/badge.html")]
pub(crate) struct BadgePage {
    /// The frame.
    pub frame: Frame,
    /// The random id of the credential.
    pub id: String,
    /// The learner's name and page, if the learner is in the roster.
    pub learner: Option<(String, String)>,
    /// The result of verifying the credential.
    pub verified: VerificationResult,
    /// When and why the credential was revoked.
    pub revoked: Option<(String, String)>,
    /// Whether this server issued the credential and can revoke it.
    pub is_ours: bool,
    /// A message about the change that was just made; empty if there was no change.
    pub done: String,
}

/// A learner to whom a badge can be issued.
pub(crate) struct BadgeLearner {
    /// The sourcedId.
    pub id: String,
    /// First and last name.
    pub name: String,
    /// Grade, school and e-mail address.
    pub about: String,
}

/// The page to issue a badge.
#[derive(Template)]
#[template(path = "console/badges/badge_issue.html")]
pub(crate) struct IssuePage {
    /// The frame.
    pub frame: Frame,
    /// The text that was searched for.
    pub learner: String,
    /// The learners who match.
    pub found: Vec<BadgeLearner>,
    /// The number of matching learners that are not listed.
    pub more: usize,
    /// The achievement and name of each badge that can be issued.
    pub badges: Vec<(String, String)>,
    /// The selected achievement.
    pub achievement: String,
}

/// The page to verify a file.
#[derive(Template)]
#[template(path = "console/badges/badge_verify.html")]
pub(crate) struct VerifyPage {
    /// The frame.
    pub frame: Frame,
    /// The page that is open.
    pub tab: BadgesTab,
    /// The name of the uploaded file and its result, if a file was uploaded.
    pub result: Option<(String, VerificationResult)>,
    /// Why the file could not be verified.
    pub problem: Option<ProblemText>,
}
