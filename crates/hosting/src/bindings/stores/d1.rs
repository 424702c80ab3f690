//! `env.DB`: requests of the runtime's D1 client, and the responses.

mod sql;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, StatusCode};
use serde_json::json;

use crate::bindings::answer::Answer;
use crate::bindings::{blocking, whole_body};
use crate::limits::D1_REQUEST_MAX_BYTES;
use sql::RowFormat;

pub(super) use sql::D1;

/// `POST /query` and `POST /execute`: both run statements, and `resultsFormat` says which form the
/// results have.
pub(super) async fn answer(d1: &Arc<D1>, request: Request<Incoming>) -> Answer {
    let is_known = matches!(request.uri().path(), "/query" | "/execute");
    if !is_known || request.method() != Method::POST {
        return Answer::refusal(StatusCode::NOT_FOUND, "not a request of D1");
    }
    let query = request.uri().query().unwrap_or_default();
    let format = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "resultsFormat");
    let format = match format.as_ref().map(|(_, value)| value.as_ref()) {
        Some("ROWS_AND_COLUMNS") => RowFormat::Rows,
        _ => RowFormat::Objects,
    };
    let d1 = Arc::clone(d1);
    let answered = async {
        let body = whole_body(request, D1_REQUEST_MAX_BYTES).await?;
        let queries = match sql::queries(&body) {
            Ok(queries) => queries,
            Err(fault) => return Ok(failure(&format!("the request cannot be read: {fault}"))),
        };
        blocking(move || match d1.run(&queries, format) {
            Ok(results) => Answer::bytes(results.into()).with(CONTENT_TYPE, "application/json"),
            Err(message) => failure(&message),
        })
        .await
    };
    answered.await.unwrap_or_else(|refusal| refusal)
}

fn failure(message: &str) -> Answer {
    let answer = Answer::json(&json!({ "success": false, "error": message }));
    answer.status(StatusCode::INTERNAL_SERVER_ERROR)
}
