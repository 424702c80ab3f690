//! Bodies and headers of answers: wrapper keys, paging, links, tags.

use std::fmt::Write as _;

use axum::http::{HeaderName, header};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::Dialect;
use lyceum_roster::collections::Collection;
use lyceum_roster::render::View;
use lyceum_roster::repository::{Listed, Stored};

use crate::answer::Answer;
use crate::context::{self, Context};

const TOTAL: HeaderName = HeaderName::from_static("x-total-count");

/// The dialect in which records are shown.
pub(super) fn dialect(context: &Context) -> Dialect {
    match context.dialect {
        context::Dialect::Platform => Dialect::Platform,
        context::Dialect::Standard => Dialect::Standard,
    }
}

/// Where a page stands in its list.
pub(super) struct Page {
    pub(super) limit: u64,
    pub(super) offset: u64,
    /// The request paged by cursor; so do the links of the answer.
    pub(super) by_cursor: bool,
}

/// A page of records: `{courses: […]}`, in the platform dialect with the paging keys that the
/// published clients read; `X-Total-Count` and `Link` in both.
pub(super) fn page(
    context: &Context,
    collection: Collection,
    page: &Page,
    listed: &Listed,
) -> Answer {
    let mut body = String::with_capacity(listed.records.len() * 2 + 128);
    let _ = write!(body, "{{\"{}\":[{}]", collection.kind.many, listed.records);
    if dialect(context) == Dialect::Platform {
        for key in many_keys(context, collection) {
            let _ = write!(body, ",\"{key}\":[{}]", listed.records);
        }
        let _ = write!(
            body,
            ",\"totalCount\":{},\"pageCount\":{},\"pageNumber\":{},\"offset\":{},\"limit\":{}",
            listed.total,
            listed.total.div_ceil(page.limit),
            page.offset / page.limit + 1,
            page.offset,
            page.limit
        );
        if let Some(next) = &listed.next {
            let _ = write!(body, ",\"nextCursor\":\"{next}\"");
        }
    }
    body.push('}');
    Answer::json(body)
        .header(TOTAL, listed.total.to_string())
        .header(header::LINK, links(context, page, listed))
}

/// The keys that clients of the platform look under beside the kind's own.
fn many_keys(context: &Context, collection: Collection) -> impl Iterator<Item = &'static str> {
    let agents = context.route.path.ends_with("/agents").then_some("agents");
    collection.platform_many.into_iter().chain(agents)
}

/// RFC 8288 links to the other pages, as absolute addresses.
fn links(context: &Context, page: &Page, listed: &Listed) -> String {
    let mut links = Vec::new();
    let mut link = |rel: &str, name: &str, value: &str| {
        links.push(format!("<{}>; rel=\"{rel}\"", address(context, page, name, value)));
    };
    if page.by_cursor {
        if let Some(next) = &listed.next {
            link("next", "cursor", next);
        }
        link("first", "cursor", "");
        return links.join(", ");
    }
    let last = listed.total.saturating_sub(1) / page.limit * page.limit;
    if page.offset + listed.count < listed.total {
        link("next", "offset", &(page.offset + page.limit).to_string());
    }
    if page.offset > 0 {
        link("prev", "offset", &page.offset.saturating_sub(page.limit).to_string());
    }
    link("first", "offset", "0");
    link("last", "offset", &last.to_string());
    links.join(", ")
}

/// The request's address with another place in the list.
fn address(context: &Context, page: &Page, name: &str, value: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (key, value) in context.query() {
        if !matches!(key.as_ref(), "offset" | "cursor" | "limit") {
            query.append_pair(&key, &value);
        }
    }
    query.append_pair("limit", &page.limit.to_string()).append_pair(name, value);
    format!("{}{}?{}", context.base_url(), context.uri.path(), query.finish())
}

/// A record under its wrapper key: `{"course": {…}}`.
pub(super) fn single(view: &View<'_>, collection: Collection, stored: &Stored) -> Result<String> {
    let mut body = String::with_capacity(stored.body.len() + 512);
    let _ = write!(body, "{{\"{}\":", collection.kind.one);
    let start = body.len();
    view.render(&stored.body, stored.extra.as_deref(), &mut body)?;
    if let Some(key) = collection.platform_one.filter(|_| view.dialect == Dialect::Platform) {
        let record = body[start..].to_owned();
        let _ = write!(body, ",\"{key}\":{record}");
    }
    body.push('}');
    Ok(body)
}

/// The tag of a record's version.
pub(super) fn etag(version: i64) -> String {
    format!("\"v{version}\"")
}

/// Whether a list of tags such as `If-None-Match` has names the tag.
pub(super) fn names(tags: &str, tag: &str) -> bool {
    tags.split(',')
        .map(|seen| seen.trim().trim_start_matches("W/"))
        .any(|seen| seen == tag || seen == "*")
}

/// The version that `If-Match` asks for. `*` asks for any.
///
/// Errors: `PreconditionFailed` for a tag that this server never gave.
pub(super) fn expected(context: &Context) -> Result<Option<i64>> {
    let Some(tag) = context.header(header::IF_MATCH) else { return Ok(None) };
    if tag.trim() == "*" {
        return Ok(None);
    }
    let version = tag.trim().strip_prefix("\"v").and_then(|rest| rest.strip_suffix('"'));
    match version.and_then(|version| version.parse().ok()) {
        Some(version) => Ok(Some(version)),
        None => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            format!("If-Match names {tag}, which is no ETag of this record; read it again"),
        )),
    }
}
