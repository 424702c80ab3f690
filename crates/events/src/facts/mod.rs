//! Facts: what students did, in quarter hours of UTC (docs/decisions/017).
//!
//! Every zone's offset is a multiple of a quarter hour, so that any day of any zone is an exact sum
//! of whole buckets. The rows of an event follow from the event alone.

mod piece;

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use sha2::{Digest as _, Sha256};

use crate::event::{id_of, local_id};
use crate::limits::FACT_REBUILD_CHUNK_COUNT;
use crate::repository;
use crate::repository::facts::{ContextRows, FactRows};
use crate::tree::Tree;

pub use crate::repository::facts::{
    ActorFacts, apps_of, count_unsummed, place, read, sum, sums_by_actor, users_of_app,
};
pub use piece::{FactPieces, Metric, REACH_MS};

/// Milliseconds of a bucket.
pub const BUCKET_MS: i64 = 15 * 60 * 1000;

/// A measure that is summed, in the order of the table's columns. Values are thousandths of XP, questions, units or
/// seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// `xpEarned`
    Xp,
    /// `totalQuestions`
    TotalQuestions,
    /// `correctQuestions`
    CorrectQuestions,
    /// `masteredUnits`
    MasteredUnits,
    /// `active`
    Active,
    /// `inactive`
    Inactive,
    /// `waste`
    Waste,
    /// `unknown`
    Unknown,
    /// `anti-pattern`
    AntiPattern,
}

impl Measure {
    /// Every measure with its `type` in the items of an event.
    pub const ALL: [(Self, &str); 9] = [
        (Self::Xp, "xpEarned"),
        (Self::TotalQuestions, "totalQuestions"),
        (Self::CorrectQuestions, "correctQuestions"),
        (Self::MasteredUnits, "masteredUnits"),
        (Self::Active, "active"),
        (Self::Inactive, "inactive"),
        (Self::Waste, "waste"),
        (Self::Unknown, "unknown"),
        (Self::AntiPattern, "anti-pattern"),
    ];

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(measure, _)| *measure)
    }

    /// Its `type` in the items of an event.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Sums of the measures, and the number of events that they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeasureSums {
    /// Events that have a part in it; one that spans buckets is counted in each.
    pub events: i64,
    /// A sum a measure, in the order of [`Measure`].
    pub measures: [i64; 9],
}

impl MeasureSums {
    /// The sum of a measure, in thousandths.
    pub fn of(&self, measure: Measure) -> i64 {
        self.measures[measure as usize]
    }

    /// Adds, `times` over: -1 takes away.
    pub fn add(&mut self, other: &Self, times: i64) {
        self.events += other.events * times;
        for (sum, more) in self.measures.iter_mut().zip(other.measures) {
            *sum += more * times;
        }
    }
}

/// The course, subject and app that an event names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactContext {
    /// The course's sourcedId; empty where the event names none.
    pub course: String,
    /// The subject; empty where the event names none.
    pub subject: String,
    /// The name of the app; empty where the event names none.
    pub app: String,
}

impl FactContext {
    /// The course, subject and app that an event names.
    fn of(event: &Tree<'_>) -> Self {
        let object = &event["object"];
        let text = |value: &Tree<'_>| value.as_str().map(str::to_owned);
        let app = &object["app"];
        let sender = &event["edApp"];
        let names = [&app["name"], &app["id"], app, &sender["name"], &sender["id"], sender];
        let course = id_of(&object["course"]).or_else(|| event["extensions"]["courseId"].as_str());
        Self {
            course: course.map(|iri| local_id(iri, "/courses/")).unwrap_or_default(),
            subject: text(&object["subject"]).unwrap_or_default(),
            app: names.into_iter().find_map(text).unwrap_or_default(),
        }
    }

    /// Its number: 64 bits of a hash, so a rebuild gives the same number without a lookup.
    pub(crate) fn number(&self) -> i64 {
        let mut hash = Sha256::new();
        for part in [&self.course, &self.subject, &self.app] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        i64::from_be_bytes(digest[..8].try_into().expect("a SHA-256 has more than 8 bytes"))
    }
}

/// The facts of an event: its sums in each quarter hour that it touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    /// The quarter hour of its time.
    pub(crate) own: i64,
    /// Number and sums, ascending; empty for an event that adds nothing.
    pub(crate) buckets: Vec<(i64, MeasureSums)>,
    /// Of what, with its number; `None` where there are no sums.
    pub(crate) context: Option<(i64, FactContext)>,
}

impl Facts {
    /// The facts of the event at that time.
    pub(crate) fn of(event: &Tree<'_>, time: Timestamp) -> Self {
        let own = time.milliseconds().div_euclid(BUCKET_MS);
        let Some(pieces) = FactPieces::of_tree(event, time) else {
            return Self { own, ..Self::default() };
        };
        let context = FactContext::of(event);
        Self { own, buckets: pieces.by_bucket(), context: Some((context.number(), context)) }
    }
}

/// The result of [`rebuild`].
#[derive(Clone, Copy, Debug)]
pub struct Rebuilt {
    /// The last actor; the next call goes on behind it.
    pub last: i64,
    /// The number of actors.
    pub actors: u64,
    /// The number of their events.
    pub events: u64,
}

/// Recomputes the facts of the next actors behind `after` from their events; none when all are
/// done. Each actor's change in one piece, and others may append meanwhile. Run to its end, after
/// all events were given their [`place`], this leaves the facts that appending left; broken off, it
/// may be run again from the first.
pub fn rebuild(tx: &mut Tx<'_>, after: i64) -> Result<Option<Rebuilt>> {
    let actors = repository::actors_behind(tx, after, FACT_REBUILD_CHUNK_COUNT)?;
    let Some(&last) = actors.last() else { return Ok(None) };
    let (mut contexts, mut rows) = (ContextRows::default(), FactRows::default());
    let mut events = 0;
    for &actor in &actors {
        repository::of_actor(tx, actor, i64::MIN..i64::MAX, |logged| {
            events += 1;
            contexts.add(&logged.event.facts);
            rows.add(actor, logged.seq, &logged.event.facts);
            Ok(())
        })?;
    }
    contexts.write(tx)?;
    repository::facts::clear(tx, after, last)?;
    rows.write(tx)?;
    Ok(Some(Rebuilt { last, actors: actors.len() as u64, events }))
}
