//! Computes checksums while a value arrives.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::text::hex;
use md5::{Digest, Md5};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512};
use serde_json::{Map, Value as Json};

use super::R2Fault;
use super::request::PutRequest;

/// The MD5 that every object has, and the checksums that the caller sent.
pub(super) struct Digests {
    md5: Md5,
    given_md5: Option<String>,
    /// R2's number of the algorithm, its name, the caller's checksum and the computation.
    others: Vec<(&'static str, &'static str, String, Context)>,
}

impl Digests {
    pub(super) fn md5() -> Self {
        Self { md5: Md5::new(), given_md5: None, others: Vec::new() }
    }

    pub(super) fn requested_by(put: &PutRequest) -> Result<Self, R2Fault> {
        let given_md5 = match &put.md5 {
            None => None,
            Some(text) => {
                let bytes = BASE64_STANDARD.decode(text);
                let bytes =
                    bytes.map_err(|_| R2Fault::BadRequest("md5 is not valid base64".into()))?;
                Some(hex(bytes))
            }
        };
        let others = [
            ("1", "SHA-1", &put.sha1, &SHA1_FOR_LEGACY_USE_ONLY),
            ("2", "SHA-256", &put.sha256, &SHA256),
            ("3", "SHA-384", &put.sha384, &SHA384),
            ("4", "SHA-512", &put.sha512, &SHA512),
        ];
        let others = others.into_iter().filter_map(|(number, name, given, algorithm)| {
            Some((number, name, given.as_ref()?.to_lowercase(), Context::new(algorithm)))
        });
        Ok(Self { md5: Md5::new(), given_md5, others: others.collect() })
    }

    pub(super) fn update(&mut self, chunk: &[u8]) {
        self.md5.update(chunk);
        for (.., context) in &mut self.others {
            context.update(chunk);
        }
    }

    pub(super) fn md5_bytes(self) -> [u8; 16] {
        self.md5.finalize().into()
    }

    /// The checksums by number. Errors: one differs from the caller's.
    pub(super) fn checked(self) -> Result<Map<String, Json>, R2Fault> {
        let md5 = hex(self.md5.finalize());
        check("MD5", self.given_md5.as_ref().unwrap_or(&md5), &md5)?;
        let mut checksums = Map::new();
        checksums.insert("0".into(), md5.into());
        for (number, name, given, context) in self.others {
            let found = hex(context.finish());
            check(name, &given, &found)?;
            checksums.insert(number.into(), found.into());
        }
        Ok(checksums)
    }
}

fn check(name: &'static str, given: &str, found: &str) -> Result<(), R2Fault> {
    if given == found {
        return Ok(());
    }
    Err(R2Fault::BadDigest { name, given: given.into(), found: found.into() })
}
