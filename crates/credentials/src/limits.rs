//! The limits of this crate, each with its unit.

// # Credentials and standards

/// Bytes of one credential or definition of a badge that is kept at most.
pub const CREDENTIAL_STORED_MAX_BYTES: usize = 1024 * 1024;
/// Credentials in a compiled learner record at most; a record that has more says that it is partial.
pub const CLR_CREDENTIALS_MAX_COUNT: usize = 400;
/// Bytes of an image of a badge at most.
pub const BAKED_IMAGE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a credential that is verified at most, with the image that it is baked into.
pub const CREDENTIAL_MAX_BYTES: usize = 8 * 1024 * 1024;

// # Internal

/// Bytes of the id of a credential, badge or achievement at most.
pub const CREDENTIAL_ID_MAX_BYTES: usize = 2000;
/// Bytes of the profile of an issuer as JSON at most.
pub const ISSUER_PROFILE_MAX_BYTES: usize = 64 * 1024;
/// Characters of the reason for revoking a credential at most.
pub const REVOCATION_REASON_MAX_CHARS: usize = 2000;
/// Seconds that others may keep a status list or a key document.
pub const STATUS_LIST_MAX_AGE_S: u64 = 60;
/// Bytes of a signed learner record at most.
pub const CLR_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Steps that RDFC-1.0 may take to name the blank nodes of one document.
pub const CANONIZE_MAX_COUNT: usize = 20_000;
/// Combined JSON-LD contexts that a process caches at most.
pub const CONTEXT_CACHE_ENTRIES: usize = 1024;
/// Bytes of a key or signature in multibase at most: an ECDSA signature of P-384 has 132.
pub const MULTIBASE_MAX_BYTES: usize = 256;
/// Bytes of a proof that discloses parts of a credential at most: it has a signature for each statement.
pub const SELECTIVE_PROOF_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of a credential as JWT at most.
pub const JWT_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Elements, attributes and texts of an SVG image of a badge at most.
pub const BAKED_SVG_MAX_NODES: u32 = 100_000;
/// Bytes of an unpacked status list at least, so that a request does not show which bit its sender needs.
pub const STATUS_LIST_MIN_BYTES: usize = 16 * 1024;
/// Bytes of an unpacked status list at most.
pub const STATUS_LIST_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Credentials in a credential, endorsements and status lists among them, that are verified at once.
pub const VERIFY_CREDENTIALS_MAX_COUNT: usize = 1000;
/// Proofs of one credential that are verified: each costs a canonical form of the whole credential.
pub const VERIFY_PROOFS_MAX_COUNT: usize = 16;
/// Credentials in each other that are verified at once.
pub const VERIFY_MAX_DEPTH: usize = 4;
/// Credentials, definitions of badges and learner records that a list of the console reads at most.
pub const CONSOLE_CREDENTIALS_MAX_COUNT: u64 = 10_000;
