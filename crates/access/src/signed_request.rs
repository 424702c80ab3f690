//! Requests that clients sign with OAuth 1.0a instead of sending a token (RFC 5849, two-legged). A client that is
//! marked for them has a signing secret in addition to its secret.
//!
//! The signature is an HMAC, so the server needs the signing secret itself. It is stored sealed under the master key.
//!
//! A signed request has the client's scopes of OneRoster 1.1 alone. Its nonce is a row with a primary key, so every
//! server of the database refuses a repetition. The signing secret is separate from the client's secret, of which the
//! store has only a hash.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::text::segment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use percent_encoding::percent_decode_str;
use ring::hmac;

use crate::client::{self, Client};
use crate::limits;
use crate::master::MasterKey;
use crate::repository::signing as repository;
pub use crate::repository::signing::{is_signing, signing_clients};
use crate::sealed::SealedColumn;

/// A parsed signed request.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    client: String,
    algorithm: hmac::Algorithm,
    signature: Vec<u8>,
    timestamp_s: i64,
    nonce: String,
    /// The signed text (RFC 5849, 3.4.1).
    base_string: String,
}

/// The reason why a signed request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureRefusal {
    /// A parameter is missing, repeated or wrong; the text says which.
    Malformed(String),
    /// The time stamp is too far from the server's time.
    Stale,
    /// No active client has the id, it has no signing secret, or its signing secret gives another signature.
    Wrong,
    /// The client used the nonce and time stamp before.
    Replayed,
}

impl fmt::Display for SignatureRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => f.write_str(text),
            Self::Stale => write!(
                f,
                "oauth_timestamp is more than {} s away from the server's time; set the clock of the client",
                limits::SIGNATURE_WINDOW_S
            ),
            Self::Wrong => f.write_str(
                "the client id or the signature is wrong, or the client has no signing secret",
            ),
            Self::Replayed => {
                f.write_str("the request was sent before; sign each request with a new oauth_nonce")
            }
        }
    }
}

type Parameters<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

impl SignedRequest {
    /// Parses the request for the address, which has no query. The OAuth parameters are in the `Authorization` header
    /// or in the query (RFC 5849, 3.5.1 and 3.5.3). `None` if the request is not signed.
    pub fn parse(
        method: &str,
        address: &str,
        query: Option<&str>,
        authorization: Option<&str>,
    ) -> Option<Result<Self, SignatureRefusal>> {
        let header = authorization.and_then(|value| {
            let (scheme, parameters) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("OAuth").then_some(parameters)
        });
        let mut parameters: Parameters<'_> =
            form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
        match header {
            Some(header) => {
                let Some(of_header) = parse_header(header) else {
                    let text = "the Authorization header must be 'OAuth name=\"value\", …'";
                    return Some(Err(SignatureRefusal::Malformed(text.to_owned())));
                };
                parameters.extend(of_header.into_iter().filter(|(name, _)| name != "realm"));
            }
            None if authorization.is_some() => return None,
            None if parameters.iter().all(|(name, _)| name != "oauth_signature") => return None,
            None => {}
        }
        Some(Self::of_parameters(method, address, &parameters).map_err(SignatureRefusal::Malformed))
    }

