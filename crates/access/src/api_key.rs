//! API keys: what a program such as a CI job calls with, in place of a person.

use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use crate::limits;
use crate::person::{self, Role};
use crate::repository::api_keys as repository;
pub use crate::repository::api_keys::{ApiKey, list};
use crate::secret;

/// The prefix of every key.
pub(crate) const PREFIX: &str = "lk_";
/// The prefix of every key's id.
pub(crate) const ID_PREFIX: &str = "key_";

/// An API key to create.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    /// Its name for people.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The slug of the one project that it may change; `None` for every project.
    pub project: Option<String>,
    /// The id of the person who makes it; `None` for a command.
    pub maker: Option<String>,
}

/// Creates a key and returns it with its text, which cannot be read again.
/// Errors: a name that is empty, too long, or taken by a key in force; one project for a key that may do
/// everything.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    new: &NewApiKey,
) -> Result<(ApiKey, String)> {
    let name = new.name.trim();
    if name.is_empty() || name.len() > limits::PERSON_NAME_MAX_BYTES {
        let rule = message!("must have 1 to {n} bytes", n = limits::PERSON_NAME_MAX_BYTES);
        return Err(Problem::invalid("name", rule));
    }
    if new.role == Role::Student {
        let rule = "must be 'administrator', 'guide' or 'developer'; students have no API keys";
        return Err(Problem::invalid("role", rule));
    }
    if new.project.is_some() && new.role == Role::Administrator {
        let rule = "must be left out for a key of an administrator, which has access to everything";
        return Err(Problem::invalid("project", rule));
    }
    let key = ApiKey {
        id: secret::random_text::<9>(ID_PREFIX),
        name: name.to_owned(),
        environment,
        role: new.role,
        project: new.project.clone(),
        created: now,
        used: None,
        revoked: None,
        maker: new.maker.clone(),
        is_stopped: false,
        reach: Reach::Everything,
    };
    if list(tx)?.iter().any(|known| known.revoked.is_none() && known.name == key.name) {
        let message =
            message!("there is already a key with the name '{key.name}'; revoke it first");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let text = secret::random_text::<32>(PREFIX);
    repository::insert(tx, &key, &secret::hash(&text))?;
    Ok((key, text))
}

/// Refuses the key of that name or id from now on. Errors: no key in force is called so.
pub fn revoke(tx: &mut Tx<'_>, now: Timestamp, name: &str) -> Result<ApiKey> {
    let mut key = in_force(tx, name)?;
    repository::revoke(tx, &key.id, now)?;
    key.revoked = Some(now);
    Ok(key)
}

/// Limits the key of that name or id to a part of the roster, or frees it. If the person who made the key is limited,
/// that limit applies instead. Errors: no key in force is called so; `Invalid` for an administrator's key.
pub fn limit(tx: &mut Tx<'_>, name: &str, reach: &Reach) -> Result<ApiKey> {
    let key = in_force(tx, name)?;
    person::check_limit(key.role, reach)?;
    repository::set_reach(tx, &key.id, reach)?;
    in_force(tx, &key.id)
}

/// Gives the key of that name or id another text and answers it; the former one is refused from now on.
/// Errors: no key in force is called so.
pub fn rotate(tx: &mut Tx<'_>, name: &str) -> Result<(ApiKey, String)> {
    let key = in_force(tx, name)?;
    let text = secret::random_text::<32>(PREFIX);
    repository::replace(tx, &key.id, &secret::hash(&text))?;
    Ok((key, text))
}

fn in_force(tx: &mut Tx<'_>, name: &str) -> Result<ApiKey> {
    let is_meant = |key: &ApiKey| key.revoked.is_none() && (key.name == name || key.id == name);
    list(tx)?.into_iter().find(is_meant).ok_or_else(|| {
        let message = message!("the key '{name}' does not exist or was already revoked");
        Problem::new(ProblemKind::NotFound, message)
    })
}
