//! The table of levels, and players' XP.

use std::borrow::Cow;

use lyceum_core::Result;
use lyceum_events::limits::FACT_VALUE_MAX_COUNT;
use lyceum_store::{FromRow, Row, Tx, Value, columns};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// XP, exact to thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xp(pub i64);

impl Xp {
    /// The XP nearest to a number; `None` if it is negative or too large.
    pub fn of(number: f64) -> Option<Self> {
        let most = f64::from(FACT_VALUE_MAX_COUNT);
        #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
        (0.0..=most).contains(&number).then(|| Self((number * 1000.0).round() as i64))
    }

    /// The XP nearest to a number, which may be negative after corrections.
    pub fn nearest(number: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a sum of what was earned")]
        Self((number * 1000.0).round() as i64)
    }

    /// The XP as a number.
    pub fn number(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let thousandths = self.0 as f64;
        thousandths / 1000.0
    }
}

impl FromRow<'_> for Xp {
    const WIDTH: usize = 1;

    fn from_row(row: &Row<'_>, at: usize) -> Result<Self> {
        row.int(at).map(Self)
    }
}

impl Serialize for Xp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 1000 {
            0 => serializer.serialize_i64(self.0 / 1000),
            _ => serializer.serialize_f64(self.number()),
        }
    }
}

impl JsonSchema for Xp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Xp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// A level.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// From 1.
    pub level: i64,
    /// The XP at which it begins.
    pub xp_required: Xp,
    /// The credits for reaching it.
    pub credits_reward: i64,
}

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
