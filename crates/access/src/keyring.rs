//! The keys that sign tokens, their rotation and their public half.
//!
//! A new key is published [`limits::KEY_PUBLISH_AHEAD_S`] before it signs, and its predecessor
//! verifies for [`limits::KEY_OVERLAP_S`] more: no server of the database ever meets a token whose
//! key it has not read, and no token outlives its key.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{SigningKey, VerifyingKey};
use lyceum_core::config::Environment;
use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::limits;
use crate::master::MasterKey;
use crate::repository::keys::{self as repository, SealedKey};
use crate::scope::Scopes;
use crate::sealed::SealedColumn;
use crate::token::{self, Grant, IssuedToken, Player, TokenError};

/// The server and environment of tokens. A token of another realm is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Realm {
    environment: Environment,
    issuer: String,
    audience: String,
}

impl Realm {
    /// The realm of an environment under its public address (without a slash at the end).
    pub fn new(environment: Environment, public_url: &str) -> Self {
        Self {
            environment,
            issuer: public_url.to_owned(),
            audience: format!("lyceum:{}:{public_url}", environment.name()),
        }
    }

    /// The environment.
    pub fn environment(&self) -> Environment {
        self.environment
    }

    /// The `iss` of its tokens: the public address.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    fn claims(&self) -> (&str, &str) {
        (&self.issuer, &self.audience)
    }
}

/// The public keys that verify tokens (RFC 7517, section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JwkSet {
    /// The keys.
    pub keys: Vec<Jwk>,
}

/// A public Ed25519 key (RFC 7517, RFC 8037).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Jwk {
    /// The kind of key: "OKP".
    pub kty: &'static str,
    /// The curve: "Ed25519".
    pub crv: &'static str,
    /// The use of the key: "sig", for signatures.
    #[serde(rename = "use")]
    pub usage: &'static str,
    /// The algorithm of the signatures: "`EdDSA`".
    pub alg: &'static str,
    /// The id of the key, which is its thumbprint (RFC 7638).
    pub kid: String,
    /// The key, in base64url.
    pub x: String,
}

/// The keys of one realm, in memory.
#[derive(Clone, Debug)]
pub struct Keyring {
    realm: Realm,
    master: MasterKey,
    /// In the order of their making; never empty.
    keys: Vec<RealmKey>,
}

#[derive(Clone, Debug)]
struct RealmKey {
    kid: String,
    signing: SigningKey,
    public: VerifyingKey,
    created: Timestamp,
    retire_after: Option<Timestamp>,
}

impl Keyring {
    /// The key that seals what must be read again, such as passwords for other systems.
    pub fn master(&self) -> &MasterKey {
        &self.master
    }

    /// Reads the keys, in a write transaction: the first is made here, and one that is older than
    /// [`limits::KEY_ROTATION_DAYS`] is followed by a new one.
    /// Errors: keys that were sealed with another master key.
    pub fn open(
        tx: &mut Tx<'_>,
        now: Timestamp,
        realm: &Realm,
        master: &MasterKey,
    ) -> Result<Self> {
        let master = &master_of_database(tx, master)?;
        let keyring = Self::read(tx, now, realm, master)?;
        if keyring.keys.is_empty() || keyring.rotation_due(now) {
            repository::lock(tx)?;
            let keyring = Self::read(tx, now, realm, master)?;
            if keyring.keys.is_empty() || keyring.rotation_due(now) {
                return Self::rotate(tx, now, realm, master);
            }
            return Ok(keyring);
        }
        Ok(keyring)
    }

