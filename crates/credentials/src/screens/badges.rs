//! Issued badges, badge definitions, one badge; revoking it.

use std::collections::HashMap;

use lyceum_access::audit::AuditChange;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::{Learner, MOST, UserNames, newest, text, title};
use crate::definition;
use crate::issued::{self, IssuedCredential};
use crate::{limits, verify};

/// Whether a badge still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadgeState {
    /// It does.
    Valid,
    /// Its time is over.
    Expired,
    /// Its issuer revoked it, whether or not its time is over.
    Revoked,
}

/// A filter of the list of badges. An empty filter admits all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only badges in this state.
    pub state: Option<BadgeState>,
    /// The id of the achievement.
    pub achievement: String,
}

/// A badge of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Badge {
    /// The random id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The id of its achievement; empty if it has none.
    pub achievement: String,
    /// The name of its issuer.
    pub issuer: String,
    /// The learner; none for a badge that was issued elsewhere.
    pub learner: Option<Learner>,
    /// From when it is valid.
    pub valid_from: Timestamp,
    /// Its state now.
    pub state: BadgeState,
}

/// The list of badges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Badges {
    /// How many were read for the list.
    pub read_count: usize,
    /// The badges that the filter admits, the newest first.
    pub badges: Vec<Badge>,
}

/// Reads the list of badges of learners within the reach.
pub fn read(tx: &mut Tx<'_>, now: Timestamp, filter: &Filter, reach: &Reach) -> Result<Badges> {
    let found = newest(reach, |page| issued::list(tx, &page))?;
    let names = UserNames::of(tx, found.iter().filter_map(|issued| issued.learner.as_deref()))?;
    let mut badges =
        found.iter().map(|issued| badge(issued, now, &names)).collect::<Result<Vec<Badge>>>()?;
    badges.retain(|badge| {
        filter.state.is_none_or(|wanted| badge.state == wanted)
            && (filter.achievement.is_empty() || badge.achievement == filter.achievement)
    });
    Ok(Badges { read_count: found.len(), badges })
}

fn badge(issued: &IssuedCredential, now: Timestamp, names: &UserNames) -> Result<Badge> {
    let credential = Value::from(issued.object()?);
    Ok(Badge {
        id: issued.id.clone(),
        title: title(&credential),
        achievement: achievement(&credential),
        issuer: text(&credential["issuer"]["name"]),
        learner: issued.learner.as_deref().map(|id| names.learner(id)),
        valid_from: issued.signed.valid_from,
        state: match verify::valid_until(&credential) {
            _ if issued.revoked.is_some() => BadgeState::Revoked,
            Some(until) if until < now => BadgeState::Expired,
            _ => BadgeState::Valid,
        },
    })
}

fn achievement(credential: &Value) -> String {
    text(&credential["credentialSubject"]["achievement"]["id"])
}

/// A badge definition of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadgeDefinition {
    /// Its name.
    pub name: String,
    /// The id of its achievement.
    pub achievement: String,
    /// How many of the badges that were read are of it.
    pub issued_count: usize,
    /// The time of its last change, in the format of [`Timestamp`].
    pub updated: String,
}

/// The list of badge definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// How many definitions or badges were read for the list, whichever is more.
    pub read_count: usize,
    /// The definitions, the oldest first.
    pub definitions: Vec<BadgeDefinition>,
}

/// Reads the list of badge definitions, and counts the badges of learners within the reach.
pub fn definitions(tx: &mut Tx<'_>, reach: &Reach) -> Result<Definitions> {
    let (stored, _) = definition::list(tx, MOST, 0)?;
    let issued = newest(reach, |page| issued::list(tx, &page))?;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for issued in issued.iter().filter(|issued| issued.learner.is_some()) {
        *counts.entry(achievement(&Value::from(issued.object()?))).or_default() += 1;
    }
    let read_count = stored.len().max(issued.len());
    let definitions = stored.into_iter().map(|stored| BadgeDefinition {
        name: stored.definition.name().to_owned(),
        issued_count: counts.get(&stored.definition.achievement).copied().unwrap_or_default(),
        achievement: stored.definition.achievement,
        updated: stored.updated,
    });
    Ok(Definitions { read_count, definitions: definitions.collect() })
}

/// The content of the page of one badge, beside the checks of its verification.
#[derive(Clone, Debug)]
pub struct OneBadge {
    /// The credential as it is stored.
    pub issued: IssuedCredential,
    /// Its title.
    pub title: String,
    /// The learner; none for a badge that was issued elsewhere, or to a purged user.
    pub learner: Option<Learner>,
}

/// Reads the page of a badge, by its random id. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<OneBadge> {
    let issued = issued::of_random_id(tx, id, reach)?;
    let names = UserNames::of(tx, issued.learner.as_deref().into_iter())?;
    let learner = issued.learner.as_deref().filter(|id| names.0.contains_key(*id));
    let learner = learner.map(|id| names.learner(id));
    Ok(OneBadge { title: title(&Value::from(issued.object()?)), learner, issued })
}

/// Revokes a badge, and notes who did it and why. Errors: `Invalid` for a reason that is missing or too long;
/// as [`issued::revoke`].
pub fn revoke(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    id: &str,
    reason: &str,
    reach: &Reach,
) -> Result<IssuedCredential> {
    let most = limits::REVOCATION_REASON_MAX_CHARS;
    if reason.is_empty() || reason.chars().count() > most {
        return Err(Problem::invalid("reason", message!("is required, {most} characters at most")));
    }
    let issued = issued::of_random_id(tx, id, reach)?;
    if issued.revoked.is_none() {
        let change = AuditChange { who, what: "badge.revoke", subject: &issued.id };
        change.note(tx, now, &json!({ "reason": reason }))?;
    }
    issued::revoke(tx, now, &issued.id, Some(reason), reach)
}
