//! Hosted projects: deployed versions, deploys and rollbacks.

mod artifacts;
pub mod bucket;
mod database;
mod kv;
mod logs;
mod uploads;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::StatusCode;
use lyceum_access as access;
use lyceum_access::Scope::{GamesWrite, ProjectsRead, ProjectsWrite};
use lyceum_access::{Access, LimitedCallers, RequestSubject, Scopes, TokenHolder};
use lyceum_blob::{Blobs, Digest};
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result};
use lyceum_games::{games, lms};
use lyceum_hosting::deployments::{self, Deployment};
use lyceum_hosting::projects::{self, Project, ProjectLocation};
use lyceum_hosting::{archive, audit, deletion, homes};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, Grant};
use lyceum_http::render::Rendering;
use lyceum_http::route::ParamPlace::Query;
use lyceum_http::route::{HandlerFuture, delete, get, post};
use lyceum_project::{Artifact, Plan, State};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::games::writable;
use crate::learning::Learning;
use crate::shape::whole_number;
use crate::{App, Area, Context, Route, hosted, limits};

pub(super) fn areas() -> [Area; 2] {
    let mut routes = vec![
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
        get("/{slug}/deployments", ProjectsRead, members(versions))
            .named("getDeployments")
            .description("Lists the stored versions, newest first.")
            .answers::<Vec<Deployment>>(200, "The versions."),
        post("/{slug}/deployments", ProjectsWrite, members(deployed))
            .named("deployProject")
            .description("Applies a plan completely or not at all. Upload the files that it names first. It answers 409 if the project changed after the plan was made.")
            .reads::<DeployRequest>()
            .reads_up_to(limits::PLAN_MAX_BYTES)
            .answers::<State>(200, "The state that it led to.")
            .answers::<State>(201, "As 200, for a new project."),
        post("/{slug}/rehearsal", ProjectsWrite, members(rehearse_deploy))
            .named("rehearseDeployment")
            .description("Tests a plan with all steps except serving it. It unpacks the frontend, changes the schema on a copy, starts the backend and sends it a request; then it removes all of this. Upload the files that the plan names first.")
            .reads::<DeployRequest>()
            .reads_up_to(limits::PLAN_MAX_BYTES)
            .answers_empty(204, "The plan can be applied."),
        get("/{slug}/deployments/{version}", ProjectsRead, members(version))
            .named("getDeployment")
            .description("A version.")
            .answers::<Deployment>(200, "The version."),
        database::rollback(),
        get("/{slug}/audit", ProjectsRead, members(changes))
            .named("getProjectAudit")
            .description("Lists the changes of a project, newest first.")
            .param(Query, "before", whole_number(), "Return entries before the entry with this number.")
            .answers::<Vec<audit::ProjectChange>>(200, "A page of changes."),
    ];
    routes.extend(artifacts::routes());
    routes.extend(bucket::routes());
    routes.extend(database::routes());
    routes.extend(kv::routes());
    routes.push(logs::route());
    routes.push(
        delete("/{slug}", ProjectsWrite, members(deleted))
            .named("deleteProject")
            .description("Deletes a project: its versions, secrets, database, KV and bucket. The game, its players' results, the members and the audit log stay.")
            .answers_empty(204, "The project is deleted.")
            .ends_project(),
    );
    // Projects belong to their members. Callers who are limited to organizations reach those that they are members of.
    let routes = routes.into_iter().map(Route::of_no_organization).collect();
    let projects = Area {
        name: "projects",
        base: "/api/projects",
        rendering: Rendering::Problem,
        description: "Hosted projects: deploying, versions and rollback.",
        routes,
    };
    [projects, uploads::area()]
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

async fn state(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let location = project_location(&context.app, &slug);
    let master = context.app.gate.keyring().master().clone();
    let read = move |tx: &mut Tx<'_>| projects::state(tx, &master, &slug, &location);
    Ok(Answer::of(&context.app.db.read(read).await?))
}

async fn versions(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    Ok(Answer::of(&context.app.db.read(move |tx| deployments::list(tx, &slug)).await?))
}

async fn version(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let version = context.param("version").parse();
    let version = version.map_err(|_| Problem::invalid("version", "must be a whole number"))?;
    Ok(Answer::of(&context.app.db.read(move |tx| deployments::find(tx, &slug, version)).await?))
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

/// A plan to apply, with the values of its secrets.
#[derive(Deserialize, JsonSchema)]
struct DeployRequest {
    /// The plan.
    plan: Plan,
    /// The values of new and changed secrets by name.
    #[serde(default)]
    secrets: BTreeMap<String, String>,
}

/// A function that applies a plan in a transaction. It gets the name of the new database file, if there is one.
type ApplyPlan = Box<dyn FnMut(&mut Tx<'_>, Option<&str>) -> Result<State> + Send>;

/// Checks the plan of a request against the current state and its uploaded files, and returns it with the function that
/// applies it.
async fn read_deploy_request(context: &Context) -> Result<(hosted::DeployChange, ApplyPlan)> {
    let DeployRequest { plan, secrets } = context.body_as()?;
    let app = &context.app;
    if plan.slug != context.param("slug") {
        return Err(Problem::invalid("plan.slug", "must be the slug in the path"));
    }
    let (location, now) = (project_location(app, &plan.slug), app.clock.now());
    let (master, who) = (app.gate.keyring().master().clone(), client(context).to_owned());
    let may_write = writable(context.grant.as_ref());
    let check = {
        let (master, location, plan) = (master.clone(), location.clone(), plan.clone());
        move |tx: &mut Tx<'_>| deployments::check(tx, &master, &location, &plan)
    };
    let before = app.db.read(check).await?;
    may_teach(context, &plan)?;
    take_in(app, &plan).await?;
    let learner = app.sandbox.as_ref().and_then(|sandbox| sandbox.demo_user()).map(str::to_owned);
    let grant = grant(context).clone();
    let apply = {
        let (plan, location, secrets) = (plan.clone(), location.clone(), secrets.clone());
        move |tx: &mut Tx<'_>, database: Option<&str>| {
            // Check again, because the project may belong to somebody else by now.
            decide(tx, &grant, &plan.slug)?;
            if let (Some(TokenHolder::Person(maker)), 0) = (grant.holder(), plan.base) {
                access::join(tx, &plan.slug, &maker.id)?;
            }
            let former = match games::lookup(tx, &plan.slug)? {
                Some(game) => lms::lookup(tx, &game)?,
                None => None,
            };
            let applied = deployments::apply(
                tx,
                (&master, now, &who, may_write),
                &location,
                &plan,
                &secrets,
                database,
            )?;
            if plan.lms.is_some()
                && let Some(learner) = &learner
            {
                // In a sandbox, the caller of the setup is the student.
                let game = games::find(tx, &plan.slug)?;
                let integration = lms::find(tx, &game)?;
                lms::enrol(tx, now, learner, former.as_ref(), &integration)?;
            }
            Ok(applied)
        }
    };
    let change = hosted::DeployChange { plan, state: before, place: location, pushed: secrets };
    Ok((change, Box::new(apply)))
}

/// Checks that the caller may set up the plan's courses, because a deploy gives no additional rights. Errors:
/// `Forbidden`.
fn may_teach(context: &Context, plan: &Plan) -> Result<()> {
    let scopes = Scopes::from_iter([GamesWrite]);
    let subject = RequestSubject::Route(LimitedCallers::Refused);
    let decided = auth::decide(context.grant.as_ref(), Access::Any(scopes), subject);
    if plan.lms.is_none() || decided.is_ok() {
        return Ok(());
    }
    let message = format!(
        "You don't have access to the courses of '{}': it needs the scope {scopes}",
        plan.slug
    );
    Err(Problem::new(ProblemKind::Forbidden, message))
}

async fn deployed(context: Context) -> Result<Answer> {
    let (change, apply) = read_deploy_request(&context).await?;
    let is_new = change.plan.base == 0;
    let state = hosted::deploy(&context.app, change, apply).await?;
    Ok(Answer::of(&state).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn rehearse_deploy(context: Context) -> Result<Answer> {
    let (change, apply) = read_deploy_request(&context).await?;
    hosted::rehearse(&context.app, change, apply).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
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

/// Checks that all files of a plan were uploaded, and unpacks its frontend. The result stays, so that repeating the
/// plan is fast.
async fn take_in(app: &App, plan: &Plan) -> Result<()> {
    let (blobs, db, artifacts) = (app.blobs.clone(), app.db.clone(), plan.artifacts());
    let now = app.clock.now();
    let zip = plan.frontend.as_ref().map(|change| change.new.clone());
    run_blocking(move || {
        are_here(&blobs, &artifacts)?;
        let Some(zip) = zip else { return Ok(()) };
        if db.write_blocking(|tx| deployments::is_unpacked(tx, now, &zip.sha256))? {
            return Ok(());
        }
        let manifest = archive::unpack(&blobs, &zip.sha256.parse()?)?;
        db.write_blocking(|tx| deployments::keep_manifest(tx, now, &zip, &manifest))
    })
    .await
}

fn are_here(blobs: &Blobs, artifacts: &[Artifact]) -> Result<()> {
    let mut faults = Vec::new();
    for artifact in artifacts {
        let digest: Digest = artifact.sha256.parse()?;
        let size = blobs.open(&digest)?.map(|blob| blob.size);
        if size != Some(artifact.size) || !blobs.has(&digest)? {
            let message = format!(
                "the file {digest} with {} bytes is not on this server; upload it",
                artifact.size
            );
            faults.push(Detail { path: "plan".to_owned(), message });
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Problem::invalid_all(faults)) }
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

/// The caller.
fn client(context: &Context) -> &str {
    grant(context).client_id()
}
