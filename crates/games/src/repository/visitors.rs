//! Visitors: players who are not in the roster.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, columns, dialect};

use super::ms;

/// A player who is not in the roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The id, which does not reveal whose it is.
    pub id: String,
    /// The only game that a demo visitor may play.
    pub game: Option<String>,
    /// The name that others see.
    pub username: String,
    /// The name; empty for demo visitors.
    pub name: String,
    /// The email address; empty for demo visitors.
    pub email: String,
}

impl Visitor {
    /// Whether the visitor is an anonymous demo visitor.
    pub fn is_demo(&self) -> bool {
        self.game.is_some()
    }
}

columns!(Visitor { id: "id", game: "game_id", username: "username", name: "name", email: "email" });

const COLUMNS: &str = Visitor::COLUMNS;

/// Inserts or updates a visitor. The visitor of a person keeps its id.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    visitor: &Visitor,
    person: Option<&str>,
    ends: Option<Timestamp>,
) -> Result<()> {
    tx.send(
        "INSERT INTO game_visitors (id, game_id, username, name, email, person_id, made_ms, ends_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (person_id) DO UPDATE SET username = excluded.username, \
         name = excluded.name, email = excluded.email",
        &[
            (&visitor.id).into(),
            visitor.game.as_deref().into(),
            (&visitor.username).into(),
            (&visitor.name).into(),
            (&visitor.email).into(),
            person.into(),
            ms(now),
            ends.map(Timestamp::milliseconds).into(),
        ],
    )
}

pub(crate) fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Visitor>> {
    let sql = format!("SELECT {COLUMNS} FROM game_visitors WHERE id = $1");
    tx.row(&sql, &[id.into()])
}

pub(crate) fn of_person(tx: &mut Tx<'_>, person: &str) -> Result<Option<Visitor>> {
    let sql = format!("SELECT {COLUMNS} FROM game_visitors WHERE person_id = $1");
    tx.row(&sql, &[person.into()])
}

pub(crate) fn renew(tx: &mut Tx<'_>, id: &str, ends: Timestamp) -> Result<()> {
    tx.send("UPDATE game_visitors SET ends_ms = $1 WHERE id = $2", &[ms(ends), id.into()])
}

/// The ids of expired visitors, oldest first.
pub(crate) fn expired(tx: &mut Tx<'_>, now: Timestamp, most: i64) -> Result<Vec<String>> {
    let sql = "SELECT id FROM game_visitors WHERE ends_ms < $1 ORDER BY ends_ms LIMIT $2";
    tx.rows(sql, &[ms(now), most.into()])
}

/// The usernames of the ids that belong to visitors, in one statement.
pub(crate) fn usernames(tx: &mut Tx<'_>, ids: &[&str]) -> Result<HashMap<String, String>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let is_asked = dialect::is_one_of(tx.dialect(), "id", "$1");
    let sql = format!("SELECT id, username FROM game_visitors WHERE {is_asked}");
    Ok(tx.rows(&sql, &[(&list).into()])?.into_iter().collect())
}

/// Deletes demo visitors with everything that they wrote.
pub(crate) fn forget(tx: &mut Tx<'_>, ids: &[String]) -> Result<()> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    for (table, column) in [
        ("game_demo_scores", "user_id"),
        ("game_demo_bests", "user_id"),
        ("game_keyed_requests", "user_id"),
        ("game_visitors", "id"),
    ] {
        let is_theirs = dialect::is_one_of(tx.dialect(), column, "$1");
        tx.send(&format!("DELETE FROM {table} WHERE {is_theirs}"), &[(&list).into()])?;
    }
    Ok(())
}
