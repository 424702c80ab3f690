//! Databases of projects: rollbacks, restore points, downloads, and checks whether the rows fit a new schema.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{HeaderValue, header};
use lyceum_access::Scope::{ProjectsRead, ProjectsWrite};
use lyceum_blob::{Blobs, Digest};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::databases::{self, RestorePoint};
use lyceum_hosting::deployments::{self, Deployment};
use lyceum_hosting::projects::{self, Project};
use lyceum_hosting::{BlobStream, replicas};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::{get, post};
use lyceum_project::schema::{self as ddl, Schema};
use lyceum_project::{DatabaseWish, SchemaWish};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{client, members, project_location};
use crate::{App, Context, Route, hosted, limits};

const SQLITE: &str = "application/vnd.sqlite3";

/// The version to serve again.
#[derive(Deserialize, JsonSchema)]
struct Rollback {
    /// The version to serve; by default the one before.
    version: Option<i64>,
    /// The revision that the project must have.
    revision: Option<i64>,
    /// The treatment of the database if the version has another schema.
    database: Option<DatabaseChoice>,
}

/// The choice for a database.
#[derive(Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum DatabaseChoice {
    Keep,
    Restore,
}

/// The replacement of a database: a restore point, an uploaded file or the state of a time.
#[derive(Deserialize, JsonSchema)]
struct DatabaseRestore {
    /// The id of the point.
    point: Option<String>,
    /// The SHA-256 of the file.
    sha256: Option<Digest>,
    /// The time whose state the database gets, within the days for which the server keeps replicas.
    at: Option<Timestamp>,
}

pub(super) fn rollback() -> Route {
    post("/{slug}/rollback", ProjectsWrite, members(rolled_back))
        .named("rollBackProject")
        .description("Serves a previous version again with its code, frontend and secrets; by default the one before. Objects in the bucket do not change. If the version has another database schema, `database` decides whether to keep the database or to restore it; without `database` the answer is 409.")
        .reads::<Rollback>()
        .answers::<Deployment>(200, "The version that is served now.")
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/{slug}/database", ProjectsRead, members(copied))
            .named("getProjectDatabase")
            .description("Downloads a consistent copy of the project's database as an SQLite file.")
            .answers_as(
                200,
                "The file.",
                Some((SQLITE, json!({ "type": "string", "format": "binary" }))),
            ),
        get("/{slug}/database/points", ProjectsRead, members(points))
            .named("getRestorePoints")
            .description("Lists the restore points of the project's database, newest first.")
            .answers::<Vec<RestorePoint>>(200, "The points."),
        post("/{slug}/database/restore", ProjectsWrite, members(restored))
            .named("restoreProjectDatabase")
            .description("Replaces the project's database with a restore point, an uploaded SQLite file, or its state at a time of the last days if the server has replicas. The replaced database becomes a restore point.")
            .reads::<DatabaseRestore>()
            .answers::<Vec<RestorePoint>>(200, "The restore points."),
        post("/{slug}/database/problems", ProjectsRead, members(problems))
            .named("getDatabaseProblems")
            .description("Lists the reasons why the rows of the project's database do not fit a schema. It changes nothing.")
            .reads::<DatabaseWish>()
            .reads_up_to(limits::PLAN_MAX_BYTES)
            .answers::<Vec<String>>(200, "The problems, one sentence each."),
    ]
}

async fn rolled_back(context: Context) -> Result<Answer> {
    let Rollback { version, revision, database } = context.body_as()?;
    let (slug, who) = (context.param("slug").to_owned(), client(&context).to_owned());
    let (now, location) = (context.app.clock.now(), project_location(&context.app, &slug));
    let sought = slug.clone();
    let folder = location.folder.clone();
    let look = move |tx: &mut Tx<'_>| {
        let target = deployments::earlier(tx, &sought, version)?;
        let differs = databases::differs(&folder, &projects::find(tx, &sought)?, &target)?;
        Ok((target.version, differs))
    };
    let (target, differs) = context.app.db.read(look).await?;
    if differs && database.is_none() {
        let message = message!(
            "version {target} of '{slug}' came with another schema of the database; say whether the \
             database is kept or put back as it was then (`--keep-database`, `--restore-database`)"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let (sought, version) = (slug.clone(), Some(target));
    if database != Some(DatabaseChoice::Restore) {
        let turn = move |tx: &mut Tx<'_>| {
            deployments::roll_back(tx, (now, &who), &sought, version, revision, None)
        };
        return Ok(Answer::of(&context.app.db.write(turn).await?));
    }
    let point = context.app.db.read(move |tx| databases::point(tx, &sought, None, version)).await?;
    let (sought, from) = (slug.clone(), location.folder.join(point.file));
    let turned: Deployment = hosted::replace_database(
        &context.app,
        (slug, location),
        move |_, copy| ddl::restore(&from, copy),
        move |tx, name| {
            deployments::roll_back(tx, (now, &who), &sought, version, revision, Some(name))
        },
    )
    .await?;
    Ok(Answer::of(&turned))
}

