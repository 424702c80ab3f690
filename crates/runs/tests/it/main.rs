//! Unique keys on both stores, compared with a map.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod claims;
mod records;

use lyceum_runs::{RunTables, UniqueKeys};
use lyceum_store::Migration;

const KEYS: UniqueKeys = UniqueKeys {
    rows: "keys",
    runs: RunTables { lists: "run_lists", name: "keys", chunks: "key_chunks" },
};

const SCHEMA: &[Migration] = &[Migration {
    version: 2,
    name: "keys",
    sql: "CREATE TABLE keys (hash ROWID, seq BIGINT NOT NULL);
CREATE TABLE run_lists (name TEXT PRIMARY KEY, list BLOB) WITHOUT ROWID;
INSERT INTO run_lists (name) VALUES ('keys');
CREATE TABLE key_chunks (id ROWID, body BLOB NOT NULL);",
}];
