//! Alignments: the records that cover a standard.

use std::time::Duration;

use http::{HeaderName, StatusCode, header};
use lyceum_access::Scope::{StandardsRead, StandardsWrite};
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_core::{Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::paging;
use lyceum_http::route::{ParamPlace, delete, get, post, put};
use lyceum_standards::alignment::{
    self, AddedAlignments, AlignmentList, Coverage, CoveredItem, CoveredItems, CoveringRecord,
    ItemList,
};
use lyceum_standards::{Query, class, identifier, repository};
use lyceum_store::Tx;
use serde_json::json;

use crate::{Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    let flag = || json!({ "type": "boolean" });
    let text = || json!({ "type": "string" });
    vec![
        get("/CFItems/{sourcedId}/coverage", StandardsRead, coverage)
            .within_reach()
            .named("getCoverage")
            .description("Lists the records that cover an item: those that are aligned to it, and those that name it themselves.")
            .param(
                ParamPlace::Query,
                "children",
                flag(),
                "true: also list records that cover an item below it.",
            )
            .param(
                ParamPlace::Query,
                "said",
                flag(),
                "false: leave out records that only name the item themselves.",
            )
            .answers::<Coverage>(200, "The records."),
        get("/alignments", StandardsRead, list)
            .within_reach()
            .named("listAlignments")
            .description("Lists alignments in the order in which they were added.")
            .param(ParamPlace::Query, "kind", text(), "The kind of record.")
            .param(ParamPlace::Query, "item", text(), "The identifier of an item.")
            .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
            .param(
                ParamPlace::Query,
                "offset",
                json!({ "type": "integer", "minimum": 0 }),
                "Alignments before the page.",
            )
            .answers::<AlignmentList>(200, "A page."),
        post("/alignments", StandardsWrite, added)
            .within_reach()
            .named("addAlignments")
            .description("Adds many alignments, all or none. Alignments that exist already stay.")
            .reads::<AlignmentList>()
            .answers::<AddedAlignments>(200, "The number of new alignments."),
        get("/alignments/{kind}/{id}", StandardsRead, covered)
            .within_reach()
            .named("getAlignment")
            .description("Lists the items that a record covers: those that it is aligned to, and those that it names itself.")
            .answers::<CoveredItems>(200, "The items."),
        put("/alignments/{kind}/{id}", StandardsWrite, set)
            .within_reach()
            .named("putAlignment")
            .description("Aligns a record to exactly these items.")
            .reads::<ItemList>()
            .answers::<CoveredItems>(200, "The items that the record covers now."),
        delete("/alignments/{kind}/{id}", StandardsWrite, |context| async move {
            removed(context, false).await
        })
        .within_reach()
        .named("deleteAlignment")
        .description("Removes all alignments of a record.")
        .answers_empty(204, "Removed."),
        delete("/alignments/{kind}/{id}/{item}", StandardsWrite, |context| async move {
            removed(context, true).await
        })
        .within_reach()
        .named("deleteAlignmentToItem")
        .description("Removes the alignment of a record to an item.")
        .answers_empty(204, "Removed."),
    ]
}

async fn coverage(context: Context) -> Result<Answer> {
    let id = identifier(context.param("sourcedId"))?;
    let flag =
        |name: &str, value: &str| context.query().any(|(key, text)| key == name && text == value);
    let (children, with_named) = (flag("children", "true"), !flag("said", "false"));
    let (db, reach) = (&context.app.db, context.reach());
    let (item, part) = (id.clone(), reach.clone());
    let (mut records, items) =
        db.read(move |tx| alignment::coverage(tx, &item, children, &part)).await?;
    let mut complete = true;
    if with_named {
        let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
        match db.scan(deadline, move |tx| alignment::records_naming(tx, &items, &reach)).await {
            Ok(naming) => add(&mut records, naming),
            // Alignments were found by an index. If the scan is too slow, only alignments inside records are left out.
            Err(problem) if lyceum_store::is_too_slow(&problem) => complete = false,
            Err(problem) => return Err(problem),
        }
    }
    Ok(Answer::of(&Coverage { sourced_id: id, coverage: records, complete }))
}

/// Adds the records that name items themselves, unless they are already there.
fn add(records: &mut Vec<CoveringRecord>, naming: Vec<CoveringRecord>) {
    let key = |one: &CoveringRecord| (one.kind.clone(), one.id.clone(), one.item.clone());
    let known: std::collections::HashSet<_> = records.iter().map(key).collect();
    records.extend(naming.into_iter().filter(|one| !known.contains(&key(one))));
}

async fn list(context: Context) -> Result<Answer> {
    let pairs: Vec<_> = context.query().collect();
    let parameter = |name: &str| {
        let found = pairs.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.replace('\0', ""))
    };
    let (kind, item) = (parameter("kind"), parameter("item"));
    let item = item.as_deref().map(identifier).transpose()?;
    let paging = pairs.iter().map(|(key, value)| (key.as_ref(), value.as_ref()));
    let paging = paging.filter(|(key, _)| matches!(*key, "limit" | "offset"));
    let Query { limit, offset, .. } = Query::read(&class::DOCUMENT, paging)?;
    let reach = context.reach();
    let read = move |tx: &mut Tx<'_>| {
        repository::alignments(tx, (kind.as_deref(), item.as_deref()), &reach, limit, offset)
    };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, read).await?;
    let links = paging::links(&context, limit, offset, found.len() as u64, total);
    Ok(Answer::of(&AlignmentList { alignments: found })
        .header(HeaderName::from_static("x-total-count"), total)
        .header(header::LINK, links))
}

async fn added(context: Context) -> Result<Answer> {
    let alignments = context.body_as::<AlignmentList>()?.checked()?;
    let (now, sent, reach) = (context.app.clock.now(), alignments.len(), context.reach());
    let add = move |tx: &mut Tx<'_>| alignment::add(tx, now, &alignments, &reach);
    let added = context.app.db.write(add).await?;
    Ok(Answer::of(&AddedAlignments { sent, added }))
}

async fn covered(context: Context) -> Result<Answer> {
    let ((kind, id), reach) = (kind_and_id(&context), context.reach());
    let found = context.app.db.read(move |tx| covered_items(tx, &kind, &id, &reach)).await?;
    Ok(Answer::of(&found))
}

async fn set(context: Context) -> Result<Answer> {
    let items = context.body_as::<ItemList>()?.checked()?;
    let ((kind, id), now, reach) =
        (kind_and_id(&context), context.app.clock.now(), context.reach());
    let work = move |tx: &mut Tx<'_>| {
        alignment::set(tx, now, (&kind, &id), &items, &reach)?;
        covered_items(tx, &kind, &id, &reach)
    };
    Ok(Answer::of(&context.app.db.write(work).await?))
}

async fn removed(context: Context, one: bool) -> Result<Answer> {
    let ((kind, id), reach) = (kind_and_id(&context), context.reach());
    let item = one.then(|| identifier(context.param("item"))).transpose()?;
    let work = move |tx: &mut Tx<'_>| {
        alignment::remove(tx, (&kind, &id.replace('\0', "")), item.as_deref(), &reach)
    };
    context.app.db.write(work).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn kind_and_id(context: &Context) -> (String, String) {
    (context.param("kind").to_owned(), context.param("id").to_owned())
}

fn covered_items(tx: &mut Tx<'_>, kind: &str, id: &str, reach: &Reach) -> Result<CoveredItems> {
    let covered = alignment::covered(tx, kind, id, reach)?;
    let items = covered.into_iter().map(CoveredItem::from).collect();
    Ok(CoveredItems { kind: kind.to_owned(), id: id.to_owned(), items })
}
