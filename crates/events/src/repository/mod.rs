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
mod spans;

pub use accepted::{Accepted, AcceptedEnvelope, accept, finished_job, take_jobs};
pub use append::{Appended, ClientEvents, append, append_all};
pub use erase::{
    ErasedActor, ErasedTexts, erase_beside_log, erase_blocks, erase_rows, rename_actors,
};
pub use flow::{Flow, Minute, flow};
pub use follow::Follow;
pub use gather::{
    GatherOutcome, SHORT_LIVED_TABLES, forget_unused_heads, gather, is_gathering_due,
};
pub use list::{
    ArrivalRange, EventFilter, EventOrder, EventOrderKey, EventPage, list, newest,
    newest_of_sensors, numbers, read,
};
pub use names::{Actor, KnownNames, LookedUpNames, actors_behind, actors_called, last_actor};
pub use read::{LoggedEvent, of_actor, of_numbers, scan, superseded_of_actor};
pub use refusals::{StoredRejection, refuse, refused, refused_counts, refused_one, replay};

use lyceum_core::{Problem, Result};
use lyceum_runs::{RunTables, UniqueKeys};
use serde::Serialize;

/// The tally's collection for events.
const COLLECTION: &str = "events";

/// The hashes of ids, each with the number of the version that counts.
const IDS: UniqueKeys = UniqueKeys {
    rows: "event_ids",
    runs: RunTables { lists: "event_runs", name: "ids", chunks: "event_id_chunks" },
};

/// The number of young rows from which on they become a run. Few enough that the rows stay in memory.
const GATHERED: i64 = 1 << 12;
/// The maximum number of young rows that become runs at once. More than arrive in between, so that a backlog shrinks.
const GATHERED_ROWS: i64 = 16 * GATHERED;

/// On SQLite, that many ids become a run at once: rows would cost more.
const RUN_MIN_RECORDS: usize = 32;

/// A list as JSON, which is one value of a statement.
fn json_list<T: Serialize>(list: &[T]) -> Result<String> {
    serde_json::to_string(list).map_err(Problem::internal)
}
