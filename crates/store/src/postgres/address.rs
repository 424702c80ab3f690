//! Where a PostgreSQL server is, read as libpq reads it.
//!
//! The client library reads most of an address. Here is what it does not know (certificates), reads
//! otherwise (units), or leaves without a limit: a server that vanishes without a word must not keep
//! requests.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use lyceum_core::{Problem, ProblemKind, Result, message};
use percent_encoding::percent_decode_str;
use tokio::{net, time};
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, PemFiles, TlsMode};
use crate::limits::{
    POSTGRES_CONNECT_WAIT_S, POSTGRES_KEEPALIVES_COUNT, POSTGRES_KEEPALIVES_IDLE_S,
    POSTGRES_KEEPALIVES_INTERVAL_S, POSTGRES_UNACKNOWLEDGED_MS,
};
use crate::problem::PostgresFailure;

type Stream = <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<Socket>>::Stream;

/// The parameters that are read here and not by the client library.
const OWN: [&str; 7] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives_count",
];

/// Where a server is: several hosts where one takes the other's place.
#[derive(Clone)]
pub(crate) struct PostgresAddress {
    hosts: Vec<Config>,
    in_random_order: bool,
    /// The time limit for a connection to one address of a host; `None` means no limit.
    wait: Option<Duration>,
    mode: TlsMode,
    tls: MakeRustlsConnect,
}

impl PostgresAddress {
    /// Reads `postgres://user:password@host/database?…` or `host=… dbname=…`. Errors: `Invalid`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (rest, own) = split(text)?;
        let config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            refused(&cause.unwrap_or_else(|| error.to_string()))
        })?;
        // The library's own default: had it found a mode, the parameters would have been read differently here.
        if config.get_ssl_mode() != SslMode::Prefer {
            return Err(refused("sslmode is not in the list of parameters"));
        }
        let file = |name: &str| own.get(name).filter(|path| !path.is_empty()).map(String::as_str);
        let files =
            PemFiles { roots: file("sslrootcert"), chain: file("sslcert"), key: file("sslkey") };
        let mode = TlsMode::parse(own.get("sslmode").map(String::as_str), &files)?;
        let (mode, tls) = tls::connector(mode, &files)?;
        let number = |name: &str, default: u64| match own.get(name) {
            None => Ok(default),
            Some(text) => text.trim().parse().map_err(|_| {
                refused(&format!("{name} must be a whole number from 0, got '{text}'"))
            }),
        };
        let mut common = common(&config)?;
        common.keepalives(config.get_keepalives());
        let is_given = |name: &str| has_parameter(text, name);
        if is_given("keepalives_idle") {
            common.keepalives_idle(config.get_keepalives_idle());
        } else {
            common.keepalives_idle(Duration::from_secs(POSTGRES_KEEPALIVES_IDLE_S));
        }
        common.keepalives_interval(
            config
                .get_keepalives_interval()
                .unwrap_or(Duration::from_secs(POSTGRES_KEEPALIVES_INTERVAL_S)),
        );
        let count = number("keepalives_count", POSTGRES_KEEPALIVES_COUNT)?;
        if let Some(count) = u32::try_from(count).ok().filter(|count| *count > 0) {
            common.keepalives_retries(count);
        }
        let unacknowledged_ms = number("tcp_user_timeout", POSTGRES_UNACKNOWLEDGED_MS)?;
        if unacknowledged_ms > 0 {
            common.tcp_user_timeout(Duration::from_millis(unacknowledged_ms));
        }
        let wait_s = number("connect_timeout", POSTGRES_CONNECT_WAIT_S)?;
        Ok(Self {
            hosts: hosts(&config, &common, mode)?,
            in_random_order: config.get_load_balance_hosts() == LoadBalanceHosts::Random,
            wait: (wait_s > 0).then(|| Duration::from_secs(wait_s)),
            mode,
            tls,
        })
    }

    /// Host and port of each server, as the address names them.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.hosts.iter().map(name)
    }

    /// Opens a connection to the first host that is fit. Errors: the message of each host.
    pub(crate) async fn connect(
        &self,
    ) -> std::result::Result<(Client, Connection<Socket, Stream>), String> {
        let mut hosts: Vec<&Config> = self.hosts.iter().collect();
        if self.in_random_order {
            fastrand::shuffle(&mut hosts);
        }
        let mut failures = Vec::new();
        for host in hosts {
            let mut note = |failure: String| {
                failures.push(match self.hosts.len() {
                    1 => failure,
                    _ => format!("{}: {failure}", name(host)),
                });
            };
            let addresses = match self.resolved(host).await {
                Ok(addresses) => addresses,
                Err(failure) => {
                    note(failure);
                    continue;
                }
            };
            for address in addresses {
                match self.try_modes(&address).await {
                    Ok(opened) => return Ok(opened),
                    Err(failure) => note(failure.to_string()),
                }
            }
        }
        Err(failures.join("; "))
    }

    /// The addresses of a host, each of which may take the time that one has: behind the name of a cluster the
    /// first may be that of a member that is gone.
    async fn resolved(&self, host: &Config) -> std::result::Result<Vec<Config>, String> {
        let ([Host::Tcp(name)], []) = (host.get_hosts(), host.get_hostaddrs()) else {
            return Ok(vec![host.clone()]);
        };
        let looked_up = net::lookup_host((name.as_str(), 0));
        let found = match self.wait {
            None => looked_up.await,
            Some(wait) => match time::timeout(wait, looked_up).await {
                Ok(found) => found,
                Err(_) => return Err("its host name was not resolved in time".to_owned()),
            },
        };
        let found = found.map_err(|error| format!("error connecting to server: {error}"))?;
        let with = |address: SocketAddr| {
            let mut one = host.clone();
            one.hostaddr(address.ip());
            one
        };
        Ok(found.map(with).collect())
    }

    /// As libpq does, `prefer` goes on without TLS if the server has none, or if it only takes such
    /// connections.
    async fn try_modes(
        &self,
        host: &Config,
    ) -> std::result::Result<(Client, Connection<Socket, Stream>), PostgresFailure> {
        let opened = self.try_to_open(host).await;
        let may_be_plain = self.mode == TlsMode::Prefer && host.get_ssl_mode() != SslMode::Disable;
        let is_refused = |failure: &PostgresFailure| failure.is_of_tls() || failure.is_not_let_in();
        if may_be_plain && opened.as_ref().is_err_and(is_refused) {
            let mut plain = host.clone();
            plain.ssl_mode(SslMode::Disable);
            return self.try_to_open(&plain).await;
        }
        opened
    }

    /// The TLS connector for further connections to the same server.
    pub(crate) fn tls(&self) -> MakeRustlsConnect {
        self.tls.clone()
    }

    async fn try_to_open(
        &self,
        host: &Config,
    ) -> std::result::Result<(Client, Connection<Socket, Stream>), PostgresFailure> {
        let opening = host.connect(self.tls.clone());
        match self.wait {
            None => Ok(opening.await?),
            Some(wait) => {
                Ok(time::timeout(wait, opening).await.map_err(|_| PostgresFailure::Silence)??)
            }
        }
    }
}

