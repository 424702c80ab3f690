//! Badges and records: what was issued, issuing, revoking, verifying.

use askama::Template;

use crate::{Column, Facts, Frame, List};

/// The columns of the list of what was issued.
pub const ISSUED: &[Column] = &[
    Column::text("badge", "Badge"),
    Column::text("learner", "Learner"),
    Column::text("issuer", "Issuer"),
    Column::text("validFrom", "Valid from"),
    Column::text("state", "State"),
    Column::text("page", "Public page"),
];

/// The columns of the list of definitions.
pub const DEFINITIONS: &[Column] = &[
    Column::text("name", "Badge"),
    Column::text("achievement", "Achievement"),
    Column::number("issued", "Issued"),
    Column::text("updated", "Changed"),
];

/// The columns of the list of learner records.
pub const RECORDS: &[Column] = &[
    Column::text("name", "Record"),
    Column::text("learner", "Learner"),
    Column::number("achievements", "Achievements"),
    Column::text("validFrom", "Valid from"),
    Column::number("version", "Version"),
];

/// The columns of the list of a record's achievements.
pub const ACHIEVEMENTS: &[Column] = &[
    Column::text("name", "Achievement"),
    Column::text("description", "Description"),
    Column::text("id", "Id"),
];

/// Pages of this screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// What was issued.
    Issued,
    /// What can be earned.
    Definitions,
    /// Learner records.
    Records,
    /// Checking a file.
    Verify,
}

/// A page with a list.
#[derive(Template)]
#[template(path = "badges.html")]
pub struct Badges {
    /// The frame.
    pub frame: Frame,
    /// Which page.
    pub tab: Tab,
    /// What is listed.
    pub list: List,
}

/// The page of one learner record.
#[derive(Template)]
#[template(path = "learner_record.html")]
pub struct LearnerRecord {
    /// The frame.
    pub frame: Frame,
    /// Whose it is, which version.
    pub facts: Facts,
    /// Its achievements.
    pub list: List,
    /// The credential, indented.
    pub body: String,
}

/// A check of a credential.
pub struct Check {
    /// Its name.
    pub name: String,
    /// `passed`, `failed` or `skipped`.
    pub outcome: String,
    /// What was found.
    pub message: String,
}

impl Check {
    /// The tone of its label.
    fn tone(&self) -> &'static str {
        match self.outcome.as_str() {
            "passed" => "good",
            "failed" => "bad",
            _ => "warn",
        }
    }
}

/// What came of verifying a credential.
pub struct Verified {
    /// Whether it is genuine and in force.
    pub is_verified: bool,
    /// Each check.
    pub checks: Vec<Check>,
    /// What the credential says of itself, where it could be read.
    pub says: Vec<(&'static str, String)>,
}

/// The page of one credential.
#[derive(Template)]
#[template(path = "badge.html")]
pub struct Badge {
    /// The frame.
    pub frame: Frame,
    /// The random id.
    pub id: String,
    /// The learner's name and page, where it is one of ours.
    pub learner: Option<(String, String)>,
    /// What came of verifying it.
    pub verified: Verified,
    /// When and why it was revoked.
    pub revoked: Option<(String, String)>,
    /// Whether this server issued it, and so can revoke it.
    pub is_ours: bool,
    /// What just happened.
    pub done: &'static str,
}

/// A learner to choose.
pub struct Learner {
    /// The sourcedId.
    pub id: String,
    /// First and last name.
    pub name: String,
    /// Grade, school, address.
    pub about: String,
}

/// The page to issue a badge.
#[derive(Template)]
#[template(path = "badge_issue.html")]
pub struct Issue {
    /// The frame.
    pub frame: Frame,
    /// What was looked for.
    pub learner: String,
    /// Learners who fit.
    pub found: Vec<Learner>,
    /// How many more fit.
    pub more: usize,
    /// Achievement and name of each badge that can be issued.
    pub badges: Vec<(String, String)>,
    /// The achievement that is chosen.
    pub achievement: String,
}

/// The page to verify a file.
#[derive(Template)]
#[template(path = "badge_verify.html")]
pub struct Verify {
    /// The frame.
    pub frame: Frame,
    /// Which page.
    pub tab: Tab,
    /// The file and what came of it, where one was sent.
    pub result: Option<(String, Verified)>,
    /// Why the file could not be read.
    pub problem: String,
}
