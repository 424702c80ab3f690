//! The two payload dialects: the closed one of the standards and the wider one of the platform.
//!
//! Both use the same records and handlers, which would otherwise drift apart. What only the platform dialect has is
//! stored beside the standard's body. The standard dialect refuses unknown members, and the platform dialect keeps
//! them.

use std::str::FromStr;

/// The form of payloads that a client reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PayloadDialect {
    /// Allows extra fields, paging keys in bodies and fewer required fields.
    #[default]
    Platform,
    /// Follows the official schemas of the standards exactly.
    Standard,
}

impl PayloadDialect {
    /// Its name in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Standard => "standard",
        }
    }
}

impl FromStr for PayloadDialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "platform" => Ok(Self::Platform),
            "standard" => Ok(Self::Standard),
            _ => Err("the dialect must be 'platform' or 'standard'"),
        }
    }
}
