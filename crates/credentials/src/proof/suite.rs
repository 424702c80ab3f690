//! The kinds of proofs that can be verified.
//!
//! Base proofs of `ecdsa-sd-2023` are verified as well as derived ones, because a learner may keep what the issuer
//! sent. A selective proof is read in one encoding only, so that every byte matters. `ring` checks signatures; `p256`
//! and `p384` only decompress the points of a Multikey, which `ring` cannot.

use serde_json::Value;

use super::Fault;
use crate::key::PublicKey;

/// A kind of proof.
pub(super) struct Suite {
    /// Its cryptosuite, or the proof type for kinds older than cryptosuites.
    pub(super) name: &'static str,
    /// The form that it signs.
    pub(super) form: SignedForm,
    keys: Keys,
}

/// The form of a credential that a proof signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignedForm {
    /// The canonical RDF graph.
    Graph,
    /// The canonical form of the JSON.
    Json,
    /// Each statement of the graph separately, so that some can be left out.
    Selective,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Ed25519,
    /// P-256 and P-384.
    Ecdsa,
    P256,
}

const fn suite(name: &'static str, form: SignedForm, keys: Keys) -> Suite {
    Suite { name, form, keys }
}

/// The type of proofs that name a cryptosuite.
const DATA_INTEGRITY: &str = "DataIntegrityProof";
/// A proof type that is also a suite.
const ED25519_2020: &str = "Ed25519Signature2020";

/// All suites: Data Integrity `EdDSA` Cryptosuites 1.0, Data Integrity ECDSA Cryptosuites 1.0, and older ones.
/// `eddsa-2022` is an older name of `eddsa-rdfc-2022`.
pub(super) static SUITES: [Suite; 7] = [
    suite("eddsa-rdfc-2022", SignedForm::Graph, Keys::Ed25519),
    suite("eddsa-2022", SignedForm::Graph, Keys::Ed25519),
    suite("eddsa-jcs-2022", SignedForm::Json, Keys::Ed25519),
    suite("ecdsa-rdfc-2019", SignedForm::Graph, Keys::Ecdsa),
    suite("ecdsa-jcs-2019", SignedForm::Json, Keys::Ecdsa),
    suite("ecdsa-sd-2023", SignedForm::Selective, Keys::P256),
    suite(ED25519_2020, SignedForm::Graph, Keys::Ed25519),
];

impl Suite {
    /// The suite of a proof. Errors: it is missing or not supported.
    pub(super) fn of(proof: &Value) -> Result<&'static Self, Fault> {
        let name = match (proof["type"].as_str(), proof["cryptosuite"].as_str()) {
            (Some(DATA_INTEGRITY), Some(ED25519_2020)) => None,
            (Some(DATA_INTEGRITY), Some(suite)) => Some(suite),
            (Some(DATA_INTEGRITY), None) => {
                return Err(Fault::Malformed("the proof has no 'cryptosuite'".into()));
            }
            (Some(ED25519_2020), None) => Some(ED25519_2020),
            (Some(_), _) => None,
            (None, _) => return Err(Fault::Malformed("the proof has no 'type'".into())),
        };
        let known = name.and_then(|name| SUITES.iter().find(|suite| suite.name == name));
        known.ok_or_else(|| {
            let kind = proof["type"].as_str().filter(|kind| *kind != DATA_INTEGRITY);
            let kind = kind.or(proof["cryptosuite"].as_str()).unwrap_or_default();
            Fault::Unsupported(kind.to_owned())
        })
    }

    /// Whether the suite signs with keys of that kind.
    pub(super) fn takes(&self, key: &PublicKey) -> bool {
        match key {
            PublicKey::Ed25519(_) => self.keys == Keys::Ed25519,
            PublicKey::P256(_) => self.keys != Keys::Ed25519,
            PublicKey::P384(_) => self.keys == Keys::Ecdsa,
            PublicKey::Rsa { .. } => false,
        }
    }
}
