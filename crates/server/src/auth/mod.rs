//! Tokens: given out, checked, remembered.

use crate::context::Dialect;

/// What a valid token grants.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The client's id.
    pub client: std::sync::Arc<str>,
    /// The dialect that the client is registered with.
    pub dialect: Dialect,
}
