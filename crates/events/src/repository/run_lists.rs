//! Where ids, facts and places are in runs.

use lyceum_runs::{RunTables, UniqueKeys};

/// The hashes of ids, each with the number of the version that counts.
pub(super) const IDS: UniqueKeys = UniqueKeys {
    rows: "event_ids",
    runs: RunTables { lists: "event_runs", name: "ids", chunks: "event_id_chunks" },
};

/// The runs of facts.
pub(super) const FACTS: RunTables =
    RunTables { lists: "event_runs", name: "facts", chunks: "event_fact_chunks" };

/// The runs of places of summed facts.
pub(super) const PLACES: RunTables =
    RunTables { lists: "event_runs", name: "places", chunks: "event_place_chunks" };
