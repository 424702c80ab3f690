//! Issuers: the server's profile and profiles of clients, each with its own keys.

use ed25519_dalek::SigningKey;
use lyceum_access::MasterKey;
use lyceum_core::random::secret_id;
use lyceum_core::schema::nulls_may_be_missing;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::body::{self, Object};
use crate::did::DidDocument;
use crate::documents::OneOrMany;
use crate::limits;
use crate::repository::issuers::{self as repository, StoredIssuer};
use crate::{did, keys, proof, verify};

/// The id of the server's own issuer.
pub const SERVER: &str = "server";

/// The profile of an issuer (Open Badges 3.0, Profile).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IssuerProfile(#[schemars(with = "ProfileMembers")] pub Object);

/// The members of a profile.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline, transform = nulls_may_be_missing)]
#[expect(dead_code, reason = "profiles are stored as they were sent")]
struct ProfileMembers {
    /// Ignored.
    #[serde(rename = "@context", skip_serializing_if = "Option::is_none")]
    context: Option<Value>,
    /// The `did:web` of the issuer, which the server chooses.
    id: Option<String>,
    /// "Profile".
    #[serde(rename = "type")]
    types: Option<OneOrMany<String>>,
    /// The name.
    name: String,
    /// The address of the website.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Value>,
    /// The phone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<Value>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Value>,
    /// The image, as an object of the type Image.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Value>,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<Value>,
    /// The postal address, as an object of the type Address.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Value>,
    /// Other ids of the issuer, as objects of the type `IdentifierEntry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_identifier: Option<Value>,
    /// The name of the official who represents the issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    official: Option<Value>,
    /// The organization to which the issuer belongs, as a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_org: Option<Value>,
}

/// An issuer.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Its id in addresses, [`SERVER`] or a random one.
    pub id: String,
    /// The client that owns it; `None` for the server's issuer.
    pub client: Option<String>,
    /// Its `did:web`.
    pub did: String,
    /// Its profile in credentials, with `id` and `type`.
    pub profile: Object,
}

impl Issuer {
    fn of(stored: StoredIssuer, base_url: &str) -> Result<Self> {
        let did = did(base_url, &stored.id)?;
        let stored_profile: Object =
            serde_json::from_str(&stored.profile).map_err(Problem::internal)?;
        let mut profile = Object::new();
        profile.insert("id".to_owned(), did.as_str().into());
        profile.insert("type".to_owned(), json!(["Profile"]));
        profile.extend(stored_profile);
        Ok(Self { id: stored.id, client: stored.client, did, profile })
    }

    /// The issuer with that id. Errors: `NotFound`.
    pub fn find(tx: &mut Tx<'_>, base_url: &str, id: &str) -> Result<Self> {
        match repository::find(tx, id)? {
            Some(stored) => Self::of(stored, base_url),
            None => Err(Problem::new(
                ProblemKind::NotFound,
                message!("Unknown Object: there is no issuer '{id}'"),
            )),
        }
    }

    /// The issuer in whose name a client issues: its own, or the server's if it has none.
    pub fn of_client(tx: &mut Tx<'_>, base_url: &str, client: &str) -> Result<Self> {
        match repository::of_client(tx, client)? {
            Some(stored) => Self::of(stored, base_url),
            None => Self::find(tx, base_url, SERVER),
        }
    }

    /// All issuers, in the order of creation.
    pub fn all(tx: &mut Tx<'_>, base_url: &str) -> Result<Vec<Self>> {
        repository::list(tx)?.into_iter().map(|stored| Self::of(stored, base_url)).collect()
    }