async fn points(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    Ok(Answer::of(&context.app.db.read(move |tx| databases::points(tx, &slug)).await?))
}

async fn project(context: &Context) -> Result<Project> {
    let slug = context.param("slug").to_owned();
    context.app.db.read(move |tx| projects::find(tx, &slug)).await
}

async fn copied(context: Context) -> Result<Answer> {
    let project = project(&context).await?;
    let file = databases::file_of(
        &super::project_location(&context.app, &project.slug).folder,
        Some(&project),
    );
    let Some(blob) = run_blocking(move || databases::snapshot(&file)).await? else {
        let message = message!("the project '{project.slug}' has no database yet");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    let size = blob.size;
    let body = Body::new(BlobStream::of(blob, 0, size));
    let answer = Answer::typed(HeaderValue::from_static(SQLITE), body);
    Ok(answer.header(header::CONTENT_LENGTH, size))
}

async fn restored(context: Context) -> Result<Answer> {
    let request: DatabaseRestore = context.body_as()?;
    let project = project(&context).await?;
    let (app, slug) = (&context.app, project.slug.clone());
    let location = project_location(app, &slug);
    let from = match (request.point, request.sha256, request.at) {
        (Some(id), None, None) => {
            let sought = slug.clone();
            let found =
                app.db.read(move |tx| databases::point(tx, &sought, Some(&id), None)).await?;
            location.folder.join(found.file)
        }
        (None, Some(sha256), None) => {
            let (blobs, folder) = (app.blobs.clone(), location.folder.clone());
            run_blocking(move || unpacked(&blobs, &sha256, &folder)).await?
        }
        (None, None, Some(at)) => earlier(app, &slug, &location.folder, at).await?,
        _ => {
            return Err(Problem::invalid(
                "point",
                "name a point, the sha256 of a file, or a time; one of them",
            ));
        }
    };
    let is_temporary = request.sha256.is_some() || request.at.is_some();
    let source = from.clone();
    let (now, who, sought) = (app.clock.now(), client(&context).to_owned(), slug.clone());
    let points = hosted::replace_database(
        app,
        (slug, location),
        move |_, copy| ddl::restore(&source, copy),
        move |tx, name| {
            let before = projects::find(tx, &sought)?;
            databases::replace(tx, now, Some(&before), (&sought, name, "restore"))?;
            lyceum_hosting::audit::note(
                tx,
                now,
                (&sought, &who),
                "restore",
                &json!({ "file": name }),
            )?;
            databases::points(tx, &sought)
        },
    )
    .await;
    if is_temporary {
        databases::discard(&from);
    }
    Ok(Answer::of(&points?))
}

/// An uploaded SQLite file. Errors: the file is not on this server, or is not a database.
fn unpacked(blobs: &Blobs, sha256: &Digest, folder: &Path) -> Result<PathBuf> {
    let Some(mut blob) = blobs.open(sha256)? else {
        return Err(Problem::invalid("sha256", "is not on this server; upload the file first"));
    };
    std::fs::create_dir_all(folder).map_err(Problem::internal)?;
    let file = folder.join(format!("upload-{sha256}.sqlite"));
    let mut copy = File::create(&file).map_err(Problem::internal)?;
    std::io::copy(&mut blob.file, &mut copy).map_err(Problem::internal)?;
    ddl::check(&file).inspect_err(|_| databases::discard(&file))?;
    Ok(file)
}

/// A copy of the database as it was at a time.
async fn earlier(app: &App, slug: &str, folder: &Path, at: Timestamp) -> Result<PathBuf> {
    let replication = app.cluster.replication.as_ref().ok_or_else(replicas::not_replicated)?;
    let (replicas, slug) = (Arc::clone(&replication.projects), slug.to_owned());
    let sought = slug.clone();
    let file = app.db.read(move |tx| replicas::database_at(tx, &sought, at)).await?;
    let target = folder.join(format!("replica-{}", databases::new_name()));
    run_blocking(move || {
        replicas.restore_database(&slug, &file, at, &target)?;
        Ok(target)
    })
    .await
}

async fn problems(context: Context) -> Result<Answer> {
    let desired: DatabaseWish = context.body_as()?;
    let project = project(&context).await?;
    let file = databases::file_of(
        &super::project_location(&context.app, &project.slug).folder,
        Some(&project),
    );
    let found = run_blocking(move || match &desired.schema {
        SchemaWish::Push { ddl, .. } => {
            ddl::problems(&file, &Schema::of(ddl)?, &desired.schema.renames()?)
        }
        SchemaWish::Migrate { .. } => Ok(Vec::new()),
    });
    Ok(Answer::of(&found.await?))
}
