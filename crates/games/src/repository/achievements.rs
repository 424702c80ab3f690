//! Achievements, and players' progress.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};
use schemars::JsonSchema;
use serde::Serialize;

use super::levels::Xp;
use super::ms;

/// A goal of a game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Achievement {
    /// A UUID.
    pub id: String,
    /// The game's id.
    pub game_id: String,
    /// Its name in the game's code.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How to reach it.
    pub description: Option<String>,
    /// The progress at which it is unlocked.
    pub goal: i64,
    /// The XP for unlocking it.
    pub xp_reward: Xp,
    /// The credits for unlocking it.
    pub credits_reward: i64,
}

/// An achievement with a player's progress.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AchievementProgress {
    /// The achievement.
    #[serde(flatten)]
    pub achievement: Achievement,
    /// From 0 to the goal.
    pub progress: i64,
    /// When it was unlocked.
    pub unlocked_at: Option<Timestamp>,
}

columns!(Achievement {
    id: "a.id",
    game_id: "a.game_id",
    name: "a.name",
    title: "a.title",
    description: "a.description",
    goal: "a.goal",
    xp_reward: "a.xp",
    credits_reward: "a.credits",
});

pub(crate) fn find(tx: &mut Tx<'_>, game: &str, name: &str) -> Result<Option<Achievement>> {
    let columns = Achievement::COLUMNS;
    let sql =
        format!("SELECT {columns} FROM game_achievements a WHERE a.game_id = $1 AND a.name = $2");
    tx.row(&sql, &[game.into(), name.into()])
}

pub(crate) fn count(tx: &mut Tx<'_>, game: &str) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM game_achievements WHERE game_id = $1";
    Ok(tx.row(sql, &[game.into()])?.unwrap_or_default())
}

/// Creates or replaces the achievement with this game and name.
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

pub(crate) fn of_user(tx: &mut Tx<'_>, game: &str, user: &str) -> Result<Vec<AchievementProgress>> {
    let columns = Achievement::COLUMNS;
    let sql = format!(
        "SELECT {columns}, p.progress, p.unlocked_ms FROM game_achievements a \
         LEFT JOIN game_progress p ON p.achievement_id = a.id AND p.user_id = $1 \
         WHERE a.game_id = $2 ORDER BY a.name"
    );
    let rows = tx.rows(&sql, &[user.into(), game.into()])?;
    let reached = |(achievement, progress, unlocked_at): (Achievement, Option<i64>, _)| {
        let progress = progress.unwrap_or_default().min(achievement.goal);
        AchievementProgress { achievement, progress, unlocked_at }
    };
    Ok(rows.into_iter().map(reached).collect())
}

/// Returns the new progress, which never decreases.
pub(crate) fn advance(tx: &mut Tx<'_>, user: &str, id: &str, progress: i64) -> Result<i64> {
    let stored = tx.row(
        "INSERT INTO game_progress (user_id, achievement_id, progress) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, achievement_id) DO UPDATE SET progress = CASE \
         WHEN excluded.progress > game_progress.progress THEN excluded.progress \
         ELSE game_progress.progress END RETURNING progress",
        &[user.into(), id.into(), progress.into()],
    )?;
    Ok(stored.unwrap_or(progress))
}

/// Returns whether it was locked.
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
    Ok(tx.row(sql, &[user.into(), id.into()])?.flatten())
}