    /// The document of its `did:web`, with all its keys, including replaced ones.
    pub fn document(&self, tx: &mut Tx<'_>) -> Result<DidDocument> {
        let keys = keys::published(tx, Some(&self.id))?;
        let keys: Vec<_> = keys.iter().map(|key| (key.kid.as_str(), key.key.clone())).collect();
        Ok(DidDocument::new(&self.did, &keys))
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
    /// The signer in whose name a client issues. Errors: the issuer has no key, or its key cannot be decrypted.
    pub fn of_client(
        tx: &mut Tx<'_>,
        master: &MasterKey,
        base_url: &str,
        client: &str,
    ) -> Result<Self> {
        let issuer = Issuer::of_client(tx, base_url, client)?;
        Self::of(tx, master, issuer)
    }

    /// The signer of an issuer. Errors: as [`Signer::of_client`].
    pub fn of(tx: &mut Tx<'_>, master: &MasterKey, issuer: Issuer) -> Result<Self> {
        let (kid, key) = keys::signing(tx, master, &issuer.id)?;
        let method = issuer.method(&kid);
        Ok(Self { issuer, key, method })
    }

    /// The credential with a proof of the signer. Errors: `Invalid` for members that the standard does not allow, or that
    /// JSON-LD does not define, because the signature would not cover them.
    pub fn sign(&self, credential: Value, created: Timestamp) -> Result<Value> {
        match verify::faults(&credential) {
            faults if faults.is_empty() => self.sign_any(credential, created),
            faults => Err(Problem::invalid_all(faults)),
        }
    }

    /// [`Signer::sign`] without the checks of the standard.
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

    /// Its Ed25519 key and its verification method.
    pub fn key(&self) -> (&SigningKey, &str) {
        (&self.key, &self.method)
    }
}

/// Creates the server's issuer and its key if they are missing. Runs at every start.
/// Errors: the key was encrypted with another master key.
pub fn start(tx: &mut Tx<'_>, now: Timestamp, master: &MasterKey, base_url: &str) -> Result<()> {
    let profile = json!({ "name": "Lyceum", "url": base_url }).to_string();
    let issuer = StoredIssuer { id: SERVER.to_owned(), client: None, profile };
    repository::insert(tx, &issuer, now)?;
    keys::ensure(tx, now, master, SERVER)
}

/// Creates an issuer for a client, with that profile and a new key. The same profile again changes nothing, so that a
/// request can be repeated. Returns the issuer and whether it is new.
/// Errors: `Conflict` if the client has an issuer with another profile; `Invalid` if the profile cannot be signed.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    base_url: &str,
    client: &str,
    profile: &IssuerProfile,
) -> Result<(Issuer, bool)> {
    let issuer = StoredIssuer {
        id: secret_id(),
        client: Some(client.to_owned()),
        profile: stored_members(profile)?,
    };
    if !repository::insert(tx, &issuer, now)? {
        let known = repository::of_client(tx, client)?;
        if let Some(known) = known.filter(|known| is_same(&known.profile, &issuer.profile)) {
            return Ok((Issuer::of(known, base_url)?, false));
        }
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!("the client '{client}' has an issuer profile; change it with PUT"),
        ));
    }
    keys::ensure(tx, now, master, &issuer.id)?;
    let id = issuer.id.clone();
    rehearse(&Signer::of(tx, master, Issuer::of(issuer, base_url)?)?, now)?;
    Ok((Issuer::find(tx, base_url, &id)?, true))
}

/// Whether two profiles have the same members, in any order.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

/// Replaces the profile in whose name the client issues.
/// Errors: `Invalid` if the profile cannot be signed, or has the id of another issuer.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    base_url: &str,
    client: &str,
    profile: &IssuerProfile,
) -> Result<Issuer> {
    let issuer = Issuer::of_client(tx, base_url, client)?;
    if let Some(id) = body::opt_text(&profile.0, "id", "id")?
        && id != issuer.did
    {
        return Err(Problem::invalid(
            "id",
            message!("must be the id of the profile, '{issuer.did}'; send that id or none"),
        ));
    }
    repository::set_profile(tx, &issuer.id, &stored_members(profile)?)?;
    let issuer = Issuer::find(tx, base_url, &issuer.id)?;
    rehearse(&Signer::of(tx, master, issuer.clone())?, now)?;
    Ok(issuer)
}

/// The members of a profile except `id` and `type`, as JSON. Errors: `Invalid` if the type is another one, the name is
/// empty or the profile is too large.
fn stored_members(IssuerProfile(profile): &IssuerProfile) -> Result<String> {
    body::text(profile, "name", "name")?;
    if profile.contains_key("type") && !body::has_type(profile, "Profile") {
        return Err(Problem::invalid("type", "must be Profile"));
    }
    let mut stored = profile.clone();
    stored.retain(|name, _| !matches!(name.as_str(), "id" | "type" | "@context"));
    let stored = Value::Object(stored).to_string();
    match stored.len() <= limits::ISSUER_PROFILE_MAX_BYTES {
        true => Ok(stored),
        false => Err(Problem::invalid(
            "profile",
            message!(
                "must have at most {most} bytes as JSON",
                most = limits::ISSUER_PROFILE_MAX_BYTES
            ),
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