    fn of_parameters(
        method: &str,
        address: &str,
        parameters: &Parameters<'_>,
    ) -> Result<Self, String> {
        let all = |name: &'static str| parameters.iter().filter(move |(known, _)| known == name);
        let one = |name: &'static str| match all(name).count() {
            0 => Err(format!("{name} is required")),
            1 => Ok(all(name).map(|(_, value)| value.as_ref()).next().unwrap_or_default()),
            _ => Err(format!("{name} was sent more than once; send it once")),
        };
        let algorithm = match one("oauth_signature_method")? {
            "HMAC-SHA1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            "HMAC-SHA256" => hmac::HMAC_SHA256,
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(format!(
                    "oauth_signature_method must be one of HMAC-SHA1, HMAC-SHA256 (got '{other}')"
                ));
            }
        };
        if all("oauth_version").any(|(_, version)| version != "1.0") {
            return Err("oauth_version must be 1.0".to_owned());
        }
        let timestamp_s = one("oauth_timestamp")?
            .parse()
            .map_err(|_| "oauth_timestamp must be seconds since 1970-01-01T00:00:00Z".to_owned())?;
        let nonce = one("oauth_nonce")?;
        if nonce.is_empty() || nonce.len() > limits::NONCE_MAX_BYTES || nonce.contains('\0') {
            return Err(format!("oauth_nonce must have 1 to {} bytes", limits::NONCE_MAX_BYTES));
        }
        let signature = BASE64_STANDARD
            .decode(one("oauth_signature")?)
            .map_err(|_| "oauth_signature must be base64".to_owned())?;
        Ok(Self {
            client: one("oauth_consumer_key")?.to_owned(),
            algorithm,
            signature,
            timestamp_s,
            nonce: nonce.to_owned(),
            base_string: base_string(method, address, parameters),
        })
    }

    /// The id of the client that is said to have signed it.
    pub fn client(&self) -> &str {
        &self.client
    }

    fn is_signed_with(&self, secret: &str) -> bool {
        // The second part of the key is the secret of a token, and two-legged requests have no token.
        let key = hmac::Key::new(self.algorithm, format!("{}&", segment(secret)).as_bytes());
        hmac::verify(&key, self.base_string.as_bytes(), &self.signature).is_ok()
    }

    /// The client that signed the request. This reads only; [`SignedRequest::use_nonce`] refuses replays.
    pub fn verify(
        &self,
        tx: &mut Tx<'_>,
        master: &MasterKey,
        now: Timestamp,
    ) -> Result<Result<Client, SignatureRefusal>> {
        if now.seconds().abs_diff(self.timestamp_s) > limits::SIGNATURE_WINDOW_S.unsigned_abs() {
            return Ok(Err(SignatureRefusal::Stale));
        }
        let client = client::find(tx, &self.client)?.filter(|client| client.revoked.is_none());
        let Some(client) = client else { return Ok(Err(SignatureRefusal::Wrong)) };
        let mut is_right = false;
        for sealed in repository::valid(tx, now, &client.id)? {
            is_right |= self.is_signed_with(&open(master, &client.id, &sealed)?);
        }
        Ok(if is_right { Ok(client) } else { Err(SignatureRefusal::Wrong) })
    }

    /// Uses up the nonce of a verified request; false if it was used before, on whichever server.
    pub fn use_nonce(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<bool> {
        // Twice the window, because the clocks of several servers differ.
        let oldest_s = now.seconds() - 2 * limits::SIGNATURE_WINDOW_S;
        repository::delete_nonces_before(tx, oldest_s)?;
        repository::add_nonce(tx, &self.client, self.timestamp_s, &self.nonce)
    }
}

/// Lets a client sign requests and returns its signing secret, which cannot be read again.
pub fn create_secret(tx: &mut Tx<'_>, master: &MasterKey, client: &str) -> Result<String> {
    let secret = client::new_secret();
    repository::insert(tx, client, &seal(master, client, &secret))?;
    Ok(secret)
}

/// Gives a client that is marked for signed requests a new signing secret and answers it; `None` for other clients. The
/// former one stays valid for `overlap_s` seconds.
pub fn rotate_secret(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    now: Timestamp,
    client: &str,
    overlap_s: i64,
) -> Result<Option<String>> {
    if !is_signing(tx, client)? {
        return Ok(None);
    }
    let secret = client::new_secret();
    let sealed = seal(master, client, &secret);
    repository::replace(tx, client, &sealed, now.plus_seconds(overlap_s))?;
    Ok(Some(secret))
}

fn seal(master: &MasterKey, client: &str, secret: &str) -> Vec<u8> {
    master.seal(&label(client), secret.as_bytes())
}

fn open(master: &MasterKey, client: &str, sealed: &[u8]) -> Result<String> {
    let opened = master.open(&label(client), sealed);
    opened.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        Problem::internal(format!(
            "the signing secret of the client '{client}' was sealed with another master key; restore that key, or \
             create a new secret with `lyceum client rotate {client}`"
        ))
    })
}

pub(crate) const SEALED_SECRETS: SealedColumn = SealedColumn {
    table: "client_signing_secrets",
    column: "sealed",
    key: &["client"],
    label: |key| label(&key[0]),
};

pub(crate) const FORMER_SECRETS: SealedColumn = SealedColumn { column: "former", ..SEALED_SECRETS };

