//! `lyceum trigger`

use clap::{Args, ValueEnum};
use lyceum_core::time::{Clock, SystemClock};
use lyceum_events::CONTEXT;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::failure::{Failure, Result};
use crate::printer::Printer;
use crate::remote::RemoteArgs;

/// The kinds of event.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A student completed an activity
    #[value(name = "activity.completed")]
    ActivityCompleted,
    /// A student spent time
    #[value(name = "time.spent")]
    TimeSpent,
    /// A question was shown
    #[value(name = "question.seen")]
    QuestionSeen,
    /// A question was answered
    #[value(name = "question.answered")]
    QuestionAnswered,
    /// An answer was graded
    #[value(name = "question.graded")]
    QuestionGraded,
    /// Somebody signed in to a tool
    #[value(name = "session.logged-in")]
    SessionLoggedIn,
}

/// The error in an invalid event.
#[derive(Clone, Copy, ValueEnum)]
enum Bad {
    /// It has no id
    NoId,
    /// It has no actor
    NoActor,
    /// Its time is invalid
    Time,
    /// Its type does not allow the action
    Action,
    /// Its type is unknown
    Type,
    /// Its profile is unknown
    Profile,
    /// Its object has the wrong type
    Object,
    /// It has an unknown member or a negative metric
    Member,
    /// The envelope has another version
    Version,
    /// The envelope has an unknown member
    Envelope,
    /// The body is not JSON
    Json,
}

