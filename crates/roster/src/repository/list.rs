//! Lists records: narrowed, filtered, sorted, by page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::{Sql, Tx};

use super::belongs::{self, PathScope};
use super::people::{self, UserSelection};
use super::read::in_part;
use crate::collections::{Collection, CollectionPart};
use crate::filter::{self, BoundFilter, Clause, FilterOperator, Operand, ValueLocation};
use crate::kind::RecordKind;
use crate::render::RecordView;
use crate::sort::SortOrder;

/// A query of a collection.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// The collection.
    pub collection: Collection,
    /// The record whose part of the collection is meant.
    pub scope: Option<PathScope>,
    /// The selection of users, for the collection of users.
    pub people: Option<UserSelection>,
    /// The filter.
    pub filter: Option<BoundFilter>,
    /// Whether the filter speaks of `status` or `dateLastModified`, so that deleted records are
    /// listed too (delta sync).
    pub with_deleted: bool,
    /// A text that one of the searched fields contains, in lower case.
    pub search: Option<String>,
    /// The order.
    pub sort: SortOrder,
    /// Records on the page at most.
    pub limit: u64,
    /// Records before the page.
    pub offset: u64,
    /// The cursor of the previous page.
    pub cursor: Option<String>,
}

/// A page.
#[derive(Clone, Debug, Default)]
pub struct RecordPage {
    /// The records, rendered, with commas between them.
    pub records: String,
    /// The number of records on the page.
    pub count: u64,
    /// The number of entries on all pages.
    pub total: u64,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// The most bytes that a list reserves at once for records to come.
const RESERVED_MAX_BYTES: u64 = 1024 * 1024;

/// Records for which a list reserves memory at first. Many lists are not longer, and memory for a full page costs more
/// than copying a few records.
const SHORT_LIST: u64 = 16;

/// Whether an index finds the records, so that the records of a role need not drive the list.
fn is_indexed(bound: &BoundFilter) -> bool {
    match bound {
        BoundFilter::And(parts) => parts.iter().any(is_indexed),
        BoundFilter::Or(parts) => parts.iter().all(is_indexed),
        BoundFilter::Clause(clause) => match &clause.place {
            ValueLocation::Column { indexed, .. } => *indexed && clause.op == FilterOperator::Equal,
            // A list's value, such as a role, may be shared by most records: counting takes time.
            ValueLocation::List { .. } | ValueLocation::Json { .. } => false,
        },
    }
}

/// Lists a page. Errors: `NotFound` for a scope of nothing; `BadSelection` for a broken cursor.
pub fn list(tx: &mut Tx<'_>, query: &ListQuery, view: &RecordView<'_>) -> Result<RecordPage> {
    if let Some(scope) = &query.scope {
        belongs::check(tx, scope)?;
    }
    let driver = driver(query);
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT t.seq, t.body, t.extra, ").push(&query.sort.key);
    from_where(tx, &mut sql, query, driver.as_ref())?;
    let skip = seek(tx, &mut sql, query, driver.as_ref())?;
    order(&mut sql, query, driver.is_some());
    let one_more = i64::try_from(query.limit + 1).expect("pages are limited");
    sql.push(" LIMIT ").bind(one_more);
    if skip > 0 {
        sql.push(" OFFSET ").bind(skip);
    }
    let mut listed = RecordPage::default();
    let mut last = (String::new(), 0);
    let mut more = false;
    tx.query(&sql.text.clone(), &sql.values(), |row| {
        if listed.count == query.limit {
            more = true;
            return Ok(false);
        }
        if listed.count > 0 {
            listed.records.push(',');
        }
        view.render(row.text(1)?, row.opt_text(2)?, &mut listed.records)?;
        listed.count += 1;
        if listed.count == 1 || listed.count == SHORT_LIST {
            reserve(&mut listed, query.limit);
        }
        if listed.count == query.limit {
            last = (query.sort.read_key(row, 3)?, row.int(0)?);
        }
        Ok(true)
    })?;
    listed.next = more.then(|| cursor(&query.sort, &last.0, last.1));
    listed.total = total(tx, query, &listed, driver.as_ref())?;
    Ok(listed)
}

/// Reserves memory for the records to come, which are about as long as those before. Growing step by step would copy
/// the page several times.
fn reserve(listed: &mut RecordPage, limit: u64) {
    let most = if listed.count < SHORT_LIST { limit.min(SHORT_LIST) } else { limit };
    let to_come = most - listed.count;
    let bytes_of_one = listed.records.len() as u64 / listed.count;
    let bytes = bytes_of_one.saturating_mul(to_come + to_come / 8).min(RESERVED_MAX_BYTES);
    listed.records.reserve(usize::try_from(bytes).expect("the bytes are limited"));
}

/// The link whose rows, which are in the order of the list, drive it.
fn driver(query: &ListQuery) -> Option<(String, String)> {
    if !query.sort.is_default() {
        return None;
    }
    if let Some(scope) = &query.scope
        && let Some(link) = belongs::driver(scope)
    {
        return Some(link);
    }
    if let CollectionPart::WithRole(role) = query.collection.part
        && query.scope.is_none()
        && !query.filter.as_ref().is_some_and(is_indexed)
    {
        return Some(("user.roles.role".to_owned(), role.to_owned()));
    }
    match &query.filter {
        Some(BoundFilter::Clause(clause)) if query.scope.is_none() => driving(clause),
        Some(BoundFilter::And(parts)) if query.scope.is_none() => {
            parts.iter().find_map(|part| match part {
                BoundFilter::Clause(clause) => driving(clause),
                _ => None,
            })
        }
        _ => None,
    }
}

/// The link that all records have for which the clause holds.
fn driving(clause: &Clause) -> Option<(String, String)> {
    let ValueLocation::List { link: Some(link), .. } = &clause.place else { return None };
    let Operand::Texts(values) = &clause.operand else { return None };
    let one =
        values.len() == 1 && matches!(clause.op, FilterOperator::Equal | FilterOperator::Contains);
    one.then(|| (link.clone(), values[0].clone()))
}

fn from_where(
    tx: &mut Tx<'_>,
    sql: &mut Sql,
    query: &ListQuery,
    driver: Option<&(String, String)>,
) -> Result<()> {
    let table = query.collection.kind.table;
    match driver {
        Some((field, value)) => {
            // The order of a cross join is kept by SQLite, so that no sort is needed.
            sql.push(&format!(" FROM roster_link l CROSS JOIN {table} t WHERE l.field = "));
            sql.bind(field.as_str()).push(" AND l.value = ").bind(value.as_str());
            sql.push(" AND t.seq = l.owner");
        }
        None => {
            sql.push(&format!(" FROM {table} t WHERE TRUE"));
        }
    }
    let driven_by_role = matches!(driver, Some((field, _)) if field == "user.roles.role");
    let by_role_at = query.scope.as_ref().is_some_and(|s| belongs::driver(s).is_some());
    if query.collection.part != CollectionPart::Whole && !driven_by_role && !by_role_at {
        sql.push(" AND ");
        in_part(sql, query.collection.part);
    }
    if !query.with_deleted {
        sql.push(" AND t.status = 'active'");
    }
    if let Some(scope) = &query.scope {
        sql.push(" AND ");
        belongs::condition(tx, sql, scope, driver.is_some())?;
    }
    if let Some(filter) = &query.filter {
        sql.push(" AND ");
        filter::compile(sql, filter)?;
    }
    if let Some(people) = &query.people {
        sql.push(" AND ");
        people::condition(sql, people);
    }
    if let Some(text) = &query.search {
        search(sql, query.collection.kind, text)?;
    }
    Ok(())
}

fn search(sql: &mut Sql, kind: &'static RecordKind, text: &str) -> Result<()> {
    // A kind without texts to search has nothing that is found.
    sql.push(" AND (FALSE");
    for field in kind.fields.iter().filter(|field| field.searched) {
        sql.push(" OR ");
        let place = match field.column_name() {
            Some(name) => ValueLocation::Column { name, folded: true, indexed: false },
            None => ValueLocation::Json {
                extra: field.platform,
                path: vec![field.name.to_owned()],
                folded: true,
            },
        };
        let operand = Operand::Text(text.to_owned());
        filter::compile(
            sql,
            &BoundFilter::Clause(Clause { place, op: FilterOperator::Contains, operand }),
        )?;
    }
    sql.push(")");
    Ok(())
}

/// Moves to the page: behind the cursor, or near the offset by the counters. Answers how many
/// rows are still to be skipped.
fn seek(
    tx: &mut Tx<'_>,
    sql: &mut Sql,
    query: &ListQuery,
    driver: Option<&(String, String)>,
) -> Result<i64> {
    let seq = if driver.is_some() { "l.owner" } else { "t.seq" };
    if let Some(cursor) = query.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        let (key, last) = read_cursor(&query.sort, cursor)?;
        let sign = if query.sort.descending { "<" } else { ">" };
        if query.sort.is_default() {
            sql.push(&format!(" AND {seq} {sign} ")).bind(last);
        } else {
            sql.push(&format!(" AND ({}, t.seq) {sign} (", query.sort.key));
            query.sort.bind_key(sql, &key)?;
            sql.push(", ").bind(last).push(")");
        }
        return Ok(0);
    }
    let offset = i64::try_from(query.offset).unwrap_or(i64::MAX);
    if offset == 0 || !is_counted(query) || query.sort.descending || !query.sort.is_default() {
        return Ok(offset);
    }
    match tx.tally_seek(query.collection.path, offset)? {
        Some((first, rest)) => {
            sql.push(&format!(" AND {seq} >= ")).bind(first);
            Ok(rest)
        }
        // Behind the last record: an empty page, at no cost.
        None => {
            sql.push(" AND FALSE");
            Ok(0)
        }
    }
}

