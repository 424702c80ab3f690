//! A new API key: the projects to choose from, and creating the key.

use lyceum_access::audit::AuditChange;
use lyceum_access::{ApiKey, NewApiKey, Person, Role, TokenHolder, api_key};
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::json;

use super::projects;

/// Reads the form: the slugs of the projects that a key of the person can be for.
pub fn read(tx: &mut Tx<'_>, person: &Person) -> Result<Vec<String>> {
    let projects = projects::read(tx, &TokenHolder::Person(person.clone()))?;
    Ok(projects.into_iter().map(|project| project.slug).collect())
}

/// Creates a key of a person, and answers it with its text. A key never has more rights than its maker: only an
/// administrator chooses its role, and only an administrator's key is for all projects.
/// Errors: `Forbidden`; as [`api_key::create`].
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    person: &Person,
    (name, role, project): (&str, Role, Option<&str>),
) -> Result<(ApiKey, String)> {
    let is_administrator = person.role == Role::Administrator;
    let is_own = match project {
        Some(slug) => {
            crate::projects::find(tx, slug)?;
            TokenHolder::Person(person.clone()).may_change(tx, slug)?
        }
        None => is_administrator,
    };
    if !is_own {
        let message = "choose a project that you are a member of";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let new = NewApiKey {
        name: name.to_owned(),
        role: if is_administrator { role } else { person.role },
        project: project.map(str::to_owned),
        maker: Some(person.id.clone()),
    };
    let (key, text) = api_key::create(tx, now, environment, &new)?;
    let details = json!({ "name": key.name, "role": key.role.name(), "project": key.project });
    let change = AuditChange { who: &person.email, what: "key.create", subject: &key.id };
    change.note(tx, now, &details)?;
    Ok((key, text))
}
