//! Hosted projects: their state, changes, addresses, deletion, and the callers with access to them.

mod artifacts;
pub mod bucket;
mod database;
mod deploys;
mod kv;
mod logs;
mod uploads;

use std::sync::Arc;

use http::StatusCode;
use lyceum_access as access;
use lyceum_access::Scope::{ProjectsRead, ProjectsWrite};
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Result};
use lyceum_games::games;
use lyceum_hosting::deployments::{self, Deployment};
use lyceum_hosting::projects::{self, Project, ProjectLocation};
use lyceum_hosting::{audit, deletion, homes};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::render::Rendering;
use lyceum_http::route::ParamPlace::Query;
use lyceum_http::route::{HandlerFuture, delete, get};
use lyceum_project::State;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::learning::Learning;
use crate::shape::whole_number;
use crate::{App, Area, Context, Route, hosted};

pub(super) fn areas() -> [Area; 2] {
    let routes = [
        project_routes(),
        deploys::routes(),
        vec![audit_route()],
        artifacts::routes(),
        bucket::routes(),
        database::routes(),
        kv::routes(),
        vec![logs::route(), deletion_route()],
    ];
    let projects = Area {
        name: "projects",
        base: "/api/projects",
        rendering: Rendering::Problem,
        description: "Hosted projects: deploying, versions and rollback.",
        // Projects belong to their members: callers who are limited to organizations reach those that they belong to.
        routes: routes.into_iter().flatten().map(Route::of_no_organization).collect(),
    };
    [projects, uploads::area()]
}

fn project_routes() -> Vec<Route> {
    vec![
        get("", ProjectsRead, list_projects)
            .named("getProjects")
            .description("Lists the deployed projects by slug.")
            .answers::<Vec<Project>>(200, "The projects."),
        get("/{slug}", ProjectsRead, members(read_project))
            .named("getProject")
            .description("A project with its served version and its addresses.")
            .answers::<ServedProject>(200, "The project."),
        get("/{slug}/state", ProjectsWrite, members(state))
            .named("getProjectState")
            .description("Reads the project state from which a deploy is planned. A project that is not deployed yet has revision 0. Secrets are listed by name with a digest.")
            .answers::<State>(200, "The state."),
    ]
}

async fn list_projects(context: Context) -> Result<Answer> {
    let grant = grant(&context).clone();
    let own = context.app.db.read(move |tx| {
        let mut own = Vec::new();
        for project in projects::list(tx)? {
            match grant.decide_project(tx, &project.slug) {
                Ok(()) => own.push(project),
                Err(problem) if problem.kind == ProblemKind::Forbidden => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(own)
    });
    Ok(Answer::of(&own.await?))
}

/// A project with its served version and its addresses.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServedProject {
    /// Its name in addresses.
    slug: String,
    /// A number that increases with every change.
    revision: i64,
    /// The version that is served.
    version: i64,
    /// The server's environment.
    #[schemars(extend("enum" = ["local", "staging", "production"]))]
    environment: &'static str,
    /// The address of the frontend.
    frontend_url: String,
    /// The address of the backend.
    backend_url: String,
    /// The address of the game.
    play_url: String,
    /// The version that is served.
    deployment: Option<Deployment>,
    /// When it was first deployed.
    created_at: Timestamp,
    /// When it was changed.
    updated_at: Timestamp,
}

async fn state(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let location = project_location(&context.app, &slug);
    let master = context.app.gate.keyring().master().clone();
    let read = move |tx: &mut Tx<'_>| projects::state(tx, &master, &slug, &location);
    Ok(Answer::of(&context.app.db.read(read).await?))
}

async fn read_project(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let read =
        move |tx: &mut Tx<'_>| Ok((projects::find(tx, &slug)?, deployments::active(tx, &slug)?));
    let (project, active): (Project, Option<Deployment>) = context.app.db.read(read).await?;
    let location = project_location(&context.app, &project.slug);
    Ok(Answer::of(&ServedProject {
        slug: project.slug,
        revision: project.revision,
        version: project.version,
        environment: location.environment,
        frontend_url: location.frontend_url,
        backend_url: location.backend_url,
        play_url: location.play_url,
        deployment: active,
        created_at: project.created_at,
        updated_at: project.updated_at,
    }))
}

fn audit_route() -> Route {
    get("/{slug}/audit", ProjectsRead, members(changes))
        .named("getProjectAudit")
        .description("Lists the changes of a project, newest first.")
        .param(Query, "before", whole_number(), "Return entries before the entry with this number.")
        .answers::<Vec<audit::ProjectChange>>(200, "A page of changes.")
}

async fn changes(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let before = context.parsed_query_value("before", "must be a whole number")?;
    let read = move |tx: &mut Tx<'_>| {
        projects::find(tx, &slug)?;
        audit::list(tx, &slug, before)
    };
    Ok(Answer::of(&context.app.db.read(read).await?))
}

