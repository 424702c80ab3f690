//! Reads: the 12 operations of the standard, groups, and lists and search of standards.

use std::time::Duration;

use http::{HeaderName, header};
use lyceum_access::Scope::StandardsRead;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::paging;
use lyceum_http::render::CaseVersion;
use lyceum_http::route::{Access, AnswerHeader, get};
use lyceum_standards::class::{self, Class};
use lyceum_standards::repository::{self, Reader};
use lyceum_standards::{Query, Shape, groups, identifier};
use lyceum_store::Tx;

use super::{reader, schema, single};
use crate::{Context, Route, limits};

const PAGE_HEADERS: &[AnswerHeader] = &[
    AnswerHeader {
        name: "X-Total-Count",
        ty: "integer",
        description: "Records in the whole list.",
    },
    AnswerHeader {
        name: "Link",
        ty: "string",
        description: "Addresses of the first, previous, next and last page (RFC 8288).",
    },
];

/// The access to reads: callers with the scope, and callers without a token for public frameworks.
fn access() -> Access {
    Access::Optional([StandardsRead].into_iter().collect())
}

/// How one record of a CASE class is read.
type Find = fn(&mut Tx<'_>, &Reader, &str) -> Result<String>;

pub(super) fn routes(version: CaseVersion) -> Vec<Route> {
    let mut routes = vec![
        list(version, &class::DOCUMENT, "getAllCFDocuments"),
        list(version, &class::ITEM, "searchCFItems"),
        one(version, &class::DOCUMENT, repository::document),
        one(version, &class::ITEM, repository::item),
        one(version, &class::ASSOCIATION, repository::association),
        one(version, &class::GROUPING, |tx, reader, id| {
            repository::definition(tx, reader, &class::GROUPING, id)
        }),
        one(version, &class::LICENSE, |tx, reader, id| {
            repository::definition(tx, reader, &class::LICENSE, id)
        }),
        one(version, &class::RUBRIC, |tx, reader, id| {
            repository::definition(tx, reader, &class::RUBRIC, id)
        }),
    ];
    routes.extend([&class::CONCEPT, &class::SUBJECT, &class::ITEM_TYPE].map(|of| set(version, of)));
    routes.extend([item_associations(version), package(version), with_groups(version)]);
    routes
}

/// The name of an operation, which must be unique across both versions.
fn operation_name(name: &str, version: CaseVersion) -> String {
    match version {
        CaseVersion::V1p0 => format!("{name}V1p0"),
        CaseVersion::V1p1 => name.to_owned(),
    }
}

fn list(version: CaseVersion, class: &'static Class, name: &str) -> Route {
    let route = get(format!("/{}", class.list), access(), move |context| {
        list_records(context, version, class)
    })
    .named(operation_name(name, version))
    .description(format!("Lists {}, filtered and ordered.", class.list))
    .answers_kind(200, "A page.", move || schema::list(class))
    .with_headers(PAGE_HEADERS);
    schema::list_parameters(route, class)
}

fn one(version: CaseVersion, class: &'static Class, find: Find) -> Route {
    get(format!("/{}/{{sourcedId}}", class.list), access(), move |context| async move {
        let (reader, id) = (reader(&context, version), identifier(context.param("sourcedId"))?);
        let shape = reader.shape;
        let record = context.app.db.read(move |tx| find(tx, &reader, &id)).await?;
        Ok(single(shape, class.name, &record))
    })
    .named(operation_name(&format!("get{}", class.name), version))
    .description(format!("Reads one of the {}.", class.list))
    .answers_kind(200, "The record.", move || schema::single(class))
}

/// `GET /CFConcepts/{sourcedId}`: a definition with its children.
fn set(version: CaseVersion, class: &'static Class) -> Route {
    get(format!("/{}/{{sourcedId}}", class.list), access(), move |context| async move {
        let (reader, id) = (reader(&context, version), identifier(context.param("sourcedId"))?);
        let find = move |tx: &mut Tx<'_>| repository::definition_set(tx, &reader, class, &id);
        let records = context.app.db.read(find).await?;
        Ok(Answer::json(format!("{{\"{}\":{records}}}", class.list)))
    })
    .named(operation_name(&format!("get{}", class.name), version))
    .description(format!(
        "Reads one of the {} and its children, as the hierarchy codes say.",
        class.list
    ))
    .answers_kind(200, "The record, first of the list, and its children.", move || {
        schema::list(class)
    })
}

fn item_associations(version: CaseVersion) -> Route {
    get("/CFItemAssociations/{sourcedId}", access(), move |context| async move {
        let (reader, id) = (reader(&context, version), identifier(context.param("sourcedId"))?);
        let find = move |tx: &mut Tx<'_>| repository::item_associations(tx, &reader, &id);
        let (item, associations) = context.app.db.read(find).await?;
        Ok(Answer::json(format!("{{\"CFItem\":{item},\"CFAssociations\":{associations}}}")))
    })
    .named(operation_name("getCFItemAssociations", version))
    .description("Reads an item and every association that begins or ends at it.")
    .answers_kind(200, "Item and associations.", schema::item_associations)
}

/// The time limit for reading a whole package.
const PATIENCE: Duration = Duration::from_millis(limits::COURSE_READ_MAX_MS);

fn package(version: CaseVersion) -> Route {
    get("/CFPackages/{sourcedId}", access(), move |context| async move {
        let (reader, id) = (reader(&context, version), identifier(context.param("sourcedId"))?);
        let is_platform = reader.shape == Shape::Platform;
        let read = move |tx: &mut Tx<'_>| {
            let mut body = String::from(if is_platform { "{\"CFPackage\":{" } else { "{" });
            if is_platform {
                body.extend(["\"sourcedId\":\"", &id, "\","]);
            }
            repository::write_package(tx, &reader, &id, &mut body)?;
            body.push_str(if is_platform { "}}" } else { "}" });
            Ok(body)
        };
        Ok(Answer::json(context.app.db.scan(PATIENCE, read).await?))
    })
    .named(operation_name("getCFPackage", version))
    .description("Reads a framework with all its records.")
    .answers_kind(200, "The package.", schema::package)
}

