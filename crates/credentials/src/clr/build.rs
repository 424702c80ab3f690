//! From a record as it was sent to the credential that is signed.

use lyceum_core::random::secret_id;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{CONTEXTS, LearnerRecord, UnsignedRecord, Version};
use crate::award::{known_learner, user_address};
use crate::body::{self, Object};
use crate::definition;
use crate::issued::{self, CredentialForm};
use crate::node_ids::NAMESPACE;

/// The optional members of a record (CLR 2.0, `ClrCredential`) that are copied as sent.
const MEMBERS: &[&str] = &[
    "description",
    "image",
    "partial",
    "awardedDate",
    "validUntil",
    "endorsement",
    "endorsementJwt",
    "evidence",
    "refreshService",
    "termsOfUse",
];

/// Builds the credential of an unsigned record. Its issuer is `issuer`; the issuer that was sent becomes the creator of the
/// achievements. The subject must be a user of this server within the reach. Errors: `Invalid`, naming the member.
pub fn unsigned(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    issuer: &Object,
    LearnerRecord(sent): &LearnerRecord,
    reach: &Reach,
) -> Result<UnsignedRecord> {
    super::record_type(sent)?;
    let id = match sent.get("id") {
        None => super::address(base_url, &secret_id()),
        Some(_) => body::uri(sent, "id", "id")?.to_owned(),
    };
    let valid_from = body::opt_instant(sent, "validFrom", "validFrom")?.unwrap_or(now);
    let Some(Value::Object(subject)) = sent.get("credentialSubject") else {
        return Err(Problem::invalid("credentialSubject", "is required; send an object"));
    };
    let learner = learner(tx, base_url, subject, reach)?;
    let mut credential = json!({
        "@context": contexts(sent),
        "id": id,
        "type": ["VerifiableCredential", "ClrCredential"],
        "name": body::opt_text(sent, "name", "name")?.unwrap_or("Comprehensive Learner Record"),
        "issuer": issuer,
        "validFrom": sent_instant(sent, "validFrom", valid_from),
    });
    for (name, value) in sent.iter().filter(|(name, _)| MEMBERS.contains(&name.as_str())) {
        credential[name] = value.clone();
    }
    let parts = RecordParts { issuer, creator: sent.get("issuer"), id: &id, valid_from };
    credential["credentialSubject"] = parts.subject(subject)?;
    let version = Version {
        learner: Some(learner),
        compiled_for: None,
        valid_from,
        sent: Value::Object(sent.clone()).to_string(),
        form: CredentialForm::Json,
        body: String::new(),
        id,
    };
    Ok(UnsignedRecord { version, credential })
}

/// The user whom the subject names. Errors: `Invalid` if it names no user, or one who is unknown or outside of the reach.
fn learner(tx: &mut Tx<'_>, base_url: &str, subject: &Object, reach: &Reach) -> Result<String> {
    let path = "credentialSubject.id";
    let form = format!("write the address of a user, such as {}", user_address(base_url, "ID"));
    let Some(id) = body::opt_text(subject, "id", path)? else {
        return Err(Problem::invalid(path, message!("is required; {form}")));
    };
    if !body::is_uri(id) {
        return Err(Problem::invalid(path, message!("must be an absolute URI; {form}")));
    }
    match known_learner(tx, id)? {
        Some(learner) if issued::is_within(tx, Some(&learner), reach)? => Ok(learner),
        _ => Err(Problem::invalid(path, message!("the user '{id}' does not exist; {form}"))),
    }
}

/// The contexts of a record of this server, followed by the further contexts that the client sent.
fn contexts(sent: &Object) -> Value {
    let further = sent.get("@context").and_then(Value::as_array).into_iter().flatten();
    let is_known = |context: &&Value| {
        let context = context.as_str().unwrap_or_default();
        context.starts_with("https://www.w3.org/ns/credentials/")
            || context.starts_with("https://www.w3.org/2018/credentials/")
            || context.starts_with("https://purl.imsglobal.org/spec/clr/v2p0/context")
            || context.starts_with("https://purl.imsglobal.org/spec/ob/v3p0/context")
    };
    let further = further.filter(|context| !is_known(context)).cloned();
    CONTEXTS.map(Value::from).into_iter().chain(further).collect()
}

/// An instant as it was sent where XML Schema knows the form, else in the usual one.
fn sent_instant(object: &Object, name: &str, at: Timestamp) -> String {
    let sent = object.get(name).and_then(Value::as_str).unwrap_or_default();
    let strict = sent.len() >= 20 && sent.as_bytes()[10] == b'T' && sent.ends_with('Z');
    if strict { sent.to_owned() } else { at.to_string() }
}

/// The members that the parts of a record have in common.
struct RecordParts<'m> {
    issuer: &'m Object,
    creator: Option<&'m Value>,
    id: &'m str,
    valid_from: Timestamp,
}

