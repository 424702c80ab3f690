//! Embedded proofs. The server creates proofs of `eddsa-rdfc-2022`; [`suite`] lists all that it verifies. Most of
//! them sign the meaning of the credential instead of its text, so white space and the order of members do not
//! matter.

mod selective;
mod suite;

use ed25519_dalek::{Signer, SigningKey};
use lyceum_core::problem::{Problem, Result};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, message};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha384};

use crate::canonize_with;
use crate::jsonld::canonical_json;
use crate::key::{PublicKey, multibase, to_multibase};
use suite::{SUITES, SignedForm, Suite};

/// The cryptosuite of the proofs that the server creates.
pub const CRYPTOSUITE: &str = "eddsa-rdfc-2022";

/// Why a proof is not accepted.
#[derive(Debug)]
pub enum Fault {
    /// The type of proof or cryptosuite is not supported; its name.
    Unsupported(String),
    /// A member is missing or malformed.
    Malformed(Message),
    /// The document has no canonical form, because it contains data that a signature would not cover.
    Unsafe(Problem),
    /// The signature does not match the key and the document.
    Signature,
}

impl Fault {
    /// The message for people.
    pub fn text(&self) -> Message {
        match self {
            Self::Unsupported(name) => message!(
                "unsupported proof type '{name}'; supported are {types}",
                types = SUITES.each_ref().map(|suite| suite.name).join(", ")
            ),
            Self::Malformed(what) => what.clone(),
            Self::Unsafe(problem) => message!(
                "not all data is covered by the proof: {problem.message}"
            ),
            Self::Signature => {
                "bad signature: the credential was changed after it was signed, or another key signed \
                 it".into()
            }
        }
    }
}

/// Signs a credential: adds `proof` to the object. `verification_method` is the address of the key in its
/// controller's document, such as `did:web:example.org#key-1`. Errors: it is not an object, it already has a proof,
/// or it contains data that a signature would not cover, with the path.
pub fn sign(
    mut credential: Value,
    key: &SigningKey,
    verification_method: &str,
    created: Timestamp,
) -> Result<Value> {
    if credential.get("proof").is_some() {
        return Err(Problem::invalid("proof", "the credential is already signed"));
    }
    let mut proof = json!({
        "type": "DataIntegrityProof",
        "cryptosuite": CRYPTOSUITE,
        "created": crate::seconds(created),
        "verificationMethod": verification_method,
        "proofPurpose": "assertionMethod",
    });
    let signature = key.sign(&signed_graph::<Sha256>(&credential, &proof)?);
    proof["proofValue"] = to_multibase(&signature.to_bytes()).into();
    credential["proof"] = proof;
    Ok(credential)
}

/// The proofs of a credential: one object, or an array of them.
pub fn proofs(credential: &Value) -> &[Value] {
    match credential.get("proof") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(proofs)) => proofs,
        Some(proof) => std::slice::from_ref(proof),
    }
}

/// Checks one of the credential's proofs with the key that its `verificationMethod` names. The caller must check that
/// the key belongs to the issuer.
pub fn check(credential: &Value, proof: &Value, key: &PublicKey) -> Result<(), Fault> {
    let suite = Suite::of(proof)?;
    if !suite.takes(key) {
        return Err(Fault::Malformed(message!("{suite.name} needs another kind of key")));
    }
    has_its_contexts(credential, proof, suite)?;
    let value = proof["proofValue"].as_str().unwrap_or_default();
    let mut document = credential.clone();
    let mut options = proof.clone();
    if let (Value::Object(document), Value::Object(options)) = (&mut document, &mut options) {
        document.shift_remove("proof");
        options.shift_remove("proofValue");
    }
    if suite.form == SignedForm::Selective {
        return selective::check(&document, &options, value, key);
    }
    let signature = multibase(value).ok_or_else(|| {
        Fault::Malformed("'proofValue' is not a signature in multibase base58btc".into())
    })?;
    let data = match (suite.form, key) {
        (SignedForm::Json, PublicKey::P384(_)) => signed_text::<Sha384>(&document, &options),
        (SignedForm::Json, _) => signed_text::<Sha256>(&document, &options),
        (_, PublicKey::P384(_)) => signed_graph::<Sha384>(&document, &options),
        (_, _) => signed_graph::<Sha256>(&document, &options),
    };
    match key.verifies(&data.map_err(Fault::Unsafe)?, &signature) {
        true => Ok(()),
        false => Err(Fault::Signature),
    }
}

/// Checks that the proof is of a supported kind. Errors: its type or cryptosuite is not supported.
pub fn supported(proof: &Value) -> Result<(), Fault> {
    if proof.get("previousProof").is_some() {
        return Err(Fault::Unsupported("previousProof".to_owned()));
    }
    Suite::of(proof).map(drop)
}

/// A proof over the text contains the contexts of the credential, and other proofs contain none, because a proof's
/// context could change their meaning. The standard allows the credential to add further contexts, but the signature
/// would not cover them, so they are refused.
fn has_its_contexts(credential: &Value, proof: &Value, suite: &Suite) -> Result<(), Fault> {
    let fault = match proof.get("@context") {
        None => return Ok(()),
        Some(_) if suite.form != SignedForm::Json => "a proof must not have a context",
        Some(context) if Some(context) == credential.get("@context") => return Ok(()),
        Some(_) => "the proof must have the same contexts as the credential",
    };
    Err(Fault::Malformed(fault.into()))
}

/// The bytes that most suites sign: the hash of the proof's options, then the hash of the document. The options are
/// read in the document's contexts.
fn signed_graph<D: Digest>(document: &Value, options: &Value) -> Result<Vec<u8>> {
    let options = canonize_with::<D>(&in_contexts(document, options)?);
    let options = options.map_err(|problem| below(problem, "proof"))?;
    Ok(hashes::<D>(&options, &canonize_with::<D>(document)?))
}

/// The same for suites that sign the canonical form of the JSON (RFC 8785).
fn signed_text<D: Digest>(document: &Value, options: &Value) -> Result<Vec<u8>> {
    let text =
        |value, path: &str| canonical_json(value).map_err(|fault| Problem::invalid(path, fault));
    Ok(hashes::<D>(&text(options, "proof")?, &text(document, "")?))
}

fn hashes<D: Digest>(options: &str, document: &str) -> Vec<u8> {
    let mut data = D::digest(options).to_vec();
    data.extend_from_slice(&D::digest(document));
    data
}

fn in_contexts(document: &Value, options: &Value) -> Result<Value> {
    let mut options = options.clone();
    let context = document.get("@context").ok_or_else(|| {
        Problem::invalid(
            "@context",
            "is required; without it, the terms of the credential are undefined",
        )
    })?;
    options["@context"] = context.clone();
    Ok(options)
}

fn below(mut problem: Problem, path: &str) -> Problem {
    for detail in &mut problem.details {
        detail.path = format!("{path}.{}", detail.path);
    }
    problem.message = message!("{path}.{problem}");
    problem
}