fn name(host: &Config) -> String {
    let named = match (host.get_hosts().first(), host.get_hostaddrs().first()) {
        (Some(Host::Tcp(name)), _) => name.clone(),
        (Some(Host::Unix(path)), _) => path.display().to_string(),
        (None, address) => address.map(ToString::to_string).unwrap_or_default(),
    };
    let port = host.get_ports().first().copied().unwrap_or(5432);
    format!("{named}:{port}")
}

fn refused(cause: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, message!("the address of the database is wrong: {cause}"))
}

/// The common part of the configurations of all hosts.
fn common(config: &Config) -> Result<Config> {
    let mut common = Config::new();
    if let Some(user) = config.get_user() {
        common.user(user);
    }
    if let Some(password) = config.get_password() {
        common.password(password);
    }
    if let Some(name) = config.get_dbname() {
        common.dbname(name);
    }
    if let Some(options) = config.get_options() {
        common.options(options);
    }
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
        return Err(refused("the server writes, so target_session_attrs cannot be 'read-only'"));
    }
    common.application_name(config.get_application_name().unwrap_or("lyceum"));
    common.ssl_negotiation(config.get_ssl_negotiation());
    common.channel_binding(config.get_channel_binding());
    common.target_session_attrs(config.get_target_session_attrs());
    Ok(common)
}

