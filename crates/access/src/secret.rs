//! Secrets: random, shown once, kept as a hash.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lyceum_core::random::secret_bytes;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The hash that is stored. A plain SHA-256 is right for a secret of 256 random bits, and a token
/// request costs microseconds.
pub(crate) type SecretHash = [u8; 32];

/// Random bytes of the operating system as URL-safe text behind a prefix.
pub(crate) fn random_text<const N: usize>(prefix: &str) -> String {
    format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(secret_bytes::<N>()))
}

/// Bytes as URL-safe text.
pub(crate) fn text(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// A secret that follows from another one and does not lead back to it.
pub(crate) fn derived(label: &str, secret: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(hash(&format!("{label} {secret}")))
}

/// Compares in a time that does not depend on where they differ.
pub(crate) fn is_equal(a: &SecretHash, b: &[u8]) -> bool {
    a.as_slice().ct_eq(b).into()
}
