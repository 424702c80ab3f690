//! Public keys as documents publish them: Multikey (Controlled Identifiers 1.0, 2.2.2) and JWK
//! (RFC 7517, RFC 8037).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use lyceum_core::{Message, message};
use p256::elliptic_curve::sec1::ToSec1Point;
use ring::signature::{self, RsaKeyPair, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::limits::MULTIBASE_MAX_BYTES;

/// The prefix that says Ed25519 in a Multikey (multicodec `ed25519-pub`).
const ED25519: [u8; 2] = [0xed, 0x01];
/// The prefix that says P-256 in a Multikey (multicodec `p256-pub`).
const P256: [u8; 2] = [0x80, 0x24];
/// The prefix that says P-384 in a Multikey (multicodec `p384-pub`).
const P384: [u8; 2] = [0x81, 0x24];
/// RSA keys below this many bits of modulus verify nothing.
const RSA_MIN_BITS: usize = 2048;

/// A key that checks signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// Ed25519, for `EdDSA`.
    Ed25519(VerifyingKey),
    /// RSA, for `RS256`: modulus and exponent, big endian.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The public exponent.
        e: Vec<u8>,
    },
    /// P-256, for `ES256`: the uncompressed point, 65 bytes.
    P256(Vec<u8>),
    /// P-384, for `ES384`: the uncompressed point, 97 bytes.
    P384(Vec<u8>),
}

impl PublicKey {
    /// The public half of an RSA key.
    pub fn of_rsa(pair: &RsaKeyPair) -> Self {
        let RsaPublicKeyComponents { n, e } =
            RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
        Self::Rsa { n, e }
    }

    /// Reads a Multikey (`z6Mk…`). Errors: another encoding, or a kind of key that nothing here
    /// verifies with.
    pub fn from_multikey(text: &str) -> Result<Self> {
        let bytes = multibase(text).ok_or_else(|| {
            malformed(message!(
                "'{text}' is not a Multikey, which begins with 'z' and is base58btc"
            ))
        })?;
        Self::from_multikey_bytes(&bytes).map_err(|problem| {
            malformed(message!("the Multikey '{text}' cannot be used: {problem.message}"))
        })
    }

    /// [`Self::from_multikey`] of the bytes that it encodes.
    pub(crate) fn from_multikey_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.split_at_checked(2) {
            Some((prefix, key)) if prefix == ED25519 => ed25519(key),
            Some((prefix, key)) if prefix == P256 && key.len() == 33 => p256(key),
            Some((prefix, key)) if prefix == P384 && key.len() == 49 => p384(key),
            _ => Err(malformed("it is not an Ed25519, P-256 or P-384 key")),
        }
    }

    /// Reads a JWK: OKP with Ed25519, RSA, or EC with P-256 or P-384. Errors: another kind of key, or
    /// members that are missing or too short.
    pub fn from_jwk(jwk: &Value) -> Result<Self> {
        let part = |name: &str| -> Result<Vec<u8>> {
            let text = jwk[name].as_str();
            text.and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok())
                .ok_or_else(|| malformed(message!("the JWK has no base64url member '{name}'")))
        };
        match (jwk["kty"].as_str(), jwk["crv"].as_str()) {
            (Some("OKP"), Some("Ed25519")) => ed25519(&part("x")?),
            (Some("RSA"), _) => rsa(part("n")?, part("e")?),
            (Some("EC"), Some("P-256")) => p256(&point(&part("x")?, &part("y")?, 32)?),
            (Some("EC"), Some("P-384")) => p384(&point(&part("x")?, &part("y")?, 48)?),
            (kty, crv) => Err(malformed(message!(
                "the JWK is of kind '{kind}' and curve '{curve}'; supported are RSA, EC with P-256 or P-384, \
                 and OKP with Ed25519",
                kind = kty.unwrap_or_default(),
                curve = crv.unwrap_or_default()
            ))),
        }
    }

    /// Reads the key of a verification method: `publicKeyMultibase` or `publicKeyJwk`.
    pub fn from_method(method: &Value) -> Result<Self> {
        match (&method["publicKeyMultibase"], &method["publicKeyJwk"]) {
            (Value::String(multikey), _) => Self::from_multikey(multikey),
            (_, jwk @ Value::Object(_)) => Self::from_jwk(jwk),
            _ => Err(malformed(
                "the verification method has neither publicKeyMultibase nor publicKeyJwk",
            )),
        }
    }

    /// The key as a JWK, without private members.
    pub fn to_jwk(&self) -> Value {
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(key.as_bytes())})
            }
            Self::Rsa { n, e } => json!({"kty": "RSA", "n": text(n), "e": text(e)}),
            Self::P256(point) => {
                let (x, y) = point[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": text(x), "y": text(y)})
            }
            Self::P384(point) => {
                let (x, y) = point[1..].split_at(48);
                json!({"kty": "EC", "crv": "P-384", "x": text(x), "y": text(y)})
            }
        }
    }

    /// The JWS algorithm that the key checks (RFC 7518, RFC 8037).
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => "EdDSA",
            Self::Rsa { .. } => "RS256",
            Self::P256(_) => "ES256",
            Self::P384(_) => "ES384",
        }
    }

    /// Whether the signature is this key's over the message, in the key's [`Self::algorithm`].
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            Self::Rsa { n, e } => RsaPublicKeyComponents { n, e }
                .verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            Self::P256(point) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                .verify(message, signature)
                .is_ok(),
            Self::P384(point) => UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
                .verify(message, signature)
                .is_ok(),
        }
    }
}

