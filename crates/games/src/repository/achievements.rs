//! Achievements, and how far players are.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx};

use super::ms;
use crate::achievements::{Achievement, Reached};
use crate::levels::Xp;

const COLUMNS: &str = "a.id, a.game_id, a.name, a.title, a.description, a.goal, a.xp, a.credits";

fn read(row: &Row<'_>) -> Result<Achievement> {
    Ok(Achievement {
        id: row.string(0)?,
        game_id: row.string(1)?,
        name: row.string(2)?,
        title: row.string(3)?,
        description: row.opt_string(4)?,
        goal: row.int(5)?,
        xp_reward: Xp(row.int(6)?),
        credits_reward: row.int(7)?,
    })
}

pub(crate) fn find(tx: &mut Tx<'_>, game: &str, name: &str) -> Result<Option<Achievement>> {
    let sql =
        format!("SELECT {COLUMNS} FROM game_achievements a WHERE a.game_id = $1 AND a.name = $2");
    tx.query_one(&sql, &[game.into(), name.into()], read)
}

pub(crate) fn count(tx: &mut Tx<'_>, game: &str) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM game_achievements WHERE game_id = $1";
    Ok(tx.query_one(sql, &[game.into()], |row| row.int(0))?.unwrap_or_default())
}

/// Writes an achievement over the one of its game and name.
pub(crate) fn put(tx: &mut Tx<'_>, achievement: &Achievement) -> Result<()> {
    tx.send(
        "INSERT INTO game_achievements (id, game_id, name, title, description, goal, xp, credits) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (game_id, name) DO UPDATE \
         SET title = excluded.title, description = excluded.description, goal = excluded.goal, \
         xp = excluded.xp, credits = excluded.credits",
        &[
            (&achievement.id).into(),
            (&achievement.game_id).into(),
            (&achievement.name).into(),
            (&achievement.title).into(),
            achievement.description.as_deref().into(),
            achievement.goal.into(),
            achievement.xp_reward.0.into(),
            achievement.credits_reward.into(),
        ],
    )
}

pub(crate) fn of_user(tx: &mut Tx<'_>, game: &str, user: &str) -> Result<Vec<Reached>> {
    let sql = format!(
        "SELECT {COLUMNS}, p.progress, p.unlocked_ms FROM game_achievements a \
         LEFT JOIN game_progress p ON p.achievement_id = a.id AND p.user_id = $1 \
         WHERE a.game_id = $2 ORDER BY a.name"
    );
    tx.all(&sql, &[user.into(), game.into()], |row| {
        let achievement = read(row)?;
        let progress = row.opt_int(8)?.unwrap_or_default().min(achievement.goal);
        Ok(Reached { progress, unlocked_at: row.opt_time(9)?, achievement })
    })
}

/// Answers the progress, which never goes back.
pub(crate) fn advance(tx: &mut Tx<'_>, user: &str, id: &str, progress: i64) -> Result<i64> {
    let kept = tx.query_one(
        "INSERT INTO game_progress (user_id, achievement_id, progress) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, achievement_id) DO UPDATE SET progress = CASE \
         WHEN excluded.progress > game_progress.progress THEN excluded.progress \
         ELSE game_progress.progress END RETURNING progress",
        &[user.into(), id.into(), progress.into()],
        |row| row.int(0),
    )?;
    Ok(kept.unwrap_or(progress))
}

/// Answers whether it was locked.
pub(crate) fn unlock(tx: &mut Tx<'_>, now: Timestamp, user: &str, id: &str) -> Result<bool> {
    let unlocked = tx.execute(
        "UPDATE game_progress SET unlocked_ms = $1 \
         WHERE user_id = $2 AND achievement_id = $3 AND unlocked_ms IS NULL",
        &[ms(now), user.into(), id.into()],
    )?;
    Ok(unlocked > 0)
}

pub(crate) fn unlocked(tx: &mut Tx<'_>, user: &str, id: &str) -> Result<Option<Timestamp>> {
    let sql = "SELECT unlocked_ms FROM game_progress WHERE user_id = $1 AND achievement_id = $2";
    Ok(tx.query_one(sql, &[user.into(), id.into()], |row| row.opt_time(0))?.flatten())
}
