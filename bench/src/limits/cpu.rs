//! What a signature and a secret's hash cost.

use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use ed25519_dalek::{Signer, SigningKey, Verifier};
use sha2::{Digest, Sha256};

use super::{Limit, measure};

/// Bytes of the signed text: an access token's head and claims.
const TOKEN_BYTES: usize = 400;
/// Bytes of a client's secret: 256 random bits as base64url.
const SECRET_BYTES: usize = 43;

/// Ed25519 and SHA-256 on texts of the sizes that the token endpoint meets.
pub(super) fn signatures(time: Duration) -> Result<Vec<Limit>> {
    let key = SigningKey::from_bytes(&[7; 32]);
    let token = vec![b'a'; TOKEN_BYTES];
    let signature = key.sign(&token);
    let public = key.verifying_key();
    Ok(vec![
        measure("Ed25519 sign", time, || {
            black_box(key.sign(black_box(&token)));
            Ok(1)
        })?,
        measure("Ed25519 verify", time, || {
            public.verify(black_box(&token), &signature)?;
            Ok(1)
        })?,
        measure("SHA-256 of a secret", time, || {
            black_box(Sha256::digest(black_box([b's'; SECRET_BYTES])));
            Ok(1)
        })?,
    ])
}
