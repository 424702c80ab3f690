//! Writes of whole packages, and of single frameworks, standards and associations.

use http::{StatusCode, header};
use lyceum_access::Scope::StandardsWrite;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::render::CaseVersion;
use lyceum_http::route::{delete, post, put};
use lyceum_standards::class::{self, Class};
use lyceum_standards::repository::{self, PackageCounts, WriteOutcome};
use lyceum_standards::{Package, SentRecord, identifier, read_single};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::Serialize;

use super::{base, reader, schema, single};
use crate::{Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = framework_routes();
    routes.extend(record_routes(
        &class::DOCUMENT,
        repository::add_document,
        repository::replace_document,
        repository::remove_document,
    ));
    routes.extend(record_routes(
        &class::ITEM,
        repository::add_item,
        repository::replace_item,
        repository::remove_item,
    ));
    routes.extend(record_routes(
        &class::ASSOCIATION,
        repository::add_association,
        repository::replace_association,
        repository::remove_association,
    ));
    routes
}

fn framework_routes() -> Vec<Route> {
    vec![
        post("/CFPackages", StandardsWrite, created)
            .named("createCFPackage")
            .description("Stores a framework with all its records. Sending the same body again changes nothing.")
            .reads_kind(schema::package_input)
            .reads_up_to(limits::CASE_PACKAGE_MAX_BYTES)
            .answers::<StoredPackage>(201, "Stored.")
            .answers::<StoredPackage>(200, "The framework existed with the same content."),
        put("/CFPackages/{sourcedId}", StandardsWrite, replaced)
            .named("putCFPackage")
            .description("Replaces a framework with all its records.")
            .reads_kind(schema::package_input)
            .reads_up_to(limits::CASE_PACKAGE_MAX_BYTES)
            .answers::<StoredPackage>(200, "Replaced."),
        put("/CFDocuments/{sourcedId}/public", StandardsWrite, |context| published(context, true))
            .reads_as(&[])
            .named("publishCFDocument")
            .description("Lets everybody read a framework, without a token.")
            .answers_empty(204, "Done."),
        delete("/CFDocuments/{sourcedId}/public", StandardsWrite, |context| {
            published(context, false)
        })
        .named("unpublishCFDocument")
        .description("Lets only holders of a token read a framework.")
        .answers_empty(204, "Done."),
    ]
}

/// A framework that was stored.
#[derive(Serialize, JsonSchema)]
struct StoredPackage {
    /// Always true.
    success: bool,
    /// The result in one sentence.
    message: String,
    result: PackageResult,
}

/// The content of a framework that was stored.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct PackageResult {
    /// The identifier of the framework.
    #[schemars(extend("format" = "uuid"))]
    document_id: String,
    stats: PackageCounts,
    /// Always true.
    success: bool,
}

async fn created(context: Context) -> Result<Answer> {
    let package = read_package(&context).await?;
    let id = package.document.record.id.clone();
    let now = context.app.clock.now();
    let create = move |tx: &mut Tx<'_>| repository::create(tx, now, &package);
    let (outcome, stats) = context.app.db.write(create).await?;
    let at = format!("{}{}/CFPackages/{id}", context.base_url(), base(CaseVersion::V1p1));
    Ok(package_answer("stored", &id, stats).status(status(outcome)).header(header::LOCATION, at))
}

async fn replaced(context: Context) -> Result<Answer> {
    let named = identifier(context.param("sourcedId"))?;
    let package = read_package(&context).await?;
    let id = package.document.record.id.clone();
    if id != named {
        let message = message!("must be the identifier in the address (got '{id}')");
        return Err(Problem::invalid("CFDocument.identifier", message));
    }
    let now = context.app.clock.now();
    let stats = context.app.db.write(move |tx| repository::replace(tx, now, &package)).await?;
    Ok(package_answer("replaced", &id, stats))
}

