//! Clients: programs that call with an id and a secret.

use std::fmt;

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use crate::limits;
use crate::master::MasterKey;
pub use crate::repository::clients::{Client, changed_since, find, is_stale, list, touch, uses};
use crate::repository::{clients as repository, signing};
use crate::scope::{Scopes, UnknownScope};
use crate::{secret, signed_request};

/// A client to create.
#[derive(Clone, Debug)]
pub struct NewClient {
    /// Its name for people.
    pub name: String,
    /// Its id; `None` for a random one.
    pub id: Option<String>,
    /// Its secret; `None` for a random one of 256 bits.
    pub secret: Option<String>,
    /// The payload dialect of its answers.
    pub dialect: PayloadDialect,
    /// The scopes that it may request. An empty list means [`Scopes::EVERYTHING`].
    pub scopes: Scopes,
    /// Origins of web pages that may call with its tokens.
    pub origins: Vec<String>,
    /// Requests a second, in place of the server's setting; 0: no limit.
    pub requests_per_second: Option<u32>,
}

impl NewClient {
    /// A client of the name, with a random id and secret, the platform's dialect and all scopes.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            id: None,
            secret: None,
            dialect: PayloadDialect::Platform,
            scopes: Scopes::default(),
            origins: Vec::new(),
            requests_per_second: None,
        }
    }
}

/// The new secrets of a client, which cannot be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSecrets {
    /// The secret, for tokens.
    pub secret: String,
    /// The signing secret of a client that signs requests with OAuth 1.0a.
    pub signing: Option<String>,
}

/// The reason why no token is issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientRefusal {
    /// No client has that id.
    UnknownClient,
    /// The client has no such secret, or no longer.
    WrongSecret,
    /// The client was revoked.
    Revoked,
    /// A requested scope does not exist.
    UnknownScope(String),
    /// A requested scope is not the client's.
    ScopeNotAllowed(String),
}

impl fmt::Display for ClientRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClient => f.write_str("no client has this id"),
            Self::WrongSecret => f.write_str("the secret is not a valid secret of the client"),
            Self::Revoked => f.write_str("the client was revoked"),
            Self::UnknownScope(scope) => UnknownScope(scope.clone()).fmt(f),
            Self::ScopeNotAllowed(scope) => {
                write!(f, "the client does not have access to the scope '{scope}'")
            }
        }
    }
}

impl Client {
    /// The scopes of a token: those asked for (RFC 6749, 3.3), or without a request all that the
    /// client has. A scope within a broader one of the client's may be asked for.
    pub fn grant(&self, requested: Option<&str>) -> Result<Scopes, ClientRefusal> {
        let requested: Scopes = requested
            .unwrap_or_default()
            .parse()
            .map_err(|UnknownScope(name)| ClientRefusal::UnknownScope(name))?;
        if requested.is_empty() {
            return Ok(self.scopes);
        }
        let rights = self.scopes.rights();
        match requested.iter().find(|scope| !rights.allow(*scope)) {
            Some(scope) => Err(ClientRefusal::ScopeNotAllowed(scope.to_string())),
            None => Ok(requested),
        }
    }

    /// The scopes of a request that the client signed: those of [`Scopes::OF_SIGNED_REQUESTS`] that it has.
    pub fn signing_scopes(&self) -> Scopes {
        let rights = self.scopes.rights();
        Scopes::OF_SIGNED_REQUESTS.iter().filter(|scope| rights.allow(*scope)).collect()
    }
}

/// Creates a client and returns it with its secret, which cannot be read again.
/// Errors: a value that breaks its rule; an id that is taken, also by a revoked client.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, new: &NewClient) -> Result<(Client, String)> {
    check(new)?;
    let client = Client {
        id: new.id.clone().unwrap_or_else(|| secret::random_text::<16>("lc_")),
        name: new.name.clone(),
        dialect: new.dialect,
        scopes: if new.scopes.is_empty() { Scopes::EVERYTHING } else { new.scopes },
        origins: new.origins.clone(),
        requests_per_second: new.requests_per_second,
        created: now,
        revoked: None,
        changed: repository::next_change(tx)?,
        reach: Reach::Everything,
    };
    // An empty list means `Scopes::EVERYTHING`, also what a later release adds to it.
    if !repository::insert(tx, &client, &new.scopes.to_string())? {
        let message = message!("the client id '{client.id}' is taken");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let secret = new.secret.clone().unwrap_or_else(new_secret);
    repository::add_secret(tx, now, &client.id, &secret::hash(&secret))?;
    Ok((client, secret))
}

/// As [`create`]. With the master key, the client also gets a signing secret.
pub fn create_with_signing(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewClient,
    master: Option<&MasterKey>,
) -> Result<(Client, ClientSecrets)> {
    let (client, secret) = create(tx, now, new)?;
    let signing = master.map(|master| signed_request::create_secret(tx, master, &client.id));
    Ok((client, ClientSecrets { secret, signing: signing.transpose()? }))
}

