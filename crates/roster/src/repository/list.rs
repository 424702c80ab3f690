//! Lists records: narrowed, filtered, sorted, by page.

use lyceum_core::filter::FilterOperator;
use lyceum_core::text::name_words;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_store::filter::{BoundFilter, Clause, Operand, ValueLocation};
use lyceum_store::{Row, Sql, Tx};

use super::belongs::{self, PathScope};
use super::cursor::{self, ListCursor};
use super::names;
use super::people::{self, UserSelection};
use super::reach::{self, RecordUse};
use super::read::in_part;
use super::walk::{FIRST_RANGE, OrganizationWalk, WIDEST_RANGE};
use crate::collections::{Collection, CollectionPart};
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
    /// The part of the roster that the caller has access to.
    pub reach: Reach,
    /// The filter.
    pub filter: Option<BoundFilter>,
    /// Whether the filter speaks of `status` or `dateLastModified`, so that deleted records are
    /// listed too (delta sync).
    pub with_deleted: bool,
    /// The words to find, in lower case. Each is found if a searched field contains it, or a word of the names begins with
    /// it.
    pub search: Option<String>,
    /// The order.
    pub sort: SortOrder,
    /// Records on the page at most.
    pub limit: u64,
    /// Records before the page.
    pub offset: u64,
    /// The cursor of the previous page.
    pub cursor: Option<String>,
    /// Whether the filter or the order speaks of `dateLastModified`. Then `until` must be an instant up to which all
    /// changes are stored ([`lyceum_store::Db::records_complete_until`]).
    pub of_changes: bool,
    /// Records that changed later are left out. All pages of a walk have the same instant, which cursors contain.
    pub until: Option<Timestamp>,
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
    /// The sourcedIds of the results of students who have left ([`super::of_former_students`]); `None` for other kinds
    /// and in the standard dialect.
    pub of_former_students: Option<Vec<String>>,
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
        BoundFilter::Clause(clause) => match &clause.location {
            ValueLocation::Column { indexed, .. } => *indexed && clause.op == FilterOperator::Equal,
            // A list's value, such as a role, may be shared by most records: counting takes time.
            ValueLocation::List(_) | ValueLocation::Json { .. } => false,
        },
    }
}

/// Lists a page. Errors: `NotFound` for a scope of nothing; `BadSelection` for a broken cursor.
pub fn list(tx: &mut Tx<'_>, query: &ListQuery, view: &RecordView<'_>) -> Result<RecordPage> {
    if is_whole(query) || query.scope.is_some() {
        tx.begin_snapshot()?; // for the total, or the scope
    }
    if let Some(scope) = &query.scope {
        belongs::check(tx, scope, &query.reach)?;
    }
    let source = ListSource::of(tx, query)?;
    let mut page = PageInProgress::new(query, view);
    match &source {
        ListSource::Organizations(walk) if is_in_order_of_insertion(query) => {
            read_in_ranges(tx, &mut page, walk, &source)?;
        }
        _ => read_at_once(tx, &mut page, &source)?,
    }
    let mut listed = page.finish();
    listed.total = total(tx, query, &listed, &source)?;
    Ok(listed)
}

/// Reads the page with one statement.
fn read_at_once(tx: &mut Tx<'_>, page: &mut PageInProgress<'_>, source: &ListSource) -> Result<()> {
    let query = page.query;
    let mut sql = page.select(tx);
    from_where(tx, &mut sql, query, source, None)?;
    let skip = seek(tx, &mut sql, query, source)?;
    order(&mut sql, query, source);
    let one_more = i64::try_from(query.limit + 1).expect("pages are limited");
    sql.push(" LIMIT ").bind(one_more);
    if skip > 0 {
        sql.push(" OFFSET ").bind(skip);
    }
    tx.query(&sql.text, &sql.values(), |row| page.add(row))
}

/// Reads the page range by range. Ranges without records of the organizations are skipped.
fn read_in_ranges(
    tx: &mut Tx<'_>,
    page: &mut PageInProgress<'_>,
    walk: &OrganizationWalk,
    source: &ListSource,
) -> Result<()> {
    let query = page.query;
    let Some((mut after, skip)) = seek_range(tx, query, walk)? else { return Ok(()) };
    page.skip = skip;
    let mut width = FIRST_RANGE;
    while !page.is_complete()
        && let Some(first) = walk.next(tx, after)?
    {
        let last = first.saturating_add(width - 1);
        let mut sql = page.select(tx);
        from_where(tx, &mut sql, query, source, Some((first, last)))?;
        order(&mut sql, query, source);
        tx.query(&sql.text, &sql.values(), |row| page.add(row))?;
        after = last;
        width = (width * 2).min(WIDEST_RANGE);
    }
    Ok(())
}

