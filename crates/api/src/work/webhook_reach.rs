//! Whether the owner of a webhook receives a change: only if the owner may read its object. Each kind of object has the
//! rule of its read routes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lyceum_bridge::reach::actors_within;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_events::{ActorFilter, ActorNames, Event};
use lyceum_roster::kinds::{self, USER};
use lyceum_roster::repository::{self, RecordUse};
use lyceum_store::Tx;
use lyceum_webhooks::reach::ChangedObject;
use serde_json::Value;

/// The ids by which an object lies within a reach or outside of it.
enum ReachBasis {
    /// The record of this kind with this sourcedId.
    Record(&'static str, String),
    /// The actor of an event.
    Actor(ActorNames),
    /// Nothing: the object belongs to no organization, and limited callers do not read it.
    Nothing,
}

/// Decides for each object whether it lies within the reach, which is limited.
pub(super) fn are_within(
    tx: &mut Tx<'_>,
    reach: &Reach,
    objects: &[ChangedObject<'_>],
) -> Result<Vec<bool>> {
    let bases: Vec<ReachBasis> = objects.iter().map(basis).collect::<Result<_>>()?;
    let mut ids_by_kind: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    let mut actors = Vec::new();
    for basis in &bases {
        match basis {
            ReachBasis::Record(kind, id) => drop(ids_by_kind.entry(*kind).or_default().insert(id)),
            ReachBasis::Actor(names) => actors.push(names.clone()),
            ReachBasis::Nothing => {}
        }
    }
    let mut records: HashMap<&'static str, HashSet<String>> = HashMap::new();
    for (name, ids) in ids_by_kind {
        let kind = kinds::by_name(name).ok_or_else(|| Problem::internal("a kind is declared"))?;
        let ids: Vec<&str> = ids.into_iter().collect();
        records.insert(name, repository::ids_within(tx, kind, &ids, reach, RecordUse::See)?);
    }
    let mut actors = match actors_within(reach) {
        ActorFilter::Only(seen) if !actors.is_empty() => seen.sees(tx, &actors)?,
        _ => vec![true; actors.len()],
    }
    .into_iter();
    let is_within = |basis: &ReachBasis| match basis {
        ReachBasis::Record(kind, id) => records[kind].contains(id),
        ReachBasis::Actor(_) => actors.next() == Some(true),
        ReachBasis::Nothing => false,
    };
    Ok(bases.iter().map(is_within).collect())
}

fn basis(object: &ChangedObject<'_>) -> Result<ReachBasis> {
    // The user in a member of the data.
    let user = |member: &str| {
        let data: Value = serde_json::from_str(object.data).map_err(Problem::internal)?;
        let id = data[member].as_str().map(str::to_owned);
        Ok(id.map_or(ReachBasis::Nothing, |id| ReachBasis::Record(USER.one, id)))
    };
    let (subject, action) = object.topic.split_once('.').unwrap_or((object.topic, ""));
    match (subject, action) {
        // The user of the pseudonym has the roles of the erased one.
        ("user", "erased") => user("pseudonym"),
        ("attempt", _) => user("student"),
        ("badge", _) => user("learner"),
        ("caliper", _) => {
            let event = Event::read(object.data, "", Timestamp::from_milliseconds(0))?;
            Ok(ReachBasis::Actor(ActorNames::of(&event)))
        }
        _ => Ok(match kinds::by_name(subject) {
            Some(kind) => ReachBasis::Record(kind.one, object.id.to_owned()),
            None => ReachBasis::Nothing,
        }),
    }
}