fn deletion_route() -> Route {
    delete("/{slug}", ProjectsWrite, members(deleted))
        .named("deleteProject")
        .description("Deletes a project: its versions, secrets, database, KV and bucket. The game, its players' results, the members and the audit log stay.")
        .answers_empty(204, "The project is deleted.")
        .ends_project()
}

async fn deleted(context: Context) -> Result<Answer> {
    let (slug, who) = (context.param("slug").to_owned(), client(&context).to_owned());
    let (grant, now) = (grant(&context).clone(), context.app.clock.now());
    let sought = slug.clone();
    context.app.db.read(move |tx| projects::find(tx, &sought)).await?;
    let project = slug.clone();
    let delete = move |tx: &mut Tx<'_>| {
        // Check again, because the project may belong to somebody else by now.
        decide(tx, &grant, &project)?;
        deletion::delete(tx, now, &who, &project)
    };
    hosted::delete(&context.app, slug, delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// Wraps a handler so that only callers with access to the project in the path reach it. A project that does not exist
/// has no owner.
fn members<F>(
    handler: impl Fn(Context) -> F + Copy + Send + Sync + 'static,
) -> impl Fn(Context) -> HandlerFuture + Send + Sync + 'static
where
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    move |context| {
        Box::pin(async move {
            admit(&context).await?;
            handler(context).await
        })
    }
}

/// Checks that the caller has access to the project in the path, and that this node has its files.
async fn admit(context: &Context) -> Result<()> {
    let (grant, node) = (grant(context).clone(), Arc::clone(&context.app.cluster.node));
    let slug = context.param("slug").to_owned();
    let admit = move |tx: &mut Tx<'_>| {
        decide(tx, &grant, &slug)?;
        homes::admit(tx, &node, &slug)
    };
    context.app.db.read(admit).await
}

/// Refuses callers without access to the project with this slug. A slug is taken if a game or a member has it, even
/// before a deploy. A free slug goes to the caller who creates its project.
///
/// Errors: `Forbidden`.
pub fn decide(tx: &mut Tx<'_>, grant: &Grant, slug: &str) -> Result<()> {
    let is_taken = projects::exists(tx, slug)?
        || access::has_members(tx, slug)?
        || !games::of_slugs(tx, &[slug.to_owned()])?.is_empty();
    match is_taken {
        true => grant.decide_project(tx, slug),
        false => grant.decide_new_project(slug),
    }
}

fn grant(context: &Context) -> &Grant {
    context.grant.as_ref().expect("no route here is public")
}

/// The caller.
fn client(context: &Context) -> &str {
    grant(context).client_id()
}

/// The addresses at which a project is served.
pub fn project_location(app: &App, slug: &str) -> ProjectLocation {
    let (environment, label) = match app.sandbox {
        Some(_) => ("local", slug.to_owned()),
        None => match app.config.server.env.name() {
            "staging" => ("staging", format!("{slug}-staging")),
            other => (other, slug.to_owned()),
        },
    };
    let (scheme, host) = app.base_url.split_once("://").unwrap_or(("http", &app.base_url));
    let port =
        host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.parse::<u16>().is_ok());
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let frontend_url = format!("{scheme}://{label}.{}{port}", app.config.hosting.domain);
    let (folder, backend_url) = (hosted::folder(app, slug), format!("{frontend_url}/api"));
    let play_url = format!("{}/play/{slug}", app.base_url);
    let teaches = matches!(app.learning, None | Some(Learning::Here));
    let node = Arc::clone(&app.cluster.node);
    ProjectLocation { environment, backend_url, frontend_url, play_url, node, folder, teaches }
}
