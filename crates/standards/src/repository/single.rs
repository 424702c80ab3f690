//! Single frameworks, items and associations: added, replaced, removed. What is changed inside a
//! framework changes the framework's own time.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use super::same;
use super::write::{
    WriteOutcome, at, empty, framework, id_in_use, insert_document, insert_words, missing, present,
    stamp, update_document,
};
use crate::class::{ASSOCIATION, CHILD_OF, ITEM};
use crate::limits;
use crate::package::{Association, Document, Item};
use crate::single::SentRecord;

/// Stores an empty framework. Sending the same one again is not an error (a safe retry). Errors: `Conflict`
/// if another framework has its identifier.
pub fn add_document(tx: &mut Tx<'_>, now: Timestamp, sent: &SentRecord) -> Result<WriteOutcome> {
    if let Some((_, is_same)) = same::stored(tx, "case_document", sent)? {
        return if is_same { Ok(WriteOutcome::Unchanged) } else { Err(id_in_use(&sent.record.id)) };
    }
    let document = Document::of(sent.record.clone(), &sent.known);
    let seq = insert_document(tx, &document, r#"["CFItems","CFAssociations"]"#, None)?;
    stamp(tx, seq, now)?;
    Ok(WriteOutcome::Created)
}

/// Replaces a framework's own record. Errors: `NotFound`.
pub fn replace_document(
    tx: &mut Tx<'_>,
    now: Timestamp,
    sent: &SentRecord,
) -> Result<WriteOutcome> {
    let id = &sent.record.id;
    let seq = framework(tx, id)?.ok_or_else(|| missing(id))?;
    update_document(tx, seq, &Document::of(sent.record.clone(), &sent.known))?;
    stamp(tx, seq, now)?;
    Ok(WriteOutcome::Replaced)
}

/// Removes a framework with all that is in it. Errors: `NotFound`.
pub fn remove_document(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    let seq = framework(tx, id)?.ok_or_else(|| missing(id))?;
    empty(tx, seq)?;
    tx.note_removed(("framework", id), None, now)?;
    tx.send("DELETE FROM case_document WHERE seq = $1", &[seq.into()])
}

/// Adds an item behind the others of the framework that it names. The same item may be sent again. Errors: `Invalid` if
/// the framework is not named or does not exist; `Conflict` if the identifier is taken.
pub fn add_item(tx: &mut Tx<'_>, now: Timestamp, sent: &SentRecord) -> Result<WriteOutcome> {
    let document = require_document(tx, "CFItem", sent.framework.as_deref())?;
    if let Some(former) = same::stored(tx, "case_item", sent)? {
        return retried(ITEM.name, former, Some(document), sent);
    }
    let item = Item::of(sent.record.clone(), &sent.known);
    let record = &item.record;
    let changed = record.changed.to_string();
    let seq = tx.query_one(
        "INSERT INTO case_item (id, document, changed, body, extensions, beyond) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING RETURNING seq",
        &[
            (&record.id).into(),
            document.into(),
            (&changed).into(),
            (&record.body).into(),
            record.extensions.as_deref().into(),
            record.beyond.as_deref().into(),
        ],
        |row| row.int(0),
    )?;
    let seq = seq.ok_or_else(|| occupied(ITEM.name, &record.id))?;
    insert_words(tx, item.words.iter().map(|word| (word.as_str(), seq)))?;
    touch(tx, document, now)?;
    Ok(WriteOutcome::Created)
}

/// The outcome of adding a record whose identifier exists.
fn retried(
    class: &str,
    (stored_in, is_same): (i64, bool),
    named: Option<i64>,
    sent: &SentRecord,
) -> Result<WriteOutcome> {
    match is_same && named.is_none_or(|named| named == stored_in) {
        true => Ok(WriteOutcome::Unchanged),
        false => Err(occupied(class, &sent.record.id)),
    }
}

/// Replaces an item where it stands. Errors: `NotFound`; `Invalid` where it names another framework.
pub fn replace_item(tx: &mut Tx<'_>, now: Timestamp, sent: &SentRecord) -> Result<WriteOutcome> {
    let (seq, document) = place(tx, "case_item", ITEM.name, &sent.record.id)?;
    refuse_move(tx, ITEM.name, document, sent)?;
    update(tx, "case_item", seq, sent)?;
    tx.send("DELETE FROM case_word WHERE item = $1", &[seq.into()])?;
    let item = Item::of(sent.record.clone(), &sent.known);
    insert_words(tx, item.words.iter().map(|word| (word.as_str(), seq)))?;
    touch(tx, document, now)?;
    Ok(WriteOutcome::Replaced)
}

/// Removes an item and the associations of its framework that refer to it. Its children become roots.
/// Errors: `NotFound`.
pub fn remove_item(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    let (seq, document) = place(tx, "case_item", ITEM.name, id)?;
    tx.send("DELETE FROM case_word WHERE item = $1", &[seq.into()])?;
    tx.send("DELETE FROM case_item WHERE seq = $1", &[seq.into()])?;
    for sql in [
        "DELETE FROM case_association WHERE origin = $1 AND document = $2",
        "DELETE FROM case_association WHERE destination = $1 AND document = $2",
    ] {
        tx.send(sql, &[id.into(), document.into()])?;
    }
    touch(tx, document, now)
}

/// Adds an association to the framework that it names, or to the one that its origin belongs to. Sending it again
/// is not an error (a safe retry). Errors: `Invalid` if an end does not exist or the association would create a
/// cycle; `Conflict`.
pub fn add_association(tx: &mut Tx<'_>, now: Timestamp, sent: &SentRecord) -> Result<WriteOutcome> {
    let one = Association::of(sent.record.clone(), &sent.known);
    if let Some(former) = same::stored(tx, "case_association", sent)? {
        let document = match &sent.framework {
            None => None,
            named_framework => {
                Some(require_document(tx, ASSOCIATION.name, named_framework.as_deref())?)
            }
        };
        return retried(ASSOCIATION.name, former, document, sent);
    }
    let document = match &sent.framework {
        Some(_) => require_document(tx, ASSOCIATION.name, sent.framework.as_deref())?,
        None => {
            let sql = "SELECT document FROM case_item WHERE id = $1";
            let of_origin = tx.query_one(sql, &[(&one.origin).into()], |row| row.int(0))?;
            of_origin.ok_or_else(|| {
                at(
                    "CFAssociation.CFDocumentURI",
                    "is required, because this server does not have the item of the origin".into(),
                )
            })?
        }
    };
    check_ends(tx, &one)?;
    let (record, changed) = (&one.record, one.record.changed.to_string());
    let added = tx.execute(
        "INSERT INTO case_association (id, document, type, origin, destination, changed, body, \
         extensions, beyond) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING",
        &[
            (&record.id).into(),
            document.into(),
            (&one.ty).into(),
            (&one.origin).into(),
            (&one.destination).into(),
            (&changed).into(),
            (&record.body).into(),
            record.extensions.as_deref().into(),
            record.beyond.as_deref().into(),
        ],
    )?;
    match added {
        0 => Err(occupied(ASSOCIATION.name, &record.id)),
        _ => touch(tx, document, now).map(|()| WriteOutcome::Created),
    }
}

/// Replaces an association. Errors: `NotFound`, and as [`add_association`].
pub fn replace_association(
    tx: &mut Tx<'_>,
    now: Timestamp,
    sent: &SentRecord,
) -> Result<WriteOutcome> {
    let (seq, document) = place(tx, "case_association", ASSOCIATION.name, &sent.record.id)?;
    refuse_move(tx, ASSOCIATION.name, document, sent)?;
    let one = Association::of(sent.record.clone(), &sent.known);
    // The old association must not count as a path from the child to its parent.
    let sql = "UPDATE case_association SET type = '', origin = '', destination = '' WHERE seq = $1";
    tx.send(sql, &[seq.into()])?;
    check_ends(tx, &one)?;
    update(tx, "case_association", seq, sent)?;
    tx.send(
        "UPDATE case_association SET type = $1, origin = $2, destination = $3 WHERE seq = $4",
        &[(&one.ty).into(), (&one.origin).into(), (&one.destination).into(), seq.into()],
    )?;
    touch(tx, document, now)?;
    Ok(WriteOutcome::Replaced)
}

/// Removes an association. Errors: `NotFound`.
pub fn remove_association(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    let (seq, document) = place(tx, "case_association", ASSOCIATION.name, id)?;
    tx.send("DELETE FROM case_association WHERE seq = $1", &[seq.into()])?;
    touch(tx, document, now)
}

fn occupied(class: &str, id: &str) -> Problem {
    let message = message!(
        "a {class} with the identifier '{id}' exists already with other values; replace it with PUT"
    );
    Problem::new(ProblemKind::Conflict, message)
}

/// The row of the framework that a record names.
fn require_document(tx: &mut Tx<'_>, class: &str, id: Option<&str>) -> Result<i64> {
    let path = format!("{class}.CFDocumentURI.identifier");
    let id =
        id.ok_or_else(|| at(&path, "is required; send the identifier of the framework".into()))?;
    framework(tx, id)?
        .ok_or_else(|| at(&path, message!("there is no framework with the identifier '{id}'")))
}

/// Row and framework of a record.
fn place(tx: &mut Tx<'_>, table: &str, class: &str, id: &str) -> Result<(i64, i64)> {
    let sql = format!("SELECT seq, document FROM {table} WHERE id = $1");
    let found = tx.query_one(&sql, &[id.into()], |row| Ok((row.int(0)?, row.int(1)?)))?;
    found.ok_or_else(|| Problem::not_found(class, id))
}

/// Refuses to move a record into another framework.
fn refuse_move(tx: &mut Tx<'_>, class: &str, document: i64, sent: &SentRecord) -> Result<()> {
    if sent.framework.is_some()
        && require_document(tx, class, sent.framework.as_deref())? != document
    {
        let path = format!("{class}.CFDocumentURI.identifier");
        return Err(at(
            &path,
            "must not change; delete the record and create it in the other framework".into(),
        ));
    }
    Ok(())
}

fn update(tx: &mut Tx<'_>, table: &str, seq: i64, sent: &SentRecord) -> Result<()> {
    let (record, changed) = (&sent.record, sent.record.changed.to_string());
    tx.send(
        &format!(
            "UPDATE {table} SET changed = $1, body = $2, extensions = $3, beyond = $4 WHERE seq = $5"
        ),
        &[
            (&changed).into(),
            (&record.body).into(),
            record.extensions.as_deref().into(),
            record.beyond.as_deref().into(),
            seq.into(),
        ],
    )
}

/// Checks that the ends of an association exist and that it creates no cycle.
fn check_ends(tx: &mut Tx<'_>, one: &Association) -> Result<()> {
    let ends = [one.origin.as_str(), one.destination.as_str()];
    let mut known = present(tx, "case_item", &ends)?;
    known.extend(present(tx, "case_document", &ends)?);
    let members = ["originNodeURI", "destinationNodeURI"];
    let missing: Vec<_> = members.iter().zip(ends).filter(|(_, id)| !known.contains(*id)).collect();
    let is_tree = one.ty == CHILD_OF;
    if let Some((member, id)) = missing.first()
        && (is_tree || missing.len() == 2)
    {
        let path = format!("CFAssociation.{member}.identifier");
        return Err(at(&path, message!("there is no item or document with the identifier '{id}'")));
    }
    if !is_tree {
        return Ok(());
    }
    let (up, above) = reach(tx, &one.destination, "origin", "destination")?;
    let (down, _) = reach(tx, &one.origin, "destination", "origin")?;
    let path = "CFAssociation.destinationNodeURI.identifier";
    if one.origin == one.destination || above.contains(&one.origin) {
        let message =
            message!("must not be '{one.destination}', which is a descendant of '{one.origin}'");
        return Err(at(path, message));
    }
    let most = limits::CASE_TREE_MAX_LEVELS;
    match up + down > most {
        true => Err(at(
            path,
            message!(
                "must not make the tree deeper than {most} levels (got {depth})",
                depth = up + down
            ),
        )),
        false => Ok(()),
    }
}

/// The number of levels from a node in one direction, including itself, and their nodes.
fn reach(tx: &mut Tx<'_>, from: &str, near: &str, far: &str) -> Result<(usize, Vec<String>)> {
    let among = lyceum_store::dialect::is_one_of(tx.dialect(), near, "$1");
    let sql = format!("SELECT DISTINCT {far} FROM case_association WHERE {among} AND type = $2");
    let mut level = vec![from.to_owned()];
    let (mut levels, mut all) = (0, Vec::new());
    while !level.is_empty() && levels <= limits::CASE_TREE_MAX_LEVELS {
        levels += 1;
        let list = serde_json::to_string(&level).map_err(Problem::internal)?;
        level.clear();
        tx.query(&sql, &[list.as_str().into(), CHILD_OF.into()], |row| {
            level.push(row.text(0)?.to_owned());
            Ok(true)
        })?;
        all.extend(level.iter().cloned());
    }
    Ok((levels, all))
}

/// Sets the framework's time of change.
fn touch(tx: &mut Tx<'_>, document: i64, now: Timestamp) -> Result<()> {
    let sql = "SELECT body FROM case_document WHERE seq = $1";
    let body = tx.query_one(sql, &[document.into()], |row| row.text(0).map(str::to_owned))?;
    let Some(body) = body else { return Ok(()) };
    let mut body: Value = serde_json::from_str(&body).map_err(Problem::internal)?;
    stamp(tx, document, now)?;
    let now = now.to_string();
    body["lastChangeDateTime"] = now.as_str().into();
    let body = body.to_string();
    let sql = "UPDATE case_document SET changed = $1, body = $2 WHERE seq = $3";
    tx.send(sql, &[(&now).into(), (&body).into(), document.into()])
}
