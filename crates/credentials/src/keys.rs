//! The signing keys of issuers: created by the server, encrypted in the store, rotated. The private half of a replaced
//! key is deleted. Its public half stays, so that its signatures can still be verified.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{SigningKey, VerifyingKey};
use lyceum_access::MasterKey;
use lyceum_access::sealed::SealedColumn;
use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use ring::rsa::KeyPair as RsaKeyPair;
use rsa::RsaPrivateKey;
use rsa::pkcs8::EncodePrivateKey;
use rsa::traits::PublicKeyParts;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::did;
use crate::issuer::Issuer;
use crate::key::{PublicKey, multikey};
use crate::repository::keys::{self as repository, StoredKey};

const ED25519: &str = "Ed25519";
const RSA: &str = "RS256";
/// Bits of the modulus of a new RSA key. All verifiers of RS256 accept this size.
const RSA_BITS: usize = 2048;

/// A public key of an issuer, with its name.
#[derive(Clone, Debug)]
pub struct PublishedKey {
    /// Its name, unique: the fragment of its verification method.
    pub kid: String,
    /// The id of the issuer that it belongs to.
    pub issuer: String,
    /// `Ed25519`, or `RS256` for an RSA key.
    pub algorithm: String,
    /// The key.
    pub key: PublicKey,
    /// When it was created.
    pub created: Timestamp,
    /// Since when it does not sign.
    pub retired: Option<Timestamp>,
}

impl PublishedKey {
    fn of(stored: &StoredKey) -> Result<Self> {
        let key = match stored.algorithm.as_str() {
            ED25519 => PublicKey::Ed25519(verifying(&stored.public)?),
            _ => PublicKey::from_jwk(
                &serde_json::from_slice(&stored.public).map_err(Problem::internal)?,
            )?,
        };
        Ok(Self {
            kid: stored.kid.clone(),
            issuer: stored.issuer.clone(),
            algorithm: stored.algorithm.clone(),
            key,
            created: stored.created,
            retired: stored.retired,
        })
    }
}

/// The public keys of an issuer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct IssuerKeys {
    /// The keys, the oldest first.
    keys: Vec<IssuerKey>,
}

/// A public key of an issuer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IssuerKey {
    /// The name of the key, which is the fragment of its verification method.
    kid: String,
    /// The algorithm: "Ed25519", or "RS256" for an RSA key.
    algorithm: String,
    /// The verification method, which proofs name.
    verification_method: String,
    /// When the key was created.
    created: Timestamp,
    /// Since when the key does not sign; null if it signs.
    retired: Option<Timestamp>,
    /// The key as a JWK (RFC 7517).
    #[schemars(with = "Map<String, Value>")]
    public_key_jwk: Value,
    /// The `did:key` of an Ed25519 key.
    #[serde(skip_serializing_if = "Option::is_none")]
    did_key: Option<String>,
    /// The Ed25519 key as a Multikey.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_multibase: Option<String>,
}

impl IssuerKey {
    fn of(issuer: &Issuer, published: PublishedKey) -> Self {
        let ed25519 = match &published.key {
            PublicKey::Ed25519(key) => Some(key),
            _ => None,
        };
        Self {
            verification_method: issuer.method(&published.kid),
            created: published.created,
            retired: published.retired,
            public_key_jwk: published.key.to_jwk(),
            did_key: ed25519.map(did::key_of),
            public_key_multibase: ed25519.map(multikey),
            kid: published.kid,
            algorithm: published.algorithm,
        }
    }
}

/// The public keys of an issuer, for everyone.
pub fn of_issuer(tx: &mut Tx<'_>, issuer: &Issuer) -> Result<IssuerKeys> {
    let keys = published(tx, Some(&issuer.id))?;
    Ok(IssuerKeys { keys: keys.into_iter().map(|key| IssuerKey::of(issuer, key)).collect() })
}

/// A new RSA key, as PKCS #8. Takes about a second.
pub struct NewRsa {
    pkcs8: Vec<u8>,
    public: PublicKey,
}

impl NewRsa {
    /// Makes a key of [`RSA_BITS`] bits.
    pub fn make() -> Result<Self> {
        let mut random = rand::rand_core::UnwrapErr(rand::rngs::SysRng);
        let key = RsaPrivateKey::new(&mut random, RSA_BITS).map_err(Problem::internal)?;
        let pkcs8 = key.to_pkcs8_der().map_err(Problem::internal)?;
        let public = PublicKey::Rsa { n: key.n_bytes().to_vec(), e: key.e_bytes().to_vec() };
        Ok(Self { pkcs8: pkcs8.as_bytes().to_vec(), public })
    }
}

/// Creates the first Ed25519 key of an issuer if it is missing, in a write transaction. Errors: the key was encrypted
/// with another master key.
pub fn ensure(tx: &mut Tx<'_>, now: Timestamp, master: &MasterKey, issuer: &str) -> Result<()> {
    if repository::signing(tx, issuer, ED25519)?.is_none() {
        repository::insert(tx, &new_ed25519(now, master, issuer))?;
    }
    signing(tx, master, issuer).map(drop)
}

