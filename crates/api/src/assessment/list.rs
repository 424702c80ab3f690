//! Lists of parts, sections and banks: pages, order and search as the published clients request them.

use lyceum_assessment::{Page, Parameters};
use lyceum_core::{Detail, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::headers;
use crate::{Context, Route};

/// The parameters of a list that can be ordered by these fields.
pub(super) fn parameters(route: Route, sorts: &[&str]) -> Route {
    headers::page_parameters(route)
        .param(
            ParamPlace::Query,
            "sort",
            json!({ "enum": sorts }),
            "The field that orders the list.",
        )
        .param(
            ParamPlace::Query,
            "order",
            json!({ "enum": ["asc", "desc"] }),
            "The direction of the order.",
        )
        .param(
            ParamPlace::Query,
            "query",
            json!({ "type": "string" }),
            "A text to search for in identifiers and titles.",
        )
}

/// The parameters of a list of content, as they were sent.
pub(super) fn parameters_of(context: &Context) -> Parameters {
    let mut parameters = Parameters::default();
    for (name, value) in context.query() {
        let member = match &*name {
            "page" => &mut parameters.page,
            "limit" => &mut parameters.limit,
            "sort" => &mut parameters.sort,
            "order" => &mut parameters.order,
            "query" => &mut parameters.query,
            "filter" => &mut parameters.filter,
            _ => continue,
        };
        let value = value.trim();
        if member.is_none() && !value.is_empty() {
            *member = Some(value.to_owned());
        }
    }
    parameters
}

/// The page of a complete list, whose own order is the first of `sorts`.
pub(super) fn sliced(
    context: &Context,
    mut all: Vec<Value>,
    sorts: &[&'static str],
) -> Result<Answer> {
    let page_request = Page::read(&parameters_of(context), sorts)?;
    let text =
        |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_ascii_lowercase();
    if let Some(search) = page_request.search.as_ref().map(|text| text.to_ascii_lowercase()) {
        all.retain(|entry| {
            ["identifier", "title"].iter().any(|n| text(entry, n).contains(&search))
        });
    }
    if page_request.sort != sorts[0] {
        all.sort_by_cached_key(|entry| text(entry, page_request.sort));
    }
    if page_request.descending {
        all.reverse();
    }
    let total = all.len() as u64;
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let skip = number(page_request.skip());
    let page: Vec<Value> = all.into_iter().skip(skip).take(number(page_request.limit)).collect();
    Ok(answer(context, &page_request, page, total))
}

/// A page of a list.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ListPage<T> {
    /// The entries.
    items: Vec<T>,
    /// The number of entries on all pages.
    total: u64,
    /// The number of the page, from 1.
    page: u64,
    /// The number of pages.
    pages: u64,
    /// The most entries on a page.
    limit: u64,
    /// The field that orders the list.
    sort: &'static str,
    /// The direction of the order.
    #[schemars(extend("enum" = ["asc", "desc"]))]
    order: &'static str,
    /// The ignored parameters, and a limit that was lowered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Detail>,
}

/// A page as clients read it.
pub(super) fn answer<T: Serialize>(
    context: &Context,
    page: &Page,
    items: Vec<T>,
    total: u64,
) -> Answer {
    Answer::of(&ListPage {
        items,
        total,
        page: page.number,
        pages: page.pages(total),
        limit: page.limit,
        sort: page.sort,
        order: page.order(),
        warnings: context.notices.clone(),
    })
}
