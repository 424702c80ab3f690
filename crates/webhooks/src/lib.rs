//! Webhooks: which programs receive which changes, and what was delivered.
//!
//! A transaction that changes something writes a row of the outbox ([`lyceum_store::outbox`]) if an active webhook
//! wants its topic. One server at a time is the sender: it turns these rows into messages and deliveries, sends them,
//! and records the outcomes. This crate has the rules and the SQL; the server sends the requests.
//!
//! The deliveries of one object to one webhook are sent one after the other. A delivery that fails is repeated later
//! and goes on blocking its object, until it is dead. A message keeps its id in every repetition.
//!
//! | what | where |
//! |---|---|
//! | the topics, and what each change contains | `topics` |
//! | webhooks: creating, changing, activating | `webhook` |
//! | filters, and whether a change meets them | `filter`, `condition` |
//! | all active webhooks, prepared for matching | `registry` |
//! | what owners of webhooks may receive | `reach` |
//! | from the outbox to deliveries; outcomes; the turn of the sender | `queue`, `schedule` |
//! | signatures | `signature` |
//! | the delivery log, replays, retention | `log` |
//! | what the console shows | `screens` |
//! | SQL | `repository` |
//! | limits | `limits` |

mod condition;
pub mod filter;
pub mod limits;
pub mod log;
pub mod queue;
pub mod reach;
pub mod registry;
mod repository;
pub mod schedule;
pub mod screens;
pub mod signature;
pub mod topics;
pub mod webhook;

use lyceum_store::{Migration, migration};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(12, "webhooks")];
