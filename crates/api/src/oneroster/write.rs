//! POST, PUT, PATCH and DELETE.

use http::{Method, StatusCode, header};
use lyceum_bridge::settle;
use lyceum_core::text::segment;
use lyceum_core::{Detail, PayloadDialect, Problem, ProblemKind, Result, message};
use lyceum_erasure::ErasureKey;
use lyceum_http::answer::Answer;
use lyceum_http::etag;
use lyceum_http::route::{self, ParamPlace};
use lyceum_roster::collections::{self, Collection};
use lyceum_roster::fields;
use lyceum_roster::kind::Service;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::{Object, Record};
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{WriteOutcome, WrittenRecord};
use lyceum_roster::write::{self as roster, SourcedIdPair};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::scopes::{RouteEffect, access};
use super::{operation, respond, schema, singular};
use crate::work::erasure;
use crate::{App, Context, Route};

/// The sourcedIds of created records.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcedIdPairs")]
struct CreatedPairs {
    /// A pair for each record; one pair without a list if the request contained one record without a list.
    sourced_id_pairs: OneOrMany,
}

/// A pair, or a list of them.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum OneOrMany {
    Many(Vec<SourcedIdPair>),
    One(SourcedIdPair),
}

/// `POST /courses`
pub(super) fn create(collection: Collection) -> Route {
    route::post(
        format!("/{}", collection.path),
        access(collection.kind, RouteEffect::Post),
        move |context| created(context, collection),
    )
    .within_reach()
    .named(operation("create", singular(collection)))
    .description(format!(
        "Creates one of {}. Sending the same body again changes nothing.",
        collection.path
    ))
    .reads_kind(move || schema::wrapped_input(collection))
    .answers_kind(201, "It was created.", move || schema::created(collection))
    .answers_kind(200, "The record existed with the same content.", move || {
        schema::created(collection)
    })
}

/// `PUT /courses/{sourcedId}`
pub(super) fn put(collection: Collection) -> Route {
    let upserts = collection.kind.service == Service::Gradebook;
    let route = route::put(
        format!("/{}/{{sourcedId}}", collection.path),
        access(collection.kind, RouteEffect::Put),
        move |context| replaced(context, collection, upserts),
    )
    .within_reach()
    .named(operation("put", singular(collection)))
    .description(format!(
        "Replaces one of {}{}.",
        collection.path,
        if upserts { ", or creates it" } else { "" }
    ))
    .of_version()
    .reads_kind(move || schema::wrapped_input(collection))
    .answers_kind(200, "It was replaced.", move || schema::single(collection));
    if upserts {
        route.answers_kind(
            201,
            "Created. In the standard dialect, replaced records have this status too.",
            move || schema::single(collection),
        )
    } else {
        route
    }
}

/// `PATCH /courses/{sourcedId}`
pub(super) fn patch(collection: Collection) -> Route {
    route::patch(
        format!("/{}/{{sourcedId}}", collection.path),
        access(collection.kind, RouteEffect::by(&Method::PATCH)),
        move |context| patched(context, collection),
    )
    .within_reach()
    .named(operation("patch", singular(collection)))
    .description(format!("Changes fields of one of {} (RFC 7396).", collection.path))
    .of_version()
    .reads_as(&["application/json", "application/merge-patch+json"])
    .reads::<Object>()
    .answers_kind(200, "The record was changed.", move || schema::single(collection))
}

/// `DELETE /courses/{sourcedId}`
pub(super) fn delete(collection: Collection) -> Route {
    route::delete(
        format!("/{}/{{sourcedId}}", collection.path),
        access(collection.kind, RouteEffect::Delete),
        move |context| deleted(context, collection),
    )
    .of_version()
    .within_reach()
    .named(operation("delete", singular(collection)))
    .description(format!(
        "Marks one of {} as 'tobedeleted'. Lists no longer show it.",
        collection.path
    ))
    .param(
        ParamPlace::Query,
        "cascade",
        json!({"type": "boolean"}),
        "Whether records that refer to it are marked too.",
    )
    .answers_empty(204, "The record was marked `tobedeleted`.")
}

/// POST of records into another record, such as results into a line item.
pub(super) fn into_scopes(service: Service) -> Vec<Route> {
    roster::INTO
        .iter()
        .map(|into| (into, collections::at(into.of).expect("declared")))
        .filter(|(_, collection)| collection.kind.service == service)
        .map(|(into, collection)| {
            route::post(into.path, access(collection.kind, RouteEffect::Post), move |context| {
                created_in(context, into, collection)
            })
            .within_reach()
            .named(operation("post", &into.path.replace(['{', '}'], "")))
            .description(format!("Creates {} in the record of the path.", into.of))
            .reads_kind(move || schema::input_in(into, collection))
            .answers::<CreatedPairs>(201, "Created, with the ids.")
        })
        .collect()
}