#[derive(Args)]
pub(crate) struct Trigger {
    /// Kind of event
    kind: Kind,
    /// Make the event invalid. The command fails if the server accepts it
    #[arg(long, value_name = "FAULT")]
    bad: Option<Bad>,
    /// Number of events, all in one envelope
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// IRI of the student
    #[arg(long, value_name = "IRI", default_value = "urn:lyceum:users:trigger")]
    actor: String,
    /// E-mail address of the student
    #[arg(long, value_name = "EMAIL", default_value = "trigger@example.org")]
    email: String,
    /// Subject of the activity
    #[arg(long, default_value = "Math")]
    subject: String,
    /// IRI or sourcedId of the course
    #[arg(long, value_name = "COURSE")]
    course: Option<String>,
    /// Print the envelope, and send nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl Trigger {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let envelope = self.envelope(&SystemClock.now().to_string());
        let body = match self.bad {
            Some(Bad::Json) => envelope.to_string().replacen(':', "", 1),
            _ => envelope.to_string(),
        };
        if self.dry_run {
            printer.text(&format!("{body}\n"));
            return Ok(());
        }
        let remote = self.remote.sign_in()?;
        let answer = remote.post("/caliper/event", &body)?;
        let refused = matches!(answer.status, 400 | 422);
        if answer.status >= 400 && !(refused && self.bad.is_some()) {
            let mut failure = remote.refusal(&answer);
            failure.details = faults(&answer.body);
            return Err(failure);
        }
        printer.answer(
            || {
                let message = answer.body["message"].as_str().unwrap_or_default();
                let faults = faults(&answer.body).into_iter().map(|line| format!("  {line}\n"));
                format!("{} {message}\n{}", answer.status, faults.collect::<String>())
            },
            || json!({ "status": answer.status, "answer": answer.body, "sent": envelope }),
        );
        match (self.bad, refused) {
            (Some(_), false) => Err(Failure::failed("the server accepted an invalid event")),
            _ => Ok(()),
        }
    }

    fn envelope(&self, now: &str) -> Value {
        let mut envelope = json!({
            "sensor": "urn:lyceum:trigger",
            "sendTime": now,
            "dataVersion": CONTEXT,
            "data": (0..self.count).map(|_| self.event(now)).collect::<Vec<_>>(),
        });
        match self.bad {
            Some(Bad::Version) => {
                envelope["dataVersion"] = "http://purl.imsglobal.org/ctx/caliper/v0".into();
            }
            Some(Bad::Envelope) => envelope["note"] = "no envelope has this".into(),
            Some(bad) => spoil(&mut envelope["data"][0], bad),
            None => {}
        }
        envelope
    }

    fn event(&self, now: &str) -> Value {
        let id = || format!("urn:uuid:{}", Uuid::new_v4());
        let mut event = self.deed();
        event["@context"] = CONTEXT.into();
        event["id"] = id().into();
        event["eventTime"] = now.into();
        if !event["generated"].is_null() {
            event["generated"]["id"] = id().into();
        }
        if let Some(course) = &self.course {
            event["extensions"] = json!({ "courseId": course });
        }
        event
    }

    /// The part in which the kinds differ.
    fn deed(&self) -> Value {
        let item = json!({ "id": "urn:lyceum:trigger:item", "type": "AssessmentItem" });
        let (name, profile, action, object, generated) = match self.kind {
            Kind::ActivityCompleted => {
                let metrics = [("xpEarned", 10), ("totalQuestions", 10), ("correctQuestions", 9)];
                return self.custom("ActivityEvent", "Completed", "Activity", &metrics);
            }
            Kind::TimeSpent => {
                let metrics = [("active", 600), ("inactive", 60)];
                return self.custom("TimeSpentEvent", "SpentTime", "TimeSpent", &metrics);
            }
            Kind::QuestionSeen => {
                ("AssessmentItemEvent", "AssessmentProfile", "Started", item, Value::Null)
            }
            Kind::QuestionAnswered => (
                "AssessmentItemEvent",
                "AssessmentProfile",
                "Completed",
                item,
                json!({ "type": "Response" }),
            ),
            Kind::QuestionGraded => (
                "GradeEvent",
                "GradingProfile",
                "Graded",
                json!("urn:lyceum:trigger:attempt"),
                json!({ "type": "Score", "scoreGiven": 1, "maxScore": 1 }),
            ),
            Kind::SessionLoggedIn => (
                "SessionEvent",
                "SessionProfile",
                "LoggedIn",
                json!({ "id": "urn:lyceum:trigger", "type": "SoftwareApplication" }),
                Value::Null,
            ),
        };
        let mut event = json!({
            "type": name,
            "profile": profile,
            "actor": { "id": self.actor, "type": "Person" },
            "action": action,
            "object": object,
        });
        if !generated.is_null() {
            event["generated"] = generated;
        }
        event
    }

    fn custom(&self, name: &str, action: &str, metrics_of: &str, metrics: &[(&str, u32)]) -> Value {
        let items = metrics.iter().map(|(name, value)| json!({ "type": name, "value": value }));
        json!({
            "type": name,
            "profile": "ServiceProfile",
            "actor": { "id": self.actor, "type": "ServiceUser", "email": self.email },
            "action": action,
            "object": {
                "id": "urn:lyceum:trigger:activity",
                "type": "ServiceActivityContext",
                "subject": self.subject,
                "app": { "name": "lyceum trigger" },
                "activity": { "name": "An activity" },
            },
            "generated": {
                "type": format!("Service{metrics_of}MetricsCollection"),
                "items": items.collect::<Vec<_>>(),
            },
        })
    }
}

/// Makes an event invalid.
fn spoil(event: &mut Value, bad: Bad) {
    let members = event.as_object_mut().expect("an event is an object");
    match bad {
        Bad::NoId => drop(members.remove("id")),
        Bad::NoActor => drop(members.remove("actor")),
        Bad::Time => event["eventTime"] = "yesterday".into(),
        Bad::Action => event["action"] = "Abandoned".into(),
        Bad::Type => event["type"] = "NoSuchEvent".into(),
        Bad::Profile => event["profile"] = "NoSuchProfile".into(),
        Bad::Object => event["object"] = json!({ "id": "urn:lyceum:trigger", "type": "Nothing" }),
        Bad::Member => {
            event["surprise"] = true.into();
            if let Some(item) = event.pointer_mut("/generated/items/0/value") {
                *item = (-2_000_000_000_i64).into();
            }
        }
        Bad::Version | Bad::Envelope | Bad::Json => {}
    }
}

/// The errors in a response, one line each.
fn faults(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let faults = answer["errors"].as_array().into_iter().flatten();
    faults.map(|fault| format!("{}: {}", text(&fault["path"]), text(&fault["message"]))).collect()
}
