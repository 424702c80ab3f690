//! The calls to a server: records, enrollments, XP, events.

use std::collections::BTreeMap;
use std::sync::Arc;

use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, message};
use serde_json::{Map, Value, json};
use ureq::http::Method;

use crate::address::Addresses;
use crate::call::{Caller, ClientCredentials, ServerAnswer, reason};

/// A record.
pub type Object = Map<String, Value>;

/// A server, called as one client. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    addresses: Arc<Addresses>,
    caller: Arc<Caller>,
}

/// A user's enrollment in a course, as a student, teacher or other role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrollment {
    /// Its sourcedId.
    pub id: String,
    /// `student`, `teacher`, …
    pub role: String,
    /// The course's sourcedId.
    pub course: String,
    /// The course's first subject; empty if it has none.
    pub subject: String,
    /// As OneRoster writes it.
    pub grade: String,
}

/// The XP earned on one day.
#[derive(Clone, Debug, PartialEq)]
pub struct DayXp {
    /// Such as `2026-01-15`.
    pub date: String,
    /// XP of all subjects; negative if more was withdrawn than earned.
    pub xp: f64,
}

impl Client {
    /// A client of the server. Without credentials it sends no token, which a sandbox accepts.
    pub fn new(addresses: Addresses, credentials: Option<ClientCredentials>) -> Self {
        let caller = Caller::new(addresses.tokens.clone(), credentials);
        Self { addresses: Arc::new(addresses), caller: Arc::new(caller) }
    }

    /// The address of the rosters, without a slash at the end.
    pub fn roster_url(&self) -> &str {
        &self.addresses.roster
    }

    /// A record of a collection such as `/ims/oneroster/rostering/v1p2/courses`, even if it is deleted;
    /// `None` if it does not exist.
    ///
    /// Errors: `Unavailable`; `Invalid` if the response is not a record.
    pub async fn record(&self, collection: &str, id: &str) -> Result<Option<Object>> {
        let answered = self.call(Method::GET, &path(collection, id), None).await?;
        if answered.status == 404 {
            return Ok(None);
        }
        let Value::Object(body) = accepted(answered)? else {
            return Err(no_record(collection, id));
        };
        // The response wraps the record in the name of its kind.
        match body.into_iter().find_map(|(_, value)| match value {
            Value::Object(record) if record.contains_key("sourcedId") => Some(record),
            _ => None,
        }) {
            Some(record) => Ok(Some(record)),
            None => Err(no_record(collection, id)),
        }
    }

    /// Creates the record, or replaces the one with its id.
    ///
    /// Errors: `Unavailable`; `Invalid` if the server rejects the record.
    pub async fn put(&self, collection: &str, kind: &str, id: &str, record: Object) -> Result<()> {
        let body = json!({ kind: record });
        let (method, path) = match self.record(collection, id).await? {
            Some(_) => (Method::PUT, path(collection, id)),
            None => (Method::POST, collection.to_owned()),
        };
        accepted(self.call(method, &path, Some(body)).await?).map(drop)
    }

    /// Marks a record `tobedeleted`. A missing record counts as deleted.
    ///
    /// Errors: `Unavailable`; `Invalid` if the server refuses.
    pub async fn delete(&self, collection: &str, id: &str) -> Result<()> {
        let answered = self.call(Method::DELETE, &path(collection, id), None).await?;
        if answered.status == 404 {
            return Ok(());
        }
        accepted(answered).map(drop)
    }

    /// A user's current enrollments; empty if the user does not exist.
    ///
    /// Errors: `Unavailable`.
    pub async fn enrollments(&self, user: &str) -> Result<Option<Vec<Enrollment>>> {
        let path = path("/edubridge/enrollments/user", user);
        let answered = self.call(Method::GET, &path, None).await?;
        if answered.status == 404 {
            return Ok(None);
        }
        let body = accepted(answered)?;
        let listed = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Some(listed.iter().map(enrollment).collect()))
    }

    /// Enrolls a user in a course at a school. An existing enrollment stays.
    ///
    /// Errors: `Unavailable`; `Invalid` for an unknown user, course or school.
    pub async fn enroll(&self, user: &str, course: &str, school: &str, role: &str) -> Result<()> {
        let user = path("/edubridge/enrollments/enroll", user);
        let path = path(&path(&user, course), school);
        let body = json!({ "role": role });
        accepted(self.call(Method::POST, &path, Some(body)).await?).map(drop)
    }

    /// The XP of a student per day, from the first to the last day in that time zone. Days without facts are
    /// left out.
    ///
    /// Errors: `Unavailable`; `NotFound` for an unknown student.
    pub async fn xp(&self, student: &str, from: &str, to: &str, zone: &str) -> Result<Vec<DayXp>> {
        let path = format!(
            "/edubridge/analytics/activity?studentId={}&startDate={}&endDate={}&timezone={}",
            segment(student),
            segment(from),
            segment(to),
            segment(zone)
        );
        let body = accepted(self.call(Method::GET, &path, None).await?)?;
        let mut days: BTreeMap<String, f64> = BTreeMap::new();
        for (date, subjects) in body["facts"].as_object().into_iter().flatten() {
            let xp_of = |metrics: &Value| metrics["activityMetrics"]["xpEarned"].as_f64();
            let xp =
                subjects.as_object().into_iter().flatten().filter_map(|(_, it)| xp_of(it)).sum();
            days.insert(date.clone(), xp);
        }
        Ok(days.into_iter().map(|(date, xp)| DayXp { date, xp }).collect())
    }

    /// Sends an envelope of Caliper events; sending it again is safe.
    ///
    /// Errors: `Unavailable`; `Invalid` with the server's reason for rejecting it.
    pub async fn send(&self, envelope: Value) -> Result<()> {
        let url = format!("{}/caliper/event", self.addresses.events);
        accepted(self.caller.call(Method::POST, url, Some(envelope)).await?).map(drop)
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<ServerAnswer> {
        let url = format!("{}{path}", self.addresses.roster);
        self.caller.call(method, url, body).await
    }
}

fn path(collection: &str, id: &str) -> String {
    format!("{collection}/{}", segment(id))
}

/// The body of a successful response.
fn accepted(ServerAnswer { status, body }: ServerAnswer) -> Result<Value> {
    let kind = match status {
        200..300 => return Ok(body),
        404 => ProblemKind::NotFound,
        409 | 412 => ProblemKind::Conflict,
        _ => ProblemKind::Invalid,
    };
    let message = message!(
        "the learning platform refused the request ({status}): {reason}",
        reason = reason(&body)
    );
    Err(Problem::new(kind, message))
}

fn no_record(collection: &str, id: &str) -> Problem {
    let message = message!("the learning platform's response has no record for {collection}/{id}");
    Problem::new(ProblemKind::Invalid, message)
}

fn enrollment(listed: &Value) -> Enrollment {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let course = &listed["course"];
    Enrollment {
        id: text(&listed["id"]),
        role: text(&listed["role"]),
        course: text(&course["id"]),
        subject: text(&course["subjects"][0]),
        grade: text(&course["grades"][0]),
    }
}
