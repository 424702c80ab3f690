//! What items alone have: answers scored, and what a learner is shown.

use lyceum_access::Scope::{AdaptiveRead, QtiRead, QtiWrite};
use lyceum_assessment::{Kind, candidate, parse, repository, respond};
use lyceum_core::Result;
use serde_json::json;

use super::{documents, schema};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::route::{ParamPlace, Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/metadata", QtiWrite, |context| documents::created(context, Kind::Item))
            .named("createAssessmentItemFromMetadata")
            .says("Stores a new item, sent in its JSON form.")
            .reads_schema(schema::input(Kind::Item))
            .answers_schema(201, "Stored.", schema::document(Kind::Item))
            .with_headers(schema::CREATED),
        // Who may read items knows the answers; to whoever works through lessons this would tell them.
        post("/{identifier}/process-response", QtiRead, responded)
            .named("processResponse")
            .says("Scores an answer to an item; nothing is stored.")
            .reads_schema(schema::answer())
            .answers_schema(200, "What came of it.", schema::scored()),
        get("/{identifier}/candidate", [QtiRead, AdaptiveRead], shown)
            .named("getCandidateView")
            .says("What a learner is shown of an item: no keys, no processing, no hidden feedback.")
            .param(
                ParamPlace::Query,
                "seed",
                json!({ "type": "integer", "minimum": 0 }),
                "Which variant of an item with templates; the same that is sent with the answer.",
            )
            .answers_schema(200, "The item for its candidate.", schema::candidate()),
    ]
}

async fn responded(context: Context) -> Result<Answer> {
    let body = parse(&context.body)?;
    let (app, id) = (context.app.clone(), context.param("identifier").to_owned());
    let item = context.app.db.read(move |tx| app.items.item(tx, &id)).await?;
    Ok(Answer::of(&respond(&item, &body)?))
}

async fn shown(context: Context) -> Result<Answer> {
    let seed = context.asked_as("seed", "must be a whole number from 0")?.unwrap_or(0);
    let id = context.param("identifier").to_owned();
    let stored = context.app.db.read(move |tx| repository::found(tx, Kind::Item, &id)).await?;
    let xml = stored.xml;
    let xml = apart(move || candidate(&xml, seed)).await?.xml;
    Ok(Answer::of(&json!({
        "identifier": stored.identifier,
        "version": stored.version,
        "qtiVersion": "3.0",
        "rawXml": xml,
        "qtiXml": xml,
    })))
}
