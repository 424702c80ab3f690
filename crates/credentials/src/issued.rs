//! Credentials that were issued, here or elsewhere, and are kept here.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_core::random::secret_id;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde_json::Value;

use crate::body::{self, Object};
use crate::repository::issued as repository;
use crate::status::StatusEntry;

/// The form in which a credential was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialForm {
    /// JSON with an embedded proof.
    Json,
    /// A compact JWS.
    Jws,
}

impl CredentialForm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jws => "jws",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Json, Self::Jws].into_iter().find(|form| form.name() == name)
    }
}

/// What a credential says of itself, and its text.
#[derive(Clone, Debug)]
pub struct CredentialText {
    /// The id of its issuer.
    pub issuer: String,
    /// Its own id.
    pub credential: String,
    /// From when it is valid.
    pub valid_from: Timestamp,
    /// How it was signed.
    pub form: CredentialForm,
    /// The JSON or the JWS, as it was signed.
    pub body: String,
}

/// A credential on its way into the store.
#[derive(Clone, Debug)]
pub struct New {
    /// Its random id.
    pub id: String,
    /// The id of the issuer of this server that issued it.
    pub issued_by: Option<String>,
    /// The sourcedId of the learner.
    pub learner: Option<String>,
    /// What makes a repeated request the same award.
    pub award: Option<String>,
    /// Its place in a status list.
    pub place: Option<StatusEntry>,
    /// The credential.
    pub kept: CredentialText,
}

/// A credential of the store.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Its random id, part of its public address.
    pub id: String,
    /// The id of the issuer of this server that issued it; none, it was issued elsewhere.
    pub issued_by: Option<String>,
    /// The sourcedId of the learner, where this server issued it.
    pub learner: Option<String>,
    /// Its place in a status list.
    pub place: Option<StatusEntry>,
    /// The credential.
    pub kept: CredentialText,
    /// When it was revoked.
    pub revoked: Option<String>,
    /// Why it was revoked.
    pub reason: Option<String>,
}

impl Issued {
    /// The credential as a JSON object, that of a JWS out of its payload.
    pub fn object(&self) -> Result<Object> {
        match self.kept.form {
            CredentialForm::Json => {
                serde_json::from_str(&self.kept.body).map_err(Problem::internal)
            }
            CredentialForm::Jws => payload(&self.kept.body),
        }
    }
}

impl CredentialText {
    /// Reads a credential with an embedded proof. Errors: `Invalid`, naming the member.
    pub fn read(object: &Object, text: &str) -> Result<Self> {
        if !body::has_proof(object) {
            let message = "is required; send a credential that its issuer has signed, or issue \
                           one with POST …/issue-badge";
            return Err(Problem::invalid("proof", message));
        }
        let Some(Value::Object(subject)) = object.get("credentialSubject") else {
            return Err(Problem::invalid("credentialSubject", "is required; send an object"));
        };
        if !subject.get("achievement").is_some_and(Value::is_object) {
            return Err(Problem::invalid(
                "credentialSubject.achievement",
                "is required; send an object",
            ));
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
            let message = format!("a credential has at most {most} bytes");
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
        Problem::invalid("", format!("the payload of the JWS cannot be read: {}", problem.message))
    })?;
    // VC data model 1.1 puts the credential into the claim `vc`.
    match object.get("vc") {
        Some(Value::Object(credential)) => Ok(credential.clone()),
        _ => Ok(object),
    }
}

/// The outcome of storing a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upserted {
    /// There was none of that issuer with that id.
    Created,
    /// It is newer than the one that was there.
    Replaced,
    /// It is not newer than the stored one, which stays.
    NotNewer,
}

/// Keeps a credential, in place of an older one of the same issuer with the same id (Open Badges 3.0,
/// equality and comparison). Errors: `Conflict` where the one that is there was revoked.
pub fn upsert(tx: &mut Tx<'_>, now: Timestamp, kept: &CredentialText) -> Result<Upserted> {
    let Some(known) = repository::same(tx, &kept.issuer, &kept.credential)? else {
        let new = New {
            id: secret_id(),
            issued_by: None,
            learner: None,
            award: None,
            place: None,
            kept: kept.clone(),
        };
        repository::insert(tx, &new, now)?;
        return Ok(Upserted::Created);
    };
    if kept.valid_from <= known.kept.valid_from {
        return Ok(Upserted::NotNewer);
    }
    if known.revoked.is_some() {
        let message = format!("the credential '{}' is revoked permanently", kept.credential);
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    repository::replace(tx, &known.id, kept, now)?;
    Ok(Upserted::Replaced)
}

/// Adds a credential that this server signed.
pub(crate) fn add(tx: &mut Tx<'_>, now: Timestamp, new: &New) -> Result<Issued> {
    repository::insert(tx, new, now)?;
    found(tx, &new.id)
}

/// The credential with the random id of its path, or with the id in its body. Errors: `NotFound`.
pub fn found(tx: &mut Tx<'_>, id: &str) -> Result<Issued> {
    repository::find(tx, id)?.ok_or_else(|| {
        let message = format!("Unknown Object: there is no credential '{id}'");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// The credential with that random id alone: who knows it may see the credential. Errors: `NotFound`.
pub fn public(tx: &mut Tx<'_>, id: &str) -> Result<Issued> {
    let issued = found(tx, id)?;
    match issued.id == id {
        true => Ok(issued),
        false => Err(Problem::new(
            ProblemKind::NotFound,
            format!("Unknown Object: there is no credential '{id}'"),
        )),
    }
}

/// Which part of the list of credentials.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Credentials on it at most.
    pub limit: u64,
    /// Credentials before it.
    pub offset: u64,
    /// Only those that are valid from later than this.
    pub since: Option<Timestamp>,
    /// Only those about the user with this sourcedId.
    pub learner: Option<String>,
}

/// A page of the credentials in the order of their validity, and how many there are on all pages.
pub fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Issued>, u64)> {
    repository::list(tx, page)
}

/// [`list`], of a user who is known where the page is one user's. Errors: `NotFound` for an unknown user.
pub fn list_of(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Issued>, u64)> {
    if let Some(learner) = &page.learner
        && roster::find(tx, &USER, learner)?.is_none()
    {
        return Err(Problem::not_found(USER.one, learner));
    }
    list(tx, page)
}

/// The credentials of a learner that this server issued and did not revoke, in the order of issue.
pub fn of_learner(tx: &mut Tx<'_>, learner: &str, most: usize) -> Result<Vec<Issued>> {
    repository::of_learner(tx, learner, most)
}

/// Revokes a credential for good; one that is revoked already keeps its day and reason.
/// Errors: `NotFound`; `Invalid` for one that was issued elsewhere.
pub fn revoke(tx: &mut Tx<'_>, now: Timestamp, id: &str, reason: Option<&str>) -> Result<Issued> {
    let known = found(tx, id)?;
    if known.issued_by.is_none() {
        let message = "was issued by another server; only its issuer can revoke it";
        return Err(Problem::invalid("id", message));
    }
    if known.revoked.is_none() {
        repository::revoke(tx, &known.id, reason, now)?;
    }
    found(tx, &known.id)
}
