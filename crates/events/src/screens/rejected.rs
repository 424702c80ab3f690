//! Rejected envelopes: those of the last days, one of them.

use lyceum_core::text::distinct;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use crate::limits;
use crate::repository::{self, StoredRejection};

/// The envelopes to list. An empty filter admits all.
#[derive(Clone, Debug, Default)]
pub struct RejectedFilter {
    /// The id of the client.
    pub client: String,
    /// Only those that wait to be replayed, or only those that were.
    pub is_replayed: Option<bool>,
    /// The first instant of arrival.
    pub from: Option<Timestamp>,
    /// The first instant after the range.
    pub to: Option<Timestamp>,
}

impl RejectedFilter {
    fn admits(&self, refusal: &StoredRejection) -> bool {
        (self.client.is_empty() || refusal.client == self.client)
            && self.is_replayed.is_none_or(|wanted| refusal.replayed.is_some() == wanted)
            && self.from.is_none_or(|from| refusal.received >= from)
            && self.to.is_none_or(|to| refusal.received < to)
    }
}

/// The data of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedList {
    /// The number of envelopes that wait to be replayed.
    pub waiting_count: i64,
    /// The number of envelopes that were read for the list.
    pub read_count: usize,
    /// The clients of all that were read.
    pub clients: Vec<String>,
    /// The envelopes that the filter admits, the newest first.
    pub envelopes: Vec<StoredRejection>,
}

/// Reads the list.
pub fn read(tx: &mut Tx<'_>, filter: &RejectedFilter) -> Result<RejectedList> {
    let (waiting_count, _) = repository::refused_counts(tx)?;
    let mut envelopes = repository::refused(tx, limits::EVENT_REFUSED_KEPT_COUNT)?;
    let read_count = envelopes.len();
    let clients = distinct(envelopes.iter().map(|envelope| &envelope.client));
    envelopes.retain(|envelope| filter.admits(envelope));
    Ok(RejectedList { waiting_count, read_count, clients, envelopes })
}

/// The numbers of the envelopes that wait to be replayed, in the order in which they arrived.
pub fn waiting(tx: &mut Tx<'_>) -> Result<Vec<i64>> {
    let waiting =
        read(tx, &RejectedFilter { is_replayed: Some(false), ..RejectedFilter::default() })?;
    Ok(waiting.envelopes.iter().rev().map(|envelope| envelope.id).collect())
}

/// A rejected envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedEnvelope {
    /// The envelope.
    pub envelope: StoredRejection,
    /// The sent text, up to [`limits::EVENT_REFUSED_MAX_BYTES`].
    pub body: String,
}

/// Reads the page of an envelope. Errors: `NotFound`.
pub fn one(tx: &mut Tx<'_>, id: i64) -> Result<RejectedEnvelope> {
    let (envelope, body) = repository::refused_one(tx, id)?.ok_or_else(|| {
        let days = limits::EVENT_REFUSED_KEPT_DAYS;
        let message =
            message!("there is no rejected envelope {id}; they are stored for {days} days");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    Ok(RejectedEnvelope { envelope, body })
}
