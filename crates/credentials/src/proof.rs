//! Embedded proofs: `eddsa-rdfc-2022` (Data Integrity `EdDSA` Cryptosuites 1.0, 3.2). What is signed is
//! the meaning of the credential, not its text: white space and the order of members are free.

use std::fmt;

use ed25519_dalek::{Signer, SigningKey};
use lyceum_core::problem::{Problem, Result};
use lyceum_core::time::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::canonize;
use crate::key::{PublicKey, multibase, to_multibase};

/// The cryptosuite of the proofs that are made here.
pub const CRYPTOSUITE: &str = "eddsa-rdfc-2022";

/// Why a proof is not accepted.
#[derive(Debug)]
pub enum Fault {
    /// A type of proof or a cryptosuite that is not verified here; its name.
    Unsupported(String),
    /// A member that is missing or not what it should be.
    Malformed(String),
    /// The document cannot be put in canonical form: it has data that no signature would cover.
    Unsafe(Problem),
    /// The signature is not one of the key over this document.
    Signature,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(name) => write!(
                f,
                "unsupported proof type '{name}'; DataIntegrityProof with {CRYPTOSUITE} is verified"
            ),
            Self::Malformed(what) => f.write_str(what),
            Self::Unsafe(problem) => write!(f, "not all data is covered by the proof: {problem}"),
            Self::Signature => f.write_str(
                "bad signature: the credential was changed after it was signed, or another key \
                 signed it",
            ),
        }
    }
}

impl std::error::Error for Fault {}

/// Signs a credential: the same object with `proof`. `verification_method` is the address of the
/// key in its controller's document, such as `did:web:example.org#key-1`. Errors: it is no object,
/// it has a proof, or it has data that a signature would not cover, by its path.
pub fn sign(
    mut credential: Value,
    key: &SigningKey,
    verification_method: &str,
    created: Timestamp,
) -> Result<Value> {
    if credential.get("proof").is_some() {
        return Err(Problem::invalid("proof", "the credential is signed already"));
    }
    let mut proof = json!({
        "type": "DataIntegrityProof",
        "cryptosuite": CRYPTOSUITE,
        "created": crate::seconds(created),
        "verificationMethod": verification_method,
        "proofPurpose": "assertionMethod",
    });
    let signature = key.sign(&hash_data(&credential, &proof)?);
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

/// Checks one of the credential's proofs with the key that its `verificationMethod` names. Whether
/// that key is the issuer's is for the caller to say.
pub fn check(credential: &Value, proof: &Value, key: &PublicKey) -> Result<(), Fault> {
    supported(proof)?;
    if proof.get("@context").is_some() {
        return Err(Fault::Malformed("a proof with a context of its own is not read".to_owned()));
    }
    let value = proof["proofValue"].as_str().and_then(multibase);
    let signature = value.ok_or_else(|| {
        Fault::Malformed("'proofValue' is not a signature in multibase base58btc".to_owned())
    })?;
    let PublicKey::Ed25519(_) = key else {
        return Err(Fault::Malformed(format!("{CRYPTOSUITE} takes an Ed25519 key")));
    };
    let mut document = credential.clone();
    let mut options = proof.clone();
    if let (Value::Object(document), Value::Object(options)) = (&mut document, &mut options) {
        document.shift_remove("proof");
        options.shift_remove("proofValue");
    }
    let data = hash_data(&document, &options).map_err(Fault::Unsafe)?;
    match key.verifies(&data, &signature) {
        true => Ok(()),
        false => Err(Fault::Signature),
    }
}

/// Whether the proof is of the kind that is verified here. Errors: its type or cryptosuite.
pub fn supported(proof: &Value) -> Result<(), Fault> {
    match (proof["type"].as_str(), proof["cryptosuite"].as_str()) {
        (Some("DataIntegrityProof"), Some(CRYPTOSUITE)) => Ok(()),
        (Some("DataIntegrityProof"), Some(suite)) => Err(Fault::Unsupported(suite.to_owned())),
        (Some("DataIntegrityProof"), None) => {
            Err(Fault::Malformed("the proof has no 'cryptosuite'".to_owned()))
        }
        (Some(kind), _) => Err(Fault::Unsupported(kind.to_owned())),
        (None, _) => Err(Fault::Malformed("the proof has no 'type'".to_owned())),
    }
}

/// What is signed: the hash of the proof's options, then the document's (3.2.4). The options are
/// read in the document's contexts.
fn hash_data(document: &Value, options: &Value) -> Result<[u8; 64]> {
    let mut options = options.clone();
    let context = document.get("@context").ok_or_else(|| {
        Problem::invalid("@context", "the credential has no '@context', so its terms mean nothing")
    })?;
    options["@context"] = context.clone();
    let options = canonize(&options).map_err(|problem| below(problem, "proof"))?;
    let mut data = [0; 64];
    data[..32].copy_from_slice(&Sha256::digest(options));
    data[32..].copy_from_slice(&Sha256::digest(canonize(document)?));
    Ok(data)
}

fn below(mut problem: Problem, path: &str) -> Problem {
    for detail in &mut problem.details {
        detail.path = format!("{path}.{}", detail.path);
    }
    problem.message = format!("{path}.{}", problem.message);
    problem
}
