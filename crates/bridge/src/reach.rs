//! The people within a reach, as actors in the event log.

use std::sync::Arc;

use lyceum_core::{Reach, Result};
use lyceum_events::{ActorFilter, ActorNames, SeenActors};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::{self, RecordUse};
use lyceum_store::Tx;

use crate::analytics::{owner_ids, owners};

/// The actors that are users within the reach. Under a limited reach, actors who are not in the roster are not among
/// them.
pub fn actors_within(reach: &Reach) -> ActorFilter {
    match reach.is_limited() {
        true => ActorFilter::Only(Arc::new(UsersWithin(reach.clone()))),
        false => ActorFilter::Everyone,
    }
}

#[derive(Debug)]
struct UsersWithin(Reach);

impl SeenActors for UsersWithin {
    fn all(&self, tx: &mut Tx<'_>) -> Result<Vec<i64>> {
        let mut users = Vec::new();
        repository::each_user_within(tx, &self.0, |id, email| {
            users.push((id.to_owned(), email.to_owned()));
        })?;
        let users: Vec<(&str, &str)> =
            users.iter().map(|(id, email)| (id.as_str(), email.as_str())).collect();
        Ok(owners(tx, &users)?.into_iter().map(|(actor, _)| actor).collect())
    }

    fn sees(&self, tx: &mut Tx<'_>, actors: &[ActorNames]) -> Result<Vec<bool>> {
        let names: Vec<(&str, &str)> =
            actors.iter().map(|actor| (actor.person.as_str(), actor.email.as_str())).collect();
        let users = owner_ids(tx, &names)?;
        let ids: Vec<&str> = users.iter().flatten().map(String::as_str).collect();
        let within = repository::ids_within(tx, &USER, &ids, &self.0, RecordUse::See)?;
        Ok(users.iter().map(|user| user.as_ref().is_some_and(|id| within.contains(id))).collect())
    }
}
