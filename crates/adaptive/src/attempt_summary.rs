//! An attempt, as clients read it.

use lyceum_core::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::Attempt;

/// An attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Attempt")]
pub struct AttemptSummary {
    /// Its number, from 1.
    pub attempt: u32,
    /// The score, 0 to 100.
    pub score: f64,
    /// The state of scoring.
    #[schemars(extend("enum" = ["not submitted", "partially graded", "fully graded"]))]
    pub score_status: &'static str,
    /// The XP that it earned, if it is complete.
    pub xp: Option<f64>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was completed.
    pub completed_at: Option<Timestamp>,
}

impl Attempt {
    /// The attempt, as clients read it.
    pub fn summary(&self) -> AttemptSummary {
        AttemptSummary {
            attempt: self.number,
            score: self.score,
            score_status: self.score_status(),
            xp: self.xp,
            started_at: self.started,
            completed_at: self.completed,
        }
    }
}
