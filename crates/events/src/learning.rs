//! Events that this server itself appends: a completed activity, or time spent in one.
//!
//! They are written in the custom profile (`ActivityEvent` and `TimeSpentEvent`).

use lyceum_core::json::number;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::event::Event;
use crate::facts::Metric;
use crate::{ActorFilter, CONTEXT, append as append_events, repository};

/// The client that these events belong to in the log.
const CLIENT: &str = "lyceum";

/// An event of the custom profile.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LearningEvent {
    #[serde(rename = "@context")]
    context: &'static str,
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    action: &'static str,
    profile: &'static str,
    event_time: Timestamp,
    actor: Learner,
    object: Activity,
    generated: Metrics,
}

/// The learner.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "ServiceUser")]
pub struct Learner {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

impl Learner {
    /// The learner with that IRI. A text without `@` is not an e-mail address and is left out.
    pub fn new(iri: String, email: &str) -> Self {
        Self { id: iri, email: email.contains('@').then(|| email.to_owned()) }
    }
}

/// The activity.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "ServiceActivityContext")]
pub struct Activity {
    /// An IRI.
    pub id: String,
    /// Such as `Math`.
    pub subject: String,
    /// The app in which it was done.
    pub app: App,
    /// The course, with its IRI.
    pub course: NamedEntity,
    /// The activity as the app calls it.
    pub activity: NamedEntity,
}

/// An app.
#[derive(Clone, Debug, Serialize)]
pub struct App {
    /// Its id; none for this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name for people.
    pub name: String,
}

/// Something with an id and a name.
#[derive(Clone, Debug, Serialize)]
pub struct NamedEntity {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
}

/// The metrics of the event.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type")]
pub enum Metrics {
    /// Of an activity that was completed.
    #[serde(rename = "ServiceActivityMetricsCollection")]
    Completed {
        /// A URN.
        id: String,
        /// The number of the learner's attempt, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<i64>,
        /// The metrics.
        items: Vec<Metric>,
        /// The progress in the course.
        #[serde(skip_serializing_if = "Option::is_none")]
        extensions: Option<CourseProgress>,
    },
    /// Of time that was spent.
    #[serde(rename = "ServiceTimeSpentMetricsCollection")]
    TimeSpent {
        /// A URN.
        id: String,
        /// The metrics.
        items: Vec<Metric>,
    },
}

/// The progress in a course.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseProgress {
    /// 0 to 100.
    pub pct_complete_app: f64,
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut item = json!({ "type": self.measure.name(), "value": number(self.value) });
        if let Some((start, end)) = self.span {
            item["startDate"] = json!(start);
            item["endDate"] = json!(end);
        }
        item.serialize(serializer)
    }
}

impl LearningEvent {
    /// An event with that id, which is a URN.
    pub fn new(
        id: String,
        event_time: Timestamp,
        actor: Learner,
        object: Activity,
        generated: Metrics,
    ) -> Self {
        let (kind, action) = match generated {
            Metrics::Completed { .. } => ("ActivityEvent", "Completed"),
            Metrics::TimeSpent { .. } => ("TimeSpentEvent", "SpentTime"),
        };
        let (context, profile) = (CONTEXT, "ServiceProfile");
        Self { context, id, kind, action, profile, event_time, actor, object, generated }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The event as the log holds it.
    fn event(&self, sensor: &str, send_time: Timestamp) -> Result<Event> {
        Event::read(&serde_json::to_string(self).map_err(Problem::internal)?, sensor, send_time)
    }
}

/// Appends events that happened on the server with this address.
pub fn append(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    events: &[LearningEvent],
) -> Result<()> {
    let events =
        events.iter().map(|event| event.event(base_url, now)).collect::<Result<Vec<_>>>()?;
    append_events(tx, now, CLIENT, &events).map(drop)
}

/// Appends an event that counts in place of the one with its id, if there is one.
pub fn append_correction(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    event: &LearningEvent,
) -> Result<()> {
    let former = repository::read(tx, &event.id, &ActorFilter::Everyone)?;
    let sent = former.map_or(now, |former| sent_after(&former.event, now));
    append_events(tx, now, CLIENT, &[event.event(base_url, sent)?]).map(drop)
}

/// Corrects the event with that id, if there is one: every metric becomes 0.
pub fn cancel(tx: &mut Tx<'_>, now: Timestamp, base_url: &str, id: &str) -> Result<()> {
    let Some(former) = repository::read(tx, id, &ActorFilter::Everyone)? else { return Ok(()) };
    let mut content = former.event.content();
    for item in content["generated"]["items"].as_array_mut().into_iter().flatten() {
        item["value"] = 0.into();
    }
    let sent = sent_after(&former.event, now);
    let event = Event::read(&content.to_string(), base_url, sent)?;
    append_events(tx, now, CLIENT, &[event]).map(drop)
}

/// A `sendTime` with which a correction counts: later than that of the former version.
fn sent_after(former: &Event, now: Timestamp) -> Timestamp {
    let least = former.send_time.milliseconds() + 1;
    Timestamp::from_milliseconds(now.milliseconds().max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Measure;

    const EVENT: &str = "urn:uuid:0190c1a6-0000-7000-8000-000000000001";
    const METRICS: &str = "urn:uuid:0190c1a6-0000-7000-8000-000000000002";

    #[test]
    fn clients_may_send_the_events_of_lessons() {
        let at: Timestamp = "2026-01-15T08:10:00Z".parse().unwrap();
        let span = Some((at.plus_seconds(-3600), at));
        let metric = |measure, value| Metric { measure, value, span: None };
        let all = [
            Metrics::Completed {
                id: METRICS.into(),
                attempt: Some(2),
                items: vec![metric(Measure::Xp, 12.5), metric(Measure::TotalQuestions, 3.0)],
                extensions: Some(CourseProgress { pct_complete_app: 20.0 }),
            },
            Metrics::TimeSpent {
                id: METRICS.into(),
                items: vec![
                    Metric { measure: Measure::Active, value: 1800.25, span },
                    metric(Measure::Inactive, 60.0),
                ],
            },
            Metrics::TimeSpent { id: METRICS.into(), items: Vec::new() },
        ];
        for (metrics, email) in all.into_iter().zip(["ada@example.org", "", "none"]) {
            let named = |id: &str, name: &str| NamedEntity { id: id.into(), name: name.into() };
            let object = Activity {
                id: "https://a.example/activities/1".into(),
                subject: "Math".into(),
                app: App { id: None, name: "Lyceum".into() },
                course: named("https://a.example/ims/courses/c%2F1", "Algebra"),
                activity: named("a-1", "Sums"),
            };
            let learner = Learner::new("https://a.example/users/u-1".into(), email);
            let event = LearningEvent::new(EVENT.into(), at, learner, object, metrics);
            let event = event.event("https://a.example", at).unwrap();
            let body = event.body();
            let envelope = format!(
                r#"{{"sensor":"https://a.example","sendTime":"{at}","dataVersion":"{CONTEXT}","data":[{body}]}}"#
            );
            assert_eq!(crate::parse(&envelope, at).unwrap().events, [event]);
        }
    }
}
