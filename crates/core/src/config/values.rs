//! Values that are more than a number or a text, and how they are read.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IntoDeserializer};

use super::NewAccounts;

/// A text that is not printed: a password, a key, an address that holds one.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// An address or a network of addresses, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// Whether the address lies in this network. An IPv4 address that came in as IPv6
    /// (`::ffff:10.0.0.1`) counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differ = network.to_bits() ^ address.to_bits();
                differ.checked_shr(32 - self.prefix).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differ = network.to_bits() ^ address.to_bits();
                differ.checked_shr(128 - self.prefix).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok())?;
        (prefix <= bits).then_some(Self { address, prefix })
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "must be an IP address or a network such as 10.0.0.0/8: got '{text}'"
            ))
        })
    }
}

pub(super) fn listen<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    host_and_port(String::deserialize(from)?)
}

pub(super) fn optional_listen<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() { Ok(None) } else { host_and_port(text).map(Some) }
}

fn host_and_port<E: Error>(text: String) -> Result<String, E> {
    let valid = text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty()
            && port.parse::<u16>().is_ok()
            && (!host.contains(':') || (host.starts_with('[') && host.ends_with(']')))
    });
    if valid {
        Ok(text)
    } else {
        Err(E::custom(format!("must be HOST:PORT such as 127.0.0.1:8080: got '{text}'")))
    }
}

pub(super) fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.trim_matches('/').is_empty() && !rest.contains(['?', '#', ' ']) => {
            Ok(Some(text.trim_end_matches('/').to_owned()))
        }
        _ => {
            Err(D::Error::custom(format!("must be an address such as https://host: got '{text}'")))
        }
    }
}

pub(super) fn time_zone<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match jiff::tz::TimeZoneDatabase::bundled().get(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(D::Error::custom(format!(
            "must be a time zone such as Europe/Berlin or UTC: got '{text}'"
        ))),
    }
}

/// An issuer is compared letter by letter: a slash at its end is a part of it.
pub(super) fn issuer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    let is_plain = !text.contains(['?', '#', ' ', '@']);
    let host = |rest: &str| rest.split(['/', ':']).next().unwrap_or_default().to_owned();
    let is_safe = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => !host(rest).is_empty(),
        (_, Some(rest)) => matches!(host(rest).as_str(), "localhost" | "127.0.0.1"),
        _ => false,
    };
    match is_plain && is_safe {
        true => Ok(Some(text)),
        false => Err(D::Error::custom(format!(
            "must be an https address such as https://id.example.org: got '{text}'"
        ))),
    }
}

pub(super) fn new_accounts<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<NewAccounts>, D::Error> {
    match String::deserialize(from)?.as_str() {
        "" => Ok(None),
        "guide" => Ok(Some(NewAccounts::Guide)),
        "developer" => Ok(Some(NewAccounts::Developer)),
        other => {
            Err(D::Error::custom(format!("must be 'guide', 'developer' or empty: got '{other}'")))
        }
    }
}

pub(super) fn database<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    let secret = optional_secret(from)?;
    match &secret {
        Some(Secret(url))
            if !url.starts_with("postgres://") && !url.starts_with("postgresql://") =>
        {
            Err(D::Error::custom(
                "must be an address such as postgres://user:password@host/database",
            ))
        }
        _ => Ok(secret),
    }
}

pub(super) fn above_zero<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match usize::deserialize(from)? {
        0 => Err(D::Error::custom("must be above 0")),
        number => Ok(number),
    }
}

pub(super) fn times_of_day<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<jiff::civil::Time>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    if texts.is_empty() {
        return Err(D::Error::custom("must contain a time of the day such as 02:00"));
    }
    let time = |text: &String| {
        let wrong = |_| D::Error::custom(format!("must contain times such as 02:00: got '{text}'"));
        jiff::civil::Time::strptime("%H:%M", text).map_err(wrong)
    };
    texts.iter().map(time).collect()
}

pub(super) fn optional_secret<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Secret>, D::Error> {
    let text = String::deserialize(from)?;
    Ok(if text.is_empty() { None } else { Some(Secret(text)) })
}

pub(super) fn optional_path<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(from)?;
    Ok(if text.is_empty() { None } else { Some(text.into()) })
}

pub(super) fn collector<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    if text.contains('@') {
        let message = "must not contain a user name or password; set telemetry.headers instead";
        return Err(D::Error::custom(message));
    }
    public_url(text.into_deserializer())
}

pub(super) fn headers<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, Secret)>, D::Error> {
    let text = String::deserialize(from)?;
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if is_header(name, value) => {
                Ok((name.to_owned(), Secret::new(value)))
            }
            _ => Err(D::Error::custom("must be NAME=VALUE, several with commas between them")),
        })
        .collect()
}

fn is_header(name: &str, value: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_of_value = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    !name.is_empty() && name.bytes().all(is_of_name) && value.bytes().all(is_of_value)
}
