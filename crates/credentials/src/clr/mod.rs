//! Learner records: Comprehensive Learner Record 2.0. A record is stored as it was sent, and answered as a credential
//! that is valid by the standard. The server signs the record and each credential in it. Each change is a new version;
//! former versions stay readable.

mod build;
mod compile;
mod documents;
mod update;

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::body::{self, Object};
use crate::issued::{self, CredentialForm, Page};
use crate::issuer::{Issuer, Signer};
use crate::limits;
use crate::node_ids;
use crate::repository::records as repository;
use crate::status;

pub use crate::repository::records::{Record, Version};
pub use build::unsigned;
pub use compile::compile;
pub use documents::{
    LearnerRecord, LearnerRecordUpdate, RecordAchievements, RecordVersion, RecordVersions,
};
pub use update::updated;

/// The contexts of a record that this server signs, in the order of the standard.
pub const CONTEXTS: [&str; 3] = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
];

/// A record before it is signed.
#[derive(Clone, Debug)]
pub struct UnsignedRecord {
    version: Version,
    credential: Value,
}

impl Record {
    /// The credential as a JSON object; of a JWS, its payload.
    pub fn object(&self) -> Result<Object> {
        match self.of.form {
            CredentialForm::Json => serde_json::from_str(&self.of.body).map_err(Problem::internal),
            CredentialForm::Jws => issued::payload(&self.of.body),
        }
    }
}

/// The outcome of storing a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOutcome {
    /// The record is new.
    Created,
    /// The record has a new version.
    Updated,
    /// The version is the stored one or older, so nothing was stored.
    Unchanged,
}

impl UnsignedRecord {
    /// Signs the credentials in it that have no proof yet, then the record.
    /// Errors: `Invalid` for members that JSON-LD does not define, because a signature would not cover them.
    pub fn sign(mut self, signer: &Signer, now: Timestamp) -> Result<Version> {
        node_ids::add(&mut self.credential, None);
        let nested = self.credential["credentialSubject"]["verifiableCredential"].as_array_mut();
        for (n, credential) in nested.into_iter().flatten().enumerate() {
            if credential.is_object() && credential.get("proof").is_none() {
                let path = format!("credentialSubject.verifiableCredential[{n}]");
                let with_proof = signer.sign_any(credential.take(), now);
                *credential = with_proof_list(with_proof.map_err(|problem| below(problem, &path))?);
            }
        }
        self.version.body = with_proof_list(signer.sign(self.credential, now)?).to_string();
        if self.version.body.len() > limits::CLR_MAX_BYTES {
            let most = limits::CLR_MAX_BYTES;
            let message = message!("a signed learner record has at most {most} bytes");
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        Ok(self.version)
    }
}

/// Puts the proof into a list, as clients of learner records expect it.
fn with_proof_list(mut signed: Value) -> Value {
    let proof = signed["proof"].take();
    signed["proof"] = json!([proof]);
    signed
}

fn below(mut problem: Problem, path: &str) -> Problem {
    for detail in &mut problem.details {
        detail.path = format!("{path}.{}", detail.path);
    }
    problem.message = message!("{path}: {problem}");
    problem
}

/// Reads a record that another issuer signed with an embedded proof. Errors: `Invalid`.
pub fn signed(object: &Object, text: &str) -> Result<Version> {
    record_type(object)?;
    Ok(of_signed(issued::CredentialText::of(object, CredentialForm::Json, text)?))
}

/// Reads a record as a compact JWS. Errors: `Invalid`.
pub fn signed_jws(text: &str) -> Result<Version> {
    let object = issued::payload(text.trim())?;
    record_type(&object)?;
    Ok(of_signed(issued::CredentialText::read_jws(text)?))
}

fn of_signed(signed: issued::CredentialText) -> Version {
    Version {
        id: signed.credential,
        learner: None,
        compiled_for: None,
        valid_from: signed.valid_from,
        sent: signed.body.clone(),
        form: signed.form,
        body: signed.body,
    }
}

fn record_type(object: &Object) -> Result<()> {
    match body::has_type(object, "ClrCredential") {
        true => Ok(()),
        false => {
            Err(Problem::invalid("type", "must contain VerifiableCredential and ClrCredential"))
        }
    }
}

/// Gives a record its place in a status list of the issuer that signs it, so that it can be revoked. Each
/// version has the same place.
pub fn placed(
    tx: &mut Tx<'_>,
    base_url: &str,
    issuer: &Issuer,
    mut unsigned: UnsignedRecord,
) -> Result<UnsignedRecord> {
    let record = unsigned.version.id.as_str();
    let place = match repository::place(tx, record, &issuer.id)? {
        Some(place) => place,
        None => {
            let place = status::allocate(tx, &issuer.id)?;
            repository::set_place(tx, record, &issuer.id, place)?;
            repository::place(tx, record, &issuer.id)?.unwrap_or(place)
        }
    };
    unsigned.credential["credentialStatus"] = status::entry(base_url, &issuer.id, place);
    Ok(unsigned)
}

/// Stores a new record. The same body again changes nothing, so that a request can be repeated.
/// Errors: `Conflict` if another record has its id; as [`put`].
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    version: &Version,
    reach: &Reach,
) -> Result<(Record, StoreOutcome)> {
    let known = repository::find(tx, &version.id)?;
    let known = known.map(|known| within(tx, known, &version.id, reach)).transpose()?;
    match known {
        Some(known) if known.deleted.is_none() && !is_same(&known, version) => Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "id: a learner record with the id '{version.id}' exists already with other values; send \
                 the new achievements to PUT …/clr/{{id}}, which adds them"
            ),
        )),
        _ => put(tx, now, version, reach),
    }
}

