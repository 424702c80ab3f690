//! Play sessions: the time from when a player starts a game until the game ends.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use uuid::Uuid;

use crate::input::PageRequest;
use crate::repository::sessions as repository;

pub use crate::repository::sessions::GameSession;

/// Begins a play session. Other sessions of the player continue.
pub fn start(tx: &mut Tx<'_>, now: Timestamp, game: &str, user: &str) -> Result<GameSession> {
    let id = Uuid::now_v7().to_string();
    repository::insert(tx, now, &id, game, user)?;
    find_session(tx, game, user, &id)
}

/// Ends a play session. An ended session stays as it is. Errors: `NotFound`.
pub fn end(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    id: &str,
) -> Result<GameSession> {
    if find_session(tx, game, user, id)?.ended_at.is_none() {
        repository::end(tx, now, id)?;
    }
    find_session(tx, game, user, id)
}

/// A player's play sessions in a game, newest first.
pub fn of_user(
    tx: &mut Tx<'_>,
    game: &str,
    user: &str,
    page: PageRequest,
) -> Result<Vec<GameSession>> {
    repository::of_user(tx, game, user, page)
}

fn find_session(tx: &mut Tx<'_>, game: &str, user: &str, id: &str) -> Result<GameSession> {
    repository::find(tx, game, user, id)?.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            message!("there is no session '{id}' of this player in this game"),
        )
    })
}
