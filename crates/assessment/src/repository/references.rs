//! Who refers to whom.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_store::{Tx, Value, dialect};
use serde::Serialize;

use crate::{Kind, Reference};

/// The referrers that a refusal to delete names at most.
const REFERRERS_SHOWN: i64 = 5;

/// Which documents the references mean: that which the last segment of the address names, with or
/// without `.xml`, else the one that has the name of the reference, else what the address names
/// although it is missing.
pub fn resolved(tx: &mut Tx<'_>, references: &[Reference]) -> Result<Vec<(Kind, String)>> {
    let mut there = HashSet::new();
    for kind in Kind::ALL {
        let of_kind = references.iter().filter(|reference| reference.kind == kind);
        let names: Vec<&str> = of_kind.flat_map(Reference::names).collect();
        if names.is_empty() {
            continue;
        }
        there.extend(known(tx, kind, &names)?.into_iter().map(|name| (kind, name)));
    }
    let target = |reference: &Reference| {
        let of = |name: &str| (reference.kind, name.to_owned());
        let names = reference.names();
        let found = names.iter().map(|name| of(name)).find(|target| there.contains(target));
        found.unwrap_or_else(|| of(names[1]))
    };
    Ok(references.iter().map(target).collect())
}

/// Which of the identifiers there are documents of.
pub(crate) fn known<T: Serialize>(
    tx: &mut Tx<'_>,
    kind: Kind,
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
    /// The names that it may mean, the best first: the end of the address as it is, without `.xml`,
    /// and its own name.
    pub(crate) fn names(&self) -> [&str; 3] {
        let path = self.href.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let last = if last.is_empty() { self.identifier.as_str() } else { last };
        [last, last.strip_suffix(".xml").unwrap_or(last), &self.identifier]
    }
}

/// Notes what something refers to, in place of what it referred to before. `kind` is the name of a
/// [`Kind`], or `bank`.
pub fn refer(
    tx: &mut Tx<'_>,
    kind: &str,
    identifier: &str,
    targets: &[(Kind, String)],
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

/// Who refers to a document: kind and identifier of the first few, and how many there are.
pub fn referrers(
    tx: &mut Tx<'_>,
    kind: Kind,
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
