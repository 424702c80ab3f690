//! The event log, with the SQL of this crate.

mod accepted;
mod append;
mod blocks;
mod erase;
pub(crate) mod facts;
mod flow;
mod follow;
mod gather;
mod list;
mod names;
mod read;
mod refusals;
mod run_lists;
mod spans;

pub use accepted::{Accepted, AcceptedEnvelope, accept, finished_job, take_jobs};
pub use append::{Appended, ClientEvents, append, append_all};
pub use erase::{
    ErasedActor, ErasedTexts, erase_beside_log, erase_blocks, erase_rows, rename_actors,
};
pub use flow::{Flow, Minute, flow};
pub use follow::Follow;
pub use gather::{GatherOutcome, YOUNG_TABLES, forget_unused_heads, gather, is_gathering_due};
pub use list::{
    ArrivalRange, EventFilter, EventOrder, EventOrderKey, EventPage, list, newest,
    newest_of_sensors, numbers, of_numbers, read,
};
pub use names::{Actor, KnownNames, LookedUpNames, actors_behind, actors_called, last_actor};
pub use read::{LoggedEvent, of_actor, scan, superseded_of_actor};
pub use refusals::{StoredRejection, refuse, refused, refused_counts, refused_one, replay};

/// The tally's collection for events.
const COLLECTION: &str = "events";

/// The number of events after which young rows become a run. Few enough that the rows stay in memory.
const GATHERED: i64 = 1 << 12;
/// The maximum number of young rows that become runs at once. More than arrive in between, so that a backlog shrinks.
const GATHERED_ROWS: i64 = 16 * GATHERED;

/// That many records written together become a run at once, because rows would cost more.
const RUN_MIN_RECORDS: usize = 32;