async fn published(context: Context, is_public: bool) -> Result<Answer> {
    let id = identifier(context.param("sourcedId"))?;
    let now = context.app.clock.now();
    context.app.db.write(move |tx| repository::publish(tx, now, &id, is_public)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn package_answer(verb: &str, id: &str, stats: PackageCounts) -> Answer {
    let message = format!("{verb} the framework with {} items", stats.items);
    let result = PackageResult { document_id: id.to_owned(), stats, success: true };
    Answer::of(&StoredPackage { success: true, message, result })
}

async fn read_package(context: &Context) -> Result<Package> {
    let body = context.body.clone();
    run_blocking(move || {
        let text = std::str::from_utf8(&body).map_err(|fault| {
            let message = message!(
                "the body must be UTF-8: byte {place} is not valid",
                place = fault.valid_up_to()
            );
            Problem::new(ProblemKind::Malformed, message)
        })?;
        Package::read(text)
    })
    .await
}

/// A function that handles a single sent record.
type Write = fn(&mut Tx<'_>, Timestamp, &SentRecord) -> Result<WriteOutcome>;

/// A function that handles the record with an identifier.
type Remove = fn(&mut Tx<'_>, Timestamp, &str) -> Result<()>;

/// `POST`, `PUT` and `DELETE` of single records.
fn record_routes(class: &'static Class, add: Write, replace: Write, remove: Remove) -> [Route; 3] {
    let at = format!("/{}/{{sourcedId}}", class.list);
    [
        post(format!("/{}", class.list), StandardsWrite, move |context| {
            sent(context, class, add, None)
        })
        .named(format!("create{}", class.name))
        .description(format!(
            "Stores one of the {}. Sending the same body again changes nothing.",
            class.list
        ))
        .reads_kind(move || schema::input(class))
        .answers_kind(201, "Stored.", move || schema::single(class))
        .answers_kind(200, "The record existed with the same content.", move || {
            schema::single(class)
        }),
        put(at.clone(), StandardsWrite, move |context| async move {
            let named = identifier(context.param("sourcedId"))?;
            sent(context, class, replace, Some(named)).await
        })
        .named(format!("put{}", class.name))
        .description(format!("Replaces one of the {}.", class.list))
        .reads_kind(move || schema::input(class))
        .answers_kind(200, "Replaced.", move || schema::single(class)),
        delete(at, StandardsWrite, move |context: Context| async move {
            let (id, now) = (identifier(context.param("sourcedId"))?, context.app.clock.now());
            context.app.db.write(move |tx| remove(tx, now, &id)).await?;
            Ok(Answer::empty(StatusCode::NO_CONTENT))
        })
        .named(format!("delete{}", class.name))
        .description(format!("Removes one of the {}.", class.list))
        .answers_empty(204, "Removed."),
    ]
}

async fn sent(
    context: Context,
    class: &'static Class,
    write: Write,
    named: Option<String>,
) -> Result<Answer> {
    let now = context.app.clock.now();
    let at = format!("{}{}/{}", context.base_url(), base(CaseVersion::V1p1), class.list);
    let record = read_single(class, &context.body, named.as_deref(), &at, now)?;
    let reader = reader(&context, CaseVersion::V1p1);
    let shape = reader.shape;
    let id = record.id().to_owned();
    let work = move |tx: &mut Tx<'_>| {
        let written = write(tx, now, &record)?;
        let stored = match class.name {
            "CFDocument" => repository::document(tx, &reader, record.id()),
            "CFItem" => repository::item(tx, &reader, record.id()),
            _ => repository::association(tx, &reader, record.id()),
        };
        Ok((written, stored?))
    };
    let (written, stored) = context.app.db.write(work).await?;
    let answer = single(shape, class.name, &stored).status(status(written));
    Ok(match written {
        WriteOutcome::Replaced => answer,
        WriteOutcome::Created | WriteOutcome::Unchanged => {
            answer.header(header::LOCATION, format!("{at}/{id}"))
        }
    })
}

fn status(written: WriteOutcome) -> StatusCode {
    match written {
        WriteOutcome::Created => StatusCode::CREATED,
        WriteOutcome::Replaced | WriteOutcome::Unchanged => StatusCode::OK,
    }
}
