//! Bodies and headers of answers: wrapper keys, paging and links.

use std::fmt::Write as _;

use http::{HeaderName, header};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Result};
use lyceum_http::answer::Answer;
use lyceum_http::{notice, paging};
use lyceum_roster::collections::Collection;
use lyceum_roster::record::StoredRecord;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::RecordPage;
use serde_json::json;

use crate::Context;

const TOTAL: HeaderName = HeaderName::from_static("x-total-count");

/// The position of a page in its list.
pub(super) struct PagePosition {
    pub(super) limit: u64,
    pub(super) offset: u64,
    /// Whether the request names its offset. The link to the next page then does, too.
    pub(super) has_offset: bool,
    /// Whether the request continues after a record.
    pub(super) has_cursor: bool,
    /// The instant up to which the list has all changes, if it is a list of changes.
    pub(super) complete_until: Option<Timestamp>,
}

/// The header with [`PagePosition::complete_until`].
pub(super) const COMPLETE_UNTIL: &str = "X-Lyceum-Complete-Until";

/// A page of records, such as `{courses: […]}`. The platform dialect adds the paging keys that published clients read.
/// Both dialects have the headers `X-Total-Count` and `Link`.
pub(super) fn page(
    context: &Context,
    collection: Collection,
    page: &PagePosition,
    listed: RecordPage,
) -> Answer {
    let links = links(context, page, &listed);
    let RecordPage { records: mut body, total, next, of_former_students, .. } = listed;
    // Do not copy the records, which are most of the body.
    let head = format!("{{\"{}\":[", collection.kind.many);
    let records = head.len()..head.len() + body.len();
    body.insert_str(0, &head);
    body.push(']');
    if context.dialect == PayloadDialect::Platform {
        for key in many_keys(context, collection) {
            let _ = write!(body, ",\"{key}\":[");
            body.extend_from_within(records.clone());
            body.push(']');
        }
        let PagePosition { limit, offset, .. } = page;
        let (pages, number) = (total.div_ceil(*limit), offset / limit + 1);
        let _ = write!(
            body,
            ",\"totalCount\":{total},\"pageCount\":{pages},\"pageNumber\":{number},\
             \"offset\":{offset},\"limit\":{limit}"
        );
        if let Some(next) = &next {
            let _ = write!(body, ",\"nextCursor\":\"{next}\"");
        }
        if let Some(results) = of_former_students {
            let _ = write!(body, ",\"ofFormerStudents\":{}", json!(results));
        }
        body.push_str(&notice::member(&context.notices));
    }
    body.push('}');
    let answer = Answer::json(body).header(TOTAL, total).header(header::LINK, links);
    match page.complete_until {
        None => answer,
        Some(until) => {
            answer.header(HeaderName::from_static("x-lyceum-complete-until"), until.to_string())
        }
    }
}

/// Additional keys that the platform's clients read besides the kind's own.
fn many_keys(context: &Context, collection: Collection) -> impl Iterator<Item = &'static str> {
    let agents = context.route.path.ends_with("/agents").then_some("agents");
    collection.platform_many.into_iter().chain(agents)
}

/// RFC 8288 links to the other pages, as absolute addresses.
fn links(context: &Context, page: &PagePosition, listed: &RecordPage) -> String {
    if page.has_offset && !page.has_cursor {
        return paging::links(context, page.limit, page.offset, listed.count, listed.total);
    }
    let base = paging::address(context, page.limit);
    let mut links = match &listed.next {
        Some(next) => format!("<{base}&cursor={next}>; rel=\"next\", "),
        None => String::new(),
    };
    let _ = write!(links, "<{base}>; rel=\"first\"");
    if !page.has_cursor {
        let last = listed.total.saturating_sub(1) / page.limit * page.limit;
        let _ = write!(links, ", <{base}&offset={last}>; rel=\"last\"");
    }
    links
}

/// A record under its wrapper key, such as `{"course": {…}}`.
pub(super) fn single(
    view: &RecordView<'_>,
    collection: Collection,
    stored: &StoredRecord,
) -> Result<String> {
    let mut body = String::with_capacity(stored.body.len() + 512);
    let _ = write!(body, "{{\"{}\":", collection.kind.one);
    let start = body.len();
    view.render(&stored.body, stored.extra.as_deref(), &mut body)?;
    if let Some(key) = collection.platform_one.filter(|_| view.dialect == PayloadDialect::Platform)
    {
        let record = body[start..].to_owned();
        let _ = write!(body, ",\"{key}\":{record}");
    }
    body.push('}');
    Ok(body)
}
