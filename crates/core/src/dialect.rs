//! The two dialects of payloads: the standards' closed ones and the platform's wider ones.

use std::str::FromStr;

/// Which payloads a client reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// Extra fields, paging keys in bodies, relaxed requirements.
    #[default]
    Platform,
    /// Exactly the official schemas of the standards.
    Standard,
}

impl Dialect {
    /// Its name in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Standard => "standard",
        }
    }
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "platform" => Ok(Self::Platform),
            "standard" => Ok(Self::Standard),
            _ => Err("a dialect is 'platform' or 'standard'"),
        }
    }
}
