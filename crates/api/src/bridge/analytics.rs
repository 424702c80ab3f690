//! Reports on the work of students by day, subject and app.

use std::borrow::Cow;
use std::time::Duration;

use lyceum_access::Scope;
use lyceum_bridge::analytics::{self, HighestGrades, Report, StudentName, WeeklyFact};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::{self, ParamPlace};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    let days = "A day counts from its first to its last millisecond in the zone.";
    vec![
        ranged(route::get("/analytics/enrollment/{enrollmentId}", Scope::BridgeRead, enrollment))
            .within_reach()
            .named("getEnrollmentAnalytics")
            .description(format!("Adds up what the student did in an enrollment. {days}"))
            .answers::<EnrollmentReport<'_>>(
                200,
                "The sums. The start or end is null if it was not sent.",
            ),
        student(ranged(route::get("/analytics/activity", Scope::BridgeRead, activity)))
            .within_reach()
            .named("getActivity")
            .description(format!("Adds up what a student did. {days}"))
            .answers::<ActivityReport<'_>>(200, "The sums."),
        student(zoned(route::get("/analytics/facts/weekly", Scope::BridgeRead, weekly)))
            .within_reach()
            .named("getWeeklyFacts")
            .description(
                "Lists the facts of a student's week, Monday to Sunday, one entry per event.",
            )
            .param(
                ParamPlace::Query,
                "weekDate",
                text(),
                "A day or an instant of the week; required.",
            )
            .answers::<WeeklyFacts>(200, "The facts, earliest first."),
        route::get(
            "/analytics/highestGradeMastered/{studentId}/{subject}",
            Scope::BridgeRead,
            highest_grade_mastered,
        )
        .within_reach()
        .named("getHighestGradeMastered")
        .description("Reads the highest grade that a student mastered in a subject, by source.")
        .answers::<HighestGrades>(200, "The grades by source. Sources without data are left out."),
    ]
}

async fn enrollment(context: Context) -> Result<Answer> {
    let AnalyticsQuery { zone, range, start, end } = AnalyticsQuery::read(&context)?;
    let enrollment_id = context.param("enrollmentId").to_owned();
    let (id, reach) = (enrollment_id.clone(), context.reach());
    let report =
        read(&context, range, move |tx| analytics::enrollment(tx, &id, range, &zone, &reach))
            .await?;
    Ok(Answer::of(&EnrollmentReport {
        enrollment_id,
        start_date: start,
        end_date: end,
        message: RETRIEVED,
        report: &report,
    }))
}

async fn activity(context: Context) -> Result<Answer> {
    let AnalyticsQuery { zone, range, start, end } = AnalyticsQuery::read(&context)?;
    let required = |name: &str, bound: Option<String>| {
        bound.ok_or_else(|| Problem::invalid(name, "is required: a date or a date and time"))
    };
    let (start_date, end_date) = (required("startDate", start)?, required("endDate", end)?);
    let (whom, reach) = (RequestedStudent::read(&context)?, context.reach());
    let report =
        read(&context, range, move |tx| analytics::activity(tx, whom.who(), range, &zone, &reach))
            .await?;
    Ok(Answer::of(&ActivityReport { start_date, end_date, message: RETRIEVED, report: &report }))
}

async fn weekly(context: Context) -> Result<Answer> {
    let zone = zone(&context)?;
    let date = parameter(&context, "weekDate");
    let date =
        date.ok_or_else(|| Problem::invalid("weekDate", "is required: a date in the week"))?;
    let week = InstantRange::week(&zone, &date)?;
    let (whom, reach) = (RequestedStudent::read(&context)?, context.reach());
    let work = move |tx: &mut Tx<'_>| analytics::weekly_facts(tx, whom.who(), week, &zone, &reach);
    let facts = context.app.db.scan(deadline(), work).await?;
    Ok(Answer::of(&WeeklyFacts { facts }))
}

