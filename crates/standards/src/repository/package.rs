//! Whole packages on their way out.

use std::collections::HashMap;
use std::fmt::Write as _;

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde_json::{Map, Value};

use super::read::{FrameworkHead, Reader, TEXTS, head_of, separate, texts};
use crate::class::{ASSOCIATION, CHILD_OF, Class, DEFINITIONS, DOCUMENT, ITEM, RUBRIC};
use crate::shape::{Owner, Shape};

/// Appends the members of a package, without the braces around them. Nothing is parsed but in version
/// 1.0. Errors: `NotFound`.
pub fn write_package(tx: &mut Tx<'_>, reader: &Reader, id: &str, out: &mut String) -> Result<()> {
    let head = head_of(tx, reader, id)?;
    let sql = "SELECT body, extensions, beyond, parts, rest FROM case_document WHERE seq = $1";
    let outer = tx.query_one(sql, &[head.seq.into()], |row| {
        out.push_str("\"CFDocument\":");
        write_document(reader, &head, texts(row, 0)?, out)?;
        let parts: Vec<String> = serde_json::from_str(row.text(3)?).map_err(Problem::internal)?;
        let rest = row.opt_text(4)?.map(serde_json::from_str).transpose();
        Ok((parts, rest.map_err(Problem::internal)?.unwrap_or_default()))
    })?;
    let (parts, rest): (Vec<String>, Map<String, Value>) =
        outer.ok_or_else(|| super::write::missing(id))?;
    let has = |list: &str| parts.iter().any(|part| part == list);
    for (class, table, ty) in
        [(&ITEM, "case_item", "NULL"), (&ASSOCIATION, "case_association", "t.type")]
    {
        let sql =
            format!("SELECT {TEXTS}, {ty} FROM {table} t WHERE t.document = $1 ORDER BY t.seq");
        list(out, class, has(class.list), |out| {
            tx.query(&sql, &[head.seq.into()], |row| {
                if row.opt_text(3)?.is_none_or(|ty| reader.has_type(ty)) {
                    separate(out);
                    reader.shape.write(class, texts(row, 0)?, None, out)?;
                }
                Ok(true)
            })
        })?;
    }
    let mut found = definitions(tx, reader, head.seq)?;
    let before = out.len();
    out.push_str(",\"CFDefinitions\":{");
    let empty = out.len();
    for class in DEFINITIONS {
        list(out, class, has(class.list), |out| {
            out.push_str(&found.remove(class.name).unwrap_or_default());
            Ok(())
        })?;
    }
    write_other_members(reader.shape, rest.get("definitions"), out);
    if out.len() == empty && !has("CFDefinitions") {
        out.truncate(before);
    } else {
        if out[empty..].starts_with(',') {
            out.remove(empty);
        }
        out.push('}');
    }
    list(out, &RUBRIC, has(RUBRIC.list), |out| {
        out.push_str(&found.remove(RUBRIC.name).unwrap_or_default());
        Ok(())
    })?;
    write_other_members(reader.shape, rest.get("package"), out);
    Ok(())
}

/// Appends the framework's record inside its package. On the platform it has its link all the same.
fn write_document(
    reader: &Reader,
    head: &FrameworkHead,
    texts: crate::shape::Texts<'_>,
    out: &mut String,
) -> Result<()> {
    let uri = format!("{}/{}", reader.packages, head.id);
    let owner = Owner { member: "CFPackageURI", title: &head.title, id: &head.id, uri: &uri };
    let owner = (reader.shape == Shape::Platform).then_some(&owner);
    reader.shape.write(&DOCUMENT, texts, owner, out)
}

/// Appends `,"CFItems":[…]`; nothing where the list is empty and the package had none.
fn list(
    out: &mut String,
    class: &Class,
    keep: bool,
    fill: impl FnOnce(&mut String) -> Result<()>,
) -> Result<()> {
    let before = out.len();
    out.push_str(",\"");
    out.push_str(class.list);
    out.push_str("\":[");
    let start = out.len();
    fill(out)?;
    if out.len() == start && !keep {
        out.truncate(before);
    } else {
        out.push(']');
    }
    Ok(())
}

