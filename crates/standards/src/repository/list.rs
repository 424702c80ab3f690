//! Lists of frameworks and of items.

use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_store::{Param, Sql, SqlDialect, Tx, dialect};

use super::read::{ALONE, Reader, alone, separate};
use crate::class::{Class, ITEM, Type};
use crate::filter::case_name;
use crate::query::Query;

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPage {
    /// A JSON array.
    pub records: String,
    /// The number of records on the page.
    pub count: u64,
    /// The number of records on all pages.
    pub total: u64,
}

/// A page of frameworks or items, in their order of insertion unless the query says otherwise.
pub fn list(tx: &mut Tx<'_>, reader: &Reader, query: &Query) -> Result<RecordPage> {
    let is_items = std::ptr::eq(query.class, &raw const ITEM);
    let (table, on) = if is_items {
        ("case_item t CROSS JOIN case_document d", "d.seq = t.document")
    } else {
        ("case_document t CROSS JOIN case_document d", "d.seq = t.seq")
    };
    let mut counted = Sql::new(tx.dialect());
    counted.push("SELECT COUNT(*) FROM ").push(table).push(" WHERE ").push(on);
    conditions(&mut counted, reader, query)?;
    let total = tx.query_one(&counted.text, &counted.values(), |row| row.int(0))?.unwrap_or(0);
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT {ALONE} FROM {table} WHERE {on}"));
    conditions(&mut sql, reader, query)?;
    let direction = if query.descending { "DESC" } else { "ASC" };
    sql.push(" ORDER BY ");
    if let Some(sort) = &query.sort {
        let order = order(sql.dialect, query.class, sort)?;
        sql.push(&format!("{order} {direction}, "));
    }
    let number = |n: u64| Param::Int(i64::try_from(n).unwrap_or(i64::MAX));
    sql.push(&format!("t.seq {direction} LIMIT ")).bind(number(query.limit));
    sql.push(" OFFSET ").bind(number(query.offset));
    let mut records = String::from("[");
    let mut count = 0;
    tx.query(&sql.text, &sql.values(), |row| {
        separate(&mut records);
        let from = records.len();
        alone(reader, query.class, row, &mut records)?;
        query.select(&mut records, from)?;
        count += 1;
        Ok(true)
    })?;
    records.push(']');
    Ok(RecordPage { records, count, total: u64::try_from(total).unwrap_or(0) })
}

/// The SQL that orders a list by a member. Errors: `BadSelection` for a member by which lists cannot be ordered.
fn order(sql: SqlDialect, class: &'static Class, name: &str) -> Result<String> {
    match (case_name(name), class.field(case_name(name)).map(|field| field.ty)) {
        ("identifier", _) => Ok("t.id".to_owned()),
        ("lastChangeDateTime", _) => Ok("t.changed".to_owned()),
        (member, Some(Type::Text | Type::Uri | Type::Date | Type::Word(..))) => {
            // A missing member is first in both stores.
            Ok(format!("COALESCE({}, '')", dialect::json_text(sql, "t.body", &[member])?))
        }
        _ => Err(Problem {
            details: vec![Detail {
                path: "sort".to_owned(),
                message: message!("'{name}' cannot be used to sort a {class.name}"),
            }],
            ..Problem::new(
                ProblemKind::BadSelection,
                message!(
                    "the parameter 'sort' must name a member with text ('{name}' cannot be used \
                     to sort)"
                ),
            )
        }),
    }
}

fn conditions(sql: &mut Sql, reader: &Reader, query: &Query) -> Result<()> {
    sql.push(reader.seen());
    if let Some(framework) = &query.framework {
        sql.push(" AND t.document = (SELECT seq FROM case_document WHERE id = ");
        sql.bind(framework.as_str()).push(")");
    }
    // Each word is a range of one index. The items that all words share are found before any item is read.
    let mut sets = Vec::new();
    for word in &query.words {
        let (from, to) = (sql.placeholder(word.as_str()), format!("{word}\u{10ffff}"));
        let to = sql.placeholder(to.as_str());
        sets.push(format!("SELECT item FROM case_word WHERE word >= {from} AND word < {to}"));
    }
    if let Some(grade) = &query.grade {
        let word = sql.placeholder(grade.as_str());
        sets.push(format!("SELECT item FROM case_word WHERE word = {word}"));
    }
    if !sets.is_empty() {
        let among = dialect::is_among(sql.dialect, "t.seq", &sets.join(" INTERSECT "));
        sql.push(" AND ").push(&among);
    }
    if let Some(filter) = &query.filter {
        sql.push(" AND ");
        filter.push_to(sql)?;
    }
    Ok(())
}

/// A framework, for people.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Framework {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether it can be read without a token.
    pub public: bool,
    /// Items in it.
    pub items: i64,
    /// Associations in it.
    pub associations: i64,
    /// When it was changed last.
    pub changed: String,
}

/// Every framework, in the order of insertion.
pub fn frameworks(tx: &mut Tx<'_>) -> Result<Vec<Framework>> {
    let mut found = Vec::new();
    let sql = "SELECT d.id, d.title, d.is_public, \
               (SELECT COUNT(*) FROM case_item t WHERE t.document = d.seq), \
               (SELECT COUNT(*) FROM case_association t WHERE t.document = d.seq), d.changed \
               FROM case_document d ORDER BY d.seq";
    tx.query(sql, &[], |row| {
        found.push(Framework {
            id: row.text(0)?.to_owned(),
            title: row.text(1)?.to_owned(),
            public: row.int(2)? == 1,
            items: row.int(3)?,
            associations: row.int(4)?,
            changed: row.text(5)?.to_owned(),
        });
        Ok(true)
    })?;
    Ok(found)
}
