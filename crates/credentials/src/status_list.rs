//! Lists that say which credentials are revoked: Bitstring Status List 1.0, and the revocation list
//! of 1EdTech (`1EdTechRevocationList`).

use std::io::{Read, Write};

use lyceum_core::{Message, message};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use lyceum_core::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::limits::{STATUS_LIST_MAX_BYTES, STATUS_LIST_MIN_BYTES};

/// A bit for each credential; the first is the leftmost. A list has at least 131 072 bits, so that a request for it
/// does not reveal the credential (6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(Vec<u8>);

impl Default for Bits {
    fn default() -> Self {
        Self(vec![0; STATUS_LIST_MIN_BYTES])
    }
}

impl Bits {
    /// The number of bits.
    pub fn count(&self) -> usize {
        self.0.len() * 8
    }

    /// Whether the bit is set; `None` if the list is shorter.
    pub fn get(&self, index: usize) -> Option<bool> {
        self.0.get(index / 8).map(|byte| byte & mask(index) != 0)
    }

    /// Sets or clears the bit. A short list grows. Errors: the index is above the limit.
    pub fn set(&mut self, index: usize, value: bool) -> Result<()> {
        if index / 8 >= STATUS_LIST_MAX_BYTES {
            let most = STATUS_LIST_MAX_BYTES * 8;
            return Err(Problem::invalid(
                "statusListIndex",
                message!("must be a whole number below {most}"),
            ));
        }
        if index / 8 >= self.0.len() {
            self.0.resize(index / 8 + 1, 0);
        }
        let byte = &mut self.0[index / 8];
        *byte = if value { *byte | mask(index) } else { *byte & !mask(index) };
        Ok(())
    }

    /// The list in the form for credentials: `u` and the base64url of its gzip.
    pub fn encode(&self) -> String {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&self.0).expect("a vector takes everything");
        let packed = gzip.finish().expect("a vector takes everything");
        format!("u{}", BASE64_URL_SAFE_NO_PAD.encode(packed))
    }

    /// Reads a list. Errors: another encoding, or a list that unpacks to more than the limit.
    pub fn decode(text: &str) -> Result<Self> {
        let malformed = |what: Message| {
            Problem::new(ProblemKind::Malformed, message!("the encodedList {what}"))
        };
        // Older lists have no multibase prefix, and some are in the other base64 alphabet.
        let text = text.strip_prefix('u').unwrap_or(text).trim_end_matches('=');
        let packed = BASE64_URL_SAFE_NO_PAD
            .decode(text.replace('+', "-").replace('/', "_"))
            .map_err(|_| malformed("is not base64url".into()))?;
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..])
            .take(STATUS_LIST_MAX_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|_| malformed("is not gzip".into()))?;
        match bytes.len() <= STATUS_LIST_MAX_BYTES {
            true => Ok(Self(bytes)),
            false => Err(malformed(message!("unpacks to more than {STATUS_LIST_MAX_BYTES} bytes"))),
        }
    }
}

fn mask(index: usize) -> u8 {
    0x80 >> (index % 8)
}

/// The `credentialStatus` of a credential: bit `index` of the revocation list at `list`.
pub fn entry(list: &str, index: usize) -> Value {
    json!({
        "id": format!("{list}#{index}"),
        "type": "BitstringStatusListEntry",
        "statusPurpose": "revocation",
        "statusListIndex": index.to_string(),
        "statusListCredential": list,
    })
}

/// A revocation list as an unsigned credential. `id` is its address, and readers may cache it for `ttl_ms` milliseconds.
pub fn credential(
    id: &str,
    issuer: &str,
    bits: &Bits,
    valid_from: Timestamp,
    ttl_ms: u64,
) -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "id": id,
        "type": ["VerifiableCredential", "BitstringStatusListCredential"],
        "issuer": issuer,
        "validFrom": crate::seconds(valid_from),
        "credentialSubject": {
            "id": format!("{id}#list"),
            "type": "BitstringStatusList",
            "statusPurpose": "revocation",
            "ttl": ttl_ms,
            "encodedList": bits.encode(),
        },
    })
}

/// The revoked credentials of an issuer ([1EdTech Revocation List Status
/// Method](https://www.imsglobal.org/spec/vcrl/v1p0)).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevocationList {
    /// The address of the list.
    pub id: String,
    /// The DID of the issuer.
    pub issuer: String,
    /// The revoked credentials.
    pub revoked_credential: Vec<RevokedCredential>,
}

impl RevocationList {
    /// The list at the address `id`. `revoked` are the ids of credentials, with the reason if one was given.
    pub fn new(
        id: String,
        issuer: String,
        revoked: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Self {
        let revoked = revoked.into_iter().map(|(id, revocation_reason)| RevokedCredential {
            id,
            revoked: true,
            revocation_reason,
        });
        Self { id, issuer, revoked_credential: revoked.collect() }
    }
}

/// A revoked credential.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokedCredential {
    /// The id of the credential.
    pub id: String,
    /// Always true.
    pub revoked: bool,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revocation_reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bits_are_decoded_unchanged() {
        let mut bits = Bits::default();
        assert_eq!(bits.count(), 131_072);
        for index in [0, 7, 8, 131_071, 200_000] {
            bits.set(index, true).unwrap();
        }
        bits.set(7, false).unwrap();
        let read = Bits::decode(&bits.encode()).unwrap();
        assert_eq!(read, bits);
        let set: Vec<usize> = (0..read.count()).filter(|at| read.get(*at) == Some(true)).collect();
        assert_eq!(set, [0, 8, 131_071, 200_000]);
        assert_eq!(read.get(read.count()), None);
        assert!(bits.set(usize::MAX, true).is_err());
    }

    #[test]
    fn a_list_that_unpacks_to_too_much_is_refused() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&vec![0; STATUS_LIST_MAX_BYTES + 1]).unwrap();
        let bomb = format!("u{}", BASE64_URL_SAFE_NO_PAD.encode(gzip.finish().unwrap()));
        assert_eq!(Bits::decode(&bomb).unwrap_err().kind, ProblemKind::Malformed);
        for text in ["", "u", "u!", "uAAAA"] {
            assert!(Bits::decode(text).is_err(), "{text}");
        }
    }
}
