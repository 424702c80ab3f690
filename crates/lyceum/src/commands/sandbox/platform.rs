//! The learning platform of a sandbox if it is another server: `--tracking-local` and remote credentials.

use std::sync::Arc;

use lyceum_api::{Learning, RemoteLearning};
use lyceum_client::{Addresses, Client, ClientCredentials, Object};
use lyceum_project::Course;
use lyceum_sandbox::{Demo, LearningMode, Tracking, USER_ID, student};
use serde_json::Value;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;

/// Default address of a Lyceum server next to the sandbox.
const LOCAL: &str = "http://localhost:4322";
/// Path of the courses.
const COURSES: &str = "/ims/oneroster/rostering/v1p2/courses";

/// The other server; `None` in modes without one. Makes no request yet.
///
/// Errors: an invalid address, or one to which credentials must not be sent.
pub(super) fn open(tracking: &Tracking, mode: LearningMode) -> Result<Option<RemoteLearning>> {
    if !matches!(mode, LearningMode::Local | LearningMode::Remote) {
        return Ok(None);
    }
    let Tracking { oneroster_url, caliper_url, auth_url, organization, .. } = tracking;
    let roster = oneroster_url.as_deref().unwrap_or(LOCAL);
    let addresses = Addresses::of(roster, caliper_url.as_deref(), auth_url.as_deref());
    let addresses =
        addresses.map_err(|problem| Failure { code: Code::Usage, ..Failure::from(problem) })?;
    let credentials = match (&tracking.client_id, &tracking.client_secret) {
        (Some(id), Some(secret)) => {
            Some(ClientCredentials { id: id.clone(), secret: secret.clone() })
        }
        _ => None,
    };
    let id = tracking.student_id.clone().unwrap_or_else(|| USER_ID.to_owned());
    let organization = organization.whole();
    let org = organization.id.clone().unwrap_or_default();
    let mut other = RemoteLearning::new(Client::new(addresses, credentials), id, organization);
    // A platform that others use must not get demo users.
    if mode == LearningMode::Local {
        other.made = Some(student(&other.student, &org));
    }
    other.role = tracking.role.map(|role| (role.name(), role.in_class()));
    Ok(Some(other))
}

/// Checks that the other server answers, and reads the course if only the flags name it. A server that does not
/// answer causes only a warning, because everything else works without it.
pub(super) async fn check(other: &RemoteLearning, demo: &mut Demo, printer: &Printer) {
    let named = demo.learner.course_id.clone().filter(|_| demo.learner.courses.is_empty());
    let id = named.clone().unwrap_or_default();
    match other.client.record(COURSES, if id.is_empty() { "-" } else { &id }).await {
        Ok(Some(course)) => demo.learner.courses.extend(taught(&course)),
        Ok(None) if named.is_some() => {
            printer.warn(&format!("the learning platform has no course '{id}'"));
        }
        Ok(None) => {}
        Err(problem) => printer.warn(&problem.message.to_string()),
    }
}

/// The platform that the players learn with.
pub(super) fn learning(other: Option<RemoteLearning>, mode: LearningMode) -> Learning {
    match other {
        Some(other) => Learning::Elsewhere(Arc::new(other)),
        None if mode == LearningMode::Disabled => Learning::Nowhere,
        None => Learning::Here,
    }
}

/// Converts a course of the other server to the form of a project's config.
fn taught(course: &Object) -> Option<Course> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let first = |name: &str| course.get(name).and_then(|list| text(&list[0]));
    let metric = |name: &str| course.get("metadata").and_then(|it| it["metrics"][name].as_f64());
    Some(Course {
        subject: first("subjects")?,
        grade: first("grades")?,
        total_xp: metric("totalXp"),
        masterable_units: metric("masterableUnits"),
        title: course.get("title").and_then(text),
        course_code: course.get("courseCode").and_then(text),
    })
}
