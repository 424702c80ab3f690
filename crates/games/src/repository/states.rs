//! Saved states.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::ms;

/// The state's text, version and time.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    game: &str,
    user: &str,
) -> Result<Option<(String, i64, Timestamp)>> {
    tx.row(
        "SELECT state, version, updated_ms FROM game_states WHERE game_id = $1 AND user_id = $2",
        &[game.into(), user.into()],
    )
}

/// Returns the new version; `None` if the stored version is not the expected one (0: no state is stored).
pub(crate) fn save(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    state: &str,
    expected: Option<i64>,
) -> Result<Option<i64>> {
    match expected {
        Some(version) if version != 0 => tx.row(
            "UPDATE game_states SET version = version + 1, state = $1, updated_ms = $2 \
             WHERE game_id = $3 AND user_id = $4 AND version = $5 RETURNING version",
            &[state.into(), ms(now), game.into(), user.into(), version.into()],
        ),
        _ => {
            let over = "DO UPDATE SET version = game_states.version + 1, \
                        state = excluded.state, updated_ms = excluded.updated_ms";
            let then = if expected.is_none() { over } else { "DO NOTHING" };
            let sql = format!(
                "INSERT INTO game_states (game_id, user_id, version, state, updated_ms) \
                 VALUES ($1, $2, 1, $3, $4) ON CONFLICT (game_id, user_id) {then} \
                 RETURNING version"
            );
            let params = [game.into(), user.into(), state.into(), ms(now)];
            tx.row(&sql, &params)
        }
    }
}
