//! Reads single records, or all of a kind.

use std::collections::HashSet;

use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Row, Sql, Tx, dialect};

use super::put::Statements;
use super::reach::{self, RecordUse, find_within};
use crate::collections::{Collection, CollectionPart};
use crate::kind::RecordKind;
use crate::record::StoredRecord;

impl StoredRecord {
    /// Whether it is in use, by the second member of its canonical JSON.
    pub(crate) fn is_active(&self) -> bool {
        let key = "\",\"status\":\"";
        let at = self.body.find(key).expect("every body carries its status") + key.len();
        self.body[at..].starts_with("active")
    }

    pub(super) const COLUMNS: &'static str = "t.seq, t.version, t.body, t.extra";

    pub(super) fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.int(0)?,
            version: row.int(1)?,
            body: row.text(2)?.to_owned(),
            extra: row.opt_text(3)?.map(str::to_owned),
        })
    }
}

/// The record of the kind with that sourcedId, deleted ones included.
pub fn find(tx: &mut Tx<'_>, kind: &RecordKind, sourced_id: &str) -> Result<Option<StoredRecord>> {
    tx.query_one(&Statements::of(kind).find, &[sourced_id.into()], StoredRecord::read)
}

/// The record with that sourcedId if it belongs to the collection and lies within the reach.
pub fn find_in(
    tx: &mut Tx<'_>,
    collection: &Collection,
    sourced_id: &str,
    reach: &Reach,
) -> Result<Option<StoredRecord>> {
    if collection.part == CollectionPart::Whole {
        return find_within(tx, collection.kind, sourced_id, reach);
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {} FROM {} t", StoredRecord::COLUMNS, collection.kind.table));
    sql.push(" WHERE t.sourced_id = ").bind(sourced_id).push(" AND ");
    in_part(&mut sql, collection.part);
    sql.push(" AND ");
    reach::condition(&mut sql, (collection.kind, "t"), reach, RecordUse::See)?;
    tx.query_one(&sql.text.clone(), &sql.values(), StoredRecord::read)
}

/// The condition that a record of table `t` belongs to the part.
pub(super) fn in_part(sql: &mut Sql, part: CollectionPart) {
    match part {
        CollectionPart::Whole => sql.push("TRUE"),
        CollectionPart::OfType(word) => sql.push("t.type = ").bind(word),
        CollectionPart::WithRole(role) => sql
            .push("EXISTS (SELECT 1 FROM roster_link r WHERE r.field = 'user.roles.role' AND r.value = ")
            .bind(role)
            .push(" AND r.owner = t.seq)"),
    };
}

/// Whether no record of the kind is stored.
pub(crate) fn is_empty(tx: &mut Tx<'_>, kind: &RecordKind) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {} LIMIT 1", kind.table);
    Ok(tx.query_one(&sql, &[], |_| Ok(()))?.is_none())
}

/// Hands every record of the kind to `each`, in the order of their sourcedIds.
pub fn each(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    mut each: impl FnMut(&str, Option<&str>) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT body, extra FROM {} ORDER BY sourced_id", kind.table);
    tx.query(&sql, &[], |row| {
        each(row.text(0)?, row.opt_text(1)?)?;
        Ok(true)
    })
}

/// The ids whose records of the kind are in use.
pub fn in_use(tx: &mut Tx<'_>, kind: &RecordKind, ids: &[&str]) -> Result<HashSet<String>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT t.sourced_id FROM {} t WHERE {} AND t.status = 'active'",
        kind.table,
        dialect::is_one_of(tx.dialect(), "t.sourced_id", "$1")
    );
    let mut found = HashSet::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        found.insert(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(found)
}

/// Whether two records of the kind are in use both.
pub(crate) fn are_in_use(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    [one, other]: [&str; 2],
) -> Result<bool> {
    let sql = &Statements::of(kind).are_in_use;
    let found = tx.query_one(sql, &[one.into(), other.into()], |row| row.int(0))?;
    Ok(found == Some(1))
}

/// The texts of a user's active enrollments as a student in classes of the course.
pub fn learning(tx: &mut Tx<'_>, user: &str, course: &str) -> Result<Vec<String>> {
    let sql = "SELECT t.body FROM enrollments t JOIN classes c ON c.sourced_id = t.class_id \
               WHERE t.user_id = $1 AND c.course_id = $2 AND t.role = 'student' AND t.status = 'active'";
    tx.all(sql, &[user.into(), course.into()], |row| row.string(0))
}

/// The active user with the e-mail address, letters A-Z alike in both cases; of several the one that
/// was created first.
pub fn first_user_with_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<StoredRecord>> {
    let sql = format!(
        "SELECT {} FROM users t WHERE lower(t.email) = $1 AND t.status = 'active' \
         ORDER BY t.seq LIMIT 1",
        StoredRecord::COLUMNS
    );
    let email = email.to_ascii_lowercase();
    tx.query_one(&sql, &[email.as_str().into()], StoredRecord::read)
}

/// The active records of the kind behind the given number in the order of insertion, at most
/// `most` of them.
pub fn page(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    after: i64,
    most: i64,
) -> Result<Vec<StoredRecord>> {
    let sql = format!(
        "SELECT {} FROM {} t WHERE t.seq > $1 AND t.status = 'active' ORDER BY t.seq LIMIT $2",
        StoredRecord::COLUMNS,
        kind.table
    );
    let mut found = Vec::new();
    tx.query(&sql, &[after.into(), most.into()], |row| {
        found.push(StoredRecord::read(row)?);
        Ok(true)
    })?;
    Ok(found)
}

/// Hands sourcedId and JSON of each active record of the kind whose JSON holds one of the texts to
/// `each`, in the order of insertion; without texts of every one. No index helps: it reads the table.
pub fn mentioning(
    tx: &mut Tx<'_>,
    kind: &RecordKind,
    texts: &[String],
    mut each: impl FnMut(&str, &str) -> Result<()>,
) -> Result<()> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!(
        "SELECT t.sourced_id, t.body FROM {} t WHERE t.status = 'active'",
        kind.table
    ));
    for (index, text) in texts.iter().enumerate() {
        let placeholder = sql.placeholder(text.to_ascii_lowercase().as_str());
        let contains = lyceum_store::dialect::contains(sql.dialect, "t.body", &placeholder);
        sql.push(if index == 0 { " AND (" } else { " OR " }).push(&contains);
    }
    sql.push(if texts.is_empty() { "" } else { ")" }).push(" ORDER BY t.seq");
    tx.query(&sql.text, &sql.values(), |row| {
        each(row.text(0)?, row.text(1)?)?;
        Ok(true)
    })
}