/// The number behind which the page lies, and how many records are still to be skipped from there. `None` if the page
/// lies behind the last record.
fn seek_range(
    tx: &mut Tx<'_>,
    query: &ListQuery,
    walk: &OrganizationWalk,
) -> Result<Option<(i64, u64)>> {
    if let Some(cursor) = query.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        return Ok(Some((cursor::read(&query.sort, cursor)?.seq, 0)));
    }
    if query.offset == 0 || !is_whole(query) || !walk.is_counted() {
        return Ok(Some((i64::MIN, query.offset)));
    }
    let found = walk.seek(tx, query.collection, query.offset)?;
    Ok(found.map(|(first, skip)| (first - 1, skip)))
}

/// A page to which records are added until it is complete.
struct PageInProgress<'q> {
    query: &'q ListQuery,
    view: &'q RecordView<'q>,
    listed: RecordPage,
    /// Records before the page that were not read yet.
    skip: u64,
    /// Key and number of the last record.
    last: (String, i64),
    has_next: bool,
}

impl<'q> PageInProgress<'q> {
    fn new(query: &'q ListQuery, view: &'q RecordView<'q>) -> Self {
        let (listed, last) = (RecordPage::default(), (String::new(), 0));
        Self { query, view, listed, skip: 0, last, has_next: false }
    }

    /// The beginning of the statement whose rows [`PageInProgress::add`] reads.
    fn select(&self, tx: &Tx<'_>) -> Sql {
        let mut sql = Sql::new(tx.dialect());
        sql.push("SELECT t.seq, t.body, t.extra, ").push(&self.query.sort.key);
        sql
    }

    fn is_complete(&self) -> bool {
        self.has_next
    }

    /// Adds the record of a row. Answers whether the page needs another one.
    fn add(&mut self, row: &Row<'_>) -> Result<bool> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(true);
        }
        let (query, listed) = (self.query, &mut self.listed);
        if listed.count == query.limit {
            self.has_next = true;
            return Ok(false);
        }
        if listed.count > 0 {
            listed.records.push(',');
        }
        self.view.render(row.text(1)?, row.opt_text(2)?, &mut listed.records)?;
        listed.count += 1;
        if listed.count == 1 || listed.count == SHORT_LIST {
            reserve(listed, query.limit);
        }
        if listed.count == query.limit {
            self.last = (query.sort.read_key(row, 3)?, row.int(0)?);
        }
        Ok(true)
    }

    fn finish(mut self) -> RecordPage {
        let next = || cursor::text(self.query, &self.last.0, self.last.1);
        self.listed.next = self.has_next.then(next);
        self.listed
    }
}

fn is_in_order_of_insertion(query: &ListQuery) -> bool {
    query.sort.is_default() && !query.sort.descending
}

/// Where a list finds its records.
enum ListSource {
    /// In the table.
    Table,
    /// In the rows of the link with this field and value, which are in the order of the list.
    Link(String, String),
    /// In the indexes of the organizations that the caller reaches.
    Organizations(OrganizationWalk),
}

/// Links with values that few records share, so that they find records faster than an organization does.
const RARE_LINKS: [&str; 2] = ["user.userIds.identifier", "user.agents"];

impl ListSource {
    fn of(tx: &mut Tx<'_>, query: &ListQuery) -> Result<Self> {
        let is_found = query.filter.as_ref().is_some_and(is_indexed);
        let is_rare = |(field, _): &(String, String)| {
            query.scope.is_some() || RARE_LINKS.contains(&field.as_str())
        };
        let is_walked = matches!(query.reach, Reach::Organizations(_));
        let link = driver(query).filter(|link| !is_walked || is_rare(link));
        Ok(match link {
            Some((field, value)) => Self::Link(field, value),
            None if query.scope.is_some() || is_found => Self::Table,
            None => match OrganizationWalk::of(query.collection.kind, &query.reach)? {
                Some(walk) if walk.is_short(tx)? => Self::Organizations(walk),
                _ => Self::Table,
            },
        })
    }

    /// The number of a record, as the list orders by it.
    fn seq(&self) -> &'static str {
        if matches!(self, Self::Link(..)) { "l.owner" } else { "t.seq" }
    }
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
    let ValueLocation::List(list) = &clause.location else { return None };
    let (Operand::Members(values) | Operand::OneOf(values)) = &clause.operand else { return None };
    match (&list.rows, values.as_slice()) {
        (Some(rows), [value]) if clause.op != FilterOperator::NotEqual => {
            Some((rows.field.clone(), value.clone()))
        }
        _ => None,
    }
}

