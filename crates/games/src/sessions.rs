//! Play sessions: the time from when a player starts a game until the game ends.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::input::Page;
use crate::repository::sessions as repository;

/// A player's time in a game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GameSession")]
pub struct Session {
    /// A UUID.
    pub session_id: String,
    /// The game's id.
    pub game_id: String,
    /// The player's id.
    pub user_id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it lasts.
    pub ended_at: Option<Timestamp>,
    /// Its length in seconds; `None` while it lasts.
    pub duration_seconds: Option<i64>,
}

/// Begins a play session. Other sessions of the player continue.
pub fn start(tx: &mut Tx<'_>, now: Timestamp, game: &str, user: &str) -> Result<Session> {
    let id = Uuid::now_v7().to_string();
    repository::insert(tx, now, &id, game, user)?;
    found(tx, game, user, &id)
}

/// Ends a play session. An ended session stays as it is. Errors: `NotFound`.
pub fn end(tx: &mut Tx<'_>, now: Timestamp, game: &str, user: &str, id: &str) -> Result<Session> {
    if found(tx, game, user, id)?.ended_at.is_none() {
        repository::end(tx, now, id)?;
    }
    found(tx, game, user, id)
}

/// A player's play sessions in a game, newest first.
pub fn of_user(tx: &mut Tx<'_>, game: &str, user: &str, page: Page) -> Result<Vec<Session>> {
    repository::of_user(tx, game, user, page)
}

fn found(tx: &mut Tx<'_>, game: &str, user: &str, id: &str) -> Result<Session> {
    repository::find(tx, game, user, id)?.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            format!("there is no session '{id}' of this player in this game"),
        )
    })
}