/// Stores a version of a record: the first one, or the next one. The same body again does not make a new version.
/// Errors: `Conflict` for a record that is deleted or revoked; `NotFound` for one of a learner outside of the reach.
pub fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    version: &Version,
    reach: &Reach,
) -> Result<(Record, StoreOutcome)> {
    let Some(known) = repository::find(tx, &version.id)? else {
        return Ok((repository::insert(tx, version, now)?, StoreOutcome::Created));
    };
    let known = within(tx, known, &version.id, reach)?;
    if known.deleted.is_some() {
        let message = message!("id: {reason}", reason = deleted(&known.of.id));
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if is_same(&known, version) {
        return Ok((known, StoreOutcome::Unchanged));
    }
    in_force(&known)?;
    Ok((repository::add(tx, &known, version, now)?, StoreOutcome::Updated))
}

/// Whether the stored version was sent with the same members, in any order.
fn is_same(known: &Record, version: &Version) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    known.of.sent == version.sent
        || read(&known.of.sent).is_some_and(|before| read(&version.sent) == Some(before))
}

/// Errors: `Conflict` for a record that is revoked.
fn in_force(record: &Record) -> Result<()> {
    match record.revoked {
        None => Ok(()),
        Some(_) => {
            let message = message!("the learner record '{record.of.id}' is revoked permanently");
            Err(Problem::new(ProblemKind::Conflict, message))
        }
    }
}

/// The error for a deleted record, with the way to restore it.
fn deleted(id: &str) -> Message {
    message!(
        "the learner record '{id}' is deleted; send its new achievements to PUT …/clr/{{id}} to \
         restore it"
    )
}

/// Deletes a record, so that lists do not show it. Copies of it stay valid unless it is revoked.
/// Errors: `NotFound`; `PreconditionFailed` if the newest version is not `expected`.
pub fn delete(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    id: &str,
    expected: Option<i64>,
    reach: &Reach,
) -> Result<()> {
    let known = require(tx, base_url, id, reach)?;
    known.expect(expected)?;
    repository::delete(tx, &known.of.id, now)
}

/// Revokes a record and all of its versions permanently. A revoked record keeps its time and reason.
/// Errors: `NotFound`; `Invalid` for a record that another server signed.
pub fn revoke(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    id: &str,
    reason: Option<&str>,
    reach: &Reach,
) -> Result<Record> {
    let known = require(tx, base_url, id, reach)?;
    // A record that names an issuer of this server was verified before it was stored.
    let credential = known.object()?;
    let signed_by = body::issuer_id(&credential);
    let own = Issuer::all(tx, base_url)?;
    let Some(issuer) = own.iter().find(|issuer| Some(issuer.did.as_str()) == signed_by) else {
        let message = "was signed by another server; only its issuer can revoke it";
        return Err(Problem::invalid("id", message));
    };
    // Old records may have no place, and the revocation list of 1EdTech only contains records with one.
    if !repository::has_place(tx, &known.of.id)? {
        let place = status::allocate(tx, &issuer.id)?;
        repository::set_place(tx, &known.of.id, &issuer.id, place)?;
    }
    if known.revoked.is_none() {
        repository::revoke(tx, &known.of.id, reason, now)?;
    }
    require(tx, base_url, &known.of.id, reach)
}

