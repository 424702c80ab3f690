//! What is known of players beside the roster.

use lyceum_core::Result;
use lyceum_store::Tx;

use crate::input::Page;
use crate::players::Role;

/// The active users: id, username and given name, in the order in which they came.
pub(crate) fn list(tx: &mut Tx<'_>, page: Page) -> Result<Vec<(String, String, String)>> {
    let sql = "SELECT sourced_id, COALESCE(username, ''), COALESCE(given_name, '') FROM users \
               WHERE status = 'active' ORDER BY seq LIMIT $1 OFFSET $2";
    tx.all(sql, &[page.limit.into(), page.offset.into()], |row| {
        Ok((row.string(0)?, row.string(1)?, row.string(2)?))
    })
}

/// Role and developer status.
pub(crate) fn standing(tx: &mut Tx<'_>, user: &str) -> Result<(Role, String)> {
    let sql = "SELECT role, developer_status FROM game_players WHERE user_id = $1";
    let found = tx.query_one(sql, &[user.into()], |row| {
        Ok((Role::of(row.text(0)?).unwrap_or(Role::Player), row.string(1)?))
    })?;
    Ok(found.unwrap_or_else(|| (Role::Player, "none".to_owned())))
}

pub(crate) fn put_standing(tx: &mut Tx<'_>, user: &str, role: Role, status: &str) -> Result<()> {
    tx.send(
        "INSERT INTO game_players (user_id, role, developer_status, xp) VALUES ($1, $2, $3, 0) \
         ON CONFLICT (user_id) DO UPDATE SET role = excluded.role, \
         developer_status = excluded.developer_status",
        &[user.into(), role.name().into(), status.into()],
    )
}
