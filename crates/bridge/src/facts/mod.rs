//! Facts: what students did, summed in quarter hours of UTC (docs/decisions/FACTS).
//!
//! Every zone's offset is a multiple of a quarter hour, so that any day of any zone is an exact sum
//! of whole buckets. A fact row follows from the events of one actor alone, whatever their order.

mod piece;
pub(crate) mod sql;

use std::collections::BTreeMap;

use lyceum_core::Result;
use lyceum_core::limits::FACT_REBUILD_CHUNK_COUNT;
use lyceum_events::Event;
use lyceum_store::Tx;
use sha2::{Digest as _, Sha256};

pub use piece::Pieces;
pub(crate) use piece::REACH_MS;

/// Milliseconds of a bucket.
pub const BUCKET_MS: i64 = 15 * 60 * 1000;

/// What is summed, in the order of the columns of the table. Thousandths: of XP, of questions, of
/// units, of seconds.
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

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(measure, _)| *measure)
    }
}

/// Sums of the measures, and the number of events that they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Events that have a part in it; one that spans buckets is counted in each.
    pub events: i64,
    /// A sum a measure, in the order of [`Measure`].
    pub measures: [i64; 9],
}

impl Sums {
    /// One sum, in thousandths.
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

/// What was worked on, as the event says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// The course's sourcedId; empty where the event names none.
    pub course: String,
    /// The subject; empty where the event names none.
    pub subject: String,
    /// The name of the app; empty where the event names none.
    pub app: String,
}

impl Context {
    pub(crate) fn of(event: &Event) -> Self {
        let object = &event.tree["object"];
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let app = &object["app"];
        let sender = &event.tree["edApp"];
        let names = [&app["name"], &app["id"], app, &sender["name"], &sender["id"], sender];
        Self {
            course: event
                .course()
                .map(|iri| lyceum_events::local_id(iri, "/courses/"))
                .unwrap_or_default(),
            subject: text(&object["subject"]).unwrap_or_default(),
            app: names.into_iter().find_map(text).unwrap_or_default(),
        }
    }

    /// Its number: 64 bits of a hash, so that a rebuild gives the same one and nobody looks it up.
    fn number(&self) -> i64 {
        let mut hash = Sha256::new();
        for part in [&self.course, &self.subject, &self.app] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        i64::from_be_bytes(digest[..8].try_into().expect("a SHA-256 has more than 8 bytes"))
    }
}

/// Where a row of the table stands: actor, bucket, number of the context.
type Key = (i64, i64, i64);

/// Changes of rows, summed in memory and written at once.
#[derive(Default)]
pub struct Changes {
    rows: BTreeMap<Key, Sums>,
    contexts: BTreeMap<i64, Context>,
    /// A row may be left with no event.
    takes_away: bool,
}

impl Changes {
    /// Counts an event of an actor.
    pub fn add(&mut self, actor: i64, event: &Event) {
        self.apply(actor, event, 1);
    }

    /// Takes back an event that was counted.
    pub fn take_away(&mut self, actor: i64, event: &Event) {
        self.takes_away = true;
        self.apply(actor, event, -1);
    }

    fn apply(&mut self, actor: i64, event: &Event, times: i64) {
        let Some(pieces) = Pieces::of(event) else { return };
        let context = Context::of(event);
        let number = context.number();
        for (bucket, sums) in pieces.by_bucket() {
            self.rows.entry((actor, bucket, number)).or_default().add(&sums, times);
        }
        self.contexts.entry(number).or_insert(context);
    }

    /// Writes them.
    pub fn write(self, tx: &mut Tx<'_>) -> Result<()> {
        sql::write(tx, &self)
    }
}

/// What [`rebuild`] did.
#[derive(Clone, Copy, Debug)]
pub struct Rebuilt {
    /// The last actor; the next call goes on behind it.
    pub last: i64,
    /// How many actors.
    pub actors: u64,
    /// How many events of theirs.
    pub events: u64,
}

/// Computes the facts of the next actors behind `after` anew from the log; none when all are done.
/// Each actor's change in one piece, and others may append meanwhile. Run to its end this leaves the
/// rows that intake left; broken off, it may be run again from the first.
pub fn rebuild(tx: &mut Tx<'_>, after: i64) -> Result<Option<Rebuilt>> {
    let actors = lyceum_events::actors_behind(tx, after, FACT_REBUILD_CHUNK_COUNT)?;
    let Some(&last) = actors.last() else { return Ok(None) };
    sql::clear(tx, after, last)?;
    let mut changes = Changes::default();
    let mut events = 0;
    for &actor in &actors {
        lyceum_events::of_actor(tx, actor, i64::MIN..i64::MAX, |logged| {
            events += 1;
            changes.add(actor, &logged.event);
            Ok(())
        })?;
    }
    changes.write(tx)?;
    Ok(Some(Rebuilt { last, actors: actors.len() as u64, events }))
}
