//! The game platform: players, games, inventory, scores, sessions, saved states, levels, achievements.
//!
//! A player is a roster user or a visitor. What a player earns is written in the transaction that earns it. Leader boards
//! are exact, because each score is compared with the best ones when it arrives.
//!
//! | what | where |
//! |---|---|
//! | games; players from the roster; visitors | `games`, `players`, `visitors` |
//! | scores and leader boards | `scores` |
//! | play sessions, saved states | `sessions`, `states` |
//! | inventory, achievements, levels, notifications | `inventory`, `achievements`, `levels`, `notifications` |
//! | courses that a game teaches, activities, XP | `lms` |
//! | which games an answer may include | `visible_games` |
//! | requests that may be repeated safely | `idempotency` |
//! | request bodies | `input` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod achievements;
pub mod games;
pub mod idempotency;
mod input;
pub mod inventory;
pub mod levels;
pub mod limits;
pub mod lms;
pub mod notifications;
pub mod players;
mod repository;
pub mod scores;
pub mod sessions;
pub mod states;
pub mod visible_games;
pub mod visitors;

pub use input::{Metadata, PageRequest};

use lyceum_store::{Migration, migration};

/// The schema of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(8, "games")];
