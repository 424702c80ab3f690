//! The table of levels, and players' XP.

use lyceum_core::Result;
use lyceum_store::{Tx, Value, columns};

use crate::levels::{Level, Xp};

columns!(Level { level: "level", xp_required: "xp", credits_reward: "credits" });

pub(crate) fn table(tx: &mut Tx<'_>) -> Result<Vec<Level>> {
    tx.rows(&format!("SELECT {} FROM game_levels ORDER BY level", Level::COLUMNS), &[])
}

pub(crate) fn set_table(tx: &mut Tx<'_>, table: &[Level]) -> Result<()> {
    tx.send("DELETE FROM game_levels", &[])?;
    let values: Vec<Value<'_>> = table
        .iter()
        .flat_map(|row| [row.level.into(), row.xp_required.0.into(), row.credits_reward.into()])
        .collect();
    tx.send_rows("game_levels", &["level", "xp", "credits"], &values, "")
}

pub(crate) fn xp(tx: &mut Tx<'_>, user: &str) -> Result<Xp> {
    let sql = "SELECT xp FROM game_players WHERE user_id = $1";
    Ok(tx.row(sql, &[user.into()])?.unwrap_or_default())
}

/// Returns the highest XP that the player has had before, and the new total.
pub(crate) fn add_xp(tx: &mut Tx<'_>, user: &str, xp: Xp) -> Result<(Xp, Xp)> {
    let highest: Option<Xp> =
        tx.row("SELECT highest_xp FROM game_players WHERE user_id = $1", &[user.into()])?;
    let highest = highest.unwrap_or_default();
    let total: Option<Xp> = tx.row(
        "INSERT INTO game_players (user_id, role, developer_status, xp) \
         VALUES ($1, 'player', 'none', $2) ON CONFLICT (user_id) DO UPDATE \
         SET xp = game_players.xp + excluded.xp RETURNING xp",
        &[user.into(), xp.0.into()],
    )?;
    let total = total.unwrap_or_default();
    if total > highest {
        tx.execute(
            "UPDATE game_players SET highest_xp = $1 WHERE user_id = $2",
            &[total.0.into(), user.into()],
        )?;
    }
    Ok((highest, total))
}
