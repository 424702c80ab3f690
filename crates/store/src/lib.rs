//! The transaction interface over SQLite (embedded) and PostgreSQL (several servers).
//!
//! Domain code is synchronous over a [`Tx`]; only [`Db`] knows threads and futures. The same SQL text runs on both
//! stores, with placeholders `$1…$n` numbered in order of first use. Where SQL has to differ, [`dialect`] has a function.
//!
//! A write that was answered is durable. A transaction with a failed statement is never committed. A read sees one
//! snapshot. PostgreSQL connections live on threads of their own, outside the async runtime.
//!
//! [`copy_to`] copies an SQLite file while writes continue. PostgreSQL is backed up with `pg_dump -Fc` and restored with
//! `pg_restore`, which the command line runs.
//!
//! | what | where |
//! |---|---|
//! | the database handle: read, scan, write; what callers choose; slow work on other threads | `db`, `options`, `task`, `blocking` |
//! | transactions, and what they collect until they end | `tx`, `pending` |
//! | rows, values, building statements | `row`, `value`, `sql` |
//! | rows read as structs and tuples | `from_row` |
//! | SQLite: one writer, syncing, checkpoints | `sqlite`, `durable`, `checkpoint` |
//! | PostgreSQL: connections, addresses, TLS, the pool, the read replica | `postgres` |
//! | SQL that differs between the stores | `dialect` |
//! | lists of numbers in statements; filters as SQL | `in_lists`, `filter` |
//! | what only the event log needs | `log` |
//! | migrations, and the table of those that were applied | `migrate` |
//! | exact counts at any size | `tally` |
//! | jobs that survive crashes | `jobs` |
//! | the stamps of records, for consumers that poll | `record_clock` |
//! | changes that webhooks receive | `outbox` |
//! | signals that wake readers on all servers | `signals` |
//! | waking tasks when the database has changed | `changes` |
//! | backup, inspection, the write test of `/ready` | `backup`, `inspect`, `probe` |
//! | figures for the monitoring, slow statements, spans of transactions | `gauges`, `slow`, `spans` |
//! | removing deleted content from pages | `compact` |
//! | database errors as problems | `problem` |
//! | temporary data on disk | `spool` |
//! | limits | `limits` |

mod backup;
mod blocking;
mod changes;
mod checkpoint;
mod compact;
mod db;
pub mod dialect;
mod durable;
pub mod filter;
mod from_row;
mod gauges;
mod in_lists;
mod inspect;
pub mod jobs;
pub mod limits;
pub mod log;
pub mod migrate;
mod options;
pub mod outbox;
mod pending;
mod postgres;
mod probe;
mod problem;
pub mod record_clock;
mod row;
mod signals;
mod slow;
mod spans;
pub mod spool;
mod sql;
mod sqlite;
mod tally;
mod task;
mod tx;
mod value;

pub use backup::{copy_to, export_snapshot, settle};
pub use blocking::run_blocking;
pub use changes::Changes;
pub use db::Db;
pub use dialect::SqlDialect;
pub use from_row::{Columns, FromRow, count_columns, opt_parsed, parsed};
pub use gauges::{ReadReplicaGauges, StoreGauges, WorkGauges, database_bytes};
pub use in_lists::{IN_LIST_MARKS, in_lists};
pub use inspect::{Inspection, inspect};
pub use migrate::Migration;
pub use options::{ScanLimits, StatementsSee, StoreLocation, StoreOptions};
pub use pending::LARGE_BLOCK_BITS;
pub use postgres::{LogSource, MeasuredReplica, measure_delay};
pub use probe::WriteCheck;
pub use problem::is_too_slow;
pub use record_clock::{ChangeRange, ChangedRow, RemovedRecord};
pub use row::Row;
pub use signals::{Signal, Signals};
pub use slow::log_slow_statements;
pub use spool::Spool;
pub use sql::{Param, Sql};
pub use tx::Tx;
pub use value::Value;
