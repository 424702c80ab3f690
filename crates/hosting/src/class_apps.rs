//! The apps that teachers and administrators approved for the students of a class.

use lyceum_access::audit::AuditChange;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::CLASS;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde_json::json;

use crate::repository::class_apps as repository;

pub use crate::repository::class_apps::ClassApp;

/// The caller who changes approvals.
#[derive(Clone, Copy, Debug)]
pub struct Approver<'a> {
    /// The id of the person, key or client.
    pub id: &'a str,
    /// The name in the audit log.
    pub name: &'a str,
}

/// The apps of a class and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassApps {
    /// The approved apps, by name.
    pub approved: Vec<ClassApp>,
    /// The deployed apps that are not approved, by name.
    pub others: Vec<ClassApp>,
}

/// The apps of a class within the reach. Errors: `NotFound`.
pub fn of_class(tx: &mut Tx<'_>, class: &str, reach: &Reach) -> Result<ClassApps> {
    fields::in_use_within(tx, &CLASS, class, reach)?;
    let approved = repository::of_classes(tx, &[class.to_owned()])?;
    let mut others = repository::all(tx)?;
    others.retain(|app| !approved.contains(app));
    Ok(ClassApps { approved, others })
}

/// The problem of an app that is not deployed.
pub fn not_deployed(slug: &str) -> Problem {
    let message = message!("the app '{slug}' is not deployed; deploy it with `lyceum deploy`");
    Problem::new(ProblemKind::NotFound, message)
}

/// Approves an app for a class within the reach; doing so twice changes nothing. Teachers approve apps for their own
/// classes.
///
/// Errors: `NotFound` for the class, or an app that is not deployed.
pub fn approve(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: Approver<'_>,
    (class, slug): (&str, &str),
    reach: &Reach,
) -> Result<()> {
    fields::in_use_within(tx, &CLASS, class, reach)?;
    if !repository::all(tx)?.iter().any(|app| app.slug == slug) {
        return Err(not_deployed(slug));
    }
    if repository::insert(tx, now, who.id, (class, slug))? {
        let change = AuditChange { who: who.name, what: "class.approve-app", subject: class };
        change.note(tx, now, &json!({ "app": slug }))?;
    }
    Ok(())
}

/// Withdraws the approval of an app for a class within the reach.
///
/// Errors: `NotFound` for the class, or an app that is not approved for it.
pub fn withdraw(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: Approver<'_>,
    (class, slug): (&str, &str),
    reach: &Reach,
) -> Result<()> {
    fields::in_use_within(tx, &CLASS, class, reach)?;
    if !repository::delete(tx, (class, slug))? {
        let message = message!("the app '{slug}' is not approved for the class '{class}'");
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let change = AuditChange { who: who.name, what: "class.withdraw-app", subject: class };
    change.note(tx, now, &json!({ "app": slug }))
}

/// The apps that a student may open: those of the classes in which the student learns now, each once, by name.
pub fn of_student(tx: &mut Tx<'_>, now: Timestamp, student: &str) -> Result<Vec<ClassApp>> {
    let mut classes = roster::classes_of_member(tx, now, student, "student")?;
    let records = fields::of_all(tx, &CLASS, classes.iter().map(String::as_str))?;
    classes.retain(|class| records.get(class).is_some_and(fields::is_in_use));
    repository::of_classes(tx, &classes)
}