async fn highest_grade_mastered(context: Context) -> Result<Answer> {
    let [student, subject] = ["studentId", "subject"].map(|name| context.param(name).to_owned());
    let reach = context.reach();
    let work =
        move |tx: &mut Tx<'_>| analytics::highest_grade_mastered(tx, &student, &subject, &reach);
    Ok(Answer::of(&context.app.db.read(work).await?))
}

/// The requested range: the bounds as they were sent, and the instants.
struct AnalyticsQuery {
    zone: Zone,
    range: InstantRange,
    start: Option<String>,
    end: Option<String>,
}

impl AnalyticsQuery {
    fn read(context: &Context) -> Result<Self> {
        let zone = zone(context)?;
        let [start, end] = ["startDate", "endDate"].map(|name| parameter(context, name));
        let range = InstantRange::inclusive(&zone, start.as_deref(), end.as_deref())?;
        Ok(Self { zone, range, start: start.map(Cow::into_owned), end: end.map(Cow::into_owned) })
    }
}

/// The requested student, by sourcedId, e-mail address or both, which must agree.
#[derive(Clone)]
struct RequestedStudent {
    id: Option<String>,
    email: Option<String>,
}

impl RequestedStudent {
    fn read(context: &Context) -> Result<Self> {
        let [id, email] =
            ["studentId", "email"].map(|name| parameter(context, name).map(Cow::into_owned));
        match (&id, &email) {
            (None, None) => Err(Problem::invalid("studentId", "is required, unless email is sent")),
            _ => Ok(Self { id, email }),
        }
    }

    fn who(&self) -> StudentName<'_> {
        match (&self.id, &self.email) {
            (Some(id), Some(email)) => StudentName::Both { id, email },
            (Some(id), None) => StudentName::Id(id),
            (None, email) => StudentName::Email(email.as_deref().unwrap_or_default()),
        }
    }
}

/// A query parameter; `None` if it is missing or empty.
fn parameter<'a>(context: &'a Context, name: &str) -> Option<Cow<'a, str>> {
    let mut pairs = context.query();
    pairs.find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value)
}

fn zone(context: &Context) -> Result<Zone> {
    parameter(context, "timezone").map_or(Ok(Zone::UTC), |name| Zone::from_name(&name))
}

fn deadline() -> Duration {
    Duration::from_millis(limits::SCAN_MAX_MS)
}

/// Reads a short range directly, and a long one on a thread for long reads, perhaps from the read replica.
async fn read(
    context: &Context,
    range: InstantRange,
    work: impl FnMut(&mut Tx<'_>) -> Result<Report> + Send + 'static,
) -> Result<Report> {
    if range.is_short() {
        context.app.db.read(work).await
    } else {
        context.app.db.scan(context.report_limits(deadline()), work).await
    }
}

const RETRIEVED: &str = "Successfully retrieved the facts";

/// A report of a student's work in an enrollment.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EnrollmentReport<'a> {
    enrollment_id: String,
    start_date: Option<String>,
    end_date: Option<String>,
    message: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

/// A report of a student's work.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityReport<'a> {
    start_date: String,
    end_date: String,
    message: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct WeeklyFacts {
    facts: Vec<WeeklyFact>,
}

fn ranged(route: Route) -> Route {
    zoned(route)
        .param(ParamPlace::Query, "startDate", text(), "The first day, or the first instant.")
        .param(ParamPlace::Query, "endDate", text(), "The last day, or the last millisecond.")
}

fn zoned(route: Route) -> Route {
    let description = "The time zone of the days, such as America/New_York; by default UTC.";
    route.param(ParamPlace::Query, "timezone", text(), description)
}

fn student(route: Route) -> Route {
    route.param(ParamPlace::Query, "studentId", text(), "The student's sourcedId.").param(
        ParamPlace::Query,
        "email",
        text(),
        "The student's e-mail address; beside studentId it must be that student's.",
    )
}

fn text() -> Value {
    json!({ "type": "string" })
}
