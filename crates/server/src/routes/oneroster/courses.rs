//! Complete courses: reading the syllabus, and creating the structure in one request.

use std::time::Duration;

use axum::http::StatusCode;
use lyceum_core::{Problem, Result, limits};
use lyceum_roster::kinds::COURSE;
use lyceum_roster::record::Status;
use lyceum_roster::render::View;
use lyceum_roster::repository::WriteOutcome;
use lyceum_roster::{course_tree, structure, syllabus as tree};
use serde_json::{Value, json};

use super::scopes::{Does, access};
use super::write;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{self, ParamPlace, Route};

/// `GET /adaptive/syllabus/{courseId}`
pub(crate) fn syllabus() -> Route {
    route::get("/syllabus/{courseId}", access(&COURSE, Does::ReadCore), read_syllabus)
        .named("getSyllabus")
        .says("Reads a course with its components and their resources, nested, in their order.")
        .param(
            ParamPlace::Query,
            "status",
            json!({ "type": "string", "enum": ["active", "tobedeleted"], "default": "active" }),
            "Which records are shown.",
        )
        .answers_schema(
            200,
            "The tree.",
            json!({
                "type": "object",
                "required": ["syllabus"],
                "properties": { "syllabus": course_schema() },
            }),
        )
}

/// `POST /courses/structure`
pub(super) fn create_structure() -> Route {
    let schema = json!({
        "type": "object",
        "required": ["course"],
        "properties": {
            "course": { "$ref": "#/components/schemas/CourseInput" },
            "courseStructure": course_schema(),
        },
    });
    route::post("/courses/structure", access(&COURSE, Does::Post), created)
        .named("createCourseStructure")
        .says("Creates a course with its components and resources, all or nothing. What a syllabus shows can be sent.")
        .reads_up_to(limits::BULK_BODY_MAX_BYTES)
        .reads_schema(schema)
        .answers_schema(201, "Created.", json!({ "type": "object" }))
        .answers_schema(200, "It was there and says the same.", json!({ "type": "object" }))
}

/// A course or component with its content.
fn course_schema() -> Value {
    let list = || json!({ "type": "array", "items": { "type": "object" } });
    json!({
        "type": "object",
        "properties": { "subComponents": list(), "componentResources": list() },
    })
}

async fn read_syllabus(context: Context) -> Result<Answer> {
    let course = context.param("courseId").to_owned();
    let status = match context.asked("status").as_deref() {
        None | Some("active" | "") => Status::Active,
        Some("tobedeleted") => Status::ToBeDeleted,
        Some(_) => return Err(Problem::invalid("status", "must be 'active' or 'tobedeleted'")),
    };
    let text = rendered(&context, course, status).await?;
    Ok(Answer::json(format!("{{\"syllabus\":{text}}}")))
}

async fn rendered(context: &Context, course: String, status: Status) -> Result<String> {
    let (app, dialect) = (context.app.clone(), context.dialect);
    let deadline = Duration::from_secs(context.app.config.server.request_timeout_s);
    context
        .app
        .db
        .scan(deadline, move |tx| {
            let read = course_tree::read(tx, &course, status)?;
            let view = View { base_url: &app.base_url, dialect, fields: None };
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
    let outcome = context.app.db.write(move |tx| structure.create(tx)).await?;
    let id = pair.allocated_sourced_id.clone();
    let text = rendered(&context, id, Status::Active).await?;
    let pair = serde_json::to_string(&pair).map_err(Problem::internal)?;
    let status =
        if outcome == WriteOutcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::json(format!("{{\"sourcedIdPairs\":{pair},\"courseStructure\":{text}}}"))
        .status(status))
}
