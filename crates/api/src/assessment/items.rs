//! Routes that only items have: scoring an answer, and what a student sees.

use lyceum_access::Scope::{AdaptiveRead, QtiRead, QtiWrite};
use lyceum_assessment::description::{ItemDocument, ItemInput};
use lyceum_assessment::{
    AnswerScore, ContentKind, ItemAnswer, candidate, parse, repository, respond,
};
use lyceum_core::{Result, body};
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post};
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{documents, headers};
use crate::{Context, Route};

/// The part of an item that a student sees.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CandidateView {
    identifier: String,
    version: i64,
    qti_version: &'static str,
    /// The item as XML of QTI 3.0, without keys, processing and hidden feedback.
    raw_xml: String,
    /// The same XML.
    qti_xml: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/metadata", QtiWrite, |context| documents::create(context, ContentKind::Item))
            .named("createAssessmentItemFromMetadata")
            .description("Stores a new item, sent in its JSON form.")
            .reads::<ItemInput>()
            .answers::<ItemDocument>(201, "Stored.")
            .with_headers(headers::CREATED),
        // Callers with this scope know the answers. To students, the scores would reveal them.
        post("/{identifier}/process-response", QtiRead, score_response)
            .of_no_organization()
            .named("processResponse")
            .description("Scores an answer to an item; nothing is stored.")
            .reads::<ItemAnswer>()
            .answers::<AnswerScore>(200, "The result."),
        get("/{identifier}/candidate", [QtiRead, AdaptiveRead], show_candidate_view)
            .of_no_organization()
            .named("getCandidateView")
            .description("Reads the part of an item that a student sees: no keys, no processing, no hidden feedback.")
            .param(
                ParamPlace::Query,
                "seed",
                json!({ "type": "integer", "minimum": 0 }),
                "The seed of an item with templates. Send the same seed with the answer.",
            )
            .answers::<CandidateView>(200, "The item."),
    ]
}

async fn score_response(context: Context) -> Result<Answer> {
    let answer: ItemAnswer = body::of(parse(&context.body)?.into())?;
    let (app, id) = (context.app.clone(), context.param("identifier").to_owned());
    let item = context.app.db.read(move |tx| app.items.item(tx, &id)).await?;
    let (responses, seed) = answer.for_item(&item)?;
    Ok(Answer::of(&respond(&item, &responses, seed)?))
}

async fn show_candidate_view(context: Context) -> Result<Answer> {
    let seed = context.parsed_query_value("seed", "must be a whole number from 0")?.unwrap_or(0);
    let id = context.param("identifier").to_owned();
    let stored =
        context.app.db.read(move |tx| repository::require(tx, ContentKind::Item, &id)).await?;
    let xml = stored.xml;
    let xml = run_blocking(move || candidate(&xml, seed)).await?.xml;
    Ok(Answer::of(&CandidateView {
        identifier: stored.identifier,
        version: stored.version,
        qti_version: "3.0",
        qti_xml: xml.clone(),
        raw_xml: xml,
    }))
}
