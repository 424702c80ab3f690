//! Revocation of credentials that this server signed. Each has a place in a Bitstring Status List. The 1EdTech revocation
//! list also has the reasons.
//!
//! Places are taken in steps of an odd number from a random start: all are used, and none reveals its date. All
//! versions of a learner record share the place, so revoking one revokes them all.

use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::Value;

use crate::issuer::Issuer;
use crate::limits;
use crate::repository::{issued, status as repository};
use crate::status_list::{self, Bits, RevocationList};

pub use crate::repository::issued::StatusEntry;

/// Places in a list: the minimum of the standard, so that a request for the list does not reveal the credential.
pub const LIST_PLACES: i64 = 131_072;
/// An odd step visits all places of a list in an order that does not reveal the time of issue.
const STEP: i64 = 85_229;

/// Reserves a place for a new credential of an issuer. Each place is used once.
pub fn allocate(tx: &mut Tx<'_>, issuer: &str) -> Result<StatusEntry> {
    let anywhere = i64::from(u32::from_be_bytes(secret_bytes())) % LIST_PLACES;
    let (list, first, before) = repository::allocate(tx, issuer, LIST_PLACES, anywhere)?;
    Ok(StatusEntry { list, index: (first + before * STEP) % LIST_PLACES })
}

/// The address of a list of an issuer.
pub fn address(base_url: &str, issuer: &str, list: i64) -> String {
    format!("{base_url}/issuers/{issuer}/status/{list}")
}

/// The `credentialStatus` of the place.
pub fn entry(base_url: &str, issuer: &str, place: StatusEntry) -> Value {
    status_list::entry(&address(base_url, issuer, place.list), index(place.index))
}

fn index(place: i64) -> usize {
    usize::try_from(place).expect("places are numbers from 0")
}

/// The credential of a list before it is signed. Errors: `NotFound` if the issuer does not have the list.
pub fn unsigned(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    issuer: &Issuer,
    list: i64,
) -> Result<Value> {
    if !repository::exists(tx, &issuer.id, list)? {
        let message = message!("Unknown Object: the issuer '{issuer.id}' has no list {list}");
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let mut bits = Bits::default();
    for place in repository::revoked(tx, &issuer.id, list)? {
        bits.set(index(place), true)?;
    }
    let address = address(base_url, &issuer.id, list);
    let ttl_ms = limits::STATUS_LIST_MAX_AGE_S * 1000;
    Ok(status_list::credential(&address, &issuer.did, &bits, now, ttl_ms))
}

/// The number of revoked credentials of a list. The list changes when this number does.
pub fn revoked_count(tx: &mut Tx<'_>, issuer: &str, list: i64) -> Result<usize> {
    Ok(repository::revoked(tx, issuer, list)?.len())
}

/// The 1EdTech revocation list of an issuer: each revoked credential with its reason.
pub fn revocations(tx: &mut Tx<'_>, base_url: &str, issuer: &Issuer) -> Result<RevocationList> {
    let revoked = issued::revoked(tx, &issuer.id)?;
    let address = format!("{base_url}/issuers/{}/revocations", issuer.id);
    Ok(RevocationList::new(address, issuer.did.clone(), revoked))
}
