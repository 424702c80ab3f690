//! Lists and single reads.

use std::time::Duration;

use http::{StatusCode, header};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::context::parameters;
use lyceum_http::etag;
use lyceum_http::route::{AnswerHeader, get};
use lyceum_roster::collections::{self, Collection, ScopedCollection};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{ASSESSMENT_RESULT, RESULT};
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::render::{RecordView, fields};
use lyceum_roster::repository::{self, ListCost, PathScope, RecordPage, UserSelection};
use lyceum_roster::v1p1::{self, FormView, RecordForm};
use lyceum_store::{Db, Tx};
use serde::Deserialize;
use serde_json::json;

use super::respond::{self, PagePosition};
use super::scopes::{RouteEffect, access};
use super::{operation, schema, singular};
use crate::{Context, Route, limits};

pub(super) const PAGE_HEADERS: &[AnswerHeader] = &[
    AnswerHeader {
        name: "X-Total-Count",
        ty: "integer",
        description: "Records in the whole list.",
    },
    AnswerHeader {
        name: "Link",
        ty: "string",
        description: "Addresses of the first, previous, next and last page (RFC 8288). The next page begins after the \
                      last record of this one, unless the request has an offset.",
    },
    AnswerHeader {
        name: respond::COMPLETE_UNTIL,
        ty: "string",
        description: "For a list that is filtered or sorted by dateLastModified: it has all changes up to this \
                      instant, and none after it. Ask for dateLastModified> this instant next time.",
    },
];

/// `GET /courses`
pub(super) fn list(collection: Collection) -> Route {
    let route = get(
        format!("/{}", collection.path),
        access(collection.kind, RouteEffect::ReadCore),
        move |context| answer_list(context, collection, None),
    )
    .within_reach()
    .named(operation("getAll", collection.path))
    .description(format!("Lists {}.", collection.path))
    .answers_kind(200, "A page.", move || schema::collection(collection))
    .with_headers(PAGE_HEADERS);
    schema::list_parameters(route)
}

/// `GET /classes/{classSourcedId}/students`
pub(super) fn scoped(scoped: ScopedCollection, path: String) -> Route {
    let collection = collections::at(scoped.of).expect("scoped collections are declared");
    let name = operation("get", &path.replace(['{', '}'], ""));
    let route = get(path, access(collection.kind, RouteEffect::ReadScoped), move |context| {
        let ids = parameters(scoped.path);
        let scope = PathScope {
            scoped,
            ids: ids.map(|name| (name, context.param(name).to_owned())).collect(),
        };
        answer_list(context, collection, Some(scope))
    })
    .within_reach()
    .named(name)
    .description(format!("Lists {} of the record in the path.", scoped.of))
    .answers_kind(200, "A page.", move || schema::collection(collection))
    .with_headers(PAGE_HEADERS);
    schema::list_parameters(route)
}

/// `GET /courses/{sourcedId}`
pub(super) fn single(collection: Collection) -> Route {
    get(
        format!("/{}/{{sourcedId}}", collection.path),
        access(collection.kind, RouteEffect::ReadCore),
        move |context| answer_record(context, collection, None),
    )
    .within_reach()
    .named(operation("get", singular(collection)))
    .description(format!("Reads one of {}, deleted ones included.", collection.path))
    .param(
        lyceum_http::route::ParamPlace::Query,
        "fields",
        json!({ "type": "array", "items": { "type": "string" } }),
        "The fields to show, separated by commas.",
    )
    .answers_kind(200, "The record.", move || schema::single(collection))
}

async fn answer_list(
    context: Context,
    collection: Collection,
    scope: Option<PathScope>,
) -> Result<Answer> {
    listing(context, collection, ListNarrowing { scope, ..ListNarrowing::default() }).await
}

/// How a route narrows and shows a list, in addition to the parameters of the request.
pub(crate) struct ListNarrowing {
    /// The record that limits the collection to its part.
    pub scope: Option<PathScope>,
    /// Limits the list to some users.
    pub people: Option<UserSelection>,
    /// Members that are always shown, whatever fields are selected.
    pub always: &'static [&'static str],
    /// A last step that changes the page.
    pub finish: fn(&mut Tx<'_>, RecordPage) -> Result<RecordPage>,
    /// The form of the records in OneRoster 1.1; `None` for version 1.2.
    pub form: Option<&'static RecordForm>,
}

impl Default for ListNarrowing {
    fn default() -> Self {
        let finish = |_: &mut Tx<'_>, listed| Ok(listed);
        Self { scope: None, people: None, always: &[], finish, form: None }
    }
}

