//! Alignments: the records that cover a standard.

use std::time::Duration;

use axum::http::{HeaderName, StatusCode, header};
use lyceum_access::Scope::{StandardsRead, StandardsWrite};
use lyceum_core::{Result, limits};
use lyceum_standards::alignment::{self, Covered, Statement};
use lyceum_standards::{Query, class, identifier, repository};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::paging;
use crate::route::{ParamPlace, Route, delete, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    let flag = || json!({ "type": "boolean" });
    let text = || json!({ "type": "string" });
    let whole = |least: u32| json!({ "type": "integer", "minimum": least });
    vec![
        get("/CFItems/{sourcedId}/coverage", StandardsRead, coverage)
            .named("getCoverage")
            .says("The records that cover an item: aligned to it, or saying so themselves.")
            .param(
                ParamPlace::Query,
                "children",
                flag(),
                "Records that cover an item below it, too.",
            )
            .param(
                ParamPlace::Query,
                "said",
                flag(),
                "false: leave out what records say themselves.",
            )
            .answers_schema(200, "The records.", schema::coverage()),
        get("/alignments", StandardsRead, listed)
            .named("listAlignments")
            .says("Lists alignments in the order in which they were made.")
            .param(ParamPlace::Query, "kind", text(), "The kind of record.")
            .param(ParamPlace::Query, "item", text(), "The identifier of an item.")
            .param(ParamPlace::Query, "limit", whole(1), "Alignments on the page, 3000 at most.")
            .param(ParamPlace::Query, "offset", whole(0), "Alignments before the page.")
            .answers_schema(200, "A page.", schema::alignments()),
        post("/alignments", StandardsWrite, added)
            .named("addAlignments")
            .says("Aligns many records at once, all or none; what is there already stays.")
            .reads_schema(schema::alignments())
            .answers_schema(200, "How many were new.", schema::added()),
        get("/alignments/{kind}/{id}", StandardsRead, covered)
            .named("getAlignment")
            .says(
                "What a record covers: the items that it is aligned to, and those it names itself.",
            )
            .answers_schema(200, "The items.", schema::covered()),
        put("/alignments/{kind}/{id}", StandardsWrite, set)
            .named("putAlignment")
            .says("Aligns a record to these items and to no others.")
            .reads_schema(schema::items())
            .answers_schema(200, "What it covers now.", schema::covered()),
        delete("/alignments/{kind}/{id}", StandardsWrite, |context| async move {
            removed(context, false).await
        })
        .named("deleteAlignment")
        .says("Takes all alignments of a record away.")
        .answers_empty(204, "There are none."),
        delete("/alignments/{kind}/{id}/{item}", StandardsWrite, |context| async move {
            removed(context, true).await
        })
        .named("deleteAlignmentToItem")
        .says("Takes the alignment of a record to an item away.")
        .answers_empty(204, "There is none."),
    ]
}

async fn coverage(context: Context) -> Result<Answer> {
    let id = identifier(context.param("sourcedId"))?;
    let flag =
        |name: &str, value: &str| context.query().any(|(key, text)| key == name && text == value);
    let (children, said) = (flag("children", "true"), !flag("said", "false"));
    let db = &context.app.db;
    let item = id.clone();
    let (mut records, items) = db.read(move |tx| alignment::coverage(tx, &item, children)).await?;
    let mut complete = true;
    if said {
        let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
        match db.scan(deadline, move |tx| alignment::say(tx, &items)).await {
            Ok(saying) => add(&mut records, saying),
            // Alignments were found by an index. If the scan is too slow, only alignments inside records are left out.
            Err(problem) if lyceum_store::is_too_slow(&problem) => complete = false,
            Err(problem) => return Err(problem),
        }
    }
    Ok(Answer::of(&json!({ "sourcedId": id, "coverage": records, "complete": complete })))
}

/// Adds the alignments that records themselves contain, without duplicates.
fn add(records: &mut Vec<Covered>, saying: Vec<Covered>) {
    let key = |one: &Covered| (one.kind.clone(), one.id.clone(), one.item.clone());
    let known: std::collections::HashSet<_> = records.iter().map(key).collect();
    records.extend(saying.into_iter().filter(|one| !known.contains(&key(one))));
}

async fn listed(context: Context) -> Result<Answer> {
    let pairs: Vec<_> = context.query().collect();
    let given = |name: &str| {
        let found = pairs.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.replace('\0', ""))
    };
    let (kind, item) = (given("kind"), given("item"));
    let item = item.as_deref().map(identifier).transpose()?;
    let paging = pairs.iter().map(|(key, value)| (key.as_ref(), value.as_ref()));
    let paging = paging.filter(|(key, _)| matches!(*key, "limit" | "offset"));
    let Query { limit, offset, .. } = Query::read(&class::DOCUMENT, paging)?;
    let read = move |tx: &mut Tx<'_>| {
        repository::alignments(tx, kind.as_deref(), item.as_deref(), limit, offset)
    };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, read).await?;
    let links = paging::links(&context, limit, offset, found.len() as u64, total);
    Ok(Answer::of(&json!({ "alignments": found }))
        .header(HeaderName::from_static("x-total-count"), total)
        .header(header::LINK, links))
}

async fn added(context: Context) -> Result<Answer> {
    let alignments = alignment::read_bulk(&context.body)?;
    let (now, sent) = (context.app.clock.now(), alignments.len());
    let added = context.app.db.write(move |tx| alignment::add(tx, now, &alignments)).await?;
    Ok(Answer::of(&json!({ "sent": sent, "added": added })))
}

async fn covered(context: Context) -> Result<Answer> {
    let (kind, id) = named(&context);
    let found = context.app.db.read(move |tx| shown(tx, &kind, &id)).await?;
    Ok(Answer::of(&found))
}

async fn set(context: Context) -> Result<Answer> {
    let items = alignment::read_items(&context.body)?;
    let ((kind, id), now) = (named(&context), context.app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        alignment::set(tx, now, &kind, &id, &items)?;
        shown(tx, &kind, &id)
    };
    Ok(Answer::of(&context.app.db.write(work).await?))
}

async fn removed(context: Context, one: bool) -> Result<Answer> {
    let (kind, id) = named(&context);
    let item = one.then(|| identifier(context.param("item"))).transpose()?;
    let work = move |tx: &mut Tx<'_>| {
        let kind = alignment::Kind::named(&kind)?;
        repository::unalign(tx, kind.name(), &id.replace('\0', ""), item.as_deref())
    };
    context.app.db.write(work).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn named(context: &Context) -> (String, String) {
    (context.param("kind").to_owned(), context.param("id").to_owned())
}

/// The standards that a record covers, in the form of the answer.
fn shown(tx: &mut Tx<'_>, kind: &str, id: &str) -> Result<Value> {
    let items: Vec<Value> =
        alignment::covered(tx, kind, id)?.into_iter().map(|one| statement(&one)).collect();
    Ok(json!({ "kind": kind, "id": id, "items": items }))
}

fn statement(one: &Statement) -> Value {
    json!({
        "sourcedId": one.item,
        "uri": one.body["uri"],
        "humanCodingScheme": one.body["humanCodingScheme"],
        "fullStatement": one.body["fullStatement"],
        "source": if one.said { "record" } else { "alignment" },
    })
}
