//! Definitions of badges. A definition has the form of a credential whose subject is the achievement itself.
//!
//! A definition is signed once, for nobody, when it is sent. So what JSON-LD does not define is refused then, and not
//! when somebody has earned the badge. Deleting a definition revokes nothing.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::body::{self, Object};
use crate::issuer::Signer;
use crate::limits;
use crate::repository::definitions as repository;

pub use crate::documents::BadgeDefinition;
pub use crate::repository::definitions::{Definition, StoredDefinition};

/// The members of an achievement (Open Badges 3.0, Achievement) that are copied as sent, in addition to `id`, `type`, `name`,
/// `description`, `criteria`, `image` and `creator`.
const MEMBERS: &[&str] = &[
    "achievementType",
    "alignment",
    "creditsAvailable",
    "endorsement",
    "endorsementJwt",
    "fieldOfStudy",
    "humanCode",
    "inLanguage",
    "otherIdentifier",
    "related",
    "resultDescription",
    "specialization",
    "tag",
    "version",
];

impl Definition {
    /// Checks the rules that the schema of a definition cannot express. Errors: `Invalid`, naming the member.
    pub fn read(document: BadgeDefinition) -> Result<Self> {
        let body = &document.0;
        let id = body::uri(body, "id", "id")?.to_owned();
        if !body::has_type(body, "VerifiableCredential")
            || !(body::has_type(body, "OpenBadgeCredential")
                || body::has_type(body, "AchievementCredential"))
        {
            let wanted = "must contain VerifiableCredential and OpenBadgeCredential";
            return Err(Problem::invalid("type", wanted));
        }
        context(body)?;
        let Some(issuer) = body.get("issuer") else {
            let wanted = "is required; send the URI of the issuing organization";
            return Err(Problem::invalid("issuer", wanted));
        };
        profile(issuer, "issuer")?;
        let subject = subject(body)?;
        if !body::has_type(subject, "Achievement") {
            return Err(Problem::invalid("credentialSubject.type", "must contain Achievement"));
        }
        let achievement = body::uri(subject, "id", "credentialSubject.id")?.to_owned();
        let definition = Self { id, achievement, document };
        definition.achievement()?;
        Ok(definition)
    }

    /// The name that people see.
    pub fn name(&self) -> &str {
        let body = &self.document.0;
        let own = body.get("name").and_then(Value::as_str);
        own.or_else(|| body["credentialSubject"]["name"].as_str()).unwrap_or_default()
    }

    /// The achievement for credentials. It is valid by the standard, and the issuer of the definition is its `creator`.
    /// Errors: `Invalid`, naming the member that is missing or wrong.
    pub fn achievement(&self) -> Result<Value> {
        let body = &self.document.0;
        let subject = subject(body)?;
        let mut achievement = Object::new();
        achievement.insert("id".to_owned(), self.achievement.as_str().into());
        achievement.insert("type".to_owned(), json!(["Achievement"]));
        for name in ["name", "description"] {
            let path = format!("credentialSubject.{name}");
            let text = match body::opt_text(subject, name, &path)? {
                Some(text) => text,
                None => body::text(body, name, &path)?,
            };
            achievement.insert(name.to_owned(), text.into());
        }
        achievement.insert("criteria".to_owned(), criteria(subject)?);
        if let Some(image) = subject.get("image").or_else(|| body.get("image")) {
            achievement.insert("image".to_owned(), read_image(image)?);
        }
        let creator = subject.get("creator").or_else(|| body.get("issuer"));
        if let Some(creator) = creator {
            achievement.insert("creator".to_owned(), profile(creator, "issuer")?);
        }
        for (name, value) in subject.iter().filter(|(name, _)| MEMBERS.contains(&name.as_str())) {
            achievement.insert(name.clone(), value.clone());
        }
        Ok(Value::Object(achievement))
    }

    /// Rejects values that cannot be part of a credential before a learner earns it.
    /// Errors: as [`Signer::sign`].
    pub fn rehearse(&self, signer: &Signer, now: Timestamp) -> Result<()> {
        signer.rehearse(&self.achievement()?, now).map_err(|problem| match problem.kind {
            ProblemKind::Internal => problem,
            _ => Problem::invalid("credentialSubject", problem.message),
        })
    }
}

