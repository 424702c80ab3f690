//! Requests with idempotency keys.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::ms;

/// The owner of a key. Keys of different callers, players, games and routes are independent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOwner {
    pub(crate) user: String,
    pub(crate) scope: String,
}

/// Records that a request has begun; returns whether its key is new. On PostgreSQL, a concurrent request with the
/// same key waits here for the first.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    now: Timestamp,
    KeyOwner { user, scope }: &KeyOwner,
    key: &str,
    request: &str,
) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO game_keyed_requests (user_id, request_key, scope, request, answer, at_ms) \
         VALUES ($1, $2, $3, $4, '', $5) ON CONFLICT (user_id, request_key, scope) DO NOTHING",
        &[user.into(), key.into(), scope.into(), request.into(), ms(now)],
    )?;
    Ok(inserted > 0)
}

pub(crate) fn answered(
    tx: &mut Tx<'_>,
    KeyOwner { user, scope }: &KeyOwner,
    key: &str,
    answer: &str,
) -> Result<()> {
    tx.send(
        "UPDATE game_keyed_requests SET answer = $1 \
         WHERE user_id = $2 AND request_key = $3 AND scope = $4",
        &[answer.into(), user.into(), key.into(), scope.into()],
    )
}

/// The request's digest and its answer.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    KeyOwner { user, scope }: &KeyOwner,
    key: &str,
) -> Result<Option<(String, String)>> {
    tx.row(
        "SELECT request, answer FROM game_keyed_requests \
         WHERE user_id = $1 AND request_key = $2 AND scope = $3",
        &[user.into(), key.into(), scope.into()],
    )
}

/// Deletes requests that were sent before the instant.
pub(crate) fn forget(tx: &mut Tx<'_>, user: &str, before: Timestamp) -> Result<()> {
    let sql = "DELETE FROM game_keyed_requests WHERE user_id = $1 AND at_ms < $2";
    tx.send(sql, &[user.into(), ms(before)])
}
