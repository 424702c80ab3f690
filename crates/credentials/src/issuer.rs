//! Issuers: the server's profile and profiles of clients, each with its own keys.

use ed25519_dalek::SigningKey;
use lyceum_access::Master;
use lyceum_core::random::secret_id;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::body::{self, Object};
use crate::repository::issuers::{self as repository, StoredIssuer};
use crate::{did, keys, proof, verify};

/// The id of the server's own issuer.
pub const SERVER: &str = "server";

/// The members of a profile (Open Badges 3.0, Profile) except `id` and `type`.
const MEMBERS: &[&str] = &[
    "name",
    "url",
    "phone",
    "description",
    "image",
    "email",
    "address",
    "otherIdentifier",
    "official",
    "parentOrg",
];

/// An issuer.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Its id in addresses, [`SERVER`] or a random one.
    pub id: String,
    /// The client that owns it; none, it is the server's.
    pub client: Option<String>,
    /// Its `did:web`.
    pub did: String,
    /// Its profile as credentials name it: `id`, `type`, and what it says of itself.
    pub profile: Object,
}

impl Issuer {
    fn of(stored: StoredIssuer, base_url: &str) -> Result<Self> {
        let did = did(base_url, &stored.id)?;
        let said: Object = serde_json::from_str(&stored.profile).map_err(Problem::internal)?;
        let mut profile = Object::new();
        profile.insert("id".to_owned(), did.as_str().into());
        profile.insert("type".to_owned(), json!(["Profile"]));
        profile.extend(said);
        Ok(Self { id: stored.id, client: stored.client, did, profile })
    }

    /// The issuer with that id. Errors: `NotFound`.
    pub fn find(tx: &mut Tx<'_>, base_url: &str, id: &str) -> Result<Self> {
        match repository::find(tx, id)? {
            Some(stored) => Self::of(stored, base_url),
            None => Err(Problem::new(
                ProblemKind::NotFound,
                format!("Unknown Object: there is no issuer '{id}'"),
            )),
        }
    }

    /// The issuer that a client issues as: its own, else the server's.
    pub fn of_client(tx: &mut Tx<'_>, base_url: &str, client: &str) -> Result<Self> {
        match repository::of_client(tx, client)? {
            Some(stored) => Self::of(stored, base_url),
            None => Self::find(tx, base_url, SERVER),
        }
    }

    /// Every issuer, in the order of their making.
    pub fn all(tx: &mut Tx<'_>, base_url: &str) -> Result<Vec<Self>> {
        repository::list(tx)?.into_iter().map(|stored| Self::of(stored, base_url)).collect()
    }

    /// The document of its `did:web`: all its keys, former ones too.
    pub fn document(&self, tx: &mut Tx<'_>) -> Result<Value> {
        let keys = keys::published(tx, Some(&self.id))?;
        let keys: Vec<_> = keys.iter().map(|key| (key.kid.as_str(), key.key.clone())).collect();
        Ok(did::document(&self.did, &keys))
    }

    /// The verification method of one of its keys.
    pub fn method(&self, kid: &str) -> String {
        format!("{}#{kid}", self.did)
    }
}

/// The `did:web` of an issuer of the server at that address.
pub fn did(base_url: &str, id: &str) -> Result<String> {
    match id {
        SERVER => did::web(base_url),
        id => did::web(&format!("{base_url}/issuers/{id}")),
    }
}

/// An issuer with the key that it signs with.
#[derive(Clone)]
pub struct Signer {
    /// The issuer.
    pub issuer: Issuer,
    key: SigningKey,
    method: String,
}

impl Signer {
    /// The signer that a client issues as. Errors: no key, or one that does not open.
    pub fn of_client(
        tx: &mut Tx<'_>,
        master: &Master,
        base_url: &str,
        client: &str,
    ) -> Result<Self> {
        let issuer = Issuer::of_client(tx, base_url, client)?;
        Self::of(tx, master, issuer)
    }

    /// The signer of an issuer. Errors: as [`Signer::of_client`].
    pub fn of(tx: &mut Tx<'_>, master: &Master, issuer: Issuer) -> Result<Self> {
        let (kid, key) = keys::signing(tx, master, &issuer.id)?;
        let method = issuer.method(&kid);
        Ok(Self { issuer, key, method })
    }

    /// The credential with a proof of the signer. Errors: `Invalid` for what the standard does not allow,
    /// and for what JSON-LD does not define, which the signature would therefore not cover.
    pub fn sign(&self, credential: Value, created: Timestamp) -> Result<Value> {
        match verify::faults(&credential) {
            faults if faults.is_empty() => self.sign_any(credential, created),
            faults => Err(Problem::invalid_all(faults)),
        }
    }

    /// [`Signer::sign`] of a credential of any sort, of which the standard says nothing.
    pub(crate) fn sign_any(&self, credential: Value, created: Timestamp) -> Result<Value> {
        proof::sign(credential, &self.key, &self.method, created)
    }

