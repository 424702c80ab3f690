//! Schemas in SQLite. Everything is local: a database in memory, or a file.

pub(super) mod apply;
pub(super) mod describe;
pub(super) mod migrate;
pub(super) mod problems;
pub(super) mod steps;
