//! Players who are not in the roster.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Row, Tx};

use super::ms;
use crate::visitors::Visitor;

const COLUMNS: &str = "id, game_id, username, name, email";

fn read(row: &Row<'_>) -> Result<Visitor> {
    Ok(Visitor {
        id: row.string(0)?,
        game: row.opt_string(1)?,
        username: row.string(2)?,
        name: row.string(3)?,
        email: row.string(4)?,
    })
}

/// Puts a visitor; one of the same person keeps its id.
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
    tx.query_one(&sql, &[id.into()], read)
}

pub(crate) fn of_person(tx: &mut Tx<'_>, person: &str) -> Result<Option<Visitor>> {
    let sql = format!("SELECT {COLUMNS} FROM game_visitors WHERE person_id = $1");
    tx.query_one(&sql, &[person.into()], read)
}

pub(crate) fn renew(tx: &mut Tx<'_>, id: &str, ends: Timestamp) -> Result<()> {
    tx.send("UPDATE game_visitors SET ends_ms = $1 WHERE id = $2", &[ms(ends), id.into()])
}

/// The ids of those whose time is over, the oldest first.
pub(crate) fn over(tx: &mut Tx<'_>, now: Timestamp, most: i64) -> Result<Vec<String>> {
    let sql = "SELECT id FROM game_visitors WHERE ends_ms < $1 ORDER BY ends_ms LIMIT $2";
    tx.all(sql, &[ms(now), most.into()], |row| row.string(0))
}

/// Removes a demo visitor with all that the visitor may write.
pub(crate) fn forget(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    for sql in [
        "DELETE FROM game_demo_scores WHERE user_id = $1",
        "DELETE FROM game_demo_bests WHERE user_id = $1",
        "DELETE FROM game_requests WHERE user_id = $1",
        "DELETE FROM game_visitors WHERE id = $1",
    ] {
        tx.send(sql, &[id.into()])?;
    }
    Ok(())
}
