//! The other server that a sandbox learns with: `--tracking-local` and remote credentials.

use std::sync::Arc;

use lyceum_client::{Addresses, Client, Credentials, Object};
use lyceum_project::Course;
use lyceum_sandbox::{Demo, Mode, Tracking, USER_ID, student};
use lyceum_server::{Elsewhere, Learning};
use serde_json::Value;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;

/// Where a Lyceum beside the sandbox is unless somebody says otherwise.
const LOCAL: &str = "http://localhost:4322";
/// Where courses are.
const COURSES: &str = "/ims/oneroster/rostering/v1p2/courses";

/// The other server; none in the modes without one. Nothing is asked of it yet.
///
/// Errors: an address that is none, or that credentials must not travel to.
pub(super) fn open(tracking: &Tracking, mode: Mode) -> Result<Option<Elsewhere>> {
    if !matches!(mode, Mode::Local | Mode::Remote) {
        return Ok(None);
    }
    let Tracking { oneroster_url, caliper_url, auth_url, organization, .. } = tracking;
    let roster = oneroster_url.as_deref().unwrap_or(LOCAL);
    let addresses = Addresses::of(roster, caliper_url.as_deref(), auth_url.as_deref());
    let addresses =
        addresses.map_err(|problem| Failure { code: Code::Usage, ..Failure::from(problem) })?;
    let credentials = match (&tracking.client_id, &tracking.client_secret) {
        (Some(id), Some(secret)) => Some(Credentials { id: id.clone(), secret: secret.clone() }),
        _ => None,
    };
    let id = tracking.student_id.clone().unwrap_or_else(|| USER_ID.to_owned());
    let organization = organization.whole();
    let org = organization.id.clone().unwrap_or_default();
    let mut other = Elsewhere::new(Client::new(addresses, credentials), id, organization);
    // Nobody is made on a platform that others use.
    if mode == Mode::Local {
        other.made = Some(student(&other.student, &org));
    }
    other.role = tracking.role.map(|role| (role.name(), role.in_class()));
    Ok(Some(other))
}

/// Looks whether the other server answers; a course that is named there and nowhere else tells what the
/// project teaches. A server that does not answer is told and no obstacle: everything else works.
pub(super) async fn look(other: &Elsewhere, demo: &mut Demo, printer: &Printer) {
    let named = demo.learner.course_id.clone().filter(|_| demo.learner.courses.is_empty());
    let id = named.clone().unwrap_or_default();
    match other.client.record(COURSES, if id.is_empty() { "-" } else { &id }).await {
        Ok(Some(course)) => demo.learner.courses.extend(taught(&course)),
        Ok(None) if named.is_some() => {
            printer.warn(&format!("the learning platform has no course '{id}'"));
        }
        Ok(None) => {}
        Err(problem) => printer.warn(&problem.message),
    }
}

/// Whom the players learn with.
pub(super) fn learning(other: Option<Elsewhere>, mode: Mode) -> Learning {
    match other {
        Some(other) => Learning::Elsewhere(Arc::new(other)),
        None if mode == Mode::Disabled => Learning::Nowhere,
        None => Learning::Here,
    }
}

/// A course of the other server as a project's config would say it.
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
