//! Single records.

use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx};

use crate::class::{ASSOCIATION, Class, DOCUMENT, ITEM, TYPES_OF_V1P0};
use crate::shape::{Owner, Shape, Texts};

/// A reader: the shape of the answers, and the frameworks that are visible.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The shape of records.
    pub shape: Shape,
    /// Whether only frameworks that are open to everybody are seen.
    pub public_only: bool,
    /// The address of packages, without an identifier: `https://host/ims/case/v1p1/CFPackages`.
    pub packages: String,
}

impl Reader {
    /// The end of a condition on frameworks, which go by `d`.
    pub(super) fn seen(&self) -> &'static str {
        if self.public_only { " AND d.is_public = 1" } else { "" }
    }

    /// Whether readers are shown associations of the type.
    pub(super) fn has_type(&self, ty: &str) -> bool {
        self.shape != Shape::V1p0 || TYPES_OF_V1P0.contains(&ty)
    }
}

/// The members of a framework that its records repeat.
#[derive(Clone, Debug)]
pub(crate) struct FrameworkHead {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) uri: String,
}

impl FrameworkHead {
    pub(super) const COLUMNS: &'static str = "d.seq, d.id, d.title, d.uri";

    pub(super) fn read(row: &Row<'_>, from: usize) -> Result<Self> {
        Ok(Self {
            seq: row.int(from)?,
            id: row.text(from + 1)?.to_owned(),
            title: row.text(from + 2)?.to_owned(),
            uri: row.text(from + 3)?.to_owned(),
        })
    }
}

/// The columns of [`texts`].
pub(super) const TEXTS: &str = "t.body, t.extensions, t.beyond";

/// Reads [`TEXTS`], which begin at that column.
pub(super) fn texts<'r>(row: &'r Row<'_>, from: usize) -> Result<Texts<'r>> {
    Ok(Texts {
        body: row.text(from)?,
        extensions: row.opt_text(from + 1)?,
        beyond: row.opt_text(from + 2)?,
    })
}

/// Appends a record that stands by itself: with a link to its framework.
pub(super) fn alone(
    reader: &Reader,
    class: &'static Class,
    row: &Row<'_>,
    out: &mut String,
) -> Result<()> {
    let (title, id, uri) = (row.text(4)?, row.text(3)?, row.text(5)?);
    let member = class.owner.expect("items, associations and documents belong somewhere");
    if member == "CFPackageURI" {
        let uri = format!("{}/{id}", reader.packages);
        let owner = Owner { member, title, id, uri: &uri };
        return reader.shape.write(class, texts(row, 0)?, Some(&owner), out);
    }
    reader.shape.write(class, texts(row, 0)?, Some(&Owner { member, title, id, uri }), out)
}

/// The columns that [`alone`] reads.
pub(super) const ALONE: &str = "t.body, t.extensions, t.beyond, d.id, d.title, d.uri";

fn one(
    tx: &mut Tx<'_>,
    reader: &Reader,
    class: &'static Class,
    table: &str,
    id: &str,
) -> Result<String> {
    let sql = format!(
        "SELECT {ALONE} FROM {table} t JOIN case_document d ON d.seq = t.document \
         WHERE t.id = $1{}",
        reader.seen()
    );
    let found = tx.query_one(&sql, &[id.into()], |row| {
        let mut out = String::new();
        alone(reader, class, row, &mut out)?;
        Ok(out)
    })?;
    found.ok_or_else(|| Problem::not_found(class.name, id))
}

