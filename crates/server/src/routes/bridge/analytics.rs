//! What students did, added up by day, subject and app.

use std::borrow::Cow;
use std::time::Duration;

use lyceum_access::Scope;
use lyceum_bridge::analytics::{self, Report, Who};
use lyceum_bridge::zone::{Range, Zone};
use lyceum_core::{Problem, Result, limits};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::route::{self, Place, Route};

pub(super) fn routes() -> Vec<Route> {
    let days = "A day counts from its first to its last millisecond in the zone.";
    vec![
        ranged(route::get("/analytics/enrollment/{enrollmentId}", Scope::BridgeRead, enrollment))
            .named("getEnrollmentAnalytics")
            .says(format!("Adds up what the student did in an enrollment. {days}"))
            .answers(200, "The sums; a bound that was not sent is null.", report_schema(true)),
        student(ranged(route::get("/analytics/activity", Scope::BridgeRead, activity)))
            .named("getActivity")
            .says(format!("Adds up what a student did. {days}"))
            .answers(200, "The sums.", report_schema(false)),
        student(zoned(route::get("/analytics/facts/weekly", Scope::BridgeRead, weekly)))
            .named("getWeeklyFacts")
            .says("Lists what a student did in the week, Monday to Sunday, event by event.")
            .param(Place::Query, "weekDate", text(), "A day or an instant of the week; required.")
            .answers(200, "The facts, in the order of time.", weekly_schema()),
        route::get(
            "/analytics/highestGradeMastered/{studentId}/{subject}",
            Scope::BridgeRead,
            highest_grade_mastered,
        )
        .named("getHighestGradeMastered")
        .says("Names the highest grade mastered in a subject, by where that is known from.")
        .answers(
            200,
            "The grades; those that nothing is known of are left out.",
            grades_schema(),
        ),
    ]
}

async fn enrollment(context: Context) -> Result<Answer> {
    let Asked { zone, range, start, end } = Asked::read(&context)?;
    let id = context.param("enrollmentId").to_owned();
    let asked = id.clone();
    let report =
        read(&context, range, move |tx| analytics::enrollment(tx, &asked, range, &zone)).await?;
    Ok(answer(&report, json!({ "enrollmentId": id, "startDate": start, "endDate": end })))
}

async fn activity(context: Context) -> Result<Answer> {
    let Asked { zone, range, start, end } = Asked::read(&context)?;
    for (name, bound) in [("startDate", &start), ("endDate", &end)] {
        if bound.is_none() {
            return Err(Problem::invalid(name, "is required, a day or an instant"));
        }
    }
    let whom = Whom::read(&context)?;
    let report =
        read(&context, range, move |tx| analytics::activity(tx, whom.who(), range, &zone)).await?;
    Ok(answer(&report, json!({ "startDate": start, "endDate": end })))
}

async fn weekly(context: Context) -> Result<Answer> {
    let zone = zone(&context)?;
    let date = parameter(&context, "weekDate");
    let date =
        date.ok_or_else(|| Problem::invalid("weekDate", "is required, a day of the week"))?;
    let week = Range::week(&zone, &date)?;
    let whom = Whom::read(&context)?;
    let work = move |tx: &mut Tx<'_>| analytics::weekly_facts(tx, whom.who(), week, &zone);
    let facts = context.app.db.scan(deadline(), work).await?;
    Ok(Answer::of(&json!({ "facts": facts })))
}

async fn highest_grade_mastered(context: Context) -> Result<Answer> {
    let [student, subject] = ["studentId", "subject"].map(|name| context.param(name).to_owned());
    let work = move |tx: &mut Tx<'_>| analytics::highest_grade_mastered(tx, &student, &subject);
    Ok(Answer::of(&context.app.db.read(work).await?))
}

/// What is asked for: bounds as sent and as meant.
struct Asked {
    zone: Zone,
    range: Range,
    start: Option<String>,
    end: Option<String>,
}

impl Asked {
    fn read(context: &Context) -> Result<Self> {
        let zone = zone(context)?;
        let [start, end] = ["startDate", "endDate"].map(|name| parameter(context, name));
        let range = Range::inclusive(&zone, start.as_deref(), end.as_deref())?;
        Ok(Self { zone, range, start: start.map(Cow::into_owned), end: end.map(Cow::into_owned) })
    }
}

/// The student who is asked for, by one name or by two that must agree.
struct Whom {
    id: Option<String>,
    email: Option<String>,
}

