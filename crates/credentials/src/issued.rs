//! Stored credentials that this server or others issued.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_core::random::secret_id;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::{Tx, outbox};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::body::{self, Object};
use crate::documents::{Credential, SignedBadge};
use crate::limits;
use crate::repository::issued as repository;

pub use crate::repository::issued::{
    CredentialForm, CredentialText, IssuedCredential, NewCredential, Page,
};

impl IssuedCredential {
    /// The credential as a JSON object; of a JWS, its payload.
    pub fn object(&self) -> Result<Object> {
        match self.signed.form {
            CredentialForm::Json => {
                serde_json::from_str(&self.signed.body).map_err(Problem::internal)
            }
            CredentialForm::Jws => payload(&self.signed.body),
        }
    }
}

impl CredentialText {
    /// Checks the rules that the schema of a signed badge cannot express. `text` is the badge as it was sent. Errors: `Invalid`,
    /// naming the member.
    pub fn read(SignedBadge(object): &SignedBadge, text: &str) -> Result<Self> {
        if !body::has_proof(object) {
            let message = "is required; send a credential that its issuer has signed, or issue \
                           one with POST …/issue-badge";
            return Err(Problem::invalid("proof", message));
        }
        Self::of(object, CredentialForm::Json, text)
    }

    /// Reads a compact JWS without verifying its signature. Errors: `Invalid`.
    pub fn read_jws(text: &str) -> Result<Self> {
        let text = text.trim();
        let object = payload(text)?;
        Self::of(&object, CredentialForm::Jws, text)
    }

    pub(crate) fn of(object: &Object, form: CredentialForm, text: &str) -> Result<Self> {
        if text.len() > limits::CREDENTIAL_STORED_MAX_BYTES {
            let most = limits::CREDENTIAL_STORED_MAX_BYTES;
            let message = message!("a credential has at most {most} bytes");
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        let issuer = body::issuer_id(object).filter(|id| body::is_uri(id));
        let issuer = issuer.ok_or_else(|| {
            Problem::invalid("issuer", "must be a URI, or an object with a URI as its id")
        })?;
        let valid_from = body::opt_instant(object, "validFrom", "validFrom")?;
        let valid_from = valid_from.ok_or_else(|| {
            Problem::invalid(
                "validFrom",
                "is required; send an instant such as 2026-01-15T08:00:00Z",
            )
        })?;
        Ok(Self {
            issuer: issuer.to_owned(),
            credential: body::uri(object, "id", "id")?.to_owned(),
            valid_from,
            form,
            body: text.to_owned(),
        })
    }
}

/// The credential in the payload of a compact JWS. Errors: `Invalid`.
pub fn payload(jws: &str) -> Result<Object> {
    let mut parts = jws.split('.');
    let payload = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(payload), Some(signature), None) if !signature.is_empty() => payload,
        _ => {
            return Err(Problem::invalid(
                "",
                "the text is not a compact JWS; send three base64url parts with full stops \
                 between them",
            ));
        }
    };
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(payload);
    let bytes =
        bytes.map_err(|_| Problem::invalid("", "the payload of the JWS must be base64url"))?;
    let object = body::parse(&bytes).map_err(|problem| {
        Problem::invalid("", message!("the payload of the JWS cannot be read: {problem.message}"))
    })?;
    // VC data model 1.1 puts the credential into the claim `vc`.
    match object.get("vc") {
        Some(Value::Object(credential)) => Ok(credential.clone()),
        _ => Ok(object),
    }
}

/// The outcome of storing a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpsertOutcome {
    /// The credential is new.
    Created,
    /// The credential is newer than the stored one and replaced it.
    Replaced,
    /// The credential is not newer than the stored one, which stays.
    NotNewer,
}

/// Stores a credential. It replaces an older one of the same issuer with the same id (Open Badges 3.0, equality and
/// comparison). Errors: `Conflict` if the stored one is revoked.
pub fn upsert(tx: &mut Tx<'_>, now: Timestamp, signed: &CredentialText) -> Result<UpsertOutcome> {
    let Some(known) = repository::of_issuer(tx, &signed.issuer, &signed.credential)? else {
        let new = NewCredential {
            id: secret_id(),
            issued_by: None,
            learner: None,
            award: None,
            place: None,
            signed: signed.clone(),
        };
        repository::insert(tx, &new, now)?;
        return Ok(UpsertOutcome::Created);
    };
    if signed.valid_from <= known.signed.valid_from {
        return Ok(UpsertOutcome::NotNewer);
    }
    if known.revoked.is_some() {
        let message = message!("the credential '{signed.credential}' is revoked permanently");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    repository::replace(tx, &known.id, signed, now)?;
    Ok(UpsertOutcome::Replaced)
}

/// Adds a credential that this server signed.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewCredential,
) -> Result<IssuedCredential> {
    repository::insert(tx, new, now)?;
    let issued = require(tx, &new.id, &Reach::Everything)?;
    announce(tx, now, "badge.issued", &issued)?;
    Ok(issued)
}