/// The object under the collection's wrapper key. The platform's clients may send the bare record, or use the name of
/// the collection's part.
pub(super) fn unwrapped(context: &Context, collection: Collection) -> Result<Object> {
    wrapped(&mut body(context)?, collection).ok_or_else(|| {
        Problem::invalid(
            collection.kind.one,
            message!("is required; send {{\"{collection.kind.one}\": {{…}}}}"),
        )
    })
}

fn wrapped(body: &mut Object, collection: Collection) -> Option<Object> {
    let keys = [Some(collection.kind.one), collection.platform_one];
    keys.into_iter().flatten().find_map(|key| match body.get_mut(key) {
        Some(Value::Object(object)) => Some(std::mem::take(object)),
        _ => None,
    })
}

/// The body as a JSON object. Errors: `Malformed` with line and column.
pub(super) fn body(context: &Context) -> Result<Object> {
    parse(&context.body)
}

/// Parses JSON text as an object. Errors: `Malformed` with line and column.
fn parse(text: &[u8]) -> Result<Object> {
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::new(ProblemKind::Malformed, "the body must be a JSON object")),
        Err(error) => Err(Problem::new(
            ProblemKind::Malformed,
            message!(
                "the body is not JSON at line {line}, column {column}: {error}",
                line = error.line(),
                column = error.column()
            ),
        )),
    }
}

/// The values of the request that a write of the roster needs.
pub(super) fn rules(context: &Context, collection: Collection) -> roster::WriteRules {
    let allocates = collection.kind.service == Service::Gradebook
        || context.app.config.roster.allocate_missing_ids;
    roster::WriteRules {
        dialect: context.dialect,
        now: context.app.clock.now(),
        allocate_missing_ids: allocates,
        reach: context.reach(),
    }
}

