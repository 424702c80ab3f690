//! The messages that the owner of a webhook may receive: changes of objects that the owner may read now, with a scope
//! that reads them. The crates of the objects decide what lies within a reach, so the server passes a function.

use std::collections::{BTreeSet, HashMap, HashSet};

use lyceum_access::{OwnerGrant, Scope};
use lyceum_core::{Reach, Result};
use lyceum_store::Tx;

use crate::topics;

/// The object of a change.
#[derive(Clone, Copy, Debug)]
pub struct ChangedObject<'a> {
    /// The topic of the change.
    pub topic: &'a str,
    /// The id of the object.
    pub id: &'a str,
    /// The data of the change, as JSON.
    pub data: &'a str,
}

/// Decides for each object whether it lies within the reach, which is limited. It needs a fixed number of statements.
pub type AreWithin = fn(&mut Tx<'_>, &Reach, &[ChangedObject<'_>]) -> Result<Vec<bool>>;

/// Whether the owner of a webhook may receive a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerAccess {
    /// Yes.
    Allowed,
    /// The owner has no scope that reads the object.
    Unreadable,
    /// The object lies outside of the owner's reach.
    Outside,
    /// The owner was revoked or disabled, or lost the right to webhooks.
    Ended,
}

/// Decides for each pair of an owner and the number of an object. The objects of a reach are looked up together, however
/// many webhooks have it.
pub(crate) fn decide(
    tx: &mut Tx<'_>,
    are_within: AreWithin,
    objects: &[ChangedObject<'_>],
    pairs: &[(&str, usize)],
) -> Result<Vec<OwnerAccess>> {
    let owners: BTreeSet<&str> = pairs.iter().map(|(owner, _)| *owner).collect();
    let owners: Vec<&str> = owners.into_iter().collect();
    let grants = lyceum_access::current_grants(tx, &owners, Scope::WebhooksWrite)?;
    let readable = |(owner, object): &(&str, usize)| {
        let grant = grants.get(*owner)?;
        let group = topics::group(objects[*object].topic)?;
        group.is_read_with(grant.rights).then_some(grant)
    };
    let mut to_check: HashMap<&Reach, BTreeSet<usize>> = HashMap::new();
    for pair in pairs {
        if let Some(grant) = readable(pair).filter(|grant| grant.reach.is_limited()) {
            to_check.entry(&grant.reach).or_default().insert(pair.1);
        }
    }
    let mut within: HashMap<&Reach, HashSet<usize>> = HashMap::new();
    for (reach, numbers) in to_check {
        let checked: Vec<ChangedObject<'_>> =
            numbers.iter().map(|number| objects[*number]).collect();
        let are = are_within(tx, reach, &checked)?;
        let numbers = numbers.into_iter().zip(are).filter(|(_, is_within)| *is_within);
        within.insert(reach, numbers.map(|(number, _)| number).collect());
    }
    let access = |pair: &(&str, usize)| match readable(pair) {
        None if grants.contains_key(pair.0) => OwnerAccess::Unreadable,
        None => OwnerAccess::Ended,
        Some(OwnerGrant { reach, .. }) => {
            match !reach.is_limited() || within[reach].contains(&pair.1) {
                true => OwnerAccess::Allowed,
                false => OwnerAccess::Outside,
            }
        }
    };
    Ok(pairs.iter().map(access).collect())
}
