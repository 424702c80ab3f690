//! School hours of organizations.

use http::StatusCode;
use lyceum_access::Scope::{BridgeRead, BridgeWrite};
use lyceum_access::audit::AuditChange;
use lyceum_bridge::school_hours::{self, SchoolHours, SchoolHoursInForce};
use lyceum_bridge::today::Moment;
use lyceum_core::{Problem, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::{delete, get, put};
use lyceum_store::Tx;
use serde_json::Value;

use super::Data;
use crate::{App, Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/school-hours/{orgId}", BridgeRead, of_org)
            .within_reach()
            .named("getSchoolHours")
            .description("Reads when an organization has school. Without hours of its own, it has those of the nearest organization above it.")
            .answers::<Data<SchoolHoursInForce>>(200, "The hours, and the organization that sets them."),
        put("/school-hours/{orgId}", BridgeWrite, replace)
            .within_reach()
            .named("putSchoolHours")
            .description("Sets when an organization has school, and those below it that set no hours of their own.")
            .reads::<SchoolHours>()
            .answers::<Data<SchoolHoursInForce>>(200, "The hours."),
        delete("/school-hours/{orgId}", BridgeWrite, remove)
            .within_reach()
            .named("deleteSchoolHours")
            .description("Removes the hours that an organization sets, so that those of the nearest organization above it apply.")
            .answers_empty(204, "They were removed."),
    ]
}

/// The hours of organizations that set none.
pub fn usual(app: &App) -> SchoolHours {
    SchoolHours::usual(&app.config.server.time_zone)
}

/// The current moment.
pub fn moment(context: &Context) -> Moment {
    Moment { now: context.app.clock.now(), usual_hours: usual(&context.app) }
}

async fn read(context: &Context) -> Result<Answer> {
    let (org, reach, usual) =
        (context.param("orgId").to_owned(), context.reach(), usual(&context.app));
    let read = move |tx: &mut Tx<'_>| school_hours::of_org(tx, &usual, &org, &reach);
    Ok(Answer::of(&Data { data: context.app.db.read(read).await? }))
}

async fn of_org(context: Context) -> Result<Answer> {
    read(&context).await
}

async fn replace(context: Context) -> Result<Answer> {
    let hours = context.body_as::<SchoolHours>()?;
    change(&context, context.param("orgId"), Some(hours)).await?;
    read(&context).await
}

async fn remove(context: Context) -> Result<Answer> {
    change(&context, context.param("orgId"), None).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// Sets or removes the hours of an organization, and records it in the audit log.
pub async fn change(context: &Context, org: &str, hours: Option<SchoolHours>) -> Result<()> {
    let grant = context.grant.as_ref().expect("the route is not public");
    let (who, org, now) = (grant.name().to_owned(), org.to_owned(), context.app.clock.now());
    let reach: Reach = context.reach();
    let change = move |tx: &mut Tx<'_>| {
        let (what, details) = match &hours {
            Some(hours) => {
                school_hours::set(tx, &org, hours, &reach)?;
                ("school_hours.set", serde_json::to_value(hours).map_err(Problem::internal)?)
            }
            None => {
                school_hours::remove(tx, &org, &reach)?;
                ("school_hours.remove", Value::Null)
            }
        };
        AuditChange { who: &who, what, subject: &org }.note(tx, now, &details)
    };
    context.app.db.write(change).await
}
