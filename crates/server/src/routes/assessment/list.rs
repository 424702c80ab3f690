//! Lists that are not documents: parts, sections, banks. Pages, order and search as the published
//! clients ask for them.

use lyceum_assessment::banks::Query;
use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use serde_json::{Value, json};

use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Place, Route};

/// The parameters of a list that can be ordered by these fields.
pub(super) fn parameters(route: Route, sorts: &[&str]) -> Route {
    schema::page_parameters(route)
        .param(Place::Query, "sort", json!({ "enum": sorts }), "The field that orders the list.")
        .param(Place::Query, "order", json!({ "enum": ["asc", "desc"] }), "Up or down.")
        .param(
            Place::Query,
            "query",
            json!({ "type": "string" }),
            "A text to look for in identifiers and titles.",
        )
}

/// Reads the parameters; the first of `sorts` is the order where none is asked for. Errors:
/// `BadSelection`.
pub(super) fn query(context: &Context, sorts: &[&'static str]) -> Result<Query> {
    let mut query = Query {
        page: 1,
        limit: limits::PAGE_DEFAULT_RECORDS,
        sort: sorts[0],
        descending: false,
        search: None,
    };
    for (name, value) in context.query() {
        let value = value.trim();
        match (&*name, value) {
            (_, "") => {}
            ("page", _) => query.page = whole("page", value)?,
            ("limit", _) => query.limit = whole("limit", value)?.min(limits::PAGE_MAX_RECORDS),
            ("sort", _) => match sorts.iter().find(|sort| **sort == value) {
                Some(sort) => query.sort = sort,
                None => return Err(bad("sort", format!("is one of {}", sorts.join(", ")))),
            },
            ("order", "asc" | "desc") => query.descending = value == "desc",
            ("order", _) => return Err(bad("order", "is 'asc' or 'desc'")),
            ("query", _) if value.len() > limits::SEARCH_MAX_BYTES || value.contains('\0') => {
                let most = limits::SEARCH_MAX_BYTES;
                return Err(bad("query", format!("has at most {most} bytes, without U+0000")));
            }
            ("query", _) => query.search = Some(value.to_ascii_lowercase()),
            _ => {}
        }
    }
    Ok(query)
}

fn whole(name: &str, text: &str) -> Result<u64> {
    match text.parse() {
        Ok(number @ 1..=0xffff_ffff) => Ok(number),
        _ => Err(bad(name, "is a whole number from 1")),
    }
}

fn bad(name: &str, rule: impl Into<String>) -> Problem {
    let rule = rule.into();
    Problem {
        details: vec![Detail { path: name.to_owned(), message: rule.clone() }],
        ..Problem::new(ProblemKind::BadSelection, format!("the parameter '{name}' {rule}"))
    }
}

/// The page of entries that are all there, in their own order, the first of `sorts`.
pub(super) fn sliced(
    context: &Context,
    mut all: Vec<Value>,
    sorts: &[&'static str],
) -> Result<Answer> {
    let query = query(context, sorts)?;
    let text =
        |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_ascii_lowercase();
    if let Some(search) = &query.search {
        all.retain(|entry| ["identifier", "title"].iter().any(|n| text(entry, n).contains(search)));
    }
    if query.sort != sorts[0] {
        all.sort_by_cached_key(|entry| text(entry, query.sort));
    }
    if query.descending {
        all.reverse();
    }
    let total = all.len() as u64;
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let skip = number((query.page - 1).saturating_mul(query.limit));
    let page: Vec<Value> = all.into_iter().skip(skip).take(number(query.limit)).collect();
    Ok(answer(&query, &page.into(), total))
}

/// A page as clients read it.
pub(super) fn answer(query: &Query, items: &Value, total: u64) -> Answer {
    Answer::of(&json!({
        "items": items,
        "total": total,
        "page": query.page,
        "pages": total.div_ceil(query.limit),
        "limit": query.limit,
        "sort": query.sort,
        "order": if query.descending { "desc" } else { "asc" },
    }))
}