fn from_where(
    tx: &mut Tx<'_>,
    sql: &mut Sql,
    query: &ListQuery,
    source: &ListSource,
    range: Option<(i64, i64)>,
) -> Result<()> {
    let table = query.collection.kind.table;
    match source {
        ListSource::Link(field, value) => {
            // The order of a cross join is kept by SQLite, so that no sort is needed.
            sql.push(&format!(" FROM roster_link l CROSS JOIN {table} t WHERE l.field = "));
            sql.bind(field.as_str()).push(" AND l.value = ").bind(value.as_str());
            sql.push(" AND t.seq = l.owner");
        }
        ListSource::Table => {
            sql.push(&format!(" FROM {table} t WHERE TRUE"));
        }
        ListSource::Organizations(walk) => {
            sql.push(&format!(" FROM {table} t WHERE "));
            walk.within(sql, range);
        }
    }
    let driven_by_role = matches!(source, ListSource::Link(field, _) if field == "user.roles.role");
    let by_role_at = query.scope.as_ref().is_some_and(|s| belongs::driver(s).is_some());
    if query.collection.part != CollectionPart::Whole && !driven_by_role && !by_role_at {
        sql.push(" AND ");
        in_part(sql, query.collection.part);
    }
    if !query.with_deleted {
        sql.push(" AND t.status = 'active'");
    }
    if let Some(until) = query.until {
        sql.push(" AND t.date_last_modified <= ").bind(until.to_string().as_str());
    }
    if query.reach.is_limited() && !matches!(source, ListSource::Organizations(_)) {
        sql.push(" AND ");
        reach::condition(sql, (query.collection.kind, "t"), &query.reach, RecordUse::See)?;
    }
    if let Some(scope) = &query.scope {
        sql.push(" AND ");
        belongs::condition(tx, sql, scope, matches!(source, ListSource::Link(..)))?;
    }
    if let Some(filter) = &query.filter {
        sql.push(" AND ");
        filter.push_to(sql)?;
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

/// The condition that each word of the text is found: inside a searched field, or as the beginnings of words of the names,
/// of which an index has those without fields of their own, such as preferred names.
fn search(sql: &mut Sql, kind: &'static RecordKind, text: &str) -> Result<()> {
    for word in text.split_whitespace() {
        // A kind without texts to search has nothing that is found.
        sql.push(" AND (FALSE");
        for field in kind.fields.iter().filter(|field| field.searched) {
            let name = field.column_name().expect("searched fields have columns");
            let operand = Operand::Text(word.to_owned());
            let location = ValueLocation::Column { name, indexed: false };
            let op = FilterOperator::Contains;
            sql.push(" OR ");
            BoundFilter::Clause(Clause { location, is_folded: true, op, operand }).push_to(sql)?;
        }
        let beginnings = name_words(word);
        if kind.rules.links.is_some() && !beginnings.is_empty() {
            sql.push(" OR (TRUE");
            for beginning in &beginnings {
                sql.push(" AND t.seq IN (");
                names::begins_with(sql, kind, beginning);
                sql.push(")");
            }
            sql.push(")");
        }
        sql.push(")");
    }
    Ok(())
}

/// Moves to the page: behind the cursor, or near the offset by the counters. Answers how many
/// rows are still to be skipped.
fn seek(tx: &mut Tx<'_>, sql: &mut Sql, query: &ListQuery, source: &ListSource) -> Result<i64> {
    let seq = source.seq();
    if let Some(cursor) = query.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        let ListCursor { key, seq: last, .. } = cursor::read(&query.sort, cursor)?;
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
    is_whole(query) && !query.reach.is_limited()
}

/// Whether the list has all records of the collection that the caller reaches.
fn is_whole(query: &ListQuery) -> bool {
    query.scope.is_none()
        && query.people.is_none()
        && query.filter.is_none()
        && query.search.is_none()
        && !query.with_deleted
}

fn order(sql: &mut Sql, query: &ListQuery, source: &ListSource) {
    let way = if query.sort.descending { " DESC" } else { "" };
    let seq = source.seq();
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
    source: &ListSource,
) -> Result<u64> {
    if is_counted(query) {
        return Ok(u64::try_from(tx.tally_total(query.collection.path)?).unwrap_or(0));
    }
    if let ListSource::Organizations(walk) = source
        && is_whole(query)
        && let Some(total) = walk.total(tx, query.collection)?
    {
        return Ok(u64::try_from(total).unwrap_or(0));
    }
    let reached_the_end = listed.next.is_none() && (listed.count > 0 || query.offset == 0);
    if reached_the_end && query.cursor.is_none() {
        return Ok(query.offset + listed.count);
    }
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT count(*)");
    from_where(tx, &mut sql, query, source, None)?;
    let total = tx.query_one(&sql.text.clone(), &sql.values(), |row| row.int(0))?;
    Ok(u64::try_from(total.unwrap_or(0)).unwrap_or(0))
}