/// An Ed25519 key as a Multikey: `z6Mk…`.
pub fn multikey(key: &VerifyingKey) -> String {
    to_multibase(&[&ED25519[..], key.as_bytes()].concat())
}

/// Bytes as multibase base58btc: `z…`.
pub(crate) fn to_multibase(bytes: &[u8]) -> String {
    format!("z{}", bs58::encode(bytes).into_string())
}

/// The bytes of multibase base58btc, where the text is that and not longer than a key or signature.
pub(crate) fn multibase(text: &str) -> Option<Vec<u8>> {
    let encoded = text.strip_prefix('z').filter(|encoded| encoded.len() <= MULTIBASE_MAX_BYTES)?;
    bs58::decode(encoded).into_vec().ok()
}

fn ed25519(bytes: &[u8]) -> Result<PublicKey> {
    let key = bytes.try_into().ok().and_then(|bytes| VerifyingKey::from_bytes(bytes).ok());
    match key {
        // Anyone can sign for a key of small order.
        Some(key) if !key.is_weak() => Ok(PublicKey::Ed25519(key)),
        _ => Err(malformed("the key is not an Ed25519 public key of 32 bytes")),
    }
}

fn rsa(n: Vec<u8>, e: Vec<u8>) -> Result<PublicKey> {
    let n: Vec<u8> = n.into_iter().skip_while(|byte| *byte == 0).collect();
    match n.len() * 8 >= RSA_MIN_BITS && !e.is_empty() {
        true => Ok(PublicKey::Rsa { n, e }),
        false => Err(malformed(message!("the RSA key is shorter than {RSA_MIN_BITS} bits"))),
    }
}

/// A point of a curve that is not compressed (SEC 1, 2.3.3).
fn point(x: &[u8], y: &[u8], length: usize) -> Result<Vec<u8>> {
    match x.len() == length && y.len() == length {
        true => Ok([&[4], x, y].concat()),
        false => Err(malformed(message!("the JWK's members 'x' and 'y' must have {length} bytes"))),
    }
}

/// A P-256 key by its point, compressed or not.
fn p256(point: &[u8]) -> Result<PublicKey> {
    let key = p256::PublicKey::from_sec1_bytes(point)
        .map_err(|_| malformed("the key is not a point of the curve P-256"))?;
    Ok(PublicKey::P256(key.to_sec1_point(false).as_bytes().to_vec()))
}

/// A P-384 key by its point, compressed or not.
fn p384(point: &[u8]) -> Result<PublicKey> {
    let key = p384::PublicKey::from_sec1_bytes(point)
        .map_err(|_| malformed("the key is not a point of the curve P-384"))?;
    Ok(PublicKey::P384(key.to_sec1_point(false).as_bytes().to_vec()))
}

fn malformed(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Malformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MULTIKEY: &str = "z6MkjZRZv3aez3r18pB1RBFJR1kwUVJ5jHt92JmQwXbd5hwi";

    #[test]
    fn a_multikey_is_read_and_written() {
        let key = PublicKey::from_multikey(MULTIKEY).unwrap();
        let PublicKey::Ed25519(ed25519) = &key else { panic!("{key:?}") };
        assert_eq!(multikey(ed25519), MULTIKEY);
        assert_eq!(PublicKey::from_jwk(&key.to_jwk()).unwrap(), key);
    }

    #[test]
    fn compressed_points_are_read_and_points_off_the_curve_refused() {
        for (multikey, curve, length) in [
            ("zDnaepBuvsQ8cpsWrVKw8fbpGpvPeNSjVPTWoq6cRqaYzBKVP", "P-256", 32),
            (
                "z82LkuBieyGShVBhvtE2zoiD6Kma4tJGFtkAhxR5pfkp5QPw4LutoYWhvQCnGjdVn14kujQ",
                "P-384",
                48,
            ),
        ] {
            let key = PublicKey::from_multikey(multikey).unwrap();
            let mut jwk = key.to_jwk();
            assert_eq!(jwk["crv"], curve);
            assert_eq!(PublicKey::from_jwk(&jwk).unwrap(), key);
            let did = format!("did:key:{multikey}");
            let document = crate::did::key_document(&did).unwrap();
            let method = &document["verificationMethod"][0];
            assert_eq!(PublicKey::from_method(method).unwrap(), key);
            jwk["y"] = BASE64_URL_SAFE_NO_PAD.encode(vec![1; length]).into();
            assert!(PublicKey::from_jwk(&jwk).is_err());
            jwk["y"] = "AAAA".into();
            assert!(PublicKey::from_jwk(&jwk).is_err());
            let mut bytes = multibase(multikey).unwrap();
            bytes[2] = 4;
            assert!(PublicKey::from_multikey(&to_multibase(&bytes)).is_err());
        }
    }

    #[test]
    fn invalid_keys_are_refused() {
        for text in ["", "z", "6Mk", "z6MkjZRZv3aez3r18pB1RBFJR1kwUVJ5jHt92JmQwXbd5hw0"] {
            assert!(PublicKey::from_multikey(text).is_err(), "{text}");
        }
        let small_order = to_multibase(&[&ED25519[..], &[0; 32]].concat());
        assert!(PublicKey::from_multikey(&small_order).is_err());
        let short =
            json!({"kty": "RSA", "n": BASE64_URL_SAFE_NO_PAD.encode([0xff; 128]), "e": "AQAB"});
        assert!(PublicKey::from_jwk(&short).is_err());
        assert!(PublicKey::from_jwk(&json!({"kty": "oct", "k": "AAAA"})).is_err());
    }
}
