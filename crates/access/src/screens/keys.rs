//! API keys: administrators see all, other people those that they made.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::json;

use crate::audit::AuditChange;
use crate::person::{self, Person, Role};
use crate::{ApiKey, api_key};

/// A key, and who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOfPerson {
    /// The key.
    pub key: ApiKey,
    /// The e-mail address of the person who made it; `None` if a command did.
    pub maker: Option<String>,
}

/// Reads the list of keys that a person sees.
pub fn list(tx: &mut Tx<'_>, viewer: &Person) -> Result<Vec<KeyOfPerson>> {
    let sees_all = viewer.role == Role::Administrator;
    let emails = person::list(tx)?.into_iter().map(|person| (person.id, person.email));
    let emails: HashMap<String, String> = emails.collect();
    let keys = api_key::list(tx)?.into_iter();
    let seen = keys.filter(|key| sees_all || key.maker.as_deref() == Some(&viewer.id));
    let with_maker = |key: ApiKey| {
        let maker = key.maker.as_ref().and_then(|id| emails.get(id).cloned());
        KeyOfPerson { key, maker }
    };
    Ok(seen.map(with_maker).collect())
}

/// Reads the page of a key that a person sees. Errors: `NotFound`.
pub fn read(tx: &mut Tx<'_>, viewer: &Person, id: &str) -> Result<KeyOfPerson> {
    let found = list(tx, viewer)?.into_iter().find(|one| one.key.id == id);
    found.ok_or_else(|| {
        let message = message!("you have no API key with the id '{id}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Limits a key to a part of the roster, or frees it. Errors: `Forbidden` for other people than administrators;
/// `NotFound`; as [`api_key::limit`].
pub fn limit(
    tx: &mut Tx<'_>,
    now: Timestamp,
    viewer: &Person,
    id: &str,
    reach: &Reach,
) -> Result<()> {
    if viewer.role != Role::Administrator {
        let message = "only an administrator limits API keys to organizations";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let key = api_key::limit(tx, id, reach)?;
    let change = AuditChange { who: &viewer.email, what: "key.limit", subject: id };
    change.note(tx, now, &json!({ "name": key.name, "reach": reach }))
}

/// Gives a key that a person sees a new secret, and answers it. Errors: `NotFound`.
pub fn rotate(
    tx: &mut Tx<'_>,
    now: Timestamp,
    viewer: &Person,
    id: &str,
) -> Result<(ApiKey, String)> {
    read(tx, viewer, id)?;
    let (key, secret) = api_key::rotate(tx, id)?;
    let change = AuditChange { who: &viewer.email, what: "key.rotate", subject: id };
    change.note(tx, now, &json!({ "name": key.name }))?;
    Ok((key, secret))
}

/// Revokes a key that a person sees. Errors: `NotFound`.
pub fn revoke(tx: &mut Tx<'_>, now: Timestamp, viewer: &Person, id: &str) -> Result<()> {
    read(tx, viewer, id)?;
    let key = api_key::revoke(tx, now, id)?;
    let change = AuditChange { who: &viewer.email, what: "key.revoke", subject: id };
    change.note(tx, now, &json!({ "name": key.name }))
}
