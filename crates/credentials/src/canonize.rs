//! The text that proofs sign: what a document means as a graph, in canonical form.

use lyceum_core::problem::Result;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::jsonld::{self, Pick};

/// The canonical N-Quads of a JSON-LD document (RDFC-1.0), in safe mode: nothing of the document is
/// left out. Errors: what the quads would not hold, by its path, see [`crate`]; blank nodes that
/// cannot be told apart within the limit.
pub fn canonize(document: &Value) -> Result<String> {
    canonize_with::<Sha256>(document)
}

/// [`canonize`] with another hash function: hashes name the blank nodes.
pub(crate) fn canonize_with<D: Digest>(document: &Value) -> Result<String> {
    jsonld::quads(document, Pick::None)?.canonical::<D>()
}