/// Refuses a context that does not make the definition a credential of Open Badges 3.0, in any of its releases.
fn context(body: &Object) -> Result<()> {
    let contexts = body.get("@context").and_then(Value::as_array);
    let has = |start: &str, middle: &str| {
        let texts = contexts.into_iter().flatten().filter_map(Value::as_str);
        texts.into_iter().any(|text| text.starts_with(start) && text.contains(middle))
    };
    let is_badge = has("https://www.w3.org/", "credentials/v")
        && has("https://purl.imsglobal.org/spec/ob/v3p0/", "context");
    if is_badge {
        return Ok(());
    }
    let [first, second] = crate::CONTEXTS;
    let message = message!("must be an array with {first} and {second}");
    Err(Problem::invalid("@context", message))
}

fn subject(body: &Object) -> Result<&Object> {
    match body.get("credentialSubject") {
        Some(Value::Object(subject)) => Ok(subject),
        Some(_) => Err(Problem::invalid("credentialSubject", "must be an object")),
        None => Err(Problem::invalid("credentialSubject", "is required; send the achievement")),
    }
}

fn criteria(subject: &Object) -> Result<Value> {
    let path = "credentialSubject.criteria";
    match subject.get("criteria") {
        Some(Value::Object(criteria)) => {
            let known =
                criteria.iter().filter(|(name, _)| matches!(name.as_str(), "id" | "narrative"));
            let known: Object = known.map(|(name, value)| (name.clone(), value.clone())).collect();
            match known.is_empty() {
                false => Ok(known.into()),
                true => Err(Problem::invalid(path, "must have a narrative, or the id of a page")),
            }
        }
        _ => Err(Problem::invalid(path, "is required; send {\"narrative\": \"…\"}")),
    }
}

/// The beginnings of an image that a definition contains itself.
pub const OWN_IMAGES: [&str; 2] = ["data:image/png;base64,", "data:image/svg+xml;base64,"];

fn read_image(image: &Value) -> Result<Value> {
    let path = "image";
    let is_own = |id: &str| OWN_IMAGES.iter().any(|start| id.starts_with(start));
    match image {
        Value::String(id) if is_own(id) || body::is_uri(id) => {
            Ok(json!({ "id": id, "type": "Image" }))
        }
        Value::Object(image) => {
            let id = body::text(image, "id", "image.id")?;
            let id = if is_own(id) { id } else { body::uri(image, "id", "image.id")? };
            let mut image_object = json!({ "id": id, "type": "Image" });
            if let Some(caption) = body::opt_text(image, "caption", "image.caption")? {
                image_object["caption"] = caption.into();
            }
            Ok(image_object)
        }
        _ => Err(Problem::invalid(path, "must be {\"id\": URI, \"type\": \"Image\"}")),
    }
}

/// The profile of a reference: a URI, or an object with a URI as its id. Errors: `Invalid` at the path.
pub(crate) fn profile(reference: &Value, path: &str) -> Result<Value> {
    match reference {
        Value::String(id) if body::is_uri(id) => Ok(json!({ "id": id, "type": ["Profile"] })),
        Value::Object(object) => {
            let mut profile = json!({ "type": ["Profile"] });
            profile["id"] = body::uri(object, "id", &format!("{path}.id"))?.into();
            for name in ["name", "url", "email", "phone", "description"] {
                if let Some(text) = body::opt_text(object, name, &format!("{path}.{name}"))? {
                    profile[name] = text.into();
                }
            }
            Ok(profile)
        }
        _ => Err(Problem::invalid(path, "must be a URI, or an object with one as its id")),
    }
}

