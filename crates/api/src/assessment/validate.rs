//! Checks documents without storing them.

use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::parse;
use lyceum_assessment::validate::{Batch, DocumentCheck, ValidationRequest, ValidationResult};
use lyceum_core::{Result, body};
use lyceum_http::answer::Answer;
use lyceum_http::route::post;
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Context, Route, limits};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Results {
    results: Vec<ValidationResult>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("", [QtiRead, QtiWrite], one)
            .of_no_organization()
            .named("validate")
            .description("Checks a document, or a stored one by its identifier.")
            .reads::<ValidationRequest>()
            .reads_up_to(limits::QTI_BODY_MAX_BYTES)
            .answers::<ValidationResult>(
                200,
                "The result. `success` says whether the document is valid.",
            ),
        post("/batch", [QtiRead, QtiWrite], batch)
            .of_no_organization()
            .named("validateBatch")
            .description("Checks several documents.")
            .reads::<Batch>()
            .reads_up_to(limits::BULK_BODY_MAX_BYTES)
            .answers::<Results>(200, "The results, in the order of the documents."),
    ]
}

async fn one(context: Context) -> Result<Answer> {
    let mut check = DocumentCheck::one(body::of(parse(&context.body)?.into())?)?;
    if check.is_stored() {
        check = context.app.db.read(move |tx| check.clone().stored(tx)).await?;
    }
    run_blocking(move || Ok(Answer::of(&check.check()))).await
}

async fn batch(context: Context) -> Result<Answer> {
    let sent = context.body.clone();
    run_blocking(move || {
        let checks = DocumentCheck::batch(body::of(parse(&sent)?.into())?)?;
        let results = checks.into_iter().map(DocumentCheck::check).collect();
        Ok(Answer::of(&Results { results }))
    })
    .await
}