/// A framework's record. Errors: `NotFound`.
pub fn document(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<String> {
    let sql = format!(
        "SELECT d.body, d.extensions, d.beyond, d.id, d.title, d.uri FROM case_document d \
         WHERE d.id = $1{}",
        reader.seen()
    );
    let found = tx.query_one(&sql, &[id.into()], |row| {
        let mut out = String::new();
        alone(reader, &DOCUMENT, row, &mut out)?;
        Ok(out)
    })?;
    found.ok_or_else(|| super::write::missing(id))
}

/// An item. Errors: `NotFound`.
pub fn item(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<String> {
    one(tx, reader, &ITEM, "case_item", id)
}

/// An association. Errors: `NotFound`, also for a type that the version does not have.
pub fn association(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<String> {
    let sql = "SELECT type FROM case_association WHERE id = $1";
    let ty = tx.query_one(sql, &[id.into()], |row| row.text(0).map(str::to_owned))?;
    match ty.filter(|ty| reader.has_type(ty)) {
        Some(_) => one(tx, reader, &ASSOCIATION, "case_association", id),
        None => Err(Problem::not_found(ASSOCIATION.name, id)),
    }
}

/// An item, and every association that begins or ends at it: two JSON texts, the second an array.
/// Errors: `NotFound`.
pub fn item_associations(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<(String, String)> {
    let item = item(tx, reader, id)?;
    let mut list = String::from("[");
    // Each end has an index of its own; an association of a node with itself stands once.
    for (end, once) in [("origin", ""), ("destination", " AND t.origin <> t.destination")] {
        let sql = format!(
            "SELECT {TEXTS}, t.type FROM case_association t JOIN case_document d \
             ON d.seq = t.document WHERE t.{end} = $1{once}{} ORDER BY t.seq",
            reader.seen()
        );
        tx.query(&sql, &[id.into()], |row| {
            if reader.has_type(row.text(3)?) {
                separate(&mut list);
                reader.shape.write(&ASSOCIATION, texts(row, 0)?, None, &mut list)?;
            }
            Ok(true)
        })?;
    }
    list.push(']');
    Ok((item, list))
}

/// Appends a comma if there is a member already.
pub(super) fn separate(list: &mut String) {
    if !list.ends_with('[') {
        list.push(',');
    }
}

/// A definition or rubric by itself; of several frameworks' the newest. Errors: `NotFound`.
pub fn definition(
    tx: &mut Tx<'_>,
    reader: &Reader,
    class: &'static Class,
    id: &str,
) -> Result<String> {
    newest(tx, reader, class, id)?
        .map(|(_, text)| text)
        .ok_or_else(|| Problem::not_found(class.name, id))
}

fn newest(
    tx: &mut Tx<'_>,
    reader: &Reader,
    class: &'static Class,
    id: &str,
) -> Result<Option<(i64, String)>> {
    let sql = format!(
        "SELECT {TEXTS}, t.document FROM case_definition t JOIN case_document d \
         ON d.seq = t.document WHERE t.class = $1 AND t.id = $2{} ORDER BY t.seq DESC LIMIT 1",
        reader.seen()
    );
    tx.query_one(&sql, &[class.name.into(), id.into()], |row| {
        let mut out = String::new();
        reader.shape.write(class, texts(row, 0)?, None, &mut out)?;
        Ok((row.int(3)?, out))
    })
}

/// A definition with its children, as their hierarchy codes say: a JSON array, the definition first.
/// Errors: `NotFound`.
pub fn definition_set(
    tx: &mut Tx<'_>,
    reader: &Reader,
    class: &'static Class,
    id: &str,
) -> Result<String> {
    let found = newest(tx, reader, class, id)?;
    let (document, text) = found.ok_or_else(|| Problem::not_found(class.name, id))?;
    let code = |body: &str| -> Result<String> {
        let value: serde_json::Value = serde_json::from_str(body).map_err(Problem::internal)?;
        Ok(value["hierarchyCode"].as_str().unwrap_or_default().to_owned())
    };
    let own = code(&text)?;
    let mut list = format!("[{text}");
    let sql = format!(
        "SELECT {TEXTS} FROM case_definition t WHERE t.document = $1 AND t.class = $2 AND t.id <> $3 \
         ORDER BY t.seq"
    );
    tx.query(&sql, &[document.into(), class.name.into(), id.into()], |row| {
        let below = code(row.text(0)?)?;
        let is_below = below.strip_prefix(&own).is_some_and(|rest| {
            !own.is_empty() && rest.starts_with(|c: char| !c.is_alphanumeric())
        });
        if is_below {
            separate(&mut list);
            reader.shape.write(class, texts(row, 0)?, None, &mut list)?;
        }
        Ok(true)
    })?;
    list.push(']');
    Ok(list)
}

/// The framework of that identifier. Errors: `NotFound`.
pub(crate) fn head_of(tx: &mut Tx<'_>, reader: &Reader, id: &str) -> Result<FrameworkHead> {
    let sql = format!(
        "SELECT {} FROM case_document d WHERE d.id = $1{}",
        FrameworkHead::COLUMNS,
        reader.seen()
    );
    let found = tx.query_one(&sql, &[id.into()], |row| FrameworkHead::read(row, 0))?;
    found.ok_or_else(|| super::write::missing(id))
}

/// Identifier, code and statement of those of the items that are there, in their order: what a list
/// of references shows of each.
pub fn statements(tx: &mut Tx<'_>, ids: &[&str]) -> Result<Vec<(String, serde_json::Value)>> {
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let among = lyceum_store::dialect::is_one_of(tx.dialect(), "t.id", "$1");
    let sql = format!("SELECT t.id, t.body FROM case_item t WHERE {among} ORDER BY t.seq");
    let mut found = Vec::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        let body = serde_json::from_str(row.text(1)?).map_err(Problem::internal)?;
        found.push((row.text(0)?.to_owned(), body));
        Ok(true)
    })?;
    Ok(found)
}
