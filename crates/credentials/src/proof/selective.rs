//! `ecdsa-sd-2023` (Data Integrity ECDSA Cryptosuites 1.0, 3.4): the issuer signs each statement separately, so that
//! the holder can leave some out. The issuer creates a base proof, and the holder shows a proof derived from it.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use ring::hmac;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Fault, below, in_contexts};
use crate::canonize;
use crate::jsonld::{self, Pick, SelectedParts};
use crate::key::PublicKey;
use crate::limits::SELECTIVE_PROOF_MAX_BYTES;
use crate::rdf::Line;

/// The tags of a base proof and of a derived proof.
const BASE: u64 = 0x5d00;
const DERIVED: u64 = 0x5d01;
/// The tag that some encoders add to byte strings (RFC 8746).
const BYTES: u64 = 64;

/// The value of a proof.
struct Proof {
    base_signature: Vec<u8>,
    /// The key that signed the statements, as a Multikey.
    public_key: Vec<u8>,
    signatures: Vec<Vec<u8>>,
    kind: Kind,
}

enum Kind {
    /// A base proof: the key that names blank nodes, and what the holder must show.
    Base { hmac_key: Vec<u8>, pointers: Vec<String> },
    /// A derived proof: the names of blank nodes by their canonical numbers, and which statements the holder had to
    /// show, in the order of their lines.
    Derived { labels: BTreeMap<u64, Vec<u8>>, mandatory: Vec<usize> },
}

/// Checks a proof over the document with the issuer's key.
pub(super) fn check(
    document: &Value,
    options: &Value,
    value: &str,
    key: &PublicKey,
) -> Result<(), Fault> {
    let proof = Proof::read(value).ok_or_else(|| {
        Fault::Malformed("'proofValue' is not a base or derived proof of ecdsa-sd-2023".into())
    })?;
    let options = in_contexts(document, options).map_err(Fault::Unsafe)?;
    let options = canonize(&options).map_err(|problem| Fault::Unsafe(below(problem, "proof")))?;
    let (mandatory, others) = proof.statements(document)?;
    if others.len() != proof.signatures.len() {
        return Err(Fault::Signature);
    }
    let mut hash = Sha256::new();
    for line in &mandatory {
        hash.update(&line.text);
    }
    let signed = [&Sha256::digest(options)[..], &proof.public_key, &hash.finalize()].concat();
    let Ok(of_statements @ PublicKey::P256(_)) = PublicKey::from_multikey_bytes(&proof.public_key)
    else {
        let fault = "the key that signed the statements must be a P-256 key";
        return Err(Fault::Malformed(fault.into()));
    };
    let mut pairs = others.iter().zip(&proof.signatures);
    let is_signed = key.verifies(&signed, &proof.base_signature)
        && pairs.all(|(line, signature)| of_statements.verifies(line.text.as_bytes(), signature));
    if is_signed { Ok(()) } else { Err(Fault::Signature) }
}

impl Proof {
    fn read(value: &str) -> Option<Self> {
        let encoded = value.strip_prefix('u')?;
        if encoded.len() > SELECTIVE_PROOF_MAX_BYTES {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(encoded).ok()?;
        let read: Cbor = ciborium::from_reader(&bytes[..]).ok()?;
        // Only one encoding of a value is accepted. Otherwise, bytes that the signature does not cover could be
        // changed.
        let mut again = Vec::with_capacity(bytes.len());
        ciborium::into_writer(&read, &mut again).ok()?;
        if again != bytes {
            return None;
        }
        let Cbor::Tag(tag, parts) = read else { return None };
        let parts: [Cbor; 5] = parts.into_array().ok()?.try_into().ok()?;
        let [base_signature, public_key, third, fourth, fifth] = parts;
        let (signatures, kind) = match tag {
            BASE => {
                let pointers = fifth.into_array().ok()?.into_iter();
                let pointers = pointers.map(|one| one.into_text().ok()).collect::<Option<_>>()?;
                (fourth, Kind::Base { hmac_key: byte_string(third)?, pointers })
            }
            DERIVED => {
                let kind = Kind::Derived { labels: labels(fourth)?, mandatory: places(fifth)? };
                (third, kind)
            }
            _ => return None,
        };
        let signatures = signatures.into_array().ok()?.into_iter().map(byte_string);
        Some(Self {
            base_signature: byte_string(base_signature)?,
            public_key: byte_string(public_key)?,
            signatures: signatures.collect::<Option<_>>()?,
            kind,
        })
    }

    /// The statements of the document that the holder had to show, and the others, in the order of their lines.
    fn statements(&self, document: &Value) -> Result<(Vec<Line>, Vec<Line>), Fault> {
        let parts = match &self.kind {
            Kind::Base { pointers, .. } => {
                SelectedParts::read(document, pointers).map_err(Fault::Unsafe)?
            }
            Kind::Derived { .. } => None,
        };
        let pick = match &self.kind {
            Kind::Base { .. } => SelectedParts::pick(parts.as_ref()),
            Kind::Derived { .. } => Pick::None,
        };
        let dataset = jsonld::quads(document, pick).map_err(Fault::Unsafe)?;
        let mut lines = dataset.renamed(|count| self.names(count)).map_err(Fault::Unsafe)??;
        if let Kind::Derived { mandatory, .. } = &self.kind {
            for place in mandatory {
                let line = lines.get_mut(*place).ok_or(Fault::Signature)?;
                line.is_picked = true;
            }
        }
        Ok(lines.into_iter().partition(|line| line.is_picked))
    }

    /// The names of the blank nodes, by their canonical numbers.
    fn names(&self, count: usize) -> Result<Vec<String>, Fault> {
        match &self.kind {
            Kind::Base { hmac_key, .. } => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, hmac_key);
                let name = |number| name(hmac::sign(&key, format!("c14n{number}").as_bytes()));
                Ok((0..count).map(name).collect())
            }
            // A name without a node would be data that the signature does not cover.
            Kind::Derived { labels, .. } if labels.len() == count => {
                let numbers = 0..count as u64;
                let names = numbers.map(|number| labels.get(&number).map(name));
                names.collect::<Option<_>>().ok_or(Fault::Signature)
            }
            Kind::Derived { .. } => Err(Fault::Signature),
        }
    }
}

fn name(bytes: impl AsRef<[u8]>) -> String {
    format!("u{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

fn byte_string(value: Cbor) -> Option<Vec<u8>> {
    match value {
        Cbor::Tag(BYTES, value) => value.into_bytes().ok(),
        value => value.into_bytes().ok(),
    }
}

/// The names of blank nodes. They must be unique: two nodes with the same name would split the statements about one
/// signed node.
fn labels(value: Cbor) -> Option<BTreeMap<u64, Vec<u8>>> {
    let mut labels = BTreeMap::new();
    let mut distinct = BTreeSet::new();
    for (number, label) in value.into_map().ok()? {
        let number = number.into_integer().ok()?.try_into().ok()?;
        let label = byte_string(label)?;
        if !distinct.insert(label.clone()) || labels.insert(number, label).is_some() {
            return None;
        }
    }
    Some(labels)
}

/// Unique places in rising order.
fn places(value: Cbor) -> Option<Vec<usize>> {
    let mut places: Vec<usize> = Vec::new();
    for place in value.into_array().ok()? {
        let place = place.into_integer().ok()?.try_into().ok()?;
        if places.last().is_some_and(|last| *last >= place) {
            return None;
        }
        places.push(place);
    }
    Some(places)
}
