//! Levels: a table, which is stored data, says at which XP each level begins.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::limits;
use crate::repository::levels as repository;
use crate::{inventory, notifications};

pub use crate::repository::levels::{Level, Xp};

/// A player's level and XP.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LevelProgress {
    /// The level.
    pub level: i64,
    /// XP from activities, corrections and achievements.
    pub total_xp: Xp,
    /// XP since the beginning of the level.
    pub current_xp: Xp,
    /// XP until the next level; `None` on the highest level.
    pub xp_to_next_level: Option<Xp>,
    /// Percentage of the way to the next level; 100 on the highest level.
    pub percent: i64,
}

/// A new table of levels.
#[derive(Deserialize, JsonSchema)]
pub struct NewLevels {
    /// The levels from the first on.
    #[schemars(length(min = 1, max = limits::LEVELS_MAX_COUNT))]
    levels: Vec<NewLevel>,
}

/// A level of a new table.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewLevel {
    /// From 1.
    level: i64,
    /// The XP at which it begins: 0 for the first level, and more than for the level before.
    #[schemars(range(min = 0))]
    xp_required: f64,
    /// The credits for reaching it.
    #[serde(default)]
    #[schemars(range(min = 0, max = limits::INVENTORY_MAX_COUNT))]
    credits_reward: i64,
}

impl NewLevels {
    /// The table.
    ///
    /// Errors: `Invalid` unless levels count from 1, the first begins at 0 XP and each begins above the one
    /// before.
    pub fn table(self) -> Result<Vec<Level>> {
        let mut table: Vec<Level> = Vec::new();
        for (number, row) in (1..).zip(self.levels) {
            let at = |member: &str| format!("levels[{}].{member}", number - 1);
            if row.level != number {
                return Err(Problem::invalid(
                    at("level"),
                    message!("must be {number}: levels count"),
                ));
            }
            let xp = Xp::of(row.xp_required).filter(|xp| match table.last() {
                None => xp.0 == 0,
                Some(former) => *xp > former.xp_required,
            });
            let Some(xp_required) = xp else {
                let rule = "must be 0 for the first level and above the one before for others";
                return Err(Problem::invalid(at("xpRequired"), rule));
            };
            table.push(Level { level: number, xp_required, credits_reward: row.credits_reward });
        }
        Ok(table)
    }
}

/// The table of levels.
pub fn table(tx: &mut Tx<'_>) -> Result<Vec<Level>> {
    repository::table(tx)
}

/// Replaces the table. Players change to their new levels at once, without rewards.
pub fn set_table(tx: &mut Tx<'_>, table: &[Level]) -> Result<()> {
    repository::set_table(tx, table)
}

/// A player's level and XP.
pub fn progress(tx: &mut Tx<'_>, user: &str) -> Result<LevelProgress> {
    let table = table(tx)?;
    let total_xp = repository::xp(tx, user)?;
    // Penalties and corrections may take away more than a player has.
    let counted_xp = total_xp.max(Xp(0));
    let level = level_of(&table, counted_xp)?;
    let next = table.iter().find(|row| row.level == level.level + 1);
    let current_xp = Xp(counted_xp.0 - level.xp_required.0);
    let width = next.map(|next| next.xp_required.0 - level.xp_required.0);
    Ok(LevelProgress {
        level: level.level,
        total_xp,
        current_xp,
        xp_to_next_level: next.map(|next| Xp(next.xp_required.0 - total_xp.0)),
        percent: width.map_or(100, |width| current_xp.0 * 100 / width),
    })
}

/// Adds XP to a player, or takes XP away if they are below 0. Each level brings its credits and a
/// notification once, when it is reached for the first time.
pub fn earn(tx: &mut Tx<'_>, now: Timestamp, user: &str, xp: Xp) -> Result<()> {
    if xp.0 == 0 {
        return Ok(());
    }
    let (highest, total) = repository::add_xp(tx, user, xp)?;
    let table = table(tx)?;
    let reached = table.iter().filter(|row| row.xp_required > highest && row.xp_required <= total);
    for level in reached {
        inventory::credit(tx, now, user, level.credits_reward)?;
        let news = notifications::NewNotification {
            kind: "level",
            title: format!("Level {}", level.level),
            message: format!("You have reached level {}", level.level),
            metadata: json!({ "level": level.level, "credits": level.credits_reward }),
        };
        notifications::notify(tx, now, user, news)?;
    }
    Ok(())
}

fn level_of(table: &[Level], xp: Xp) -> Result<Level> {
    let reached = table.iter().rev().find(|row| row.xp_required <= xp);
    reached.copied().ok_or_else(|| Problem::internal("the table of levels has no level for 0 XP"))
}