    /// Signs a badge of the achievement as a test, so that values that cannot be signed are rejected
    /// before a learner earns it. Errors: as [`Signer::sign`].
    pub(crate) fn rehearse(&self, achievement: &Value, now: Timestamp) -> Result<()> {
        let credential = json!({
            "@context": crate::CONTEXTS,
            "id": "urn:uuid:00000000-0000-4000-8000-000000000000",
            "type": ["VerifiableCredential", "OpenBadgeCredential"],
            "issuer": self.issuer.profile,
            "validFrom": now.to_string(),
            "credentialSubject": {
                "id": self.issuer.did,
                "type": ["AchievementSubject"],
                "achievement": achievement,
            },
        });
        self.sign(credential, now).map(drop)
    }

    /// Its Ed25519 key, and the verification method of it.
    pub fn key(&self) -> (&SigningKey, &str) {
        (&self.key, &self.method)
    }
}

/// Makes the server's issuer and its key where they are missing; at every start.
/// Errors: a key that was sealed with another master key.
pub fn start(tx: &mut Tx<'_>, now: Timestamp, master: &Master, base_url: &str) -> Result<()> {
    let profile = json!({ "name": "Lyceum", "url": base_url }).to_string();
    let issuer = StoredIssuer { id: SERVER.to_owned(), client: None, profile };
    repository::insert(tx, &issuer, now)?;
    keys::ensure(tx, now, master, SERVER)
}

/// Gives a client an issuer of its own, with that profile and a key of its own. The same profile again changes
/// nothing, so that a request can be repeated. Answers the issuer and whether it is new.
/// Errors: `Conflict` if it has an issuer with another profile; `Invalid` if the body is not a profile.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &Master,
    base_url: &str,
    client: &str,
    profile: &Object,
) -> Result<(Issuer, bool)> {
    let issuer =
        StoredIssuer { id: secret_id(), client: Some(client.to_owned()), profile: said(profile)? };
    if !repository::insert(tx, &issuer, now)? {
        let known = repository::of_client(tx, client)?;
        if let Some(known) = known.filter(|known| is_same(&known.profile, &issuer.profile)) {
            return Ok((Issuer::of(known, base_url)?, false));
        }
        return Err(Problem::new(
            ProblemKind::Conflict,
            format!("the client '{client}' has an issuer profile; change it with PUT"),
        ));
    }
    keys::ensure(tx, now, master, &issuer.id)?;
    let id = issuer.id.clone();
    rehearse(&Signer::of(tx, master, Issuer::of(issuer, base_url)?)?, now)?;
    Ok((Issuer::find(tx, base_url, &id)?, true))
}

/// Whether two profiles say the same, in whatever order.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

/// Puts a profile in the place of the one that the client issues as.
/// Errors: `Invalid` if the body is not a profile or has the id of another one.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &Master,
    base_url: &str,
    client: &str,
    profile: &Object,
) -> Result<Issuer> {
    let issuer = Issuer::of_client(tx, base_url, client)?;
    if let Some(id) = body::opt_text(profile, "id", "id")?
        && id != issuer.did
    {
        return Err(Problem::invalid(
            "id",
            format!("must be the id of the profile, '{}'; send that id or none", issuer.did),
        ));
    }
    repository::set_profile(tx, &issuer.id, &said(profile)?)?;
    let issuer = Issuer::find(tx, base_url, &issuer.id)?;
    rehearse(&Signer::of(tx, master, issuer.clone())?, now)?;
    Ok(issuer)
}

/// The members of a profile except `id` and `type`. Errors: `Invalid` for an unknown member.
fn said(profile: &Object) -> Result<String> {
    body::text(profile, "name", "name")?;
    if profile.contains_key("type") && !body::has_type(profile, "Profile") {
        return Err(Problem::invalid("type", "must be Profile"));
    }
    let mut kept = Object::new();
    for (name, value) in profile {
        match name.as_str() {
            "id" | "type" | "@context" => {}
            known if MEMBERS.contains(&known) => drop(kept.insert(name.clone(), value.clone())),
            _ => {
                return Err(Problem::invalid(
                    name,
                    format!("is not a member of a profile; the members are {}", MEMBERS.join(", ")),
                ));
            }
        }
    }
    let said = Value::Object(kept).to_string();
    match said.len() <= limits::ISSUER_PROFILE_MAX_BYTES {
        true => Ok(said),
        false => Err(Problem::invalid(
            "profile",
            format!("must have at most {} bytes as JSON", limits::ISSUER_PROFILE_MAX_BYTES),
        )),
    }
}

/// Rejects a profile that cannot be signed as part of a credential.
fn rehearse(signer: &Signer, now: Timestamp) -> Result<()> {
    let achievement = json!({
        "id": "urn:uuid:00000000-0000-4000-8000-000000000001",
        "type": ["Achievement"],
        "name": "A rehearsal",
        "description": "A rehearsal",
        "criteria": { "narrative": "None" },
    });
    signer.rehearse(&achievement, now)
}