/// Stores the version that follows `read`, and restores a deleted record.
/// Errors: `Conflict` for a revoked record; `PreconditionFailed` if another version was stored in the meantime.
pub fn follow(tx: &mut Tx<'_>, now: Timestamp, version: &Version, read: &Record) -> Result<Record> {
    match repository::find(tx, &version.id)? {
        Some(known) if (known.number, &known.deleted) == (read.number, &read.deleted) => {
            in_force(&known)?;
            repository::add(tx, &known, version, now)
        }
        _ => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            "the record has changed since it was read; send the update again",
        )),
    }
}

/// Stores a version of a record that another issuer signed, unless the stored version is not older (Open Badges 3.0,
/// equality and comparison). Errors: `Forbidden` for a caller with a limit, because such a record belongs to no
/// organization; as [`put`].
pub fn upsert(
    tx: &mut Tx<'_>,
    now: Timestamp,
    version: &Version,
    reach: &Reach,
) -> Result<StoreOutcome> {
    if reach.is_limited() {
        let message = message!(
            "records of other issuers belong to no organization, and your access is limited to {reach}; send the \
             record without a proof"
        );
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    match repository::find(tx, &version.id)? {
        Some(known) if version.valid_from <= known.of.valid_from => Ok(StoreOutcome::Unchanged),
        _ => Ok(put(tx, now, version, reach)?.1),
    }
}

/// The newest version of the record with that id. For a record of this server, the last part of the id is enough.
/// Errors: `NotFound`, also for a record of a learner outside of the reach; its message says whether the record is
/// deleted.
pub fn require(tx: &mut Tx<'_>, base_url: &str, id: &str, reach: &Reach) -> Result<Record> {
    let record = found_or_deleted(tx, base_url, id, reach)?;
    match record.deleted {
        None => Ok(record),
        Some(_) => {
            let message = message!("Unknown Object: {problem}", problem = deleted(&record.of.id));
            Err(Problem::new(ProblemKind::NotFound, message))
        }
    }
}

/// [`require`], of deleted records too.
pub fn found_or_deleted(
    tx: &mut Tx<'_>,
    base_url: &str,
    id: &str,
    reach: &Reach,
) -> Result<Record> {
    let record = match repository::find(tx, id)? {
        Some(record) => record,
        None => repository::find(tx, &address(base_url, id))?.ok_or_else(|| unknown(id))?,
    };
    within(tx, record, id, reach)
}

/// The record, if its learner lies within the reach. Errors: `NotFound`.
fn within(tx: &mut Tx<'_>, record: Record, id: &str, reach: &Reach) -> Result<Record> {
    match issued::is_within(tx, record.of.learner.as_deref(), reach)? {
        true => Ok(record),
        false => Err(unknown(id)),
    }
}

fn unknown(id: &str) -> Problem {
    let message = message!("Unknown Object: there is no learner record '{id}'");
    Problem::new(ProblemKind::NotFound, message)
}

/// The address of a record of this server, which is its id.
pub fn address(base_url: &str, id: &str) -> String {
    format!("{base_url}/ims/clr/v2p0/clr/{id}")
}

/// A version of a record by its number. Errors: `NotFound`.
pub fn version(
    tx: &mut Tx<'_>,
    base_url: &str,
    id: &str,
    number: i64,
    reach: &Reach,
) -> Result<Record> {
    let record = require(tx, base_url, id, reach)?;
    repository::version(tx, &record.of.id, number)?.ok_or_else(|| {
        let message = message!("Unknown Object: the learner record '{id}' has no version {number}");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The versions of a record, the newest first. Errors: `NotFound`.
pub fn versions(tx: &mut Tx<'_>, base_url: &str, id: &str, reach: &Reach) -> Result<Vec<Record>> {
    let record = require(tx, base_url, id, reach)?;
    repository::versions(tx, &record.of.id)
}

/// A page of the newest versions of records in the order in which they became valid, and the number of records on all
/// pages.
pub fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Record>, u64)> {
    repository::list(tx, page)
}

/// The achievements of a record: its own, and those of the credentials in it, each once.
pub fn achievements(credential: &Object) -> Vec<Value> {
    let Some(Value::Object(subject)) = credential.get("credentialSubject") else {
        return Vec::new();
    };
    let own = body::objects(subject, "achievement");
    let nested = body::objects(subject, "verifiableCredential").filter_map(|credential| {
        credential.get("credentialSubject")?.get("achievement")?.as_object()
    });
    let mut known = std::collections::HashSet::new();
    own.chain(nested)
        .filter(|one| known.insert(one.get("id").and_then(Value::as_str).unwrap_or_default()))
        .map(|one| Value::Object(one.clone()))
        .collect()
}