impl RecordParts<'_> {
    fn subject(&self, sent: &Object) -> Result<Value> {
        let mut subject = Object::new();
        subject.insert("id".to_owned(), sent["id"].clone());
        subject.insert("type".to_owned(), json!(["ClrSubject"]));
        if let Some(identifier) = sent.get("identifier").filter(|value| !value.is_null()) {
            subject.insert("identifier".to_owned(), identifier.clone());
        }
        let achievements = self.achievements(sent)?;
        let mut nested = self.nested(sent)?;
        if nested.len() == achievements.len() {
            nested.iter_mut().zip(&achievements).for_each(|(one, own)| complete(one, own));
        }
        if nested.is_empty() {
            let learner = subject.get("id").cloned();
            nested =
                achievements.iter().map(|one| self.credential(one, learner.as_ref())).collect();
        }
        if nested.is_empty() {
            let message = "must have an achievement or a verifiableCredential";
            return Err(Problem::invalid("credentialSubject", message));
        }
        if !achievements.is_empty() {
            subject.insert("achievement".to_owned(), achievements.into());
        }
        subject.insert("verifiableCredential".to_owned(), nested.into());
        if let Some(association) = sent.get("association").filter(|value| !value.is_null()) {
            subject.insert("association".to_owned(), association.clone());
        }
        Ok(subject.into())
    }

    fn achievements(&self, sent: &Object) -> Result<Vec<Value>> {
        let all = body::objects(sent, "achievement").enumerate();
        all.map(|(n, one)| {
            let path = format!("credentialSubject.achievement[{n}]");
            achievement(one, self.creator, &path)
        })
        .collect()
    }

    /// The credentials in the record. A signed one stays as it is; for the others, the signer becomes the issuer.
    fn nested(&self, sent: &Object) -> Result<Vec<Value>> {
        let all = match sent.get("verifiableCredential") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(all)) => all.as_slice(),
            Some(one) => std::slice::from_ref(one),
        };
        let read = |(n, one): (usize, &Value)| {
            let path = format!("credentialSubject.verifiableCredential[{n}]");
            let Some(one) = one.as_object() else {
                return Err(Problem::invalid(path, "must be an object"));
            };
            if body::has_proof(one) { Ok(one.clone().into()) } else { self.reissued(one, &path) }
        };
        all.iter().enumerate().map(read).collect()
    }

    fn reissued(&self, sent: &Object, path: &str) -> Result<Value> {
        body::uri(sent, "id", &format!("{path}.id"))?;
        if !sent.get("credentialSubject").is_some_and(Value::is_object) {
            let path = format!("{path}.credentialSubject");
            return Err(Problem::invalid(path, "is required; send an object"));
        }
        let mut reissued = sent.clone();
        reissued.shift_remove("proof");
        let creator = reissued.insert("issuer".to_owned(), self.issuer.clone().into());
        let valid_from = body::opt_instant(sent, "validFrom", &format!("{path}.validFrom"))?;
        let valid_from = valid_from.unwrap_or(self.valid_from);
        reissued.insert("validFrom".to_owned(), sent_instant(sent, "validFrom", valid_from).into());
        if let Some(Value::Object(one)) = sent["credentialSubject"].get("achievement") {
            let creator = creator.as_ref().or(self.creator);
            let path = format!("{path}.credentialSubject.achievement");
            reissued["credentialSubject"]["achievement"] = achievement(one, creator, &path)?;
        }
        Ok(reissued.into())
    }

    /// A credential of the achievement for the learner.
    fn credential(&self, achievement: &Value, learner: Option<&Value>) -> Value {
        let name = format!("{}\n{}", self.id, achievement["id"].as_str().unwrap_or_default());
        let mut credential = json!({
            "@context": crate::CONTEXTS,
            "id": Uuid::new_v5(&NAMESPACE, name.as_bytes()).urn().to_string(),
            "type": ["VerifiableCredential", "AchievementCredential"],
            "name": achievement["name"],
            "issuer": self.issuer,
            "validFrom": self.valid_from.to_string(),
            "credentialSubject": { "type": ["AchievementSubject"], "achievement": achievement },
        });
        if let Some(learner) = learner {
            credential["credentialSubject"]["id"] = learner.clone();
        }
        credential
    }
}

/// Completes an unsigned credential whose subject has only an id, as the published client sends it: its achievement is the
/// one at the same place of the record.
fn complete(credential: &mut Value, achievement: &Value) {
    let is_bare = credential["credentialSubject"].get("achievement").is_none();
    if is_bare && credential.get("proof").is_none() {
        credential["credentialSubject"]["type"] = json!(["AchievementSubject"]);
        credential["credentialSubject"]["achievement"] = achievement.clone();
    }
}

/// An achievement with all members that the standard requires. The description replaces missing criteria, and the issuer
/// that was sent is the creator.
fn achievement(sent: &Object, creator: Option<&Value>, path: &str) -> Result<Value> {
    let mut achievement = sent.clone();
    body::uri(sent, "id", &format!("{path}.id"))?;
    let name = body::text(sent, "name", &format!("{path}.name"))?;
    let described = body::opt_text(sent, "description", &format!("{path}.description"))?;
    let described = described.unwrap_or(name).to_owned();
    achievement.insert("type".to_owned(), json!(["Achievement"]));
    if !sent.get("criteria").is_some_and(Value::is_object) {
        achievement.insert("criteria".to_owned(), json!({ "narrative": described }));
    }
    achievement.insert("description".to_owned(), described.into());
    let creator = sent.get("creator").or(creator).filter(|creator| !creator.is_null());
    if let Some(creator) = creator {
        achievement.insert(
            "creator".to_owned(),
            definition::profile(creator, &format!("{path}.creator"))?,
        );
    }
    Ok(achievement.into())
}
