//! Changes of accounts: by administrators, and by people with their own. Each change is in the audit log.

use lyceum_core::language::Language;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::audit::AuditChange;
use crate::person::{self, Person, Role};
pub use crate::repository::people::{AccountFilter, AccountPage, page};
use crate::repository::{api_keys, people as repository, sessions as session_rows};
use crate::session;
use crate::student;

/// A change of an account; `None` keeps the value.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// The name of its owner.
    pub name: Option<String>,
    /// The role of its owner.
    pub role: Option<Role>,
    /// The language in which its owner reads pages; `Some(None)` lets the browser decide.
    pub language: Option<Option<Language>>,
}

/// The account with this id. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Person> {
    person::find(tx, id)?.ok_or_else(|| Problem::not_found("account", id))
}

/// Notes that an account was created.
pub fn note_created(tx: &mut Tx<'_>, now: Timestamp, who: &str, person: &Person) -> Result<()> {
    let details = json!({ "role": person.role.name(), "rosterUser": person.roster_user });
    note(tx, now, (who, "user.create", person), &details)
}

/// Changes an account. A new role revokes the API keys that its owner made, because they have the former role.
/// Errors: `NotFound`; `Invalid` for a wrong name, a role to or from student, and an administrator with a limited
/// reach; `Conflict` for the last administrator.
pub fn change(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    id: &str,
    change: &AccountChange,
) -> Result<Person> {
    let mut person = find(tx, id)?;
    if let Some(name) = &change.name {
        person.name = person::checked_name(name)?;
        repository::set_name(tx, id, &person.name)?;
    }
    if let Some(role) = change.role.filter(|role| *role != person.role) {
        if role == Role::Student || person.role == Role::Student {
            let rule = "cannot change to or from 'student'; create another account";
            return Err(Problem::invalid("role", rule));
        }
        person::check_limit(role, &person.reach)?;
        repository::set_role(tx, id, role)?;
        if person.role == Role::Administrator {
            person::require_administrator(tx, &person)?;
        }
        api_keys::revoke_all_of(tx, id, now)?;
        person.role = role;
    }
    if let Some(language) = change.language {
        repository::set_language(tx, id, language)?;
        person.language = language;
    }
    let language = change.language.map(|language| language.map(Language::tag));
    let details = json!({ "name": change.name, "role": change.role, "language": language });
    note(tx, now, (who, "user.change", &person), &details)?;
    Ok(person)
}

/// Limits an account to a part of the roster, or frees it. Errors: `NotFound`; as [`person::limit`].
pub fn limit(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    id: &str,
    reach: &Reach,
) -> Result<Person> {
    let person = find(tx, id)?;
    let person = person::limit(tx, &person.id, reach)?;
    note(tx, now, (who, "user.limit", &person), &json!({ "reach": reach }))?;
    Ok(person)
}

/// Disables an account, as [`person::disable`]. Errors: as there.
pub fn disable(tx: &mut Tx<'_>, now: Timestamp, who: &str, id: &str) -> Result<Person> {
    let person = find(tx, id)?;
    let person = person::disable(tx, now, &person.id)?;
    note(tx, now, (who, "user.disable", &person), &Value::Null)?;
    Ok(person)
}

/// Lets the owner of a disabled account sign in again, with the former password or identity.
/// Errors: `NotFound`; `Conflict` if the student has another active account.
pub fn enable(tx: &mut Tx<'_>, now: Timestamp, who: &str, id: &str) -> Result<Person> {
    let mut person = find(tx, id)?;
    if person.disabled.take().is_none() {
        return Ok(person);
    }
    if let Some(user) = &person.roster_user
        && let Some(other) = student::of_user(tx, user)?
    {
        let message = message!(
            "the user '{user}' of the roster has the account '{account}'",
            account = other.account_name()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    repository::enable(tx, id)?;
    note(tx, now, (who, "user.enable", &person), &Value::Null)?;
    Ok(person)
}

/// A link with which the owner sets a new password once, as [`person::new_link`].
/// Errors: `NotFound`; `Conflict` for a disabled account.
pub fn new_link(tx: &mut Tx<'_>, now: Timestamp, who: &str, id: &str) -> Result<(Person, String)> {
    let person = find(tx, id)?;
    if person.disabled.is_some() {
        let message = message!(
            "the account '{account}' is disabled; enable it first",
            account = person.account_name()
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let link = person::new_link(tx, now, &person)?;
    note(tx, now, (who, "user.link", &person), &Value::Null)?;
    Ok((person, link))
}

/// Ends one session of an account by its id, or all. Errors: `NotFound`.
pub fn end_sessions(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    id: &str,
    session: Option<&str>,
) -> Result<()> {
    let person = find(tx, id)?;
    match session {
        Some(session) => session::end_of(tx, &person.id, session)?,
        None => session_rows::delete_all_of(tx, &person.id)?,
    }
    note(tx, now, (who, "user.sessions", &person), &Value::Null)
}

/// Gives the owner another password; its hash is passed in. All other sessions end, and links stop.
pub fn set_own_password(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &Person,
    password: &str,
    session: &str,
) -> Result<()> {
    person::set_password(tx, person, password, session)?;
    note(tx, now, (person.account_name(), "user.password", person), &Value::Null)
}

fn note(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (who, what, person): (&str, &'static str, &Person),
    details: &Value,
) -> Result<()> {
    AuditChange { who, what, subject: person.account_name() }.note(tx, now, details)
}
