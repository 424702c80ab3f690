//! Reads the query parameters of a list: `limit`, `offset`, `cursor`, `sort`, `orderBy`,
//! `filter`, `search`.

use lyceum_core::filter::{FilterExpression, parse};
use lyceum_core::text::whole_number;
use lyceum_core::{Problem, ProblemKind, Reach, Result, limits, message};
use lyceum_store::SqlDialect;

use crate::collections::Collection;
use crate::filter;
use crate::repository::{ListQuery, PathScope, until_of};
use crate::sort::SortOrder;

/// The parameters as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListParameters<'a> {
    /// The most records on the page, from 1. A number above the page limit means the page limit.
    pub limit: Option<&'a str>,
    /// Records before the page, from 0.
    pub offset: Option<&'a str>,
    /// Where the page before ended; an empty one begins.
    pub cursor: Option<&'a str>,
    /// The field that orders.
    pub sort: Option<&'a str>,
    /// `asc` or `desc`.
    pub order_by: Option<&'a str>,
    /// The filter.
    pub filter: Option<&'a str>,
    /// A text to look for.
    pub search: Option<&'a str>,
}

/// Understands the parameters of a list of what lies within the reach.
///
/// Errors: `Invalid` for numbers out of range, `BadFilter`, `BadSelection`.
pub fn query(
    collection: Collection,
    scope: Option<PathScope>,
    reach: Reach,
    parameters: &ListParameters<'_>,
    store: SqlDialect,
) -> Result<ListQuery> {
    let number = |name, text: Option<&str>, usual, least| {
        text.map_or(Ok(usual), |text| whole_number(name, text, least))
    };
    let limit = number("limit", parameters.limit, limits::PAGE_DEFAULT_RECORDS, 1)?;
    let offset = number("offset", parameters.offset, 0, 0)?;
    let descending = match parameters.order_by {
        None | Some("asc" | "") => false,
        Some("desc") => true,
        Some(_) => return Err(Problem::invalid("orderBy", "must be 'asc' or 'desc'")),
    };
    let sort = SortOrder::by(
        collection.kind,
        parameters.sort.filter(|sort| !sort.is_empty()),
        descending,
        store,
    )?;
    let filter = parameters.filter.filter(|text| !text.trim().is_empty()).map(parse);
    let filter = filter.transpose()?;
    let query = ListQuery {
        with_deleted: false,
        filter: None,
        search: parameters.search.map(search).transpose()?.flatten(),
        limit: limit.min(limits::PAGE_MAX_RECORDS),
        of_changes: sort.is_by_change(),
        until: parameters.cursor.map_or(Ok(None), |cursor| until_of(&sort, cursor))?,
        cursor: parameters.cursor.map(str::to_owned),
        collection,
        scope,
        reach,
        people: None,
        sort,
        offset,
    };
    match filter {
        Some(filter) => with_filter(query, &filter),
        None => Ok(query),
    }
}

/// The query with a filter. Errors: `BadFilter`.
pub(crate) fn with_filter(mut query: ListQuery, filter: &FilterExpression) -> Result<ListQuery> {
    query.with_deleted = filter::names(filter, &["status", "dateLastModified"]);
    query.of_changes |= filter::names(filter, &["dateLastModified"]);
    query.filter = Some(filter::bind(query.collection.kind, filter)?);
    Ok(query)
}

fn search(text: &str) -> Result<Option<String>> {
    if text.len() > limits::SEARCH_MAX_BYTES || text.contains('\0') {
        let most = limits::SEARCH_MAX_BYTES;
        return Err(Problem::new(
            ProblemKind::BadFilter,
            message!("the search text has at most {most} bytes"),
        ));
    }
    Ok((!text.trim().is_empty()).then(|| text.to_ascii_lowercase()))
}
