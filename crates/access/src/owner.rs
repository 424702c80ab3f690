//! The owners of what works on after the request that created it, such as webhooks.

use std::collections::HashMap;

use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::holder::TokenHolder;
use crate::repository::{api_keys, clients, people};
use crate::scope::{Rights, Scope, Scopes};

/// The client id of callers without a token in a sandbox. It is stored nowhere.
pub const SANDBOX_CLIENT: &str = "sandbox";

/// The present access of an owner.
#[derive(Clone, Debug)]
pub struct OwnerGrant {
    /// The rights of the owner's scopes.
    pub rights: Rights,
    /// The part of the roster.
    pub reach: Reach,
}

/// The present access of each of the clients, people and API keys with these ids. Ids without access are missing: those
/// of revoked clients and keys, of disabled accounts, and of owners without the scope.
pub fn current_grants(
    tx: &mut Tx<'_>,
    ids: &[&str],
    scope: Scope,
) -> Result<HashMap<String, OwnerGrant>> {
    let mut grants = HashMap::new();
    let clients = clients::with_ids(tx, ids)?;
    // A client of this name on a server has the access of a client.
    let is_stored = clients.iter().any(|client| client.id == SANDBOX_CLIENT);
    if ids.contains(&SANDBOX_CLIENT) && !is_stored {
        let (rights, reach) = (Scopes::EVERYTHING.rights(), Reach::Everything);
        grants.insert(SANDBOX_CLIENT.to_owned(), OwnerGrant { rights, reach });
    }
    let people = people::with_ids(tx, ids)?.into_iter();
    let people = people.filter(|person| person.disabled.is_none()).map(TokenHolder::Person);
    let keys = api_keys::with_ids(tx, ids)?.into_iter();
    let keys = keys.filter(|key| key.revoked.is_none() && !key.is_stopped).map(TokenHolder::Key);
    for holder in people.chain(keys) {
        let (rights, reach) = (holder.scopes().rights(), holder.caller().roster_reach().clone());
        grants.insert(holder.id().to_owned(), OwnerGrant { rights, reach });
    }
    for client in clients.into_iter().filter(|client| client.revoked.is_none()) {
        let (rights, reach) = (client.scopes.rights(), client.reach);
        grants.insert(client.id, OwnerGrant { rights, reach });
    }
    grants.retain(|_, grant| grant.rights.allow(scope));
    Ok(grants)
}
