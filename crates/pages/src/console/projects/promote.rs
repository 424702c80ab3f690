//! Promotes the served version of a project to the production server that the settings name, without building it
//! again. The applied plan is exactly the one that the page showed.
//!
//! The key of the production server is in the settings of this one, which does not know the rights of people there.
//! So anybody who may change the project here may promote it. A plan that loses data needs the command line.

use std::collections::BTreeMap;

use lyceum_access::audit::AuditChange;
use lyceum_api::{App, Context};
use lyceum_blob::Blobs;
use lyceum_console::t;
use lyceum_core::config::Environment;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_deploy::{Credentials, Server, lacking, promoted, summary};
use lyceum_hosting::projects::{self, Project};
use lyceum_hosting::{audit, deployments};
use lyceum_http::answer::Answer;
use lyceum_http::render::on_to;
use lyceum_project::{Action, Plan, State};
use lyceum_store::{Tx, run_blocking};
use serde_json::{Value, json};

use super::{project_location, query, read, view};
use crate::console::{Form, Visitor, show_page};

/// The server to which projects are promoted, and the API key for it; `None` if the settings name no server.
pub(super) fn target(app: &App) -> Option<(&str, &str)> {
    let hosting = &app.config.hosting;
    let is_staging = app.config.server.env == Environment::Staging && app.sandbox.is_none();
    let key = hosting.promote_key.as_ref().filter(|_| is_staging)?;
    Some((hosting.promote_to.as_str(), key.reveal())).filter(|(address, _)| !address.is_empty())
}

/// A planned promotion.
struct PlannedPromotion {
    production: Server,
    state: State,
    plan: Plan,
    version: i64,
    /// Names of secrets that are missing on the production server.
    lacking: Vec<String>,
}

/// Plans the deployment of the version that this server serves.
async fn plan(context: &Context, visitor: &Visitor) -> Result<(String, PlannedPromotion)> {
    let master = context.app.gate.keyring().master().clone();
    let location = project_location(&context.app, context.param("slug"));
    let work = move |tx: &mut Tx<'_>, project: Project| {
        let state = projects::state(tx, &master, &project.slug, &location)?;
        Ok((state, deployments::find(tx, &project.slug, project.version)?))
    };
    let (slug, (from, served)) = read(context, visitor, work).await?;
    let Some((address, key)) = target(&context.app) else {
        let message = "this server has no production server to promote to: set hosting.promote_to and \
                       hosting.promote_key on staging, or run `lyceum deployments promote`";
        return Err(Problem::new(ProblemKind::Conflict, message));
    };
    let (address, key) = (address.to_owned(), key.to_owned());
    let (version, sought) = (served.version, slug.clone());
    let served_json: Value = serde_json::to_value(&served).map_err(Problem::internal)?;
    let planned = run_blocking(move || {
        let production = Server::sign_in(&address, Credentials::Key(key), |_| ())?;
        let state = production.state(&sought)?;
        if state.environment != Environment::Production.name() {
            let message = message!(
                "{address} is a '{state.environment}' server, not a 'production' server; fix the setting \
                 hosting.promote_to"
            );
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
        let plan = lyceum_project::plan(&state, &promoted(&served_json, &from, &state)?)?;
        let lacking = lacking(&from, &state);
        Ok(PlannedPromotion { production, state, plan, version, lacking })
    });
    Ok((slug, planned.await?))
}

fn losses(plan: &Plan) -> &[String] {
    plan.database.as_ref().map_or(&[], |change| &change.losses)
}

pub(super) async fn show_plan(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, PlannedPromotion { production, state, plan, version, lacking }) =
        plan(&context, &visitor).await?;
    let changes = match plan.action {
        Action::Nothing => String::new(),
        Action::Create => format!("{}\n{}", t!("New project"), summary::changes(&plan)),
        Action::Update => summary::changes(&plan),
    };
    let changes = match changes.is_empty() || lacking.is_empty() {
        true => changes,
        false => {
            format!(
                "{changes}{}\n  {}\n",
                t!("Secrets that are missing on production"),
                lacking.join(", ")
            )
        }
    };
    let is_done = query(&context).parameter("done") == "yes" && changes.is_empty();
    show_page(&view::PromotePage {
        frame: visitor.frame(t!("Promote version {n}", n = version)),
        version,
        to: production.base().to_owned(),
        changes,
        losses: losses(&plan).to_vec(),
        base: plan.base,
        done: is_done.then_some(state.frontend_url),
        slug,
    })
}

pub(super) async fn promote(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (slug, planned) = plan(&context, &visitor).await?;
    let is_shown = |name: &str, number: i64| form.field(name) == number.to_string();
    if !is_shown("base", planned.plan.base) || !is_shown("version", planned.version) {
        let message = "this project was changed on one of the servers since the plan was shown; reload the page";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if !losses(&planned.plan).is_empty() {
        let message = message!(
            "the production database would lose data; to accept that, run \
             `lyceum deployments promote {slug} --accept-data-loss`"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let back = on_to(&format!("/console/projects/{slug}/promote?done=yes"));
    // The task completes and is recorded even if the browser disconnects.
    let (app, who) = (App::clone(&context.app), visitor.person.email.clone());
    let promoted = tokio::spawn(async move {
        let (blobs, version) = (app.blobs.clone(), planned.version);
        let to = planned.production.base().to_owned();
        let applied = run_blocking(move || apply(&planned, &blobs)).await?;
        let now = app.clock.now();
        let details = json!({ "version": version, "to": to, "as": applied.version });
        let noted = app.db.write(move |tx| {
            audit::note(tx, now, (&slug, &who), "promote", &details)?;
            AuditChange { who: &who, what: "project.promote", subject: &slug }
                .note(tx, now, &details)
        });
        noted.await
    });
    promoted.await.map_err(Problem::internal)??;
    Ok(back)
}

/// Uploads the files that the production server does not have, and applies the plan there. Blocks.
fn apply(
    PlannedPromotion { production, plan, .. }: &PlannedPromotion,
    blobs: &Blobs,
) -> Result<State> {
    for artifact in plan.artifacts() {
        if production.has(&artifact)? {
            continue;
        }
        let Some(blob) = blobs.open(&artifact.sha256.parse()?)? else {
            let message = message!(
                "the file {artifact.sha256} of this version no longer exists; deploy again"
            );
            return Err(Problem::new(ProblemKind::Conflict, message));
        };
        production.upload(&artifact, blob.file, |_| ())?;
    }
    production.apply(plan, &BTreeMap::new())
}
