//! Links to the other pages of a list (RFC 8288), as absolute addresses.

use std::fmt::Write;

use crate::Application;
use crate::context::Context;

/// The request's address without paging parameters, so that they can be appended to its query.
pub fn address(context: &Context<impl Application>, limit: u64) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (key, value) in context.query() {
        if !matches!(key.as_ref(), "offset" | "cursor" | "limit") {
            query.append_pair(&key, &value);
        }
    }
    query.append_pair("limit", &limit.to_string());
    format!("{}{}?{}", context.base_url(), context.uri.path(), query.finish())
}

/// Links to the first and last page, and to the next and previous page if they exist. The page has `count` of `total`
/// entries, beginning at `offset`.
pub fn links(
    context: &Context<impl Application>,
    limit: u64,
    offset: u64,
    count: u64,
    total: u64,
) -> String {
    let base = address(context, limit);
    let mut links = String::with_capacity(4 * (base.len() + 48));
    let mut link = |rel: &str, offset: u64| {
        let comma = if links.is_empty() { "" } else { ", " };
        let _ = write!(links, "{comma}<{base}&offset={offset}>; rel=\"{rel}\"");
    };
    if offset.saturating_add(count) < total {
        link("next", offset + limit);
    }
    if offset > 0 {
        link("prev", offset.saturating_sub(limit));
    }
    link("first", 0);
    link("last", total.saturating_sub(1) / limit * limit);
    links
}
