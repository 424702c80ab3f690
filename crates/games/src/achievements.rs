//! Achievements: goals of a game, each of which a player unlocks once.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_events::limits::FACT_VALUE_MAX_COUNT;
use lyceum_project::limits::GAME_SLUG_MAX_CHARS;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::input::Faults;
use crate::levels::Xp;
use crate::limits;
use crate::repository::achievements as repository;
use crate::{inventory, levels, notifications};

pub use crate::repository::achievements::{Achievement, AchievementProgress};

/// An achievement to create or replace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AchievementDefinition {
    /// Its name for people.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    title: String,
    /// How to unlock it.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    description: Option<String>,
    /// The progress at which it is unlocked.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = limits::INVENTORY_MAX_COUNT))]
    goal: i64,
    /// The XP for unlocking it.
    #[serde(default)]
    #[schemars(range(min = 0, max = FACT_VALUE_MAX_COUNT))]
    xp_reward: f64,
    /// The credits for unlocking it.
    #[serde(default)]
    #[schemars(range(min = 0, max = limits::INVENTORY_MAX_COUNT))]
    credits_reward: i64,
}

fn one() -> i64 {
    1
}

/// Defines an achievement of a game, or replaces the one with the same name. Players keep their progress. Returns
/// whether it is new.
///
/// Errors: `Invalid`; `Conflict` if the game has reached its limit of achievements.
pub fn define(
    tx: &mut Tx<'_>,
    game: &str,
    name: &str,
    new: AchievementDefinition,
) -> Result<(Achievement, bool)> {
    let mut faults = Faults::default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let is_name = (1..=GAME_SLUG_MAX_CHARS).contains(&name.len()) && name.bytes().all(plain);
    faults.unless(is_name, "name", "must have 1 to 50 letters, digits, '_', '-' and '.'");
    faults.text("title", &new.title);
    faults.opt_text("description", new.description.as_deref());
    faults.into_result()?;
    let known = repository::find(tx, game, name)?;
    if known.is_none() {
        let most = limits::ACHIEVEMENTS_MAX_COUNT;
        if repository::count(tx, game)? >= most {
            let message = message!("the limit for achievements of a game is {most}");
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
    }
    let is_new = known.is_none();
    let achievement = Achievement {
        id: known.map_or_else(|| Uuid::now_v7().to_string(), |known| known.id),
        game_id: game.to_owned(),
        name: name.to_owned(),
        title: new.title,
        description: new.description,
        goal: new.goal,
        xp_reward: Xp::of(new.xp_reward).unwrap_or_default(),
        credits_reward: new.credits_reward,
    };
    repository::put(tx, &achievement)?;
    Ok((achievement, is_new))
}

/// The achievements of a game by name, with a player's progress.
pub fn of_user(tx: &mut Tx<'_>, game: &str, user: &str) -> Result<Vec<AchievementProgress>> {
    repository::of_user(tx, game, user)
}

/// Records a player's progress, which never decreases. At the goal, the achievement is unlocked once, with its
/// rewards and a notification. Without a progress, it is unlocked at once.
///
/// Errors: `NotFound`.
pub fn advance(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    name: &str,
    progress: Option<i64>,
) -> Result<AchievementProgress> {
    let achievement = repository::find(tx, game, name)?.ok_or_else(|| {
        let message = message!("the game has no achievement '{name}'");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let progress = progress.unwrap_or(achievement.goal);
    let progress = progress.min(achievement.goal);
    let progress = repository::advance(tx, user, &achievement.id, progress)?;
    if progress >= achievement.goal && repository::unlock(tx, now, user, &achievement.id)? {
        reward(tx, now, user, &achievement)?;
    }
    let unlocked_at = repository::unlocked(tx, user, &achievement.id)?;
    Ok(AchievementProgress { progress: progress.min(achievement.goal), unlocked_at, achievement })
}

/// The progress of a player towards an achievement.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct NewAchievementProgress {
    /// From 0. Values above the goal count as the goal.
    #[schemars(range(min = 0))]
    pub progress: i64,
}

fn reward(tx: &mut Tx<'_>, now: Timestamp, user: &str, unlocked: &Achievement) -> Result<()> {
    let news = notifications::NewNotification {
        kind: "achievement",
        title: unlocked.title.clone(),
        message: format!("You have unlocked '{}'", unlocked.title),
        metadata: json!({
            "achievementId": unlocked.id, "gameId": unlocked.game_id, "name": unlocked.name,
            "xp": unlocked.xp_reward, "credits": unlocked.credits_reward,
        }),
    };
    notifications::notify(tx, now, user, news)?;
    inventory::credit(tx, now, user, unlocked.credits_reward)?;
    levels::earn(tx, now, user, unlocked.xp_reward)
}
