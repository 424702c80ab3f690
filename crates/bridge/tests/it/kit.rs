//! Helpers for the tests of this crate: databases, events and people.

use std::collections::BTreeMap;

use lyceum_bridge::analytics::{Report, StudentName, activity};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach};
use lyceum_events::facts::Measure;
use lyceum_events::{Appended, Event, parse};
use lyceum_events::{append, facts};
use lyceum_roster::collections::at;
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::{Db, Migration};
use serde_json::{Value, json};

pub(crate) const SENT: &str = "2026-03-20T00:00:00.000Z";
pub(crate) const LATER: &str = "2026-03-21T00:00:00.000Z";

pub(crate) fn migrations() -> Vec<Migration> {
    [lyceum_roster::MIGRATIONS, lyceum_events::MIGRATIONS, lyceum_bridge::MIGRATIONS].concat()
}

/// Runs the body on a fresh database of each store.
pub(crate) fn both(body: impl Fn(&Db)) {
    let migrations = migrations();
    lyceum_testkit::both_stores(&migrations, |target| {
        body(&Db::open(target, &migrations).expect("a fresh database opens"));
    });
}

pub(crate) fn now() -> Timestamp {
    SENT.parse().unwrap()
}

/// The values of an event of the custom profile.
#[derive(Clone, Debug)]
pub(crate) struct CustomEvent {
    pub(crate) number: u64,
    /// The path and id after the server's address, or a complete IRI; and the e-mail address, if any.
    pub(crate) actor: String,
    pub(crate) email: Option<String>,
    pub(crate) time: Timestamp,
    pub(crate) course: Option<String>,
    pub(crate) subject: String,
    pub(crate) app: String,
    pub(crate) items: Vec<Value>,
}

impl CustomEvent {
    /// An activity of 10 XP.
    pub(crate) fn activity(number: u64, user: &str, time: &str) -> Self {
        Self {
            number,
            actor: iri("users", user),
            email: None,
            time: time.parse().unwrap(),
            course: None,
            subject: "Math".into(),
            app: "Abacus".into(),
            items: vec![json!({"type": "xpEarned", "value": 10})],
        }
    }

    pub(crate) fn in_course(mut self, course: &str) -> Self {
        self.course = Some(iri("courses", course));
        self
    }

    pub(crate) fn with_items(mut self, items: Value) -> Self {
        let Value::Array(items) = items else { panic!("no list: {items}") };
        self.items = items;
        self
    }

    pub(crate) fn with_email(mut self, email: &str) -> Self {
        self.email = Some(email.into());
        self
    }

    /// The event in an envelope with this send time.
    pub(crate) fn sent(&self, send_time: &str) -> Event {
        let is_time = self.items.iter().any(|item| {
            ["active", "inactive", "waste", "unknown", "anti-pattern"]
                .contains(&item["type"].as_str().unwrap())
        });
        let (kind, action, collection) = if is_time {
            ("TimeSpentEvent", "SpentTime", "TimebackTimeSpentMetricsCollection")
        } else {
            ("ActivityEvent", "Completed", "TimebackActivityMetricsCollection")
        };
        let event = json!({
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:00000000-0000-4000-8000-{:012}", self.number),
            "type": kind,
            "action": action,
            "profile": "TimebackProfile",
            "eventTime": self.time.to_string(),
            "actor": {"id": self.actor, "type": "TimebackUser", "email": self.email},
            "object": {
                "id": "https://app.example.org/activities/1",
                "type": "TimebackActivityContext",
                "subject": self.subject,
                "app": {"id": "https://app.example.org", "name": self.app},
                "course": self.course.as_ref().map(|course| json!({"id": course})),
                "activity": {"id": "https://app.example.org/activities/1", "name": "Sums"},
            },
            "generated": {
                "id": "https://app.example.org/metrics/1",
                "type": collection,
                "items": self.items,
            },
        });
        let envelope = json!({
            "sensor": "https://app.example.org/sensors/1",
            "sendTime": send_time,
            "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "data": [without_nulls(event)],
        });
        let late = Timestamp::from_milliseconds(4_102_444_800_000);
        parse(&envelope.to_string(), late).unwrap().events.remove(0)
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        other => other,
    }
}

pub(crate) fn iri(collection: &str, id: &str) -> String {
    format!("https://lyceum.example.org/ims/oneroster/rostering/v1p2/{collection}/{id}")
}