impl Whom {
    fn read(context: &Context) -> Result<Self> {
        let [id, email] =
            ["studentId", "email"].map(|name| parameter(context, name).map(Cow::into_owned));
        match (&id, &email) {
            (None, None) => {
                Err(Problem::invalid("studentId", "is required; email can be sent in its place"))
            }
            _ => Ok(Self { id, email }),
        }
    }

    fn who(&self) -> Who<'_> {
        match (&self.id, &self.email) {
            (Some(id), Some(email)) => Who::Both { id, email },
            (Some(id), None) => Who::Id(id),
            (None, email) => Who::Email(email.as_deref().unwrap_or_default()),
        }
    }
}

/// A parameter of the query; one without a value is none.
fn parameter<'a>(context: &'a Context, name: &str) -> Option<Cow<'a, str>> {
    let mut pairs = context.query();
    pairs.find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value)
}

fn zone(context: &Context) -> Result<Zone> {
    parameter(context, "timezone").map_or(Ok(Zone::UTC), |name| Zone::named(&name))
}

fn deadline() -> Duration {
    Duration::from_millis(limits::SCAN_MAX_MS)
}

/// Reads at once what is short, and else on a thread for long reads.
async fn read(
    context: &Context,
    range: Range,
    work: impl FnMut(&mut Tx<'_>) -> Result<Report> + Send + 'static,
) -> Result<Report> {
    if range.is_short() {
        context.app.db.read(work).await
    } else {
        context.app.db.scan(deadline(), work).await
    }
}

/// A report with what was asked for.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    head: Value,
    message: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

fn answer(report: &Report, head: Value) -> Answer {
    Answer::of(&Shown { head, message: "Successfully retrieved the facts", report })
}

fn ranged(route: Route) -> Route {
    zoned(route)
        .param(Place::Query, "startDate", text(), "The first day, or the first instant.")
        .param(Place::Query, "endDate", text(), "The last day, or the last millisecond.")
}

fn zoned(route: Route) -> Route {
    let says = "The zone that days are meant in, such as America/New_York; else UTC.";
    route.param(Place::Query, "timezone", text(), says)
}

fn student(route: Route) -> Route {
    route.param(Place::Query, "studentId", text(), "The student's sourcedId.").param(
        Place::Query,
        "email",
        text(),
        "The student's e-mail address; beside studentId it must be that student's.",
    )
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn numbers(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "number" }))).collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

fn report_schema(of_enrollment: bool) -> Value {
    let activity = ["xpEarned", "totalQuestions", "correctQuestions", "masteredUnits"];
    let time = [
        "activeSeconds",
        "inactiveSeconds",
        "wasteSeconds",
        "unknownSeconds",
        "antiPatternSeconds",
    ];
    let metrics = json!({
        "type": "object",
        "required": ["activityMetrics", "timeSpentMetrics", "apps"],
        "properties": {
            "activityMetrics": numbers(&activity),
            "timeSpentMetrics": numbers(&time),
            "apps": { "type": "array", "items": text() },
        },
    });
    let by = |inner: &Value| json!({ "type": "object", "additionalProperties": inner });
    let days = by(&by(&metrics));
    let bound = if of_enrollment { json!({ "type": ["string", "null"] }) } else { text() };
    let mut schema = json!({
        "type": "object",
        "required": ["message", "startDate", "endDate", "facts", "factsByApp"],
        "properties": {
            "message": text(),
            "startDate": bound,
            "endDate": bound,
            "facts": days,
            "factsByApp": by(&days),
        },
    });
    if of_enrollment {
        schema["properties"]["enrollmentId"] = text();
    }
    schema
}

fn weekly_schema() -> Value {
    let whole = json!({ "type": "integer" });
    let fact = json!({
        "type": "object",
        "required": ["id", "email", "date", "datetime", "source", "year", "month", "day", "dayOfWeek"],
        "properties": {
            "id": whole, "email": text(), "date": text(), "datetime": text(), "source": text(),
            "year": whole, "month": whole, "day": whole, "dayOfWeek": whole,
            "activeSeconds": text(), "inactiveSeconds": text(), "wasteSeconds": text(),
        },
    });
    json!({
        "type": "object",
        "required": ["facts"],
        "properties": { "facts": { "type": "array", "items": fact } },
    })
}

fn grades_schema() -> Value {
    json!({
        "type": "object",
        "required": ["studentId", "subject", "grades"],
        "properties": {
            "studentId": text(),
            "subject": text(),
            "grades": {
                "type": "object",
                "properties": {
                    "ritGrade": { "type": "integer" },
                    "edulasticGrade": text(),
                    "placementGrade": text(),
                    "testOutGrade": text(),
                    "highestGradeOverall": text(),
                },
            },
            "message": text(),
        },
    })
}
