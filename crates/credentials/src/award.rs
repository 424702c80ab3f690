//! Awards a badge: builds a credential from a definition and a learner.
//!
//! Signing takes longer than a write should, so an award is prepared in one transaction, signed outside of transactions, and
//! stored in a second one. If the award is not stored, its place in the status list stays empty.
//!
//! Issuer, achievement, learner, `awardedDate` and `validFrom` identify an award: the same request gets the same
//! credential, so a repeated request issues no second badge.

use std::borrow::Cow;

use lyceum_core::messages::unknown_reference;
use lyceum_core::random::secret_id;
use lyceum_core::text::{hex, segment};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::body::{self, Object};
use crate::definition::{self, Definition};
use crate::documents::OptionalInstant;
use crate::issued::{CredentialForm, CredentialText, IssuedCredential, NewCredential};
use crate::issuer::Signer;
use crate::repository::{definitions, issued as repository};
use crate::status::{self, StatusEntry};
use crate::{issued, node_ids, verify};

/// The path of users on this server.
const USERS: &str = "/ims/oneroster/rostering/v1p2/users/";

/// A request to issue a badge to a learner.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BadgeAward")]
pub struct AwardRequest {
    /// The id of the achievement, or of the definition of its badge.
    #[schemars(length(min = 1))]
    achievement_id: String,
    /// The sourcedId of the learner, or the address of the learner on this server.
    #[schemars(length(min = 1))]
    user_id: String,
    /// When the achievement was earned. Without it, each request is an award of its own.
    #[serde(default, deserialize_with = "instant")]
    #[schemars(with = "OptionalInstant")]
    awarded_date: Option<SentInstant>,
    /// From when the badge is valid; without it, from `awardedDate` or now.
    #[serde(default, deserialize_with = "instant")]
    #[schemars(with = "OptionalInstant")]
    valid_from: Option<SentInstant>,
    /// Until when the badge is valid; it must be later than `validFrom`.
    #[serde(default, deserialize_with = "instant")]
    #[schemars(with = "OptionalInstant")]
    valid_until: Option<SentInstant>,
    /// The evidence of the achievement: objects of the type Evidence.
    evidence: Option<Value>,
    /// Whether the sourcedId of a learner without an e-mail address becomes a hashed identity.
    hashed: Option<bool>,
    #[serde(flatten)]
    subject: SubjectDetails,
}

/// The details of an award about its subject (Open Badges 3.0, `AchievementSubject`).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubjectDetails {
    /// When the activity ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity_end_date: Option<Value>,
    /// When the activity began.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity_start_date: Option<Value>,
    /// The credits that the learner earned.
    #[serde(skip_serializing_if = "Option::is_none")]
    credits_earned: Option<Value>,
    /// The number of the licence that the badge stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    license_number: Option<Value>,
    /// The learner's work, as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    narrative: Option<Value>,
    /// The results of the learner: objects of the type Result.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// The role of the learner in the activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Value>,
    /// The term in which the learner earned the achievement.
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<Value>,
}

/// An instant, and the text that was sent for it.
#[derive(Clone, Debug)]
struct SentInstant {
    at: Timestamp,
    text: String,
}

/// An award that can be signed, or the award of an earlier request.
pub enum PreparedAward {
    /// A new award. Sign it with [`UnsignedAward::sign`] and pass it to [`store`].
    New(Box<UnsignedAward>),
    /// The award of an earlier request.
    Known(Box<IssuedCredential>),
}

/// A credential before it is signed.
pub struct UnsignedAward {
    signer: Signer,
    credential: Value,
    new: NewCredential,
}

impl AwardRequest {
    /// The earliest instant from which the badge can be valid; `None` for the time of issue.
    fn begins(&self) -> Option<&SentInstant> {
        self.valid_from.as_ref().or(self.awarded_date.as_ref())
    }

    /// The sourcedId of the learner.
    fn learner(&self, base_url: &str) -> String {
        let of_address = user_of_address(base_url, Some(&self.user_id));
        of_address.unwrap_or_else(|| self.user_id.clone())
    }

    /// Refuses a request that asks for another credential than the award that it repeats.
    fn expect_same(&self, known: &IssuedCredential) -> Result<()> {
        let mut wanted = json!({
            "credentialSubject": serde_json::to_value(&self.subject).map_err(Problem::internal)?,
        });
        if let Some(until) = &self.valid_until {
            wanted["validUntil"] = until.text.as_str().into();
        }
        if let Some(evidence) = &self.evidence {
            wanted["evidence"] = evidence.clone();
        }
        node_ids::add(&mut wanted, None);
        expect_same(known, &wanted)
    }

