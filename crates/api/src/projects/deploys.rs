//! Versions of hosted projects: deploying a plan, testing one, and reading what was deployed.
//!
//! The way of a deploy:
//!
//! 1. `lyceum deploy` reads the folder and the state of the project here, and `lyceum_project::plan` compares them.
//! 2. It uploads the files that are missing. An upload's id names the node that takes it; the file reaches other nodes
//!    through the S3 bucket.
//! 3. The request with the plan is forwarded to the node that holds the project. The node that takes the first deploy of a
//!    project becomes its home (`lyceum_hosting::homes`).
//! 4. The plan is made again here, from the state that is stored now, and must be the same.
//! 5. [`change`](crate::hosted::change) changes a copy of the database and starts the version with it. It then holds calls
//!    back, makes the copy again, and one transaction serves both.
//! 6. `leases` of `lyceum_cluster` replicates the files from then on. After the lease of the node has ended, the first
//!    request for the project at another node lets `takeovers` restore them there.

use std::collections::BTreeMap;

use http::StatusCode;
use lyceum_access as access;
use lyceum_access::Scope::{GamesWrite, ProjectsRead, ProjectsWrite};
use lyceum_access::{Access, LimitedCallers, RequestSubject, Scopes, TokenHolder};
use lyceum_blob::{Blobs, Digest};
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_games::{games, lms};
use lyceum_hosting::archive;
use lyceum_hosting::deployments::{self, Deployment};
use lyceum_http::answer::Answer;
use lyceum_http::auth;
use lyceum_http::route::{get, post};
use lyceum_project::{Artifact, Plan, State};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{client, database, decide, grant, members, project_location};
use crate::games::writable;
use crate::{App, Context, Route, hosted, limits};

pub(super) fn routes() -> Vec<Route> {
    vec![
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
    ]
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

async fn versions(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    Ok(Answer::of(&context.app.db.read(move |tx| deployments::list(tx, &slug)).await?))
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

async fn version(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let version = context.param("version").parse();
    let version = version.map_err(|_| Problem::invalid("version", "must be a whole number"))?;
    Ok(Answer::of(&context.app.db.read(move |tx| deployments::find(tx, &slug, version)).await?))
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
    let message = message!(
        "You don't have access to the courses of '{plan.slug}': it needs the scope {scopes}"
    );
    Err(Problem::new(ProblemKind::Forbidden, message))
}

/// Checks that all files of a plan were uploaded, and unpacks its frontend. The result stays, so that repeating the
/// plan is fast.
async fn take_in(app: &App, plan: &Plan) -> Result<()> {
    let (blobs, artifacts) = (app.blobs.clone(), plan.artifacts());
    run_blocking(move || are_here(&blobs, &artifacts)).await?;
    let Some(zip) = plan.frontend.as_ref().map(|change| change.new.clone()) else { return Ok(()) };
    let (now, sha256) = (app.clock.now(), zip.sha256.clone());
    if app.db.write(move |tx| deployments::is_unpacked(tx, now, &sha256)).await? {
        return Ok(());
    }
    let (blobs, digest) = (app.blobs.clone(), zip.sha256.parse()?);
    let manifest = run_blocking(move || archive::unpack(&blobs, &digest)).await?;
    app.db.write(move |tx| deployments::keep_manifest(tx, now, &zip, &manifest)).await
}

fn are_here(blobs: &Blobs, artifacts: &[Artifact]) -> Result<()> {
    let mut faults = Vec::new();
    for artifact in artifacts {
        let digest: Digest = artifact.sha256.parse()?;
        let size = blobs.open(&digest)?.map(|blob| blob.size);
        if size != Some(artifact.size) || !blobs.has(&digest)? {
            let message = message!(
                "the file {digest} with {artifact.size} bytes is not on this server; upload it"
            );
            faults.push(Detail { path: "plan".to_owned(), message });
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Problem::invalid_all(faults)) }
}
