//! The owners of what works on after the request that created it, such as webhooks.

use std::collections::HashMap;

use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::holder::TokenHolder;
use crate::repository::{api_keys, clients, people};
use crate::scope::Scope;

/// The client id of callers without a token in a sandbox. It is stored nowhere.
pub const SANDBOX_CLIENT: &str = "sandbox";

/// The part of the roster that each of the clients, people and API keys with these ids has access to now. Ids without
/// access are missing: those of revoked clients and keys, of disabled accounts, and of owners without the scope.
pub fn current_reaches(
    tx: &mut Tx<'_>,
    ids: &[&str],
    scope: Scope,
) -> Result<HashMap<String, Reach>> {
    let mut reaches = HashMap::new();
    let clients = clients::with_ids(tx, ids)?;
    // A client of this name on a server has the access of a client.
    let is_stored = clients.iter().any(|client| client.id == SANDBOX_CLIENT);
    if ids.contains(&SANDBOX_CLIENT) && !is_stored {
        reaches.insert(SANDBOX_CLIENT.to_owned(), Reach::Everything);
    }
    let people = people::with_ids(tx, ids)?.into_iter();
    let people = people.filter(|person| person.disabled.is_none()).map(TokenHolder::Person);
    let keys = api_keys::with_ids(tx, ids)?.into_iter();
    let keys = keys.filter(|key| key.revoked.is_none() && !key.is_stopped).map(TokenHolder::Key);
    for holder in people.chain(keys).filter(|holder| holder.scopes().rights().allow(scope)) {
        reaches.insert(holder.id().to_owned(), holder.caller().roster_reach().clone());
    }
    let clients = clients.into_iter().filter(|client| client.revoked.is_none());
    for client in clients.filter(|client| client.scopes.rights().allow(scope)) {
        reaches.insert(client.id, client.reach);
    }
    Ok(reaches)
}