fn with_groups(version: CaseVersion) -> Route {
    get("/CFPackages/{sourcedId}/groups", access(), move |context| async move {
        let (reader, id) = (reader(&context, version), identifier(context.param("sourcedId"))?);
        let (key, name) = (reader.shape.id(), id.clone());
        let read = move |tx: &mut Tx<'_>| groups(tx, &reader, &id);
        let (document, items) = context.app.db.scan(PATIENCE, read).await?;
        Ok(Answer::json(format!(
            "{{\"CFPackageWithGroups\":{{\"{key}\":\"{name}\",\"CFDocument\":{document},\
             \"structuredContent\":{items}}}}}"
        )))
    })
    .named(operation_name("getCFPackageWithGroups", version))
    .description("Reads a framework's items in their tree, children grouped by their type.")
    .answers_kind(200, "The tree.", schema::groups)
}

async fn list_records(
    context: Context,
    version: CaseVersion,
    class: &'static Class,
) -> Result<Answer> {
    let pairs: Vec<_> = context.query().collect();
    let query =
        Query::read(class, pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))?;
    let reader = reader(&context, version);
    let (list_query, db) = (query.clone(), &context.app.db);
    let work = move |tx: &mut Tx<'_>| repository::list(tx, &reader, &list_query);
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let listed = if query.is_cheap() { db.read(work).await } else { db.scan(deadline, work).await };
    let listed = listed.map_err(too_slow)?;
    let (records, total) = (listed.records, listed.total);
    let links = paging::links(&context, query.limit, query.offset, listed.count, total);
    Ok(Answer::json(format!("{{\"{}\":{records}}}", class.list))
        .header(HeaderName::from_static("x-total-count"), total)
        .header(header::LINK, links)
        .header(header::VARY, "Authorization, Accept"))
}

/// The problem for a scan that exceeded its deadline. The caller must narrow it, because trying again would not help.
fn too_slow(problem: Problem) -> Problem {
    if !lyceum_store::is_too_slow(&problem) {
        return problem;
    }
    let message = "this list takes too long; narrow it by 'framework' or 'search'";
    Problem::new(ProblemKind::BadFilter, message)
}
