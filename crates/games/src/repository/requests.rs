//! Requests that happen once.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::ms;

/// Notes a request that is under way; answers whether its key is new. On PostgreSQL the second of
/// two at once waits here for the first.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    key: &str,
    request: &str,
) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO game_requests (user_id, request_key, request, answer, at_ms) \
         VALUES ($1, $2, $3, '', $4) ON CONFLICT (user_id, request_key) DO NOTHING",
        &[user.into(), key.into(), request.into(), ms(now)],
    )?;
    Ok(inserted > 0)
}

pub(crate) fn answered(tx: &mut Tx<'_>, user: &str, key: &str, answer: &str) -> Result<()> {
    tx.send(
        "UPDATE game_requests SET answer = $1 WHERE user_id = $2 AND request_key = $3",
        &[answer.into(), user.into(), key.into()],
    )
}

/// The request's digest and its answer.
pub(crate) fn find(tx: &mut Tx<'_>, user: &str, key: &str) -> Result<Option<(String, String)>> {
    tx.query_one(
        "SELECT request, answer FROM game_requests WHERE user_id = $1 AND request_key = $2",
        &[user.into(), key.into()],
        |row| Ok((row.string(0)?, row.string(1)?)),
    )
}

/// Forgets what was sent before the instant.
pub(crate) fn forget(tx: &mut Tx<'_>, user: &str, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM game_requests WHERE user_id = $1 AND at_ms < $2";
    tx.send(sql, &[user.into(), ms(before)])
}
