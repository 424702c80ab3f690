//! Exporting and erasing everything about one person, for administrators and clients that were named for it.

use std::io::{Seek, SeekFrom};

use http::{HeaderValue, StatusCode, header};
use lyceum_access::Scope;
use lyceum_access::audit::AuditChange;
use lyceum_blob::Blob;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_erasure::Erasure;
use lyceum_hosting::BlobStream;
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::{get, post};
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::work::erasure::{self, PersonalData, history_ends};
use crate::{App, Area, Context};

const ZIP: &str = "application/zip";

/// The state of an erasure.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErasureStatus {
    /// The erasure.
    #[serde(flatten)]
    pub erasure: Erasure,
    /// When backups and logs from before the erasure must be gone; `null` while it is running.
    pub history_ends: Option<Timestamp>,
}

impl ErasureStatus {
    /// The state of an erasure on this server.
    pub fn of(app: &App, erasure: Erasure) -> Self {
        let history_ends = erasure.ended.map(|ended| history_ends(&app.config, ended));
        Self { erasure, history_ends }
    }
}

pub(super) fn area() -> Area {
    let data = vec![
        get("/{id}/export", Scope::PeopleManage, exported)
            .named("exportPerson")
            .description("Everything that the server stores about a person, as a zip with an index.html. The id is the sourcedId of a user, or the id or e-mail address of an account.")
            .answers_as(200, "The zip.", Some((ZIP, json!({ "type": "string", "format": "binary" })))),
        post("/{id}/erase", Scope::PeopleManage, erased)
            .named("erasePerson")
            .description("Begins to remove everything that names a person. A pseudonym replaces the person, so totals keep their numbers. Writes that name the person are refused from then on.")
            .reads_as(&[])
            .answers::<ErasureStatus>(202, "The erasure was begun, or was begun before."),
        get("/{id}/erasure", Scope::PeopleManage, status)
            .named("getErasure")
            .description("The erasure of a person, by the id that the person had.")
            .answers::<ErasureStatus>(200, "The erasure."),
    ];
    Area {
        name: "people",
        base: "/api/people",
        rendering: Rendering::Problem,
        description: "The accounts of people; exporting and erasing everything about one person.",
        routes: crate::accounts::routes().into_iter().chain(data).collect(),
    }
}

async fn exported(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    export(&context.app, grant.name(), context.param("id")).await
}

/// The zip with everything about a person, and an entry in the audit log.
pub async fn export(app: &App, who: &str, id: &str) -> Result<Answer> {
    let (data, of) = (PersonalData::of(app), id.to_owned());
    let blob = run_blocking(move || {
        let mut file = tempfile::tempfile().map_err(Problem::internal)?;
        data.export(&of, file.try_clone().map_err(Problem::internal)?)?;
        let size = file.seek(SeekFrom::End(0)).map_err(Problem::internal)?;
        file.seek(SeekFrom::Start(0)).map_err(Problem::internal)?;
        Ok(Blob { file, size })
    })
    .await?;
    let (who, id, now) = (who.to_owned(), id.to_owned(), app.clock.now());
    app.db
        .write(move |tx| {
            let change = AuditChange { who: &who, what: "person.export", subject: &id };
            change.note(tx, now, &serde_json::Value::Null)
        })
        .await?;
    let size = blob.size;
    let body = Body::new(BlobStream::of(blob, 0, size));
    Ok(Answer::typed(HeaderValue::from_static(ZIP), body)
        .header(header::CONTENT_LENGTH, size)
        .header(header::CONTENT_DISPOSITION, "attachment; filename=\"person.zip\""))
}

async fn erased(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    let data = PersonalData::of(&context.app);
    let erasure = data.begin(grant.name(), context.param("id")).await?;
    let status = ErasureStatus::of(&context.app, erasure);
    Ok(Answer::of(&status).status(StatusCode::ACCEPTED))
}

async fn status(context: Context) -> Result<Answer> {
    let erasure = find(&context.app, context.param("id")).await?;
    Ok(Answer::of(&ErasureStatus::of(&context.app, erasure)))
}

/// The erasure of the person who had this id. Errors: `NotFound`.
pub async fn find(app: &App, id: &str) -> Result<Erasure> {
    let (key, id) = (erasure::key(app), id.to_owned());
    let found = app.db.read(move |tx| key.erasure_of(tx, &id)).await?;
    found.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, "no person with this id was erased from this server")
    })
}
