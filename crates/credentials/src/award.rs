//! Awarding a badge: from a definition and a learner to a credential that is ready to be signed.
//!
//! Signing takes longer than a write should, so an award is prepared in one transaction, signed outside
//! of any, and stored in a second one. A place in a status list that was taken for an award that never
//! was stored stays empty.

use std::borrow::Cow;

use lyceum_core::random::secret_id;
use lyceum_core::text::{hex, segment};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, messages};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::body::{self, Object};
use crate::definition::{self, Definition};
use crate::issued::{CredentialForm, CredentialText, Issued, New};
use crate::issuer::Signer;
use crate::repository::{definitions, issued as repository};
use crate::status::{self, StatusEntry};
use crate::{issued, verify};

/// Below the server's address: where users are.
const USERS: &str = "/ims/oneroster/rostering/v1p2/users/";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AwardRequest {
    achievement: String,
    user: String,
    awarded: Option<Instant>,
    valid_from: Option<Instant>,
    valid_until: Option<Instant>,
    /// Members of the credential as they were sent: evidence, and what the subject says beside.
    evidence: Option<Value>,
    subject: Object,
    hashed: bool,
}

/// An instant, and how it was written.
#[derive(Clone, Debug)]
struct Instant {
    at: Timestamp,
    text: String,
}

/// What an award may say of its subject (Open Badges 3.0, `AchievementSubject`).
const SUBJECT: &[&str] = &[
    "activityEndDate",
    "activityStartDate",
    "creditsEarned",
    "licenseNumber",
    "narrative",
    "result",
    "role",
    "term",
];

/// An award that is ready to be signed, or the one that the same request made before.
pub enum Prepared {
    /// To be signed and given to [`store`].
    New(Box<Unsigned>),
    /// It was made before.
    Known(Box<Issued>),
}

/// A credential before it is signed.
pub struct Unsigned {
    signer: Signer,
    credential: Value,
    new: New,
}

impl AwardRequest {
    /// Reads `{achievementId, userId, awardedDate?, validFrom?, validUntil?, evidence?, narrative?,
    /// result?, hashed?, …}`; `userId` may be the address of the user.
    /// Errors: `Invalid`, naming the member.
    pub fn read(body: &Object, base_url: &str) -> Result<Self> {
        let user = body::text(body, "userId", "userId")?;
        let hashed = match body.get("hashed") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(hashed)) => *hashed,
            Some(_) => return Err(Problem::invalid("hashed", messages::MUST_BE_BOOLEAN)),
        };
        let subject = body.iter().filter(|(name, _)| SUBJECT.contains(&name.as_str()));
        let request = Self {
            achievement: body::text(body, "achievementId", "achievementId")?.to_owned(),
            user: user_of_address(base_url, Some(user)).unwrap_or_else(|| user.to_owned()),
            awarded: instant(body, "awardedDate")?,
            valid_from: instant(body, "validFrom")?,
            valid_until: instant(body, "validUntil")?,
            evidence: body.get("evidence").filter(|evidence| !evidence.is_null()).cloned(),
            subject: subject.map(|(name, value)| (name.clone(), value.clone())).collect(),
            hashed,
        };
        let begins = request.valid_from.as_ref().or(request.awarded.as_ref());
        if let (Some(from), Some(until)) = (begins, &request.valid_until)
            && until.at <= from.at
        {
            return Err(Problem::invalid("validUntil", "must be later than validFrom"));
        }
        Ok(request)
    }

    /// What makes the same request the same award; none where the request names no day, and so each one
    /// is an award of its own.
    fn award(&self, issuer: &str) -> Option<String> {
        let awarded = self.awarded.as_ref()?.at.to_string();
        let valid_from = self.valid_from.as_ref().map(|from| from.at.to_string());
        let parts =
            [issuer, &self.achievement, &self.user, &awarded, &valid_from.unwrap_or_default()];
        Some(hex(Sha256::digest(parts.join("\n").as_bytes())))
    }
}

fn instant(body: &Object, name: &str) -> Result<Option<Instant>> {
    let Some(at) = body::opt_instant(body, name, name)? else { return Ok(None) };
    let sent = body[name].as_str().unwrap_or_default();
    // An XML Schema dateTime is stricter than what is understood here.
    let strict = sent.len() >= 20 && sent.as_bytes()[10] == b'T' && sent.ends_with('Z');
    let text = if strict { sent.to_owned() } else { at.to_string() };
    Ok(Some(Instant { at, text }))
}

/// Finds what the request names and makes the credential, in a write transaction. The same request again
/// finds the award that it made. Errors: `Invalid` for an unknown `achievementId` or `userId`.
pub fn prepare(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    request: &AwardRequest,
    signer: Signer,
) -> Result<Prepared> {
    let Some(stored) = definitions::find(tx, &request.achievement)? else {
        return Err(Problem::invalid(
            "achievementId",
            format!(
                "there is no achievement with the id '{}'; create its badge first",
                request.achievement
            ),
        ));
    };
    if stored.deleted.is_some() {
        let message = definition::deleted(&stored.definition.id);
        return Err(Problem::invalid("achievementId", message));
    }
    let Ok(user) = fields::in_use(tx, &USER, &request.user) else {
        let message =
            format!("there is no user with the sourcedId '{}'; create it first", request.user);
        return Err(Problem::invalid("userId", message));
    };
    let award = request.award(&signer.issuer.id);
    if let Some(award) = &award
        && let Some(known) = repository::of_award(tx, award)?
    {
        return Ok(Prepared::Known(Box::new(known)));
    }
    let id = secret_id();
    let place = status::take(tx, &signer.issuer.id)?;
    let credential =
        credential(now, base_url, request, &signer, &stored.definition, &user, &id, place)?;
    let from = request.valid_from.as_ref().or(request.awarded.as_ref());
    let new = New {
        id,
        issued_by: Some(signer.issuer.id.clone()),
        learner: Some(request.user.clone()),
        award,
        place: Some(place),
        kept: CredentialText {
            issuer: signer.issuer.did.clone(),
            credential: credential["id"].as_str().unwrap_or_default().to_owned(),
            valid_from: from.map_or(now, |from| from.at),
            form: CredentialForm::Json,
            body: String::new(),
        },
    };
    Ok(Prepared::New(Box::new(Unsigned { signer, credential, new })))
}