/// The data that a signing secret is bound to, so that it cannot be moved to another client.
fn label(client: &str) -> String {
    format!("signing secret of the client {client}")
}

/// The parameters of an `Authorization` header (RFC 5849, 3.5.1); `None` if it is malformed.
fn parse_header(text: &str) -> Option<Parameters<'_>> {
    let mut parameters = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        parameters.push((decoded(name.trim())?, decoded(value.trim())?));
        rest = match after.trim_start().strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if after.trim().is_empty() => "",
            None => return None,
        };
    }
    Some(parameters)
}

fn decoded(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// The signature base string (RFC 5849, 3.4.1.1).
fn base_string(method: &str, address: &str, parameters: &Parameters<'_>) -> String {
    let mut encoded: Vec<(String, String)> = parameters
        .iter()
        .filter(|(name, _)| name != "oauth_signature")
        .map(|(name, value)| (segment(name).to_string(), segment(value).to_string()))
        .collect();
    encoded.sort_unstable();
    let pairs: Vec<String> =
        encoded.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (address, pairs) = (normalized(address), pairs.join("&"));
    format!("{}&{}&{}", method.to_ascii_uppercase(), segment(&address), segment(&pairs))
}

/// The address with scheme and host in lower case and without the scheme's own port (RFC 5849, 3.4.1.2).
fn normalized(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = if scheme == "https" { ":443" } else { ":80" };
    format!("{scheme}://{}{path}", host.strip_suffix(port).unwrap_or(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 5849, 3.4.1.1, without its body, which signed requests here do not have.
    #[test]
    fn the_base_string_agrees_with_the_standard() {
        let header = r#"OAuth realm="Example", oauth_consumer_key="9djdj82h48djs9d2",
            oauth_token="kkk9d7dh3k39sjv7", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131201",
            oauth_nonce="7d8f3e4a", oauth_signature="bYT5CMsGcbgUdFHObYMEfcx6bsw%3D""#;
        let query = Some("b5=%3D%253D&a3=a&c%40=&a2=r%20b");
        let address = "http://EXAMPLE.COM:80/request";
        let request = SignedRequest::parse("post", address, query, Some(header)).unwrap().unwrap();
        assert_eq!(
            request.base_string,
            "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26\
             oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26\
             oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
        );
    }

    #[test]
    fn requests_with_other_credentials_do_not_count_as_signed() {
        for (query, authorization) in [
            (None, None),
            (Some("filter=a"), None),
            (None, Some("Bearer x")),
            (Some("oauth_signature=x"), Some("Bearer x")),
        ] {
            assert!(SignedRequest::parse("GET", "https://a", query, authorization).is_none());
        }
    }

    #[test]
    fn a_malformed_signed_request_is_refused_with_the_parameter() {
        let parse = |header: &str| {
            let parsed = SignedRequest::parse("GET", "https://a/", None, Some(header)).unwrap();
            parsed.unwrap_err().to_string()
        };
        let whole = r#"oauth_consumer_key="a",oauth_signature_method="HMAC-SHA1",oauth_timestamp="1",oauth_nonce="n",oauth_signature="YQ==""#;
        for (header, wrong) in [
            ("OAuth x", "the Authorization header must be 'OAuth name=\"value\", …'"),
            ("OAuth a=\"b\" c", "the Authorization header must be 'OAuth name=\"value\", …'"),
            ("OAuth ", "oauth_signature_method is required"),
            (
                &format!("OAuth {whole}, oauth_nonce=\"m\""),
                "oauth_nonce was sent more than once; send it once",
            ),
            (&format!("OAuth {whole}, oauth_version=2"), "oauth_version must be 1.0"),
            (
                &format!("OAuth {}", whole.replace("HMAC-SHA1", "PLAINTEXT")),
                "oauth_signature_method must be one of HMAC-SHA1, HMAC-SHA256 (got 'PLAINTEXT')",
            ),
            (
                &format!("OAuth {}", whole.replace("stamp=\"1\"", "stamp=\"now\"")),
                "oauth_timestamp must be seconds since 1970-01-01T00:00:00Z",
            ),
            (&format!("OAuth {}", whole.replace("YQ==", "%")), "oauth_signature must be base64"),
        ] {
            assert_eq!(parse(header), wrong, "{header}");
        }
    }
}