/// Whether the list is a whole collection, whose counters tell its length.
fn is_counted(query: &ListQuery) -> bool {
    query.scope.is_none()
        && query.people.is_none()
        && query.filter.is_none()
        && query.search.is_none()
        && !query.with_deleted
}

fn order(sql: &mut Sql, query: &ListQuery, driven: bool) {
    let way = if query.sort.descending { " DESC" } else { "" };
    let seq = if driven { "l.owner" } else { "t.seq" };
    if query.sort.is_default() {
        sql.push(&format!(" ORDER BY {seq}{way}"));
    } else {
        sql.push(&format!(" ORDER BY {}{way}, t.seq{way}", query.sort.key));
    }
}

fn total(
    tx: &mut Tx<'_>,
    query: &ListQuery,
    listed: &RecordPage,
    driver: Option<&(String, String)>,
) -> Result<u64> {
    if is_counted(query) {
        return Ok(u64::try_from(tx.tally_total(query.collection.path)?).unwrap_or(0));
    }
    let reached_the_end = listed.next.is_none() && (listed.count > 0 || query.offset == 0);
    if reached_the_end && query.cursor.is_none() {
        return Ok(query.offset + listed.count);
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT count(*)");
    from_where(tx, &mut sql, query, driver)?;
    let total = tx.query_one(&sql.text.clone(), &sql.values(), |row| row.int(0))?;
    Ok(u64::try_from(total.unwrap_or(0)).unwrap_or(0))
}

fn cursor(sort: &SortOrder, key: &str, seq: i64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}\n{seq}\n{key}", sort.name()))
}

fn read_cursor(sort: &SortOrder, cursor: &str) -> Result<(String, i64)> {
    let broken = || {
        Problem::new(
            ProblemKind::BadSelection,
            "the cursor does not come from this list; start again without a cursor",
        )
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| broken())?;
    let text = String::from_utf8(bytes).map_err(|_| broken())?;
    let mut parts = text.splitn(3, '\n');
    let fits = parts.next() == Some(sort.name().as_str());
    let seq = parts.next().and_then(|seq| seq.parse().ok());
    match (fits, seq, parts.next()) {
        (true, Some(seq), Some(key)) if !key.contains('\0') => Ok((key.to_owned(), seq)),
        _ => Err(broken()),
    }
}