    /// The key by which a repeated request finds its award; `None` if each request is an award of its own.
    fn key(&self, issuer: &str, learner: &str) -> Option<String> {
        let awarded = self.awarded_date.as_ref()?.at.to_string();
        let valid_from = self.valid_from.as_ref().map(|from| from.at.to_string());
        let valid_from = valid_from.unwrap_or_default();
        let parts = [issuer, &self.achievement_id, learner, &awarded, &valid_from];
        Some(hex(Sha256::digest(parts.join("\n").as_bytes())))
    }
}

/// The members of a credential that a request decides, apart from those that identify its award.
const DECIDED: [&str; 10] = [
    "/validUntil",
    "/evidence",
    "/credentialSubject/activityEndDate",
    "/credentialSubject/activityStartDate",
    "/credentialSubject/creditsEarned",
    "/credentialSubject/licenseNumber",
    "/credentialSubject/narrative",
    "/credentialSubject/result",
    "/credentialSubject/role",
    "/credentialSubject/term",
];

/// Refuses to take an award for the repetition of another one. Errors: `Conflict` with the first member that differs.
fn expect_same(known: &IssuedCredential, wanted: &Value) -> Result<()> {
    let credential: Value = serde_json::from_str(&known.signed.body).map_err(Problem::internal)?;
    let is_same = |pointer: &&&str| {
        let [before, now] = [&credential, wanted].map(|one| one.pointer(pointer));
        let instant = |value: Option<&Value>| value?.as_str().and_then(body::instant);
        before == now
            || **pointer == "/validUntil" && instant(before) == instant(now) && now.is_some()
    };
    let Some(member) = DECIDED.iter().find(|pointer| !is_same(pointer)) else { return Ok(()) };
    let name = member.rsplit('/').next().unwrap_or_default();
    let message = message!(
        "{name}: this award was issued with another value; revoke it, or send another awardedDate"
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Reads an instant with date and time; an empty text counts as missing.
fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SentInstant>, D::Error> {
    let sent: Option<String> = Option::deserialize(deserializer)?;
    let Some(sent) = sent.filter(|sent| !sent.is_empty()) else { return Ok(None) };
    let at = body::instant(&sent).ok_or_else(|| de::Error::custom(body::not_an_instant(&sent)))?;
    // Credentials contain an XML Schema dateTime, which allows fewer forms.
    let is_strict = sent.len() >= 20 && sent.as_bytes()[10] == b'T' && sent.ends_with('Z');
    Ok(Some(SentInstant { at, text: if is_strict { sent } else { at.to_string() } }))
}

/// Finds the achievement and the learner of the request and builds the credential, in a write transaction. The same
/// request again finds the award that it made. Errors: `Invalid` for an unknown `achievementId` or `userId`, for a user
/// outside of the reach, and for a `validUntil` that is too early; `Conflict` if the award was issued with other values.
pub fn prepare(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    request: &AwardRequest,
    signer: Signer,
    reach: &Reach,
) -> Result<PreparedAward> {
    if let (Some(from), Some(until)) = (request.begins(), &request.valid_until)
        && until.at <= from.at
    {
        return Err(Problem::invalid("validUntil", "must be later than validFrom"));
    }
    let Some(stored) = definitions::find(tx, &request.achievement_id)? else {
        return Err(Problem::invalid(
            "achievementId",
            message!(
                "there is no achievement with the id '{request.achievement_id}'; create its badge first"
            ),
        ));
    };
    if stored.deleted.is_some() {
        let message = definition::deleted(&stored.definition.id);
        return Err(Problem::invalid("achievementId", message));
    }
    let learner = request.learner(base_url);
    let Ok(user) = fields::in_use_within(tx, &USER, &learner, reach) else {
        return Err(Problem::invalid("userId", unknown_reference("user", &learner)));
    };
    let award = request.key(&signer.issuer.id, &learner);
    if let Some(award) = &award
        && let Some(known) = repository::of_award(tx, award)?
    {
        request.expect_same(&known)?;
        return Ok(PreparedAward::Known(Box::new(known)));
    }
    let id = secret_id();
    let place = status::allocate(tx, &signer.issuer.id)?;
    let credential = credential(
        now,
        base_url,
        request,
        &signer,
        &stored.definition,
        (&learner, &user),
        &id,
        place,
    )?;
    let new = NewCredential {
        id,
        issued_by: Some(signer.issuer.id.clone()),
        learner: Some(learner),
        award,
        place: Some(place),
        signed: CredentialText {
            issuer: signer.issuer.did.clone(),
            credential: credential["id"].as_str().unwrap_or_default().to_owned(),
            valid_from: request.begins().map_or(now, |from| from.at),
            form: CredentialForm::Json,
            body: String::new(),
        },
    };
    Ok(PreparedAward::New(Box::new(UnsignedAward { signer, credential, new })))
}

#[expect(clippy::too_many_arguments, reason = "each is one part of the credential")]
fn credential(
    now: Timestamp,
    base_url: &str,
    request: &AwardRequest,
    signer: &Signer,
    definition: &Definition,
    learner: (&str, &Object),
    id: &str,
    place: StatusEntry,
) -> Result<Value> {
    let now = now.to_string();
    let awarded = request.awarded_date.as_ref().map_or(&now, |awarded| &awarded.text);
    let valid_from = request.valid_from.as_ref().map_or(awarded, |from| &from.text);
    let mut credential = json!({
        "@context": crate::CONTEXTS,
        "id": format!("{base_url}/credentials/{id}"),
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": definition.name(),
        "issuer": signer.issuer.profile,
        "validFrom": valid_from,
        "awardedDate": awarded,
        "credentialSubject": subject(base_url, request, definition, learner)?,
        "credentialStatus": status::entry(base_url, &signer.issuer.id, place),
    });
    if let Some(until) = &request.valid_until {
        credential["validUntil"] = until.text.as_str().into();
    }
    if let Some(evidence) = &request.evidence {
        credential["evidence"] = evidence.clone();
    }
    node_ids::add(&mut credential, Some(&format!("{base_url}/credentials/{id}")));
    Ok(credential)
}

fn subject(
    base_url: &str,
    request: &AwardRequest,
    definition: &Definition,
    (learner, user): (&str, &Object),
) -> Result<Value> {
    let mut subject = Object::new();
    subject.insert("id".to_owned(), user_address(base_url, learner).into());
    subject.insert("type".to_owned(), json!(["AchievementSubject"]));
    let email = Some(fields::text(user, "email")).filter(|email| !email.is_empty());
    let identity = match email {
        Some(email) => Some(identity("emailAddress", email)),
        None => request.hashed.unwrap_or_default().then(|| identity("sourcedId", learner)),
    };
    if let Some(identity) = identity {
        subject.insert("identifier".to_owned(), json!([identity]));
    }
    subject.insert("achievement".to_owned(), definition.achievement()?);
    let mut subject = Value::Object(subject);
    let details = serde_json::to_value(&request.subject).map_err(Problem::internal)?;
    if let (Value::Object(subject), Value::Object(details)) = (&mut subject, details) {
        subject.extend(details);
    }
    Ok(subject)
}

/// The address of a user, which is the id of the learner in credentials.
pub fn user_address(base_url: &str, user: &str) -> String {
    format!("{base_url}{USERS}{}", segment(user))
}

/// The user with the id of a subject: the address of a user on any host, or `mailto:` and an e-mail address. `None` if this
/// server does not have the user.
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

/// A hashed identity, which confirms a known value without revealing it (Open Badges 3.0, `IdentityObject`).
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

impl UnsignedAward {
    /// Signs the credential. Errors: `Invalid` for members of the request that cannot be part of a credential.
    pub fn sign(mut self, now: Timestamp) -> Result<NewCredential> {
        let signed = self.signer.sign(self.credential, now)?;
        self.new.signed.body = signed.to_string();
        Ok(self.new)
    }
}

/// Stores a signed award. If two equal requests run at the same time, the award of the first one is kept. Returns the award
/// and whether it is new. Errors: `Conflict` if the first one differs.
pub fn store(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewCredential,
) -> Result<(IssuedCredential, bool)> {
    if let Some(award) = &new.award
        && let Some(known) = repository::of_award(tx, award)?
    {
        let wanted = serde_json::from_str(&new.signed.body).map_err(Problem::internal)?;
        expect_same(&known, &wanted)?;
        return Ok((known, false));
    }
    Ok((issued::add(tx, now, new)?, true))
}
