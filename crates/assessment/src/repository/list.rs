//! Lists.

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Param, Sql, Tx, dialect};

use super::read::{COLUMNS, stored};
use crate::Query;
use crate::limits;
use crate::query::SORTS;

/// A page of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPage {
    /// The JSON of the documents, separated by commas.
    pub items: String,
    /// The number of documents on all pages.
    pub total: u64,
}

/// A page in a total order. Reads no further documents and parses no XML. Errors: `TooLarge` for a page of more than
/// [`limits::QTI_PAGE_MAX_BYTES`] bytes.
pub fn list(tx: &mut Tx<'_>, query: &Query) -> Result<DocumentPage> {
    let total = total(tx, query)?;
    let column =
        SORTS.iter().find(|(name, _)| *name == query.page.sort).map_or("seq", |(_, column)| column);
    let direction = if query.page.descending { "DESC" } else { "ASC" };
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT ").push(COLUMNS).push(" FROM qti_document t WHERE ");
    conditions(&mut sql, query)?;
    sql.push(&format!(" ORDER BY t.{column} {direction}, t.seq {direction} LIMIT "));
    let number = |n: u64| Param::Int(i64::try_from(n).unwrap_or(i64::MAX));
    sql.bind(number(query.page.limit)).push(" OFFSET ");
    sql.bind(number(query.page.skip()));
    let mut items = String::new();
    tx.query(&sql.text, &sql.values(), |row| {
        if !items.is_empty() {
            items.push(',');
        }
        stored(row)?.render(&mut items)?;
        match items.len() > limits::QTI_PAGE_MAX_BYTES {
            true => Err(too_large()),
            false => Ok(true),
        }
    })?;
    Ok(DocumentPage { items, total })
}

fn total(tx: &mut Tx<'_>, query: &Query) -> Result<u64> {
    let total = if query.page.search.is_none() && query.filter.is_none() {
        tx.tally_total(query.kind.collection())?
    } else {
        let mut sql = Sql::new(tx.dialect());
        sql.push("SELECT COUNT(*) FROM qti_document t WHERE ");
        conditions(&mut sql, query)?;
        tx.query_one(&sql.text, &sql.values(), |row| row.int(0))?.unwrap_or(0)
    };
    Ok(u64::try_from(total).unwrap_or(0))
}

fn conditions(sql: &mut Sql, query: &Query) -> Result<()> {
    sql.push("t.kind = ").bind(query.kind.name());
    if let Some(filter) = &query.filter {
        sql.push(" AND ");
        filter.push_to(sql)?;
    }
    if let Some(search) = &query.page.search {
        sql.push(" AND ");
        let placeholder = sql.placeholder(search.to_lowercase().as_str());
        let contains = dialect::contains(sql.dialect, "t.words", &placeholder);
        sql.push(&contains);
    }
    Ok(())
}

fn too_large() -> Problem {
    let most = limits::QTI_PAGE_MAX_BYTES;
    Problem::new(
        ProblemKind::TooLarge,
        message!("the page has more than {most} bytes; request a smaller 'limit'"),
    )
}