#[expect(clippy::too_many_arguments, reason = "each is one part of the credential")]
fn credential(
    now: Timestamp,
    base_url: &str,
    request: &AwardRequest,
    signer: &Signer,
    definition: &Definition,
    user: &Object,
    id: &str,
    place: StatusEntry,
) -> Result<Value> {
    let now = now.to_string();
    let awarded = request.awarded.as_ref().map_or(&now, |awarded| &awarded.text);
    let valid_from = request.valid_from.as_ref().map_or(awarded, |from| &from.text);
    let mut credential = json!({
        "@context": crate::CONTEXTS,
        "id": format!("{base_url}/credentials/{id}"),
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": definition.name(),
        "issuer": signer.issuer.profile,
        "validFrom": valid_from,
        "awardedDate": awarded,
        "credentialSubject": subject(base_url, request, definition, user)?,
        "credentialStatus": status::entry(base_url, &signer.issuer.id, place),
    });
    if let Some(until) = &request.valid_until {
        credential["validUntil"] = until.text.as_str().into();
    }
    if let Some(evidence) = &request.evidence {
        credential["evidence"] = evidence.clone();
    }
    Ok(credential)
}

fn subject(
    base_url: &str,
    request: &AwardRequest,
    definition: &Definition,
    user: &Object,
) -> Result<Value> {
    let mut subject = Object::new();
    subject.insert("id".to_owned(), user_address(base_url, &request.user).into());
    subject.insert("type".to_owned(), json!(["AchievementSubject"]));
    let email = Some(fields::text(user, "email")).filter(|email| !email.is_empty());
    let identity = match email {
        Some(email) => Some(identity("emailAddress", email)),
        None => request.hashed.then(|| identity("sourcedId", &request.user)),
    };
    if let Some(identity) = identity {
        subject.insert("identifier".to_owned(), json!([identity]));
    }
    subject.insert("achievement".to_owned(), definition.achievement()?);
    subject.extend(request.subject.clone());
    Ok(subject.into())
}

/// The address of a user, which is the id of the learner in credentials.
pub fn user_address(base_url: &str, user: &str) -> String {
    format!("{base_url}{USERS}{}", segment(user))
}

/// The user whom the id of a subject names: the address of a user, whatever the host is called, or `mailto:`
/// and an e-mail address. None: nobody of this server.
pub(crate) fn known_learner(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>> {
    if let Some(email) = id.strip_prefix("mailto:") {
        let Ok(email) = percent_decode_str(email).decode_utf8() else { return Ok(None) };
        let found = roster::first_user_with_email(tx, &email)?;
        let user = found.map(|user| fields::of(&user)).transpose()?;
        return Ok(user.map(|user| fields::text(&user, "sourcedId").to_owned()));
    }
    let is_web = id.starts_with("https://") || id.starts_with("http://");
    let Some((_, segment)) = id.rsplit_once("/users/").filter(|_| is_web) else { return Ok(None) };
    let Ok(user) = percent_decode_str(segment).decode_utf8() else { return Ok(None) };
    match fields::in_use(tx, &USER, &user) {
        Ok(_) => Ok(Some(user.into_owned())),
        Err(problem) if problem.kind == ProblemKind::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The sourcedId in the address of a user of this server.
pub(crate) fn user_of_address(base_url: &str, address: Option<&str>) -> Option<String> {
    let id = address?.strip_prefix(base_url)?.strip_prefix(USERS)?;
    percent_decode_str(id).decode_utf8().ok().map(Cow::into_owned)
}

/// A hashed identity: who knows the address can check it, who does not learns nothing (Open Badges 3.0,
/// `IdentityObject`).
pub(crate) fn identity(kind: &str, value: &str) -> Value {
    let salt = secret_id();
    json!({
        "type": "IdentityObject",
        "hashed": true,
        "identityHash": verify::hashed(value, Some(&salt)),
        "identityType": kind,
        "salt": salt,
    })
}

impl Unsigned {
    /// Signs it. Errors: `Invalid` for members of the request that cannot be part of a credential.
    pub fn sign(mut self, now: Timestamp) -> Result<New> {
        let signed = self.signer.sign(self.credential, now)?;
        self.new.kept.body = signed.to_string();
        Ok(self.new)
    }
}

/// Stores a signed award; of two alike that were made at a time the first one stands.
/// Answers the award and whether it is the new one.
pub fn store(tx: &mut Tx<'_>, now: Timestamp, new: &New) -> Result<(Issued, bool)> {
    if let Some(award) = &new.award
        && let Some(known) = repository::of_award(tx, award)?
    {
        return Ok((known, false));
    }
    Ok((issued::add(tx, now, new)?, true))
}
