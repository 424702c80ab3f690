//! Documents that are checked and not stored.

use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::parse;
use lyceum_assessment::validate::Wanted;
use lyceum_core::{Result, limits};
use serde_json::json;

use super::schema;
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::route::{Route, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("", [QtiRead, QtiWrite], one)
            .named("validate")
            .says("Checks a document, or a stored one by its identifier.")
            .reads_schema(schema::wanted())
            .reads_up_to(limits::QTI_BODY_MAX_BYTES)
            .answers_schema(
                200,
                "What came of it; `success` says whether it is valid.",
                schema::checked(),
            ),
        post("/batch", [QtiRead, QtiWrite], batch)
            .named("validateBatch")
            .says("Checks several documents.")
            .reads_schema(schema::wanted_batch())
            .reads_up_to(limits::BULK_BODY_MAX_BYTES)
            .answers_schema(200, "What came of each, in their order.", schema::checked_batch()),
    ]
}

async fn one(context: Context) -> Result<Answer> {
    let mut wanted = Wanted::one(&parse(&context.body)?)?;
    if wanted.is_stored() {
        wanted = context.app.db.read(move |tx| wanted.clone().stored(tx)).await?;
    }
    apart(move || Ok(Answer::of(&wanted.check()))).await
}

async fn batch(context: Context) -> Result<Answer> {
    let body = context.body.clone();
    apart(move || {
        let wanted = Wanted::batch(&parse(&body)?)?;
        let results: Vec<_> = wanted.into_iter().map(Wanted::check).collect();
        Ok(Answer::of(&json!({ "results": results })))
    })
    .await
}
