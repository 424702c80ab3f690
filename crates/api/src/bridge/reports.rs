//! Reports on a student, and the applications in which students work.

use std::time::Duration;

use lyceum_access::Scope::BridgeRead;
use lyceum_access::client;
use lyceum_bridge::applications::{self, Application, ApplicationMetrics};
use lyceum_bridge::reports::{self, MapProfile, TimeSaved};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::route::get;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::Data;
use crate::{Context, Route, limits};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Applications {
    applications: Vec<Application>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/learning-reports/map-profile/{userId}", BridgeRead, map_profile)
            .within_reach()
            .named("getMapProfile")
            .description("Reads a student's MAP tests from assessment results whose metadata name this source.")
            .answers::<Data<MapProfile>>(200, "The latest, and all of them."),
        get("/time-saved/user/{userId}", BridgeRead, time_saved)
            .within_reach()
            .named("getTimeSaved")
            .description("Computes the time that a student saved in this school year: the earned XP as minutes minus the active minutes.")
            .answers::<Data<TimeSaved>>(200, "The time with its computation."),
        get("/applications", BridgeRead, applications)
            .within_reach()
            .named("getApplications")
            .description("Lists the applications that events name and the registered clients.")
            .answers::<Applications>(200, "The applications."),
        get("/applicationMetrics/{applicationSourcedId}", BridgeRead, application_metrics)
            .within_reach()
            .named("getApplicationMetrics")
            .description("Reads the number of students who use an application.")
            .answers::<Data<ApplicationMetrics>>(200, "The values."),
    ]
}

async fn map_profile(context: Context) -> Result<Answer> {
    let (user, reach) = (context.param("userId").to_owned(), context.reach());
    let profile = context.app.db.read(move |tx| reports::map_profile(tx, &user, &reach)).await?;
    Ok(Answer::of(&Data { data: profile }))
}

async fn time_saved(context: Context) -> Result<Answer> {
    let (user, now) = (context.param("userId").to_owned(), context.app.clock.now());
    let reach = context.reach();
    let saved = context.app.db.read(move |tx| reports::time_saved(tx, now, &user, &reach)).await?;
    Ok(Answer::of(&Data { data: saved }))
}

async fn applications(context: Context) -> Result<Answer> {
    let reach = context.reach();
    let is_limited = reach.is_limited();
    let work = move |tx: &mut Tx<'_>| {
        let registered = registered(tx)?;
        applications::all(tx, registered, &reach)
    };
    let applications = match is_limited {
        true => context.app.db.scan(deadline(), work).await?,
        false => context.app.db.read(work).await?,
    };
    Ok(Answer::of(&Applications { applications }))
}

async fn application_metrics(context: Context) -> Result<Answer> {
    let id = context.param("applicationSourcedId").to_owned();
    let (now, reach) = (context.app.clock.now(), context.reach());
    let work = move |tx: &mut Tx<'_>| {
        let registered = registered(tx)?;
        applications::metrics(tx, now, &id, registered, &reach)
    };
    let metrics = context.app.db.scan(context.report_limits(deadline()), work).await?;
    Ok(Answer::of(&Data { data: metrics }))
}

fn deadline() -> Duration {
    Duration::from_millis(limits::APPLICATION_METRICS_MAX_MS)
}

/// The registered clients as applications, without revoked ones.
fn registered(tx: &mut Tx<'_>) -> Result<Vec<Application>> {
    let clients = client::list(tx)?.into_iter().filter(|client| client.revoked.is_none());
    let host = |origin: &String| {
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        host.to_owned()
    };
    let applications = clients.map(|client| Application {
        domain: client.origins.iter().map(host).collect(),
        sourced_id: client.id,
        name: client.name,
    });
    Ok(applications.collect())
}