/// Returns a list according to the parameters of the request.
pub(crate) async fn listing(
    context: Context,
    collection: Collection,
    narrow: ListNarrowing,
) -> Result<Answer> {
    let ListNarrowing { scope, people, always, finish, form } = narrow;
    let pairs: Vec<_> = context.query().collect();
    let value =
        |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_ref());
    let parameters = ListParameters {
        limit: value("limit"),
        offset: value("offset"),
        cursor: value("cursor"),
        sort: value("sort"),
        order_by: value("orderBy"),
        filter: value("filter"),
        search: value("search"),
    };
    let dialect = context.dialect;
    let (store, reach) = (context.app.db.dialect(), context.reach());
    let mut query = match form {
        Some(form) => v1p1::query(form, collection, scope, reach, &parameters, store)?,
        None => query(collection, scope, reach, &parameters, store)?,
    };
    query.people = people;
    if query.until.is_none() && query.of_changes {
        let now = context.app.clock.now();
        query.until = Some(context.app.db.records_complete_until(now).await?);
    }
    let selected = value("fields").filter(|text| !text.is_empty());
    let form = form.map(|form| FormView::new(form, collection, selected)).transpose()?;
    let selected = selected.filter(|_| form.is_none()).map(str::to_owned);
    let page = PagePosition {
        limit: query.limit,
        offset: query.offset,
        has_offset: value("offset").is_some(),
        has_cursor: query.cursor.is_some(),
        complete_until: query.until,
    };
    let cost = repository::cost(&query);
    let (app, now) = (context.app.clone(), context.app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let mut selected =
            selected.as_deref().map(|text| fields(collection.kind, text, dialect)).transpose()?;
        if let Some(selected) = &mut selected {
            selected.extend(always);
        }
        let view = RecordView { base_url: &app.base_url, dialect, fields: selected };
        let listed = repository::list(tx, &query, &view)?;
        let mut listed = finish(tx, listed)?;
        if dialect == PayloadDialect::Platform && form.is_none() {
            listed.of_former_students = of_former_students(tx, now, collection.kind, &listed)?;
        }
        if let Some(form) = &form {
            listed.records = form.render(&app.base_url, &listed.records)?;
        }
        Ok(listed)
    };
    let listed = read_at_cost(&context.app.db, cost, work).await?;
    Ok(respond::page(&context, collection, &page, listed))
}

/// The results on the page whose students have left; `None` if the records are not results.
fn of_former_students(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: &RecordKind,
    listed: &RecordPage,
) -> Result<Option<Vec<String>>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ListedRecord {
        sourced_id: String,
    }
    if ![&RESULT, &ASSESSMENT_RESULT].contains(&kind) {
        return Ok(None);
    }
    let records: Vec<ListedRecord> =
        serde_json::from_str(&format!("[{}]", listed.records)).map_err(Problem::internal)?;
    let ids: Vec<&str> = records.iter().map(|record| record.sourced_id.as_str()).collect();
    repository::of_former_students(tx, now, kind, &ids).map(Some)
}

/// Reads a short list directly, and other lists on a thread for long reads, with a deadline.
async fn read_at_cost(
    db: &Db,
    cost: ListCost,
    work: impl Fn(&mut Tx<'_>) -> Result<RecordPage> + Clone + Send + 'static,
) -> Result<RecordPage> {
    match cost {
        ListCost::Low => return db.read(work).await,
        ListCost::Counted(probe) => {
            let work = work.clone();
            let read = move |tx: &mut Tx<'_>| match probe.finds_few(tx)? {
                true => work(tx).map(Some),
                false => Ok(None),
            };
            if let Some(listed) = db.read(read).await? {
                return Ok(listed);
            }
        }
        ListCost::High => {}
    }
    db.scan(Duration::from_millis(limits::SCAN_MAX_MS), work).await.map_err(too_slow)
}

/// The problem for a scan that exceeded its deadline. The caller must narrow it, because trying again would not help.
fn too_slow(problem: Problem) -> Problem {
    if !lyceum_store::is_too_slow(&problem) {
        return problem;
    }
    Problem::new(
        lyceum_core::ProblemKind::BadFilter,
        message!(
            "the list would take more than {most} ms, because no index answers it; filter by \
             sourcedId, a reference or another indexed field, or page with 'cursor'",
            most = limits::SCAN_MAX_MS
        ),
    )
}

/// Returns a record of the collection, in its 1.1 form if there is one.
pub(super) async fn answer_record(
    context: Context,
    collection: Collection,
    form: Option<&'static RecordForm>,
) -> Result<Answer> {
    let (id, reach) = (context.param("sourcedId").to_owned(), context.reach());
    let dialect = context.dialect;
    let selected = context
        .query()
        .find(|(name, value)| name == "fields" && !value.is_empty())
        .map(|(_, value)| value.into_owned());
    let form = form.map(|form| FormView::new(form, collection, selected.as_deref())).transpose()?;
    let selected = selected.filter(|_| form.is_none());
    let app = context.app.clone();
    let (body, version) = context
        .app
        .db
        .read(move |tx| {
            let selected = selected
                .as_deref()
                .map(|text| fields(collection.kind, text, dialect))
                .transpose()?;
            let view = RecordView { base_url: &app.base_url, dialect, fields: selected };
            let stored = repository::find_in(tx, &collection, &id, &reach)?
                .ok_or_else(|| Problem::not_found(collection.kind.one, &id))?;
            let body = match &form {
                None => respond::single(&view, collection, &stored)?,
                Some(form) => {
                    let mut record = String::new();
                    view.render(&stored.body, None, &mut record)?;
                    let record = form.render(&app.base_url, &record)?;
                    format!("{{\"{}\":{record}}}", collection.kind.one)
                }
            };
            Ok((body, stored.version))
        })
        .await?;
    let tag = etag::tag(version);
    if context.header(header::IF_NONE_MATCH).is_some_and(|seen| etag::names(seen, &tag)) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).header(header::ETAG, tag));
    }
    Ok(Answer::json(body).header(header::ETAG, tag))
}
