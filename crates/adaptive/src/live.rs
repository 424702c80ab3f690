//! Notices that students did something: answers in running lessons, and events. A reader looks again and again.

use std::collections::HashSet;

use lyceum_bridge::reach::actors_within;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::ActorFilter;
use lyceum_events::repository::{self as events, Follow};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::{self as roster, RecordUse};
use lyceum_store::Tx;

use crate::repository::attempts;

/// The time in which an answer that was stored late is still noticed.
const LATE_MS: i64 = 30_000;

/// The state of the event log and the answers that a reader has seen.
#[derive(Clone, Debug)]
pub struct LiveActivity {
    follow: Follow,
    /// Students with the times of their last answers.
    answers: HashSet<(String, Timestamp)>,
}

impl LiveActivity {
    /// Everything up to now is seen.
    pub fn start(tx: &mut Tx<'_>, now: Timestamp) -> Result<Self> {
        let answers = answers(tx, now)?;
        Ok(Self { follow: Follow::from(events::newest(tx)?), answers })
    }

    /// Whether there are events after a gap that may still be filled, so that a look may find something without a signal.
    pub fn waits(&self) -> bool {
        self.follow.waits()
    }

    /// Looks again: returns the state that is seen now, and whether a student within each of the reaches did something
    /// since. Without activity it costs the same for any number of reaches.
    pub fn update(
        self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        reaches: &[Reach],
    ) -> Result<(Self, Vec<bool>)> {
        let (follow, events) = self.follow.look(tx, now, &ActorFilter::Everyone)?;
        let answers = answers(tx, now)?;
        let new: Vec<&str> =
            answers.difference(&self.answers).map(|(student, _)| student.as_str()).collect();
        let mut is_new = Vec::with_capacity(reaches.len());
        for reach in reaches {
            let did_answer = match reach.is_limited() && !new.is_empty() {
                true => !roster::ids_within(tx, &USER, &new, reach, RecordUse::See)?.is_empty(),
                false => !new.is_empty(),
            };
            let events = actors_within(reach).keep(tx, events.clone())?;
            is_new.push(did_answer || !events.is_empty());
        }
        Ok((Self { follow, answers }, is_new))
    }
}

fn answers(tx: &mut Tx<'_>, now: Timestamp) -> Result<HashSet<(String, Timestamp)>> {
    Ok(attempts::last_answers(tx, now.milliseconds() - LATE_MS)?.into_iter().collect())
}
