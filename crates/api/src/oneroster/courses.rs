//! Complete courses: reading the syllabus, and creating the structure in one request.

use std::time::Duration;

use http::StatusCode;
use lyceum_core::{Problem, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::{self, ParamPlace};
use lyceum_roster::kinds::COURSE;
use lyceum_roster::record::Status;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, WriteOutcome};
use lyceum_roster::{course_tree, structure, syllabus as tree};
use serde_json::json;

use super::scopes::{RouteEffect, access};
use super::{schema, write};
use crate::{Context, Route, limits};

/// `GET /adaptive/syllabus/{courseId}`
pub(crate) fn syllabus() -> Route {
    route::get("/syllabus/{courseId}", access(&COURSE, RouteEffect::ReadCore), read_syllabus)
        .within_reach()
        .named("getSyllabus")
        .description(
            "Reads a course with its components and their resources, nested, in their order.",
        )
        .param(
            ParamPlace::Query,
            "status",
            json!({ "type": "string", "enum": ["active", "tobedeleted"], "default": "active" }),
            "The status of the records to show.",
        )
        .answers_kind(200, "The course.", schema::syllabus)
}

/// `POST /courses/structure`
pub(super) fn create_structure() -> Route {
    route::post("/courses/structure", access(&COURSE, RouteEffect::Post), created)
        .within_reach()
        .named("createCourseStructure")
        .description("Creates a course with its components and resources, all or nothing. What a syllabus shows can be sent.")
        .reads_up_to(limits::BULK_BODY_MAX_BYTES)
        .reads_kind(schema::course_structure_input)
        .answers_kind(201, "Created.", schema::created_course_structure)
        .answers_kind(200, "The course existed with the same content.", schema::created_course_structure)
}

async fn read_syllabus(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let status = match context.query_value("status").as_deref() {
        None | Some("active" | "") => Status::Active,
        Some("tobedeleted") => Status::ToBeDeleted,
        Some(_) => return Err(Problem::invalid("status", "must be 'active' or 'tobedeleted'")),
    };
    let text = rendered(&context, course, status, context.reach()).await?;
    Ok(Answer::json(format!("{{\"syllabus\":{text}}}")))
}

async fn rendered(
    context: &Context,
    course: String,
    status: Status,
    reach: Reach,
) -> Result<String> {
    let (app, dialect) = (context.app.clone(), context.dialect);
    let deadline = Duration::from_secs(context.app.config.server.request_timeout_s);
    context
        .app
        .db
        .scan(deadline, move |tx| {
            repository::require_within(tx, &COURSE, &course, &reach)?;
            let read = course_tree::read(tx, &course, status)?;
            let view = RecordView { base_url: &app.base_url, dialect, fields: None };
            let mut text = String::new();
            tree::render(&read, &view, &mut text)?;
            Ok(text)
        })
        .await
}

async fn created(context: Context) -> Result<Answer> {
    let rules = write::rules(&context, super::collection(&COURSE));
    let structure = structure::read(context.text()?, &rules)?;
    let pair = structure.pair().clone();
    let reach = rules.reach;
    let outcome = context.app.db.write(move |tx| structure.create(tx, &reach)).await?;
    let id = pair.allocated_sourced_id.clone();
    let text = rendered(&context, id, Status::Active, Reach::Everything).await?;
    let pair = serde_json::to_string(&pair).map_err(Problem::internal)?;
    let status =
        if outcome == WriteOutcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::json(format!("{{\"sourcedIdPairs\":{pair},\"courseStructure\":{text}}}"))
        .status(status))
}
