//! Records found by the words of their names.
//!
//! Words of names are rows of `roster_link`, in lower case and without accents, which the server folds itself:
//! full-text searches of the stores split and fold differently. A word of a search is the beginning of a word, so it
//! is one range of the key.

use std::collections::BTreeSet;

use lyceum_core::{Reach, Result};
use lyceum_store::{Sql, Tx};

use super::reach::{RecordUse, condition};
use crate::kind::RecordKind;
use crate::record::{Object, members};
use crate::rules::name;

/// A search by the words of names.
#[derive(Clone, Copy, Debug)]
pub struct NameSearch<'s> {
    /// The words of [`lyceum_core::text::name_words`]. A name fits if each of them begins one of its words.
    pub words: &'s BTreeSet<String>,
    /// The part of the roster that the caller sees.
    pub reach: &'s Reach,
    /// The most records to find.
    pub most: i64,
}

/// The active records of the kind that the search finds; none if it has no words. `order` names the columns of table
/// `t` by which they are sorted. Users must have the role of a student or must not have it; `is_student` is `None` for
/// other kinds.
pub fn find_by_name(
    tx: &mut Tx<'_>,
    kind: &'static RecordKind,
    NameSearch { words, reach, most }: NameSearch<'_>,
    order: &'static str,
    is_student: Option<bool>,
) -> Result<Vec<Object>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT t.body, t.extra FROM {} t WHERE t.seq IN (", kind.table));
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            sql.push(" INTERSECT ");
        }
        begins_with(&mut sql, kind, word);
    }
    sql.push(") AND t.status = 'active' AND ");
    condition(&mut sql, (kind, "t"), reach, RecordUse::See)?;
    if let Some(is_student) = is_student {
        sql.push(if is_student { " AND " } else { " AND NOT " });
        sql.push(
            "EXISTS (SELECT 1 FROM roster_link r WHERE r.field = 'user.roles.role' AND r.value = 'student' AND r.owner = t.seq)",
        );
    }
    sql.push(&format!(" ORDER BY {order}, t.seq LIMIT ")).bind(most);
    let mut found = Vec::new();
    tx.query(&sql.text, &sql.values(), |row| {
        found.push(members(row.text(0)?, row.opt_text(1)?)?);
        Ok(true)
    })?;
    Ok(found)
}

/// Appends the statement that selects the numbers of the records of the kind with a name of which a word begins so.
pub(super) fn begins_with(sql: &mut Sql, kind: &RecordKind, word: &str) {
    // The highest character ends the range of all texts that begin with the word.
    sql.push("SELECT n.owner FROM roster_link n WHERE n.field = ")
        .bind(name::link_field(kind.one).as_str())
        .push(" AND n.value >= ")
        .bind(word)
        .push(" AND n.value < ")
        .bind(format!("{word}\u{10ffff}").as_str());
}