/// The definitions and rubrics by their classes, each list without its brackets.
fn definitions(
    tx: &mut Tx<'_>,
    reader: &Reader,
    document: i64,
) -> Result<HashMap<&'static str, String>> {
    let mut found: HashMap<&'static str, String> = HashMap::new();
    let sql = format!(
        "SELECT {TEXTS}, t.class FROM case_definition t WHERE t.document = $1 ORDER BY t.seq"
    );
    tx.query(&sql, &[document.into()], |row| {
        let name = row.text(3)?;
        let class = DEFINITIONS.iter().copied().chain([&RUBRIC]).find(|class| class.name == name);
        let Some(class) = class else { return Ok(true) };
        let list = found.entry(class.name).or_default();
        if !list.is_empty() {
            list.push(',');
        }
        reader.shape.write(class, texts(row, 0)?, None, list)?;
        Ok(true)
    })?;
    Ok(found)
}

/// Appends the remaining members of a level of the package: extensions from version 1.1 on, other members on the
/// platform.
fn write_other_members(shape: Shape, rest: Option<&Value>, out: &mut String) {
    for (name, value) in rest.and_then(Value::as_object).into_iter().flatten() {
        if shape == Shape::Platform || shape == Shape::V1p1 && name == "extensions" {
            let _ = write!(out, ",{}:{value}", Value::from(name.as_str()));
        }
    }
}

/// An item in its tree.
pub(crate) struct ItemNode {
    /// Its identifier.
    pub(crate) id: String,
    /// Its type; empty if it says none.
    pub(crate) ty: String,
    /// The record, without the closing brace.
    pub(crate) text: String,
    /// The item that it stands below: of several parents the first.
    pub(crate) parent: Option<String>,
    /// Where it stands among its siblings.
    pub(crate) place: i64,
}

/// The framework's record, and its items in their order. Errors: `NotFound`.
pub(crate) fn tree(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<(String, Vec<ItemNode>)> {
    let head = head_of(tx, reader, id)?;
    let document = super::read::document(tx, reader, id)?;
    let mut parents: HashMap<String, (String, i64)> = HashMap::new();
    let sql = "SELECT origin, destination, body FROM case_association \
               WHERE document = $1 AND type = $2 ORDER BY seq";
    tx.query(sql, &[head.seq.into(), CHILD_OF.into()], |row| {
        let body: Value = serde_json::from_str(row.text(2)?).map_err(Problem::internal)?;
        let place = body["sequenceNumber"].as_i64().unwrap_or(i64::MAX);
        let parent = (row.text(1)?.to_owned(), place);
        parents.entry(row.text(0)?.to_owned()).or_insert(parent);
        Ok(true)
    })?;
    let mut nodes = Vec::new();
    let sql = format!("SELECT {TEXTS}, t.id FROM case_item t WHERE t.document = $1 ORDER BY t.seq");
    tx.query(&sql, &[head.seq.into()], |row| {
        let record: Value = serde_json::from_str(row.text(0)?).map_err(Problem::internal)?;
        let owner =
            Owner { member: "CFDocumentURI", title: &head.title, id: &head.id, uri: &head.uri };
        let mut text = String::new();
        reader.shape.write(&ITEM, texts(row, 0)?, Some(&owner), &mut text)?;
        text.pop();
        let id = row.text(3)?.to_owned();
        let (parent, place) = parents.remove(&id).unzip();
        let parent = parent.filter(|parent| *parent != head.id);
        let ty = record["CFItemType"].as_str().unwrap_or_default().to_owned();
        nodes.push(ItemNode { ty, text, parent, place: place.unwrap_or(i64::MAX), id });
        Ok(true)
    })?;
    Ok((document, nodes))
}
