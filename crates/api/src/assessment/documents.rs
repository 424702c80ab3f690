//! Routes of all kinds of documents: lists, reading, writing, versions.

use std::time::Duration;

use http::{StatusCode, header};
use lyceum_access::Scope::{AdaptiveRead, QtiRead, QtiWrite};
use lyceum_assessment::description::DocumentInput;
use lyceum_assessment::repository::{self, FormerVersion};
use lyceum_assessment::{
    CheckedDocument, ContentKind, DocumentChange, Page, Query, StoredDocument, parse,
};
use lyceum_core::text::segment;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace::Query as InQuery;
use lyceum_http::route::{Access, delete, get, post, put};
use lyceum_http::{etag, notice};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::list::{self, ListPage};
use super::{headers, structure};
use crate::{Context, Route, limits};

/// The routes of a kind below its collection. The types describe a document of the kind in answers and requests.
pub(super) fn routes<D: JsonSchema + 'static, I: JsonSchema + 'static>(
    kind: ContentKind,
) -> Vec<Route> {
    document_routes::<D, I>(kind).into_iter().chain(version_routes::<D>(kind)).collect()
}

fn document_routes<D: JsonSchema + 'static, I: JsonSchema + 'static>(
    kind: ContentKind,
) -> Vec<Route> {
    let (one, many) = names(kind);
    // A stimulus contains no answer keys, and a student's player shows it beside the item.
    let reads: Access = match kind {
        ContentKind::Stimulus => [QtiRead, AdaptiveRead].into(),
        ContentKind::Item | ContentKind::Test => QtiRead.into(),
    };
    vec![
        headers::list_parameters(
            get("", QtiRead, move |context| list_page(context, kind))
                .named(format!("list{many}"))
                .description("Lists documents page by page: searched, filtered and ordered."),
        )
        .answers::<ListPage<D>>(200, "The page."),
        strict(post("", QtiWrite, move |context| create(context, kind)))
            .named(format!("create{one}"))
            .description("Stores a new document, sent as XML or in its JSON form. Markup of common editors that QTI does not have, such as 'style' and 'iframe', is removed; 'warnings' names it.")
            .reads::<DocumentInput<I>>()
            .reads_up_to(limits::QTI_BODY_MAX_BYTES)
            .answers::<D>(201, "Stored.")
            .with_headers(headers::CREATED),
        get("/{identifier}", reads, move |context| read(context, kind))
            .named(format!("get{one}"))
            .description("Reads a document.")
            .answers::<D>(200, "The document.")
            .with_headers(headers::TAGGED),
        strict(put("/{identifier}", QtiWrite, move |context| replace_document(context, kind)))
            .named(format!("put{one}"))
            .description("Replaces a document. The previous version stays readable.")
            .of_version()
            .reads::<DocumentInput<I>>()
            .reads_up_to(limits::QTI_BODY_MAX_BYTES)
            .answers::<D>(200, "Replaced.")
            .with_headers(headers::TAGGED),
        delete("/{identifier}", QtiWrite, move |context| remove(context, kind))
            .of_version()
            .named(format!("delete{one}"))
            .description("Deletes a document, unless another document refers to it (409). Its versions stay readable.")
            .answers_empty(204, "Deleted."),
    ]
}

fn strict(route: Route) -> Route {
    let flag = json!({ "type": "boolean", "default": false });
    route.param(InQuery, "strict", flag, "true: refuse a document about which there are warnings.")
}

/// Refuses warnings if the request asks for that.
fn refuse_warnings(context: &Context, warnings: &[Detail]) -> Result<()> {
    let is_strict = context.parsed_query_value::<bool>("strict", "must be 'true' or 'false'")?;
    match is_strict.unwrap_or(false) && !warnings.is_empty() {
        true => Err(Problem::invalid_all(warnings.to_vec())),
        false => Ok(()),
    }
}

async fn list_page(context: Context, kind: ContentKind) -> Result<Answer> {
    let query = Query::read(kind, &list::parameters_of(&context))?;
    let (page, deadline) = (query.clone(), Duration::from_millis(limits::SCAN_MAX_MS));
    let work = move |tx: &mut Tx<'_>| repository::list(tx, &page);
    let db = &context.app.db;
    let listed = if query.is_cheap() { db.read(work).await } else { db.scan(deadline, work).await };
    let listed = listed.map_err(too_slow)?;
    let total = listed.total;
    Ok(Answer::json(format!(
        "{{\"items\":[{}],\"total\":{total},\"page\":{},\"pages\":{},\"limit\":{},\"sort\":\"{}\",\
         \"order\":\"{}\"{}}}",
        listed.items,
        query.page.number,
        query.page.pages(total),
        query.page.limit,
        query.page.sort,
        query.page.order(),
        notice::member(&context.notices),
    )))
}

/// `POST` of a document.
pub(super) async fn create(context: Context, kind: ContentKind) -> Result<Answer> {
    let (body, now) = (context.body.clone(), context.app.clock.now());
    let document = run_blocking(move || CheckedDocument::read(kind, &parse(&body)?)).await?;
    let warnings = document.warnings.clone();
    refuse_warnings(&context, &warnings)?;
    let stored = context.app.db.write(move |tx| repository::create(tx, now, &document)).await?;
    let id = segment(&stored.identifier);
    let path = context.uri.path().trim_end_matches('/').trim_end_matches("/metadata");
    let location = format!("{}{path}/{id}", context.base_url());
    let answer = answer_to_author(&stored, warnings)?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, location))
}

