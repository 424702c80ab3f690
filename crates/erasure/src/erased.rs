//! Recognizes the ids of erased persons without storing them: the store has keyed hashes, and the key follows from the
//! master key, which is not in the database.

use std::collections::HashSet;
use std::sync::Arc;

use lyceum_access::MasterKey;
use lyceum_access::sealed::SealedColumn;
use lyceum_core::text::hex;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_events::{Event, local_id};
use lyceum_roster::csv::ErasedUsers;
use lyceum_store::Tx;
use ring::hmac;

use crate::erase::{Erasure, SEAL};
use crate::sql;

/// The sealed strings of persons whose erasure is not complete.
pub const SEALED_SUBJECTS: SealedColumn = SealedColumn {
    table: "erasures",
    column: "subject",
    key: &["CAST(id AS TEXT)"],
    label: |_| SEAL.to_owned(),
};

/// The key for hashing ids and for sealing the strings of a person.
#[derive(Clone)]
pub struct ErasureKey {
    pub(crate) master: MasterKey,
    ids: hmac::Key,
}

impl ErasureKey {
    /// The key that belongs to the master key.
    pub fn new(master: MasterKey) -> Self {
        let ids = hmac::Key::new(hmac::HMAC_SHA256, &master.derive("ids of erased persons"));
        Self { master, ids }
    }

    /// The hash of an id. E-mail addresses have the same hash in any case of A-Z.
    pub(crate) fn hash(&self, id: &str) -> String {
        let lower = id.to_ascii_lowercase();
        let id = if id.contains('@') { lower.as_str() } else { id };
        hex(hmac::sign(&self.ids, id.as_bytes()))
    }

    /// The ids that belong to erased persons.
    pub fn erased<'i>(&self, tx: &mut Tx<'_>, ids: &[&'i str]) -> Result<HashSet<&'i str>> {
        if ids.is_empty() || !sql::any_erased(tx)? {
            return Ok(HashSet::new());
        }
        let hashes: Vec<String> = ids.iter().map(|id| self.hash(id)).collect();
        let erased: HashSet<String> = sql::erased_among(tx, &hashes)?.into_iter().collect();
        let pairs = ids.iter().zip(hashes);
        Ok(pairs.filter(|(_, hash)| erased.contains(hash)).map(|(id, _)| *id).collect())
    }

    /// Refuses the rows of erased users in an import.
    pub fn erased_users(&self) -> ErasedUsers {
        let key = self.clone();
        let find = move |tx: &mut Tx<'_>, ids: &[&str]| -> Result<HashSet<String>> {
            Ok(key.erased(tx, ids)?.into_iter().map(str::to_owned).collect())
        };
        ErasedUsers(Arc::new(find))
    }

    /// The erasure of the person with this id, if it was begun.
    pub fn erasure_of(&self, tx: &mut Tx<'_>, id: &str) -> Result<Option<Erasure>> {
        sql::of_hash(tx, &self.hash(id))?.as_ref().map(Erasure::of).transpose()
    }

    /// Refuses records of erased persons. Errors: `Conflict`.
    pub fn refuse_ids(&self, tx: &mut Tx<'_>, path: &str, ids: &[&str]) -> Result<()> {
        let erased = self.erased(tx, ids)?.len();
        let detail = || Detail { path: path.to_owned(), message: ERASED.into() };
        if erased == 0 {
            Ok(())
        } else {
            Err(refused(std::iter::repeat_with(detail).take(erased).collect()))
        }
    }

    /// Refuses events of erased persons; each list has the events of one envelope. Errors: `Conflict`, with the place
    /// of each event in its envelope.
    pub fn refuse_events<'e>(
        &self,
        tx: &mut Tx<'_>,
        envelopes: impl Iterator<Item = &'e [Event]>,
    ) -> Result<()> {
        if !sql::any_erased(tx)? {
            return Ok(());
        }
        let events = envelopes.flat_map(|events| events.iter().enumerate());
        let events: Vec<(usize, &Event, String)> =
            events.map(|(at, event)| (at, event, local_id(&event.actor, "/users/"))).collect();
        let ids = events.iter().flat_map(|(_, event, person)| [event.email.as_str(), person]);
        let ids: HashSet<&str> = ids.filter(|id| !id.is_empty()).collect();
        let erased = self.erased(tx, &ids.into_iter().collect::<Vec<_>>())?;
        let details: Vec<Detail> = events
            .iter()
            .filter(|(_, event, person)| {
                erased.contains(event.email.as_str()) || erased.contains(person.as_str())
            })
            .map(|(at, ..)| Detail { path: format!("data[{at}].actor"), message: ERASED.into() })
            .collect();
        if details.is_empty() { Ok(()) } else { Err(refused(details)) }
    }
}

/// The answer to a client about an erased person.
pub const ERASED: &str = "names a person who was erased from this server; do not send it again";

fn refused(details: Vec<Detail>) -> Problem {
    let message = message!("the request {ERASED}");
    Problem { details, ..Problem::new(ProblemKind::Conflict, message) }
}
