//! The platform's data about players, besides the roster.

use lyceum_core::{Reach, Result};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::{Sql, SqlDialect, Tx, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::list_of;
use crate::input::PageRequest;
use crate::visible_games::VisibleGames;

/// The role of a user on the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlayerRole {
    /// Plays games.
    Player,
    /// Develops games.
    Developer,
    /// Administers the platform.
    Admin,
}

impl PlayerRole {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Player, Self::Developer, Self::Admin];

    /// The role with that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Developer => "developer",
            Self::Admin => "admin",
        }
    }
}

/// The active users within the reach who have played one of the games: id, username and given name, in the order in which
/// they were created.
pub(crate) fn list(
    tx: &mut Tx<'_>,
    games: &VisibleGames,
    page: PageRequest,
    reach: &Reach,
) -> Result<Vec<(String, String, String)>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT sourced_id, COALESCE(username, ''), COALESCE(given_name, '') FROM users \
         WHERE status = 'active'",
    );
    if let VisibleGames::Only(games) = games {
        let placeholder = sql.placeholder(list_of(games)?.as_str());
        sql.push(" AND ").push(&played(tx.dialect(), "users.sourced_id", &placeholder));
    }
    sql.push(" AND ");
    roster::refers_within(&mut sql, (&USER, "users.sourced_id"), reach)?;
    sql.push(" ORDER BY seq LIMIT ").bind(page.limit).push(" OFFSET ").bind(page.offset);
    tx.rows(&sql.text, &sql.values())
}

/// Whether a user has played one of the games.
pub(crate) fn has_played(tx: &mut Tx<'_>, user: &str, games: &[String]) -> Result<bool> {
    let list = list_of(games)?;
    // PostgreSQL cannot infer the type of a placeholder that is not compared with a column.
    let sql = format!("SELECT 1 WHERE {}", played(tx.dialect(), "CAST($1 AS TEXT)", "$2"));
    let found = tx.query_one(&sql, &[user.into(), list.as_str().into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// A condition: the user that the expression names has data in one of the games of the JSON array.
fn played(dialect: SqlDialect, user: &str, games: &str) -> String {
    let among = |game: &str| dialect::is_one_of(dialect, game, games);
    let traces = [
        ("game_sessions t", "t.user_id", among("t.game_id")),
        ("game_states t", "t.user_id", among("t.game_id")),
        ("game_bests t", "t.period = '' AND t.user_id", among("t.game_id")),
        ("game_visitors t", "t.id", among("t.game_id")),
        (
            "game_progress t JOIN game_achievements a ON a.id = t.achievement_id",
            "t.user_id",
            among("a.game_id"),
        ),
        (
            "lms_activities t JOIN lms_courses c ON c.course_id = t.course_id",
            "t.user_id",
            among("c.game_id"),
        ),
    ];
    let exists = |(table, column, is_there): &(&str, &str, String)| {
        format!("EXISTS (SELECT 1 FROM {table} WHERE {column} = {user} AND {is_there})")
    };
    format!("({})", traces.iter().map(exists).collect::<Vec<_>>().join(" OR "))
}

/// Role and developer status.
pub(crate) fn role_and_name(tx: &mut Tx<'_>, user: &str) -> Result<(PlayerRole, String)> {
    let sql = "SELECT role, developer_status FROM game_players WHERE user_id = $1";
    let found: Option<(String, String)> = tx.row(sql, &[user.into()])?;
    let standing =
        found.map(|(role, status)| (PlayerRole::of(&role).unwrap_or(PlayerRole::Player), status));
    Ok(standing.unwrap_or_else(|| (PlayerRole::Player, "none".to_owned())))
}

pub(crate) fn put_standing(
    tx: &mut Tx<'_>,
    user: &str,
    role: PlayerRole,
    status: &str,
) -> Result<()> {
    tx.send(
        "INSERT INTO game_players (user_id, role, developer_status, xp) VALUES ($1, $2, $3, 0) \
         ON CONFLICT (user_id) DO UPDATE SET role = excluded.role, \
         developer_status = excluded.developer_status",
        &[user.into(), role.name().into(), status.into()],
    )
}
