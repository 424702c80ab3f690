//! Actors in the log that are not in the roster.

use lyceum_core::Result;
use lyceum_store::Tx;

/// An unknown actor: no user has its id or e-mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownActor {
    /// The actor's IRI.
    pub iri: String,
    /// The e-mail address; empty if there is none.
    pub email: String,
}

const CONDITION: &str = "NOT EXISTS (SELECT 1 FROM users u WHERE u.sourced_id = a.person) \
    AND NOT EXISTS (SELECT 1 FROM users u WHERE a.email <> '' \
    AND lower(u.email) = lower(a.email) AND u.status = 'active')";

/// The number of unknown actors. The query scans all actors.
pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = format!("SELECT COUNT(*) FROM event_actors a WHERE {CONDITION}");
    Ok(tx.query_one(&sql, &[], |row| row.int(0))?.unwrap_or_default())
}

/// The unknown actors, newest first, at most `most`.
pub fn list(tx: &mut Tx<'_>, most: i64) -> Result<Vec<UnknownActor>> {
    let sql = format!(
        "SELECT a.iri, a.email FROM event_actors a WHERE {CONDITION} ORDER BY a.id DESC LIMIT $1"
    );
    let mut found = Vec::new();
    tx.query(&sql, &[most.into()], |row| {
        found.push(UnknownActor { iri: row.text(0)?.to_owned(), email: row.text(1)?.to_owned() });
        Ok(true)
    })?;
    Ok(found)
}
