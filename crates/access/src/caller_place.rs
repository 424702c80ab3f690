//! Where a request comes from.

use std::fmt;
use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

/// The place that a request comes from. Limits on guessing count it, and the log names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerPlace {
    /// The address of the caller.
    Address(IpAddr),
    /// The backend of the hosted project with this slug, on this machine. What its headers say does not count.
    Backend(Arc<str>),
}

impl CallerPlace {
    /// The address of the caller; for a backend that of this machine.
    pub fn address(&self) -> IpAddr {
        match self {
            Self::Address(address) => *address,
            Self::Backend(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }

    /// The place that limits count: the backend, the IPv4 address, or the IPv6 network of one subscriber (RFC 6177),
    /// because a subscriber has many IPv6 addresses.
    pub(crate) fn counted(&self) -> String {
        match self {
            Self::Address(address) => match address.to_canonical() {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => {
                    format!("{}/64", Ipv6Addr::from_bits(address.to_bits() >> 64 << 64))
                }
            },
            Self::Backend(_) => self.to_string(),
        }
    }
}

const BACKEND: &str = "backend:";

impl fmt::Display for CallerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Backend(slug) => write!(f, "{BACKEND}{slug}"),
        }
    }
}

impl FromStr for CallerPlace {
    type Err = AddrParseError;

    /// Reads what [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        match text.strip_prefix(BACKEND) {
            Some(slug) => Ok(Self::Backend(slug.into())),
            None => text.parse().map(Self::Address),
        }
    }
}
