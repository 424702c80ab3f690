//! The first administrator: by a link that the server shows at its start, or by settings.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::json;

use crate::audit::{AuditChange, COMMAND_LINE};
use crate::master::MasterKey;
use crate::person::{self, NewPerson, Person, Role};
use crate::repository::people as repository;
use crate::secret;

/// Whether this server has an administrator who can sign in.
pub fn is_made(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(repository::active_administrators(tx)? > 0)
}

/// The secret of the link with which the first administrator is made. It follows from the master key, so
/// that every server of a database takes it, and opens nothing once somebody administers.
pub fn link(master: &MasterKey) -> String {
    secret::text(&master.derive("lyceum first administrator"))
}

/// Whether the link makes the first administrator now.
pub fn is_open(tx: &mut Tx<'_>, master: &MasterKey, sent: &str) -> Result<bool> {
    let is_link = secret::is_equal(&secret::hash(&link(master)), &secret::hash(sent));
    Ok(is_link && !is_made(tx)?)
}

/// The problem with a link that creates no administrator.
pub fn setup_closed() -> Problem {
    let message = "this link cannot create an administrator, because an administrator exists \
                   already or the server printed a newer link at its start";
    Problem::new(ProblemKind::NotFound, message)
}

/// Makes the first administrator by the link. `password` is a hash.
/// Errors: the link is wrong, or there is an administrator already; as of [`person::create`].
pub fn create_by_link(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    sent: &str,
    (email, name, password): (&str, &str, &str),
) -> Result<Person> {
    if !is_open(tx, master, sent)? {
        return Err(setup_closed());
    }
    create(tx, now, email, name, password, "first link")
}

/// Creates the first administrator, as the settings describe it. Does nothing if one exists. `password` is a hash.
pub fn ensure(
    tx: &mut Tx<'_>,
    now: Timestamp,
    email: &str,
    password: &str,
) -> Result<Option<Person>> {
    match is_made(tx)? {
        true => Ok(None),
        false => create(tx, now, email, email, password, "settings").map(Some),
    }
}

fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    email: &str,
    name: &str,
    password: &str,
    by: &str,
) -> Result<Person> {
    let new = NewPerson {
        email: email.to_owned(),
        name: name.to_owned(),
        role: Role::Administrator,
        password: Some(password.to_owned()),
    };
    let person = person::create(tx, now, &new)?;
    let change = AuditChange { who: COMMAND_LINE, what: "user.create", subject: &person.email };
    change.note(tx, now, &json!({ "role": person.role.name(), "by": by }))?;
    Ok(person)
}
