//! Play sessions.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;
use crate::input::PageRequest;

/// A player's time in a game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameSession {
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

const COLUMNS: &str = "id, game_id, user_id, started_ms, ended_ms";

fn read(row: &Row<'_>) -> Result<GameSession> {
    let (session_id, game_id, user_id, started_at, ended_at): (_, _, _, Timestamp, _) =
        row.read()?;
    let seconds = |end: Timestamp| (end.milliseconds() - started_at.milliseconds()) / 1000;
    Ok(GameSession {
        session_id,
        game_id,
        user_id,
        started_at,
        ended_at,
        duration_seconds: ended_at.map(seconds),
    })
}

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    game: &str,
    user: &str,
) -> Result<()> {
    tx.send(
        "INSERT INTO game_sessions (id, game_id, user_id, started_ms) VALUES ($1, $2, $3, $4)",
        &[id.into(), game.into(), user.into(), ms(now)],
    )
}

pub(crate) fn find(
    tx: &mut Tx<'_>,
    game: &str,
    user: &str,
    id: &str,
) -> Result<Option<GameSession>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM game_sessions WHERE id = $1 AND game_id = $2 AND user_id = $3"
    );
    tx.query_one(&sql, &[id.into(), game.into(), user.into()], read)
}

pub(crate) fn end(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    let sql = "UPDATE game_sessions SET ended_ms = $1 WHERE id = $2 AND ended_ms IS NULL";
    tx.send(sql, &[ms(now), id.into()])
}

pub(crate) fn of_user(
    tx: &mut Tx<'_>,
    game: &str,
    user: &str,
    page: PageRequest,
) -> Result<Vec<GameSession>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM game_sessions WHERE user_id = $1 AND game_id = $2 \
         ORDER BY started_ms DESC, id DESC LIMIT $3 OFFSET $4"
    );
    tx.all(&sql, &[user.into(), game.into(), page.limit.into(), page.offset.into()], read)
}