    /// Reads the keys again, as other servers may have rotated them; a read transaction will do.
    /// Errors: those of [`Keyring::open`]; no key is left.
    pub fn reload(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Self> {
        let keyring = Self::read(tx, now, &self.realm, &self.master)?;
        if keyring.keys.is_empty() {
            let message = "the database no longer has a signing key for this environment";
            return Err(Problem::new(ProblemKind::Internal, message));
        }
        Ok(keyring)
    }

    /// [`Keyring::open`] of the same realm again: makes a new key if one is due.
    pub fn renew(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Self> {
        Self::open(tx, now, &self.realm, &self.master)
    }

    /// Whether [`Keyring::open`] would make a new key.
    pub fn rotation_due(&self, now: Timestamp) -> bool {
        let newest = self.keys.last().map(|key| key.created);
        newest.is_some_and(|at| at.plus_seconds(limits::KEY_ROTATION_DAYS * 86_400) <= now)
    }

    /// Makes a new key that signs once all servers have read it; the former keys verify on.
    pub fn rotate(
        tx: &mut Tx<'_>,
        now: Timestamp,
        realm: &Realm,
        master: &MasterKey,
    ) -> Result<Self> {
        repository::lock(tx)?;
        let retire_after = now.plus_seconds(limits::KEY_OVERLAP_S);
        repository::retire_all(tx, realm.environment, retire_after)?;
        repository::delete_retired(tx, realm.environment, now)?;
        repository::insert(tx, realm.environment, &seal(now, realm.environment, master))?;
        Self::read(tx, now, realm, master)
    }

    /// Drops every key of the realm, also those that this master key does not open, and makes a new
    /// one that signs at once: for a key that leaked or a master key that is lost. All tokens that
    /// were given out stop.
    pub fn replace(
        tx: &mut Tx<'_>,
        now: Timestamp,
        realm: &Realm,
        master: &MasterKey,
    ) -> Result<Self> {
        repository::lock(tx)?;
        repository::delete_all(tx, realm.environment)?;
        if repository::derivation_key(tx)?
            .is_some_and(|key| master.open(DERIVATION, &key).is_none())
        {
            repository::delete_derivation_key(tx)?;
        }
        let master = &master_of_database(tx, master)?;
        repository::insert(tx, realm.environment, &seal(now, realm.environment, master))?;
        Self::read(tx, now, realm, master)
    }

    /// The realm of the keys.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Signs a token for a client.
    pub fn issue(&self, client_id: &str, scopes: Scopes, now: Timestamp) -> IssuedToken {
        let key = self.signing_key(now);
        let (own, valid) = ((key.kid.as_str(), &key.signing), (now, limits::TOKEN_LIFETIME_S));
        token::issue(own, self.realm.claims(), client_id, scopes, None, valid)
    }

    /// Signs a game token: a client lets a user act in a game, and nowhere else.
    pub fn issue_game(
        &self,
        client_id: &str,
        player: &Player,
        now: Timestamp,
        lifetime_s: i64,
    ) -> IssuedToken {
        let (key, none) = (self.signing_key(now), Scopes::default());
        let (own, realm) = ((key.kid.as_str(), &key.signing), self.realm.claims());
        token::issue(own, realm, client_id, none, Some(player), (now, lifetime_s))
    }

    /// Checks a token: form, algorithm, key, signature, issuer, audience and time, with at most
    /// [`CLOCK_DIFFERENCE_MAX_S`](lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S) for clocks that differ. Whether its client
    /// is revoked is not known here.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Grant, TokenError> {
        token::verify(token, self.realm.claims(), now, |kid| {
            let key = self.keys.iter().find(|key| key.kid == kid)?;
            key.retire_after.is_none_or(|end| now < end).then_some(&key.public)
        })
    }

    /// The public keys as a JWK Set (RFC 7517, RFC 8037).
    pub fn jwks(&self) -> JwkSet {
        let keys = self.keys.iter().map(|key| Jwk {
            kty: "OKP",
            crv: "Ed25519",
            usage: "sig",
            alg: "EdDSA",
            kid: key.kid.clone(),
            x: BASE64_URL_SAFE_NO_PAD.encode(key.public.as_bytes()),
        });
        JwkSet { keys: keys.collect() }
    }

    /// The newest key that every server has had time to read, else the oldest.
    fn signing_key(&self, now: Timestamp) -> &RealmKey {
        let published =
            |key: &&RealmKey| key.created.plus_seconds(limits::KEY_PUBLISH_AHEAD_S) <= now;
        self.keys.iter().rfind(published).unwrap_or(&self.keys[0])
    }

    fn read(tx: &mut Tx<'_>, now: Timestamp, realm: &Realm, master: &MasterKey) -> Result<Self> {
        let sealed = repository::list(tx, realm.environment, now)?;
        let keys = sealed.iter().map(|key| open(key, realm.environment, master));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        Ok(Self { realm: realm.clone(), master: master.clone(), keys })
    }
}

/// The label of the key from which others are derived.
const DERIVATION: &str = "lyceum derivation key";

pub(crate) const DERIVATION_KEY: SealedColumn = SealedColumn {
    table: "derivation_key",
    column: "sealed",
    key: &["CAST(id AS TEXT)"],
    label: |_| DERIVATION.to_owned(),
};

pub(crate) const SEALED_KEYS: SealedColumn = SealedColumn {
    table: "signing_keys",
    column: "sealed",
    key: &["kid", "environment"],
    label: |key| label(&key[0], &key[1]),
};

/// The master key with the derivation key of the database. At the first start this is the master key itself: of two,
/// the one that sealed the signing keys.
pub fn master_of_database(tx: &mut Tx<'_>, master: &MasterKey) -> Result<MasterKey> {
    let Some(stored) = repository::derivation_key(tx)? else {
        let keys = repository::all(tx)?;
        let seals = |one: &MasterKey| {
            keys.iter().any(|(kid, environment, sealed)| {
                one.open(&label(kid, environment), sealed).is_some()
            })
        };
        let first = master.each_alone().find(seals).unwrap_or_else(|| master.clone());
        repository::insert_derivation_key(tx, &first.sealed_derivation(DERIVATION))?;
        return Ok(master.clone().with_derivation(first.derivation()));
    };
    let opened = master.open(DERIVATION, &stored).and_then(|bytes| bytes.try_into().ok());
    // Without the key that sealed it, the signing keys say what is wrong.
    Ok(opened.map_or_else(|| master.clone(), |key| master.clone().with_derivation(key)))
}

/// A new key, sealed for the store.
fn seal(now: Timestamp, environment: Environment, master: &MasterKey) -> SealedKey {
    let signing = SigningKey::from_bytes(&secret_bytes());
    let public = signing.verifying_key();
    let kid = thumbprint(&public);
    let sealed = master.seal(&label(&kid, environment.name()), signing.as_bytes());
    SealedKey { kid, public: public.to_bytes().to_vec(), sealed, created: now, retire_after: None }
}

fn open(key: &SealedKey, environment: Environment, master: &MasterKey) -> Result<RealmKey> {
    let opened = master.open(&label(&key.kid, environment.name()), &key.sealed);
    let bytes: [u8; 32] =
        opened.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| other_master(&key.kid))?;
    let signing = SigningKey::from_bytes(&bytes);
    Ok(RealmKey {
        kid: key.kid.clone(),
        public: signing.verifying_key(),
        signing,
        created: key.created,
        retire_after: key.retire_after,
    })
}

fn other_master(kid: &str) -> Problem {
    let message = message!(
        "the signing key '{kid}' was encrypted with another master key; copy the file master.key \
         from a server that shares the database, or set its text as 'keys.master'; if it is \
         lost, `lyceum admin rotate-keys --discard` creates a new signing key"
    );
    Problem::new(ProblemKind::Internal, message)
}

/// The data to which a sealed key is bound. It cannot be opened in another row or environment.
fn label(kid: &str, environment: &str) -> String {
    format!("lyceum signing key {kid} {environment}")
}

/// The key's id: its JWK thumbprint (RFC 7638).
fn thumbprint(public: &VerifyingKey) -> String {
    let x = BASE64_URL_SAFE_NO_PAD.encode(public.as_bytes());
    let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(jwk.as_bytes()))
}