/// The Ed25519 key with which an issuer signs, and its name. Errors: `Internal` if it is missing or was encrypted with
/// another master key.
pub fn signing(tx: &mut Tx<'_>, master: &MasterKey, issuer: &str) -> Result<(String, SigningKey)> {
    let stored = repository::signing(tx, issuer, ED25519)?.ok_or_else(|| {
        Problem::new(ProblemKind::Internal, message!("the issuer '{issuer}' has no signing key"))
    })?;
    let secret: [u8; 32] = open(master, &stored)?
        .try_into()
        .map_err(|_| Problem::internal("a sealed Ed25519 key is not 32 bytes long"))?;
    Ok((stored.kid, SigningKey::from_bytes(&secret)))
}

/// The RSA key with which an issuer signs, and its name; `None` if it has none yet.
pub fn signing_rsa(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    issuer: &str,
) -> Result<Option<(String, RsaKeyPair)>> {
    let Some(stored) = repository::signing(tx, issuer, RSA)? else { return Ok(None) };
    let key = RsaKeyPair::from_pkcs8(&open(master, &stored)?).map_err(|fault| {
        Problem::internal(format!("the RSA key '{}' is not usable: {fault}", stored.kid))
    })?;
    Ok(Some((stored.kid, key)))
}

/// Stores an RSA key of an issuer, unless another server was faster.
pub fn add_rsa(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    issuer: &str,
    new: &NewRsa,
) -> Result<()> {
    let jwk = new.public.to_jwk();
    let kid = thumbprint(&jwk);
    let sealed = master.seal(&label(issuer, RSA, &kid), &new.pkcs8);
    let public = jwk.to_string().into_bytes();
    repository::insert(tx, &stored(issuer, RSA, kid, public, sealed, now))?;
    Ok(())
}

/// Retires the keys of an issuer and creates a new Ed25519 key, which signs at once. A new RSA key is created when it
/// is needed. Signatures of retired keys can still be verified. Returns the new key.
pub fn rotate(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    issuer: &str,
) -> Result<PublishedKey> {
    repository::retire(tx, issuer, now)?;
    let key = new_ed25519(now, master, issuer);
    match repository::insert(tx, &key)? {
        true => PublishedKey::of(&key),
        false => Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "the keys of the issuer '{issuer}' were rotated by another request at the same \
                 time; list them before you rotate again"
            ),
        )),
    }
}

/// The keys of an issuer, or of all issuers, in the order of creation, including retired ones.
pub fn published(tx: &mut Tx<'_>, issuer: Option<&str>) -> Result<Vec<PublishedKey>> {
    repository::list(tx, issuer)?.iter().map(PublishedKey::of).collect()
}

fn new_ed25519(now: Timestamp, master: &MasterKey, issuer: &str) -> StoredKey {
    let signing = SigningKey::from_bytes(&secret_bytes());
    let public = signing.verifying_key();
    let kid = multikey(&public);
    let sealed = master.seal(&label(issuer, ED25519, &kid), signing.as_bytes());
    stored(issuer, ED25519, kid, public.as_bytes().to_vec(), sealed, now)
}

fn stored(
    issuer: &str,
    algorithm: &str,
    kid: String,
    public: Vec<u8>,
    sealed: Vec<u8>,
    created: Timestamp,
) -> StoredKey {
    StoredKey {
        kid,
        issuer: issuer.to_owned(),
        algorithm: algorithm.to_owned(),
        public,
        sealed: Some(sealed),
        created,
        retired: None,
    }
}

fn open(master: &MasterKey, stored: &StoredKey) -> Result<Vec<u8>> {
    let label = label(&stored.issuer, &stored.algorithm, &stored.kid);
    let opened = stored.sealed.as_deref().and_then(|sealed| master.open(&label, sealed));
    opened.ok_or_else(|| {
        Problem::new(
            ProblemKind::Internal,
            message!(
                "the key '{stored.kid}' of the issuer '{stored.issuer}' was encrypted with another master key; start \
                 the server with the original master key, or create new keys with `lyceum keys \
                 rotate`"
            ),
        )
    })
}

/// The sealed keys of issuers.
pub const SEALED_KEYS: SealedColumn = SealedColumn {
    table: "credential_keys",
    column: "sealed",
    key: &["issuer", "algorithm", "kid"],
    label: |key| label(&key[0], &key[1], &key[2]),
};

/// The data that an encrypted key is bound to, so that it cannot be moved to another issuer.
fn label(issuer: &str, algorithm: &str, kid: &str) -> String {
    format!("credential-key {issuer} {algorithm} {kid}")
}

fn verifying(bytes: &[u8]) -> Result<VerifyingKey> {
    let key = bytes.try_into().ok().and_then(|bytes| VerifyingKey::from_bytes(bytes).ok());
    key.ok_or_else(|| Problem::internal("a stored public key is not an Ed25519 key"))
}

/// The thumbprint of an RSA key (RFC 7638).
fn thumbprint(jwk: &Value) -> String {
    let canonical = json!({ "e": jwk["e"], "kty": "RSA", "n": jwk["n"] }).to_string();
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.as_bytes()))
}