/// The credential with the random id of its path, or with the id in its body. Errors: `NotFound`, also for one of a
/// learner outside of the reach.
pub fn require(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<IssuedCredential> {
    let issued = repository::find(tx, id)?.ok_or_else(|| unknown(id))?;
    match is_within(tx, issued.learner.as_deref(), reach)? {
        true => Ok(issued),
        false => Err(unknown(id)),
    }
}

/// The credential with that random id, which gives access to its public page. Errors: `NotFound`.
pub fn public(tx: &mut Tx<'_>, id: &str) -> Result<IssuedCredential> {
    of_random_id(tx, id, &Reach::Everything)
}

/// The credential with that random id. Errors: `NotFound`, also for one of a learner outside of the reach.
pub(crate) fn of_random_id(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<IssuedCredential> {
    let issued = require(tx, id, reach)?;
    if issued.id == id { Ok(issued) } else { Err(unknown(id)) }
}

fn unknown(id: &str) -> Problem {
    let message = message!("Unknown Object: there is no credential '{id}'");
    Problem::new(ProblemKind::NotFound, message)
}

/// Whether a learner lies within the reach. A credential without a learner of this server belongs to no organization, and
/// only callers without a limit see it.
pub(crate) fn is_within(tx: &mut Tx<'_>, learner: Option<&str>, reach: &Reach) -> Result<bool> {
    match learner {
        Some(learner) => roster::is_within(tx, &USER, learner, reach),
        None => Ok(!reach.is_limited()),
    }
}

/// Credentials, by the form in which they were signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedCredentials {
    /// The credentials with embedded proofs.
    credential: Vec<Credential>,
    /// The credentials that were signed as a compact JWS.
    compact_jws_string: Vec<String>,
}

impl SignedCredentials {
    /// Sorts signed texts by their form.
    pub fn of<'t>(texts: impl Iterator<Item = (CredentialForm, &'t str)>) -> Result<Self> {
        let mut sorted = Self { credential: Vec::new(), compact_jws_string: Vec::new() };
        for (form, text) in texts {
            match form {
                CredentialForm::Json => {
                    let object = serde_json::from_str(text).map_err(Problem::internal)?;
                    sorted.credential.push(Credential(object));
                }
                CredentialForm::Jws => sorted.compact_jws_string.push(text.to_owned()),
            }
        }
        Ok(sorted)
    }
}

/// A page of the credentials in the order in which they became valid, and the number on all pages.
pub fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<IssuedCredential>, u64)> {
    repository::list(tx, page)
}

/// [`list`], which fails if the page names a user who is unknown or outside of the reach. Errors: `NotFound`.
pub fn list_of(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<IssuedCredential>, u64)> {
    if let Some(learner) = &page.learner
        && roster::find_within(tx, &USER, learner, &page.reach)?.is_none()
    {
        return Err(Problem::not_found(USER.one, learner));
    }
    list(tx, page)
}

/// The credentials of a learner that this server issued and did not revoke, in the order of issue.
pub fn of_learner(tx: &mut Tx<'_>, learner: &str, most: usize) -> Result<Vec<IssuedCredential>> {
    repository::of_learner(tx, learner, most)
}

/// Revokes a credential for good; one that is revoked already keeps its day and reason.
/// Errors: as [`require`]; `Invalid` for one that was issued elsewhere.
pub fn revoke(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    reason: Option<&str>,
    reach: &Reach,
) -> Result<IssuedCredential> {
    let known = require(tx, id, reach)?;
    if known.issued_by.is_none() {
        let message = "was issued by another server; only its issuer can revoke it";
        return Err(Problem::invalid("id", message));
    }
    if known.revoked.is_some() {
        return Ok(known);
    }
    repository::revoke(tx, &known.id, reason, now)?;
    let revoked = require(tx, &known.id, reach)?;
    announce(tx, now, "badge.revoked", &revoked)?;
    Ok(revoked)
}

/// Announces a badge to webhooks.
fn announce(tx: &mut Tx<'_>, now: Timestamp, topic: &str, issued: &IssuedCredential) -> Result<()> {
    outbox::announce(tx, topic, &issued.id, now, || {
        let data = json!({
            "id": issued.id, "learner": issued.learner, "revoked": issued.revoked,
            "reason": issued.reason, "credential": issued.object()?,
        });
        Ok(data.to_string().into())
    })
}
