//! Compares a package that is sent again with the stored one.

use std::collections::BTreeMap;

use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx};
use serde_json::Value;

use crate::package::Package;
use crate::record::Record;
use crate::single::SentRecord;

/// The texts that a record is kept in.
type Texts = (String, Option<String>, Option<String>);

fn texts(row: &Row<'_>, from: usize) -> Result<Texts> {
    Ok((row.string(from)?, row.opt_string(from + 1)?, row.opt_string(from + 2)?))
}

fn texts_of(record: &Record) -> Texts {
    (record.body.clone(), record.extensions.clone(), record.beyond.clone())
}

/// The record that a table has under the identifier: its framework's number, and whether it says what is
/// sent. A time of change that was not sent does not count as a difference.
pub(super) fn stored(
    tx: &mut Tx<'_>,
    table: &str,
    sent: &SentRecord,
) -> Result<Option<(i64, bool)>> {
    let framework = if table == "case_document" { "seq" } else { "document" };
    let sql = format!("SELECT {framework}, body, extensions, beyond FROM {table} WHERE id = $1");
    let read = |row: &Row<'_>| Ok((row.int(0)?, texts(row, 1)?));
    let Some((document, stored)) = tx.query_one(&sql, &[(&sent.record.id).into()], read)? else {
        return Ok(None);
    };
    let (body, extensions, beyond) = texts_of(&sent.record);
    let members = |body: &str| -> Result<Value> {
        let mut body: Value = serde_json::from_str(body).map_err(Problem::internal)?;
        if let Some(members) = body.as_object_mut().filter(|_| !sent.has_time) {
            members.shift_remove("lastChangeDateTime");
        }
        Ok(body)
    };
    let is_same = members(&stored.0)? == members(&body)?;
    Ok(Some((document, is_same && (stored.1, stored.2) == (extensions, beyond))))
}

/// Whether a framework holds what the package does, and nothing else.
pub(super) fn holds(tx: &mut Tx<'_>, document: i64, package: &Package) -> Result<bool> {
    let sql = "SELECT body, extensions, beyond, parts, rest FROM case_document WHERE seq = $1";
    let outer = tx.query_one(sql, &[document.into()], |row| {
        Ok((texts(row, 0)?, row.string(3)?, row.opt_string(4)?))
    })?;
    let sent = (texts_of(&package.document.record), package.parts.clone(), package.rest.clone());
    if outer != Some(sent) {
        return Ok(false);
    }
    let items = package.items.iter().map(|one| ("CFItem", &one.record));
    let associations = package.associations.iter().map(|one| ("CFAssociation", &one.record));
    let definitions = package.definitions.iter().map(|one| (one.class.name, &one.record));
    let sent: BTreeMap<(String, String), Texts> = items
        .chain(associations)
        .chain(definitions)
        .map(|(class, record)| ((class.to_owned(), record.id.clone()), texts_of(record)))
        .collect();
    let mut stored = BTreeMap::new();
    for (class, table) in [
        ("'CFItem'", "case_item"),
        ("'CFAssociation'", "case_association"),
        ("class", "case_definition"),
    ] {
        let sql = format!(
            "SELECT {class}, id, body, extensions, beyond FROM {table} WHERE document = $1"
        );
        tx.query(&sql, &[document.into()], |row| {
            stored.insert((row.string(0)?, row.string(1)?), texts(row, 2)?);
            Ok(true)
        })?;
    }
    Ok(sent == stored)
}