/// Gives a client a new secret and answers it. The newest of the former ones stays valid for
/// `overlap_s` seconds, so that at most [`limits::CLIENT_SECRET_MAX_COUNT`] are valid at once.
/// Errors: no such client; a revoked one.
pub fn rotate(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    chosen_secret: Option<&str>,
    overlap_s: i64,
) -> Result<(Client, String)> {
    let mut client = require(tx, id)?;
    if client.revoked.is_some() {
        let message = message!("the client '{id}' is revoked; create a new one");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if let Some(secret) = chosen_secret {
        check_secret(secret)?;
    }
    let secret = chosen_secret.map_or_else(new_secret, str::to_owned);
    let hash = secret::hash(&secret);
    repository::keep_newest_secret(tx, id, &hash)?;
    repository::expire_secrets(tx, id, now.plus_seconds(overlap_s))?;
    repository::add_secret(tx, now, id, &hash)?;
    client.changed = repository::next_change(tx)?;
    repository::update(tx, &client)?;
    Ok((client, secret))
}

/// As [`rotate`]. A client that has a signing secret also gets a new one.
pub fn rotate_with_signing(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    chosen_secret: Option<&str>,
    overlap_s: i64,
    master: &MasterKey,
) -> Result<(Client, ClientSecrets)> {
    let (client, secret) = rotate(tx, now, id, chosen_secret, overlap_s)?;
    let signing = signed_request::rotate_secret(tx, master, now, id, overlap_s)?;
    Ok((client, ClientSecrets { secret, signing }))
}

/// Refuses a client from now on, its tokens too; doing so twice keeps the first instant.
/// Errors: no such client.
pub fn revoke(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<Client> {
    let mut client = require(tx, id)?;
    if client.revoked.is_none() {
        client.revoked = Some(now);
        client.changed = repository::next_change(tx)?;
        repository::update(tx, &client)?;
        repository::delete_secrets(tx, id)?;
        signing::delete(tx, id)?;
    }
    Ok(client)
}

/// Limits a client to a part of the roster, or frees it; its tokens too. Errors: no such client.
pub fn limit(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Client> {
    let mut client = require(tx, id)?;
    client.reach = reach.clone();
    client.changed = repository::next_change(tx)?;
    repository::update(tx, &client)?;
    Ok(client)
}

/// The client with the id and secret. Errors: why they are rejected.
pub fn authenticate(
    tx: &mut Tx<'_>,
    now: Timestamp,
    id: &str,
    secret: &str,
) -> Result<Result<Client, ClientRefusal>> {
    let Some(client) = find(tx, id)? else { return Ok(Err(ClientRefusal::UnknownClient)) };
    if client.revoked.is_some() {
        return Ok(Err(ClientRefusal::Revoked));
    }
    let hash = secret::hash(secret);
    let valid = repository::has_secret(tx, now, id, |stored| secret::is_equal(&hash, stored))?;
    Ok(if valid { Ok(client) } else { Err(ClientRefusal::WrongSecret) })
}

fn require(tx: &mut Tx<'_>, id: &str) -> Result<Client> {
    find(tx, id)?
        .ok_or_else(|| Problem::new(ProblemKind::NotFound, message!("there is no client '{id}'")))
}

pub(crate) fn new_secret() -> String {
    secret::random_text::<32>("ls_")
}

fn check(new: &NewClient) -> Result<()> {
    let name = new.name.trim();
    if name.is_empty() || new.name.len() > limits::CLIENT_NAME_MAX_BYTES {
        let rule = message!("must have 1 to {n} bytes", n = limits::CLIENT_NAME_MAX_BYTES);
        return Err(Problem::invalid("name", rule));
    }
    if let Some(id) = &new.id {
        // A colon ends the id in HTTP Basic (RFC 7617, 2).
        let plain = id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        if id.is_empty() || id.len() > limits::CLIENT_ID_MAX_BYTES || !plain {
            let rule = message!(
                "must have 1 to {most} visible ASCII characters and no colon",
                most = limits::CLIENT_ID_MAX_BYTES
            );
            return Err(Problem::invalid("id", rule));
        }
    }
    if new.origins.len() > limits::CLIENT_MAX_ORIGINS {
        let rule = message!("must be at most {n}", n = limits::CLIENT_MAX_ORIGINS);
        return Err(Problem::invalid("origins", rule));
    }
    if let Some(wrong) = new.origins.iter().find(|origin| !is_origin(origin)) {
        let rule = message!("must be origins such as https://app.example.org (got '{wrong}')");
        return Err(Problem::invalid("origins", rule));
    }
    new.secret.as_deref().map_or(Ok(()), check_secret)
}

fn check_secret(secret: &str) -> Result<()> {
    let length = limits::CLIENT_SECRET_MIN_BYTES..=limits::CLIENT_SECRET_MAX_BYTES;
    // RFC 6749, appendix A.2: visible ASCII and space.
    if length.contains(&secret.len()) && secret.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) {
        return Ok(());
    }
    let (min, max) = length.into_inner();
    Err(Problem::invalid("secret", message!("must have {min} to {max} printable ASCII characters")))
}

/// An origin as browsers send it: scheme, host, port; no path (RFC 6454, 6.1).
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\".contains(&byte);
        !host.is_empty() && host.bytes().all(plain) && host == host.to_ascii_lowercase()
    })
}