async fn read(context: Context, kind: ContentKind) -> Result<Answer> {
    let id = context.param("identifier").to_owned();
    let stored = context.app.db.read(move |tx| repository::require(tx, kind, &id)).await?;
    let tag = etag::tag(stored.version);
    if context.header(header::IF_NONE_MATCH).is_some_and(|seen| etag::names(seen, &tag)) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).header(header::ETAG, tag));
    }
    answer_of(&stored)
}

/// JSON for a test changes the stored XML, because the parts of a test have their own addresses.
async fn replace_document(context: Context, kind: ContentKind) -> Result<Answer> {
    match kind {
        ContentKind::Test => structure::test_replaced(context).await,
        ContentKind::Item | ContentKind::Stimulus => replace(context, kind).await,
    }
}

async fn remove(context: Context, kind: ContentKind) -> Result<Answer> {
    let expected = etag::expected(&context)?;
    let id = context.param("identifier").to_owned();
    let now = context.app.clock.now();
    context.app.db.write(move |tx| repository::delete(tx, now, kind, &id, expected)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// `PUT` of a document.
pub(super) async fn replace(context: Context, kind: ContentKind) -> Result<Answer> {
    let (body, now) = (context.body.clone(), context.app.clock.now());
    let expected = etag::expected(&context)?;
    let id = context.param("identifier").to_owned();
    let named = id.clone();
    let change = run_blocking(move || DocumentChange::read(kind, &named, parse(&body)?)).await?;
    let warnings = change.warnings().to_vec();
    refuse_warnings(&context, &warnings)?;
    let write = move |tx: &mut Tx<'_>| repository::replace(tx, now, kind, &id, &change, expected);
    answer_to_author(&context.app.db.write(write).await?, warnings)
}

fn version_routes<D: JsonSchema + 'static>(kind: ContentKind) -> Vec<Route> {
    let (one, _) = names(kind);
    vec![
        headers::page_parameters(
            get("/{identifier}/versions", QtiRead, move |context| versions(context, kind))
                .named(format!("list{one}Versions"))
                .description("Lists the versions of a document, the newest first."),
        )
        .answers::<ListPage<FormerVersion>>(200, "The page."),
        get("/{identifier}/versions/{version}", QtiRead, move |context| version(context, kind))
            .named(format!("get{one}Version"))
            .description("Reads a version of a document by its number, also of a deleted document.")
            .answers::<D>(200, "The version."),
    ]
}

async fn versions(context: Context, kind: ContentKind) -> Result<Answer> {
    let query = Query::read(kind, &list::parameters_of(&context))?;
    let id = context.param("identifier").to_owned();
    let page = query.clone();
    let found = context.app.db.read(move |tx| repository::versions(tx, &page, &id)).await?;
    let page = Page { sort: "version", descending: true, ..query.page };
    Ok(list::answer(&context, &page, found.items, found.total))
}

async fn version(context: Context, kind: ContentKind) -> Result<Answer> {
    let id = context.param("identifier").to_owned();
    let number = context.param("version");
    let number: i64 = number.parse().map_err(|_| {
        let message = message!("'{number}' is not a version; versions are whole numbers from 1");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let work = move |tx: &mut Tx<'_>| repository::version(tx, kind, &id, number);
    answer_of(&context.app.db.read(work).await?)
}

/// `DELETE /{id}`, for a document of any kind.
pub(super) fn delete_any(name: &str) -> Route {
    delete("/{id}", QtiWrite, remove_document)
        .of_version()
        .named(format!("deleteContent{name}"))
        .description("Deletes the item, test, stimulus or feedback with this identifier, unless a document refers to it or several have the identifier (409).")
        .answers::<DeletedDocument>(200, "Deleted.")
}

/// A document was deleted.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct DeletedDocument {
    /// Names the kind and the identifier of the document.
    message: String,
}

async fn remove_document(context: Context) -> Result<Answer> {
    let (id, expected) = (context.param("id").to_owned(), etag::expected(&context)?);
    let now = context.app.clock.now();
    let delete = move |tx: &mut Tx<'_>| lyceum_assessment::delete_any(tx, now, &id, expected);
    let was = context.app.db.write(delete).await?;
    Ok(Answer::of(&DeletedDocument { message: format!("deleted: {was}") }))
}

fn names(kind: ContentKind) -> (&'static str, &'static str) {
    match kind {
        ContentKind::Item => ("AssessmentItem", "AssessmentItems"),
        ContentKind::Test => ("AssessmentTest", "AssessmentTests"),
        ContentKind::Stimulus => ("Stimulus", "Stimuli"),
    }
}

/// A document with its tag.
pub(super) fn answer_of(stored: &StoredDocument) -> Result<Answer> {
    Ok(Answer::json(stored.to_json_text()?).header(header::ETAG, etag::tag(stored.version)))
}

/// A document whose content was sent, with the warnings for its author.
fn answer_to_author(stored: &StoredDocument, warnings: Vec<Detail>) -> Result<Answer> {
    let mut text = stored.to_json_text()?;
    text.insert_str(text.len() - 1, &notice::member(&warnings));
    Ok(Answer::json(text).header(header::ETAG, etag::tag(stored.version)).noting(warnings))
}

/// The problem for a scan that exceeded its deadline. The caller must narrow it, because trying again would not help.
fn too_slow(problem: Problem) -> Problem {
    if !lyceum_store::is_too_slow(&problem) {
        return problem;
    }
    let message = "this list takes too long; narrow it by 'filter', or ask for fewer by 'limit'";
    Problem::new(ProblemKind::BadFilter, message)
}