/// A configuration for each host.
fn hosts(config: &Config, common: &Config, mode: TlsMode) -> Result<Vec<Config>> {
    let (names, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let (ports, count) = (config.get_ports(), names.len().max(addresses.len()));
    if count == 0 {
        return Err(refused("it has no host"));
    }
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() {
        return Err(refused("the numbers of values in host and hostaddr differ"));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(refused("the numbers of ports and hosts differ"));
    }
    Ok((0..count)
        .map(|at| {
            let mut one = common.clone();
            let address: Option<&IpAddr> = addresses.get(at);
            one.ssl_mode(mode.of_library());
            match names.get(at) {
                Some(Host::Tcp(name)) => {
                    one.host(name);
                }
                Some(Host::Unix(path)) => {
                    one.ssl_mode(SslMode::Disable); // as libpq: nothing goes over a network
                    one.host_path(path);
                }
                None => {
                    one.host(address.map(ToString::to_string).unwrap_or_default());
                }
            }
            if let Some(address) = address {
                one.hostaddr(*address);
            }
            one.port(ports.get(at).or(ports.first()).copied().unwrap_or(5432));
            one
        })
        .collect())
}

/// Parts an address into what the client library reads and the parameters of [`OWN`].
fn split(text: &str) -> Result<(String, HashMap<String, String>)> {
    let mut own = HashMap::new();
    let mut take = |key: &str, value: &str| {
        let is_own = OWN.contains(&key);
        if is_own {
            own.insert(key.to_owned(), value.to_owned());
        }
        is_own
    };
    if !is_url(text) {
        let mut rest = Vec::new();
        for (key, value) in pairs(text)? {
            if !take(&key, &value) {
                let value = value.replace('\\', "\\\\").replace('\'', "\\'");
                rest.push(format!("{key}='{}'", in_our_words(&key, &value)));
            }
        }
        return Ok((rest.join(" "), own));
    }
    // libpq reads what stands before the slash as a host; the client library reads it as a password.
    if credentials(text).is_some_and(|credentials| credentials.contains('/')) {
        return Err(refused(
            "write '/' in a user name or a password as %2F, and '@' in a parameter as %40",
        ));
    }
    let Some((front, query)) = parted(text) else { return Ok((text.to_owned(), own)) };
    let mut rest = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| refused(&format!("the parameter '{part}' has no value")))?;
        let key = &percent_decode_str(key).decode_utf8_lossy();
        if !take(key, &percent_decode_str(value).decode_utf8_lossy()) {
            rest.push(format!("{key}={}", in_our_words(key, value)));
        }
    }
    Ok((format!("{front}?{}", rest.join("&")), own))
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// The user and the password of a URL. They end at the first `@`, as the client library reads them.
fn credentials(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split_once('@').map(|(credentials, _)| credentials)
}

/// A URL up to its parameters, and these. A password may hold a question mark, and a parameter an `@`.
fn parted(url: &str) -> Option<(&str, &str)> {
    let from = url.find('@').unwrap_or(0);
    let at = from + url[from..].find('?')?;
    Some((&url[..at], &url[at + 1..]))
}

fn has_parameter(text: &str, name: &str) -> bool {
    match is_url(text) {
        true => parted(text).is_some_and(|(_, query)| {
            query
                .split('&')
                .filter_map(|part| part.split_once('='))
                .any(|(key, _)| percent_decode_str(key).decode_utf8_lossy() == name)
        }),
        false => pairs(text).is_ok_and(|pairs| pairs.iter().any(|(key, _)| key == name)),
    }
}

/// A primary takes writes; the client library knows the older word.
fn in_our_words<'v>(key: &str, value: &'v str) -> &'v str {
    if key == "target_session_attrs" && value == "primary" { "read-write" } else { value }
}

/// The pairs of `key = value 'quoted value'`, in which a backslash takes the next character as it is.
fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once('=')
            .ok_or_else(|| refused(&format!("'{}' has no value", rest.trim())))?;
        let after = after.trim_start();
        let (is_quoted, body) = match after.strip_prefix('\'') {
            Some(body) => (true, body),
            None => (false, after),
        };
        let (mut value, mut end) = (String::new(), body.len());
        let mut chars = body.char_indices();
        while let Some((at, letter)) = chars.next() {
            match letter {
                '\\' => value.extend(chars.next().map(|(_, letter)| letter)),
                '\'' if is_quoted => {
                    end = at + 1;
                    break;
                }
                space if !is_quoted && space.is_whitespace() => {
                    end = at;
                    break;
                }
                letter => value.push(letter),
            }
        }
        pairs.push((key.trim().to_owned(), value));
        rest = body[end..].trim_start();
    }
    Ok(pairs)
}
