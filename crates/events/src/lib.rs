//! Caliper 1.2 and 1.1: checking envelopes, and the event log.
//!
//! This crate does not know the roster. The log is append-only: a correction is a new version beside the old one. Each
//! event id counts once, even if several clients send it. Of its versions the one sent last counts, by `sendTime`.
//!
//! | what | where |
//! |---|---|
//! | an envelope, an event | `envelope`, `event` |
//! | whose events a reader sees | `actor_filter` |
//! | checks by the standard's tables | `check`, `vocabulary`, `profiles`, `words` |
//! | checks of the custom profile (activity, time spent) | `custom` |
//! | errors in an envelope, with their paths | `faults` |
//! | JSON that borrows its text | `tree` |
//! | sums by quarter hour | `facts`, `repository/facts` |
//! | learning events that the server appends | `learning` |
//! | appending, corrections | `repository/append.rs` |
//! | moving young ids into runs | `repository/gather.rs` |
//! | storage formats: packed texts, spans | `repository/blocks.rs`, `repository/spans.rs` |
//! | listing, following, intake rate, rejected envelopes | `repository/list.rs`, `repository/follow.rs`, `repository/flow.rs`, `repository/refusals.rs` |
//! | what the console shows of the log and of rejected envelopes | `screens` |
//! | erasing a person | `repository/erase.rs` |
//! | the other SQL | `repository` |
//! | limits | `limits` |

mod actor_filter;
mod check;
mod custom;
mod envelope;
mod event;
pub mod facts;
mod faults;
pub mod learning;
pub mod limits;
mod profiles;
pub mod repository;
pub mod screens;
mod tree;
mod vocabulary;
mod words;

use lyceum_store::{Migration, migration};

pub use actor_filter::{ActorFilter, ActorNames, SeenActors};
pub use envelope::{CaliperEnvelope, Envelope, parse};
pub use event::{Entity, Event, local_id};
pub use profiles::event_types;
pub use repository::{
    Actor, Appended, ClientEvents, KnownNames, LoggedEvent, LookedUpNames, actors_behind,
    actors_called, append, append_all, last_actor, of_actor, scan, superseded_of_actor,
};

/// The context of Caliper 1.2, which is the version of an envelope, too.
pub const CONTEXT: &str = "http://purl.imsglobal.org/ctx/caliper/v1p2";

/// The contexts that are accepted, all under the rules of Caliper 1.2: the published sensors name 1.1 alone.
pub const CONTEXTS: [&str; 2] = [CONTEXT, "http://purl.imsglobal.org/ctx/caliper/v1p1"];

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(4, "events"), migration!(22, "unsummed_facts")];
