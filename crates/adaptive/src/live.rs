//! Notices that students did something: answers in running lessons, and events. A reader looks again and again.

use std::collections::HashSet;

use lyceum_bridge::reach::actors_within;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::repository::{self as events, Follow};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_store::Tx;

use crate::repository::attempts;

/// The time in which an answer that was stored late is still noticed.
const LATE_MS: i64 = 30_000;

/// What a reader has seen.
#[derive(Clone, Debug)]
pub struct LiveActivity {
    follow: Follow,
    /// Students with the times of their last answers.
    answers: HashSet<(String, Timestamp)>,
}

impl LiveActivity {
    /// Everything up to now is seen.
    pub fn begin(tx: &mut Tx<'_>, now: Timestamp) -> Result<Self> {
        let answers = answers(tx, now)?;
        Ok(Self { follow: Follow::from(events::newest(tx)?), answers })
    }

    /// What is seen after another look, and whether a student within the reach did something since.
    pub fn look(self, tx: &mut Tx<'_>, now: Timestamp, reach: &Reach) -> Result<(Self, bool)> {
        let (follow, events) = self.follow.look(tx, now, &actors_within(reach))?;
        let answers = answers(tx, now)?;
        let new: Vec<&str> =
            answers.difference(&self.answers).map(|(student, _)| student.as_str()).collect();
        let did_answer = match reach.is_limited() && !new.is_empty() {
            true => !roster::ids_within(tx, &USER, &new, reach, RecordUse::See)?.is_empty(),
            false => !new.is_empty(),
        };
        Ok((Self { follow, answers }, did_answer || !events.is_empty()))
    }
}

fn answers(tx: &mut Tx<'_>, now: Timestamp) -> Result<HashSet<(String, Timestamp)>> {
    Ok(attempts::last_answers(tx, now.milliseconds() - LATE_MS)?.into_iter().collect())
}