pub(crate) fn send(db: &Db, events: &[Event]) -> Vec<Appended> {
    db.write_blocking(|tx| append(tx, now(), "app", events)).unwrap()
}

/// The facts by the actors' names, because numbers may differ.
pub(crate) fn rows(db: &Db) -> Vec<String> {
    let mut rows = Vec::new();
    db.read_blocking(|tx| {
        let sql = "SELECT id, iri, email FROM event_actors ORDER BY id";
        let names = tx.all(sql, &[], |row| Ok((row.int(0)?, (row.string(1)?, row.string(2)?))))?;
        let names: BTreeMap<i64, (String, String)> = names.into_iter().collect();
        let actors: Vec<i64> = names.keys().copied().collect();
        facts::read(tx, &actors, i64::MIN..i64::MAX, |actor, at, context, sums| {
            rows.push(format!("{:?} {at} {context:?} {sums:?}", names[&actor]));
        })
    })
    .unwrap();
    rows.sort();
    rows
}

pub(crate) fn rebuild(db: &Db) {
    let mut last = 0;
    while let Some(placed) = db.write_blocking(|tx| facts::place(tx, last)).unwrap() {
        last = placed;
    }
    last = 0;
    while let Some(done) = db.write_blocking(|tx| facts::rebuild(tx, last)).unwrap() {
        last = done.last;
    }
}

/// Empties the log and the facts.
pub(crate) fn empty(db: &Db) {
    let tables = [
        "event_log",
        "event_blocks",
        "event_spans",
        "event_ids",
        "event_id_chunks",
        "event_versions",
        "event_actors",
        "event_unsummed",
        "event_sums",
        "event_places",
        "event_contexts",
    ];
    db.write_blocking(|tx| {
        tx.execute("UPDATE event_runs SET list = NULL", &[])?;
        tables
            .iter()
            .try_for_each(|table| tx.execute(&format!("DELETE FROM {table}"), &[]).map(drop))
    })
    .unwrap();
}

pub(crate) fn create(db: &Db, path: &str, value: Value) {
    let Value::Object(object) = value else { panic!("not an object: {value}") };
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now: now(),
        allocate_missing_ids: false,
        reach: Reach::Everything,
    };
    let created =
        db.write_blocking(|tx| write::create(tx, at(path).unwrap(), object.clone(), &rules));
    created.unwrap_or_else(|problem| panic!("{path} {object:?}: {problem:?}"));
}

pub(crate) fn school(db: &Db) {
    create(db, "orgs", json!({"sourcedId": "s", "name": "School", "type": "school"}));
}

pub(crate) fn student(db: &Db, id: &str, email: &str) {
    create(
        db,
        "users",
        json!({
            "sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "Example",
            "email": email, "username": id,
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
        }),
    );
}

pub(crate) fn course(db: &Db, id: &str, subjects: &[&str]) {
    create(
        db,
        "courses",
        json!({
            "sourcedId": id, "title": format!("Course {id}"), "courseCode": id,
            "subjects": subjects, "org": {"sourcedId": "s"},
        }),
    );
}

pub(crate) fn enroll(db: &Db, id: &str, user: &str, course: &str, begin: Option<&str>) {
    let mut enrollment = json!({
        "sourcedId": id, "user": {"sourcedId": user}, "course": {"sourcedId": course},
        "school": {"sourcedId": "s"}, "role": "student",
    });
    if let Some(begin) = begin {
        enrollment["beginDate"] = begin.into();
    }
    create(db, "enrollments", enrollment);
}

pub(crate) fn range(from: i64, to: i64) -> InstantRange {
    InstantRange { from: Timestamp::from_milliseconds(from), to: Timestamp::from_milliseconds(to) }
}

pub(crate) fn active(db: &Db, user: &str, range: InstantRange, zone: &Zone) -> Report {
    db.read_blocking(|tx| {
        activity(tx, StudentName::Id(user), range, zone, &lyceum_core::Reach::Everything)
    })
    .unwrap()
}

/// The sum of a measure over all days and subjects.
pub(crate) fn total(report: &Report, measure: Measure) -> i64 {
    report.facts.values().flat_map(|day| day.values()).map(|metrics| metrics.sums.of(measure)).sum()
}
