//! `POST {collection}/bulk` reads NDJSON and returns one result for each line.

use std::collections::HashSet;

use http::HeaderValue;
use lyceum_bridge::settle;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, json, message};
use lyceum_erasure::ErasureKey;
use lyceum_erasure::erased::ERASED;
use lyceum_http::answer::Answer;
use lyceum_http::route::{self, ParamPlace};
use lyceum_http::{Body, render};
use lyceum_roster::bulk::{self, LineOutcome};
use lyceum_roster::collections::Collection;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_roster::repository::WriteOutcome;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::scopes::{RouteEffect, access};
use super::{operation, schema, write};
use crate::work::erasure;
use crate::{Context, Route, limits};

const NDJSON: &[&str] = &["application/x-ndjson", "application/ndjson", "application/json"];

pub(super) fn bulk(collection: Collection) -> Route {
    route::post(
        format!("/{}/bulk", collection.path),
        access(collection.kind, RouteEffect::Post),
        move |context| loaded(context, collection),
    )
    .within_reach()
    .named(operation("bulk", collection.path))
    .description(format!(
        "Creates or replaces many of {}. The body has one record a line; the answer has one result a line.",
        collection.path
    ))
    .param(
        ParamPlace::Query,
        "atomic",
        json!({ "type": "boolean", "default": true }),
        "Whether one record with errors refuses all records (the default) or only itself.",
    )
    .reads_as(NDJSON)
    .reads_up_to(limits::BULK_BODY_MAX_BYTES)
    .reads_kind(move || schema::wrapped_input(collection))
    .answers_lines::<BulkLineResult<'_>>(200, "One result a line.")
}

async fn loaded(context: Context, collection: Collection) -> Result<Answer> {
    let atomic = context.parsed_query_value("atomic", "must be 'true' or 'false'")?.unwrap_or(true);
    let rules = write::rules(&context, collection);
    let mut lines = lines(&context, collection)?;
    let erased = erasure::key(&context.app);
    if collection.kind == &USER {
        lines = without_erased(&context, erased.clone(), lines).await?;
    }
    let load = move |tx: &mut Tx<'_>| {
        let outcomes = bulk::load(tx, collection, &lines, atomic, &rules)?;
        if collection.kind.one == USER.one {
            let stored = outcomes.iter().filter(|outcome| outcome.result.is_ok());
            let ids: Vec<&str> =
                stored.filter_map(|outcome| outcome.sourced_id.as_deref()).collect();
            // One may have been erased since the lines were read.
            write::refuse_erased(tx, &erased, collection, &ids)?;
            let users = fields::of_all(tx, &USER, ids.into_iter())?;
            let users: Vec<Object> = users.into_values().collect();
            settle::after_write(tx, rules.now, collection.kind, &users)?;
        }
        Ok(outcomes)
    };
    let outcomes = context.app.db.write(load).await?;
    let mut body = String::new();
    for outcome in &outcomes {
        body.push_str(
            &serde_json::to_string(&BulkLineResult::of(outcome)).map_err(Problem::internal)?,
        );
        body.push('\n');
    }
    Ok(Answer::typed(HeaderValue::from_static(NDJSON[0]), Body::from(body)))
}

/// The lines, in which records of erased users are errors.
async fn without_erased(context: &Context, key: ErasureKey, lines: Vec<Line>) -> Result<Vec<Line>> {
    let id = |line: &Line| Some(line.1.as_ref().ok()?["sourcedId"].as_str()?.to_owned());
    let ids: Vec<Option<String>> = lines.iter().map(id).collect();
    let known: Vec<String> = ids.iter().flatten().cloned().collect();
    let read = move |tx: &mut Tx<'_>| {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Ok(key.erased(tx, &known)?.into_iter().map(str::to_owned).collect())
    };
    let erased: HashSet<String> = context.app.db.read(read).await?;
    let lines = lines.into_iter().zip(ids).map(|((number, record), id)| {
        match id.is_some_and(|id| erased.contains(&id)) {
            true => (number, Err(ERASED.into())),
            false => (number, record),
        }
    });
    Ok(lines.collect())
}

/// A line number with its record, or with the reason why the line has no record.
type Line = (u64, Result<Value, Message>);

/// The records with their line numbers. Each may be bare or under the wrapper key of its kind.
fn lines(context: &Context, collection: Collection) -> Result<Vec<Line>> {
    let text = context.text()?;
    let mut lines = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let record = json::refuse_repeated_keys(line.as_bytes())
            .map_err(|problem| problem.message)
            .and_then(|()| {
                serde_json::from_str(line).map_err(|error| message!("is not JSON: {error}"))
            })
            .map(|mut value: Value| match value.get_mut(collection.kind.one) {
                Some(inner @ Value::Object(_)) => inner.take(),
                _ => value,
            });
        lines.push((number, record));
        if lines.len() > limits::BULK_MAX_RECORDS {
            return Err(Problem::new(
                ProblemKind::TooLarge,
                message!(
                    "has more than {most} records; send them in several requests",
                    most = limits::BULK_MAX_RECORDS
                ),
            ));
        }
    }
    Ok(lines)
}

/// The result for one record of a bulk request.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BulkLineResult<'a> {
    /// The number of the record's line, from 1.
    line: u64,
    /// The record's sourcedId, if it has one.
    sourced_id: Option<&'a str>,
    outcome: BulkOutcome,
    /// Warnings about a written record, such as another user with the same username.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'a Detail>,
    #[serde(flatten)]
    refusal: Option<BulkRefusal<'a>>,
}

/// The outcome for a record.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum BulkOutcome {
    Created,
    Updated,
    Unchanged,
    Refused,
}

/// Why a record was refused.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct BulkRefusal<'a> {
    /// The HTTP status that the record alone would get.
    status: u16,
    message: &'a Message,
    /// Each error with its path in the record.
    errors: &'a [Detail],
}

impl<'a> BulkLineResult<'a> {
    fn of(LineOutcome { line, sourced_id, result, notice }: &'a LineOutcome) -> Self {
        let (outcome, refusal) = match result {
            Ok(WriteOutcome::Created) => (BulkOutcome::Created, None),
            Ok(WriteOutcome::Updated) => (BulkOutcome::Updated, None),
            Ok(WriteOutcome::Unchanged) => (BulkOutcome::Unchanged, None),
            Err(problem) => {
                let status = render::status(problem.kind).as_u16();
                let (message, errors) = (&problem.message, problem.details.as_slice());
                (BulkOutcome::Refused, Some(BulkRefusal { status, message, errors }))
            }
        };
        let warnings = notice.iter().collect();
        Self { line: *line, sourced_id: sourced_id.as_deref(), outcome, refusal, warnings }
    }
}