/// Stores a new definition. The same definition again changes nothing, so that a request can be repeated.
/// Returns its version and whether it is new.
/// Errors: `Conflict` if another definition has its id or defines its achievement, or if the definition with its id is
/// deleted; `TooLarge`.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, definition: &Definition) -> Result<(i64, bool)> {
    let Some(known) = repository::find(tx, &definition.id)? else {
        return Ok((put(tx, now, definition)?, true));
    };
    let id = &definition.id;
    let conflict = |message: Message| Err(Problem::new(ProblemKind::Conflict, message));
    if known.definition.id != *id {
        return conflict(message!(
            "id: must not be the id of an achievement ('{id}'); send another id"
        ));
    }
    if known.deleted.is_some() {
        return conflict(message!("id: {reason}", reason = deleted(id)));
    }
    match known.definition.document == definition.document {
        true => Ok((known.version, false)),
        false => conflict(message!(
            "id: a badge definition with the id '{id}' exists already with other values; replace \
             it with PUT …/badges/{{id}}"
        )),
    }
}

/// Replaces the definition with that id, which may be deleted. Badges that were issued before do not change. Returns the new
/// version.
/// Errors: `NotFound`; `Invalid` for a definition with another id; `PreconditionFailed` if the stored version is not the
/// expected one; as [`create`].
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    definition: &Definition,
    expected: Option<i64>,
) -> Result<i64> {
    let known = repository::find(tx, id)?.ok_or_else(|| unknown(id))?;
    if known.definition.id != definition.id {
        let message = message!("must be the id of the badge definition, '{known.definition.id}'");
        return Err(Problem::invalid("id", message));
    }
    as_expected(&known, expected)?;
    put(tx, now, definition)
}

/// Deletes a definition. Lists no longer show it and it cannot be awarded. Badges that were issued before stay valid.
/// Errors: `NotFound`; `PreconditionFailed` if the stored version is not the expected one.
pub fn delete(tx: &mut Tx<'_>, now: Timestamp, id: &str, expected: Option<i64>) -> Result<()> {
    let known = require(tx, id)?;
    as_expected(&known, expected)?;
    repository::delete(tx, &known.definition.id, now)
}

fn as_expected(known: &StoredDefinition, expected: Option<i64>) -> Result<()> {
    match expected {
        Some(expected) if expected != known.version => Err(Problem::new(
            ProblemKind::PreconditionFailed,
            "the badge definition has changed since it was read; read it again",
        )),
        _ => Ok(()),
    }
}

fn put(tx: &mut Tx<'_>, now: Timestamp, definition: &Definition) -> Result<i64> {
    let bytes = serde_json::to_string(&definition.document).map_err(Problem::internal)?.len();
    if bytes > limits::CREDENTIAL_STORED_MAX_BYTES {
        let most = limits::CREDENTIAL_STORED_MAX_BYTES;
        return Err(Problem::new(
            ProblemKind::TooLarge,
            message!("a definition has at most {most} bytes as JSON"),
        ));
    }
    if let Some(other) = repository::of_achievement(tx, &definition.achievement)?
        && other.definition.id != definition.id
    {
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "credentialSubject.id: the achievement '{definition.achievement}' is defined by \
                 '{other.definition.id}' already"
            ),
        ));
    }
    repository::put(tx, definition, now)
}

/// The definition with that id, or the one of the achievement with that id.
/// Errors: `NotFound`; its message says whether the definition is deleted.
pub fn require(tx: &mut Tx<'_>, id: &str) -> Result<StoredDefinition> {
    let stored = repository::find(tx, id)?.ok_or_else(|| unknown(id))?;
    match stored.deleted {
        None => Ok(stored),
        Some(_) => {
            let message =
                message!("Unknown Object: {problem}", problem = deleted(&stored.definition.id));
            Err(Problem::new(ProblemKind::NotFound, message))
        }
    }
}

fn unknown(id: &str) -> Problem {
    let message = message!("Unknown Object: there is no badge or achievement with the id '{id}'");
    Problem::new(ProblemKind::NotFound, message)
}

/// The error for a deleted definition, with the way to restore it.
pub(crate) fn deleted(id: &str) -> Message {
    message!("the badge definition '{id}' is deleted; send it to PUT …/badges/{{id}} to restore it")
}

/// A page of the definitions in the order of creation, and the number on all pages.
pub fn list(tx: &mut Tx<'_>, limit: u64, offset: u64) -> Result<(Vec<StoredDefinition>, u64)> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let (found, total) = repository::list(tx, number(limit), number(offset))?;
    Ok((found, u64::try_from(total).unwrap_or(0)))
}
