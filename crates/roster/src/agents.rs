//! Agents of users: guardians, parents and others who act for a user.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Reach, Result, messages};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::kinds::USER;
use crate::reach;
use crate::record::{Object, Record, members};
use crate::repository::{self, WrittenRecord};

/// Makes a user an agent of another user. Repeating the call changes nothing.
///
/// Errors: `NotFound` for an unknown user; `Forbidden` for one who does not belong only to the reach; `Invalid` if the
/// agent is unknown or the same user.
pub fn add(
    tx: &mut Tx<'_>,
    user: &str,
    agent: &str,
    now: Timestamp,
    reach: &Reach,
) -> Result<WrittenRecord> {
    reach::check_change(tx, &USER, user, reach)?;
    let mut fields = user_fields(tx, user)?;
    let refused = |message: Message| Err(Problem::invalid("agentSourcedId", message));
    if agent == user {
        return refused("must be another user; a user cannot be their own agent".into());
    }
    if repository::find_within(tx, &USER, agent, reach)?.is_none() {
        return refused(messages::unknown_reference("user", agent));
    }
    let agents = fields.entry("agents").or_insert_with(|| json!([]));
    let agents = agents.as_array_mut().ok_or_else(|| Problem::internal("agents are a list"))?;
    if !agents.iter().any(|known| is(known, agent)) {
        agents.push(json!({ "sourcedId": agent }));
    }
    replace(tx, &fields, now)
}

/// Removes an agent from a user.
///
/// Errors: `NotFound` for an unknown user, and for a user who is not an agent of this user; `Forbidden` for a user who
/// does not belong only to the reach.
pub fn remove(
    tx: &mut Tx<'_>,
    user: &str,
    agent: &str,
    now: Timestamp,
    reach: &Reach,
) -> Result<()> {
    reach::check_change(tx, &USER, user, reach)?;
    let mut fields = user_fields(tx, user)?;
    let agents = fields.get_mut("agents").and_then(Value::as_array_mut);
    let before = agents.as_ref().map_or(0, |agents| agents.len());
    let after = agents.map_or(0, |agents| {
        agents.retain(|known| !is(known, agent));
        agents.len()
    });
    if before == after {
        return Err(Problem::not_found("agent of the user", agent));
    }
    replace(tx, &fields, now)?;
    Ok(())
}

fn is(reference: &Value, id: &str) -> bool {
    reference.get("sourcedId").is_some_and(|known| known == id)
}

pub(crate) fn user_fields(tx: &mut Tx<'_>, user: &str) -> Result<Object> {
    let stored =
        repository::find(tx, &USER, user)?.ok_or_else(|| Problem::not_found(USER.one, user))?;
    members(&stored.body, stored.extra.as_deref())
}

pub(crate) fn replace(tx: &mut Tx<'_>, fields: &Object, now: Timestamp) -> Result<WrittenRecord> {
    let record = Record::from_server(&USER, fields, now)?;
    repository::replace(tx, &record, None)
}
