//! The actors whose events a reader sees. This crate does not know the roster, so the reader's side decides.

use std::fmt;
use std::sync::Arc;

use lyceum_core::{Result, message};
use lyceum_store::Tx;

use crate::envelope::Envelope;
use crate::event::{Event, local_id};
use crate::faults::EnvelopeErrors;
use crate::repository::LoggedEvent;

/// Names an actor in an event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActorNames {
    /// The sourcedId in the actor's IRI, or the whole IRI if it contains none.
    pub person: String,
    /// The e-mail address with A-Z in lower case; empty if there is none.
    pub email: String,
}

impl ActorNames {
    /// The names of the event's actor.
    pub fn of(event: &Event) -> Self {
        Self { person: local_id(&event.actor, "/users/"), email: event.email.to_ascii_lowercase() }
    }
}

/// Decides which actors a reader sees, in the state that the transaction sees.
pub trait SeenActors: fmt::Debug + Send + Sync {
    /// The numbers of all actors that the reader sees.
    fn all(&self, tx: &mut Tx<'_>) -> Result<Vec<i64>>;

    /// Whether the reader sees each of the actors. It needs a fixed number of statements.
    fn sees(&self, tx: &mut Tx<'_>, actors: &[ActorNames]) -> Result<Vec<bool>>;
}

/// The actors whose events a reader sees. Each function that reads events of several people takes one.
#[derive(Clone, Debug)]
pub enum ActorFilter {
    /// All of them.
    Everyone,
    /// Only some.
    Only(Arc<dyn SeenActors>),
}

impl ActorFilter {
    /// The numbers of the actors; `None` for all.
    pub(crate) fn numbers(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<i64>>> {
        match self {
            Self::Everyone => Ok(None),
            Self::Only(seen) => {
                let mut numbers = seen.all(tx)?;
                numbers.sort_unstable();
                Ok(Some(numbers))
            }
        }
    }

    /// Refuses an envelope with events of actors whom the sender does not see. Errors: `Malformed`, like other errors in
    /// an envelope.
    pub fn check(&self, tx: &mut Tx<'_>, envelope: &Envelope) -> Result<()> {
        let Self::Only(seen) = self else { return Ok(()) };
        let actors: Vec<ActorNames> = envelope.events.iter().map(ActorNames::of).collect();
        let are_seen = seen.sees(tx, &actors)?;
        let mut faults = EnvelopeErrors::default();
        for (event, _) in envelope.events.iter().zip(are_seen).filter(|(_, seen)| !seen) {
            let message = message!(
                "the actor '{event.actor}' of the event '{event.id}' is not a user in the part of the roster to \
                 which your access is limited; send only events of such users"
            );
            faults.at("data", message);
        }
        faults.problem().map_or(Ok(()), Err)
    }

    /// The events whose actors the reader sees.
    pub fn keep(&self, tx: &mut Tx<'_>, mut events: Vec<LoggedEvent>) -> Result<Vec<LoggedEvent>> {
        let Self::Only(seen) = self else { return Ok(events) };
        if events.is_empty() {
            return Ok(events);
        }
        let actors: Vec<ActorNames> =
            events.iter().map(|logged| ActorNames::of(&logged.event)).collect();
        let mut are_seen = seen.sees(tx, &actors)?.into_iter();
        events.retain(|_| are_seen.next() == Some(true));
        Ok(events)
    }
}
