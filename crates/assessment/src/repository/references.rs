//! References between documents.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_store::{Tx, Value, dialect};
use serde::Serialize;

use crate::{ContentKind, Reference};

/// The number of referring documents that a refusal to delete lists at most.
const REFERRERS_SHOWN: i64 = 5;

/// The documents that the references mean. The last segment of the address is tried first, with or without `.xml`,
/// then the identifier of the reference. If neither exists, it is the document that the address names.
pub fn resolved(tx: &mut Tx<'_>, references: &[Reference]) -> Result<Vec<(ContentKind, String)>> {
    let mut existing = HashSet::new();
    for kind in ContentKind::ALL {
        let of_kind = references.iter().filter(|reference| reference.kind == kind);
        let names: Vec<&str> = of_kind.flat_map(Reference::names).collect();
        if names.is_empty() {
            continue;
        }
        existing.extend(known(tx, kind, &names)?.into_iter().map(|name| (kind, name)));
    }
    let target = |reference: &Reference| {
        let target_named = |name: &str| (reference.kind, name.to_owned());
        let names = reference.names();
        let found =
            names.iter().map(|name| target_named(name)).find(|target| existing.contains(target));
        found.unwrap_or_else(|| target_named(names[1]))
    };
    Ok(references.iter().map(target).collect())
}

/// The identifiers that documents have.
pub(crate) fn known<T: Serialize>(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifiers: &[T],
) -> Result<HashSet<String>> {
    let names = serde_json::to_string(identifiers).expect("texts are JSON");
    let sql = format!(
        "SELECT identifier FROM qti_document WHERE kind = $1 AND {}",
        dialect::is_one_of(tx.dialect(), "identifier", "$2")
    );
    let mut known = HashSet::new();
    tx.query(&sql, &[kind.name().into(), names.as_str().into()], |row| {
        known.insert(row.text(0)?.to_owned());
        Ok(true)
    })?;
    Ok(known)
}

impl Reference {
    /// The identifiers that it may mean, in order of preference: the end of the address as it is, without `.xml`, and
    /// its own identifier.
    pub(crate) fn names(&self) -> [&str; 3] {
        let path = self.href.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let last = if last.is_empty() { self.identifier.as_str() } else { last };
        [last, last.strip_suffix(".xml").unwrap_or(last), &self.identifier]
    }
}

/// Stores what a document refers to, and replaces earlier references. `kind` is the name of a [`ContentKind`], or `bank`.
pub fn refer(
    tx: &mut Tx<'_>,
    kind: &str,
    identifier: &str,
    targets: &[(ContentKind, String)],
) -> Result<()> {
    let sql = "DELETE FROM qti_reference WHERE kind = $1 AND identifier = $2";
    tx.send(sql, &[kind.into(), identifier.into()])?;
    if targets.is_empty() {
        return Ok(());
    }
    let values: Vec<Value<'_>> = targets
        .iter()
        .flat_map(|(target_kind, target)| {
            [kind.into(), identifier.into(), target_kind.name().into(), target.as_str().into()]
        })
        .collect();
    let columns = ["kind", "identifier", "target_kind", "target"];
    tx.send_rows("qti_reference", &columns, &values, "ON CONFLICT DO NOTHING")
}

/// The documents that refer to a document: kind and identifier of the first few, and their number.
pub fn referrers(
    tx: &mut Tx<'_>,
    kind: ContentKind,
    identifier: &str,
) -> Result<(Vec<(String, String)>, i64)> {
    let params = [kind.name().into(), identifier.into()];
    let count = "SELECT COUNT(*) FROM qti_reference WHERE target_kind = $1 AND target = $2";
    let total = tx.query_one(count, &params, |row| row.int(0))?.unwrap_or(0);
    let sql = "SELECT kind, identifier FROM qti_reference WHERE target_kind = $1 AND target = $2 \
               ORDER BY kind, identifier LIMIT $3";
    let [kind, name] = params;
    let mut first = Vec::new();
    tx.query(sql, &[kind, name, REFERRERS_SHOWN.into()], |row| {
        first.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
        Ok(true)
    })?;
    Ok((first, total))
}