async fn created(context: Context, collection: Collection) -> Result<Answer> {
    let object = unwrapped(&context, collection)?;
    let rules = rules(&context, collection);
    let erased = erasure::key(&context.app);
    let created = context
        .app
        .db
        .write(move |tx| {
            let created = roster::create(tx, collection, object.clone(), &rules)?;
            refuse_erased(tx, &erased, collection, &[&created.pair.allocated_sourced_id])?;
            settle_written(tx, collection, &rules, &created.put)?;
            let notices = notices(tx, collection, &created.put)?;
            Ok((created, notices))
        })
        .await?;
    let (created, notices) = created;
    let status = match created.put.outcome {
        WriteOutcome::Created => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    let mut answer = json!({ "sourcedIdPairs": created.pair });
    if context.dialect == PayloadDialect::Platform {
        let shown = render_record(&context.app, context.dialect, collection, &created.put)?;
        let shown: Object = serde_json::from_str(&shown).map_err(Problem::internal)?;
        answer.as_object_mut().expect("an object was made").extend(shown);
    }
    Ok(Answer::of(&answer)
        .status(status)
        .noting(notices)
        .header(header::ETAG, etag::tag(created.put.stored.version))
        .header(
            header::LOCATION,
            location(&context, collection, &created.pair.allocated_sourced_id),
        ))
}

/// Refuses users who were erased. Errors: `Conflict`.
pub(super) fn refuse_erased(
    tx: &mut Tx<'_>,
    erased: &ErasureKey,
    collection: Collection,
    ids: &[&str],
) -> Result<()> {
    match collection.kind == &USER {
        true => erased.refuse_ids(tx, "user.sourcedId", ids),
        false => Ok(()),
    }
}

/// Enrolls written users as tracks say.
fn settle_written(
    tx: &mut Tx<'_>,
    collection: Collection,
    rules: &roster::WriteRules,
    put: &WrittenRecord,
) -> Result<()> {
    if put.outcome == WriteOutcome::Unchanged || collection.kind.one != USER.one {
        return Ok(());
    }
    settle::after_write(tx, rules.now, collection.kind, &[fields::of(&put.stored)?])
}

/// The notices for the writer of a record besides that it is written.
fn notices(tx: &mut Tx<'_>, collection: Collection, put: &WrittenRecord) -> Result<Vec<Detail>> {
    let (body, extra) = (&put.stored.body, put.stored.extra.as_deref());
    let record = Record::stored(collection.kind, body, extra)?;
    let notices = roster::notices(tx, collection.kind, &[record])?;
    Ok(notices.into_iter().flatten().collect())
}

fn location(context: &Context, collection: Collection, id: &str) -> String {
    let id = segment(id);
    format!("{}{}/{}/{id}", context.base_url(), collection.kind.service.prefix(), collection.path)
}

fn render_record(
    app: &App,
    dialect: PayloadDialect,
    collection: Collection,
    put: &WrittenRecord,
) -> Result<String> {
    let view = RecordView { base_url: &app.base_url, dialect, fields: None };
    respond::single(&view, collection, &put.stored)
}

async fn replaced(context: Context, collection: Collection, upserts: bool) -> Result<Answer> {
    let object = unwrapped(&context, collection)?;
    let id = context.param("sourcedId").to_owned();
    let expected = etag::expected(&context)?;
    let rules = rules(&context, collection);
    // `If-Match: *` forbids creating the record (RFC 9110, 13.1.1).
    let must_exist = upserts && etag::is_any(&context.headers);
    let creates = upserts && !must_exist;
    let (put, notices) = context
        .app
        .db
        .write(move |tx| {
            let put = roster::put(tx, collection, &id, object.clone(), expected, creates, &rules)
                .map_err(|problem| match problem.kind {
                ProblemKind::NotFound if must_exist => {
                    Problem { kind: ProblemKind::PreconditionFailed, ..problem }
                }
                _ => problem,
            })?;
            settle_written(tx, collection, &rules, &put)?;
            let notices = notices(tx, collection, &put)?;
            Ok((put, notices))
        })
        .await?;
    Ok(answer_put(&context, collection, &put)?.noting(notices))
}

/// The answer to a PUT. In the gradebook, the standard requires an empty 201 even if the record is not new. The
/// platform's clients read the record and whether it is new.
fn answer_put(context: &Context, collection: Collection, put: &WrittenRecord) -> Result<Answer> {
    let is_standard_gradebook = context.dialect == PayloadDialect::Standard
        && collection.kind.service == Service::Gradebook;
    let status = match put.outcome {
        WriteOutcome::Created => StatusCode::CREATED,
        WriteOutcome::Updated | WriteOutcome::Unchanged if is_standard_gradebook => {
            StatusCode::CREATED
        }
        WriteOutcome::Updated | WriteOutcome::Unchanged => StatusCode::OK,
    };
    let tag = etag::tag(put.stored.version);
    let answer = match context.dialect {
        PayloadDialect::Standard => Answer::empty(status),
        PayloadDialect::Platform => {
            Answer::json(render_record(&context.app, context.dialect, collection, put)?)
                .status(status)
        }
    };
    Ok(answer.header(header::ETAG, tag))
}

async fn patched(context: Context, collection: Collection) -> Result<Answer> {
    let mut body = body(&context)?;
    let patch = wrapped(&mut body, collection).unwrap_or(body);
    let id = context.param("sourcedId").to_owned();
    let expected = etag::expected(&context)?;
    let rules = rules(&context, collection);
    let (put, notices) = context
        .app
        .db
        .write(move |tx| {
            let put = roster::patch(tx, collection, &id, &patch, expected, &rules)?;
            settle_written(tx, collection, &rules, &put)?;
            let notices = notices(tx, collection, &put)?;
            Ok((put, notices))
        })
        .await?;
    let shown = render_record(&context.app, context.dialect, collection, &put)?;
    Ok(Answer::json(shown).noting(notices).header(header::ETAG, etag::tag(put.stored.version)))
}

async fn deleted(context: Context, collection: Collection) -> Result<Answer> {
    let cascade =
        context.parsed_query_value("cascade", "must be 'true' or 'false'")?.unwrap_or(false);
    let id = context.param("sourcedId").to_owned();
    let (now, expected, reach) =
        (context.app.clock.now(), etag::expected(&context)?, context.reach());
    let delete =
        move |tx: &mut Tx<'_>| roster::delete(tx, collection, &id, now, cascade, expected, &reach);
    context.app.db.write(delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn created_in(
    context: Context,
    into: &'static roster::CreationPath,
    collection: Collection,
) -> Result<Answer> {
    let mut body = body(&context)?;
    let ids: Vec<(&'static str, String)> = lyceum_http::context::parameters(into.path)
        .map(|name| (name, context.param(name).to_owned()))
        .collect();
    let person = body.remove("student").or_else(|| body.remove("teacher"));
    let (objects, many) =
        match (body.remove(collection.kind.many), body.remove(collection.kind.one)) {
            (Some(Value::Array(objects)), _) => (objects, true),
            (_, Some(object @ Value::Object(_))) => (vec![object], false),
            // The older published client only names the person: `{student: {sourcedId}}`.
            _ if collection.kind.one == "enrollment" && person.is_some() => {
                (vec![json!({ "user": person })], false)
            }
            _ => {
                return Err(Problem::invalid(
                    collection.kind.many,
                    message!("is required; send {{\"{collection.kind.many}\": [{{…}}]}}"),
                ));
            }
        };
    let rules = roster::WriteRules { allocate_missing_ids: true, ..rules(&context, collection) };
    let pairs = context
        .app
        .db
        .write(move |tx| roster::create_in(tx, into, &ids, objects.clone(), &rules))
        .await?;
    let pairs = match <[SourcedIdPair; 1]>::try_from(pairs) {
        Ok([pair]) if !many => OneOrMany::One(pair),
        Ok(pair) => OneOrMany::Many(pair.into()),
        Err(pairs) => OneOrMany::Many(pairs),
    };
    Ok(Answer::of(&CreatedPairs { sourced_id_pairs: pairs }).status(StatusCode::CREATED))
}
