//! The only HTTP clients for addresses that callers supplied: key documents and status lists of other issuers, and the
//! targets of webhooks.
//!
//! They use only `https` and only public addresses; webhooks may also lead to hosts that the settings name, and in a
//! sandbox to this machine. A client resolves a host name itself and refuses addresses of the machine,
//! its network or a cloud's internal network. It connects to exactly the address that it checked, so that the name
//! cannot resolve to another address a moment later. Redirects follow the same rules, and those of webhook targets are not followed. Size, time and number of requests
//! are limited. It forwards no headers of callers, and uses no proxy, because a proxy would resolve names itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::messages::io_reason;
use lyceum_core::{Message, Problem, message};
use tokio::sync::Semaphore;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::{limits, trace};

/// The guarded HTTP client. Cheap to clone.
#[derive(Clone)]
pub struct GuardedClient {
    agent: ureq::Agent,
    turns: Arc<Semaphore>,
}

impl Default for GuardedClient {
    fn default() -> Self {
        let config = ureq::Agent::config_builder()
            .https_only(true)
            .proxy(None)
            .max_redirects(limits::FETCH_REDIRECTS_MAX_COUNT)
            .timeout_global(Some(Duration::from_millis(crate::limits::FETCH_MAX_MS)))
            .user_agent("lyceum")
            .accept("application/json, application/ld+json;q=0.9, */*;q=0.5")
            .build();
        let resolver = PublicResolver::default();
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self { agent, turns: Arc::new(Semaphore::new(limits::FETCH_MAX_COUNT)) }
    }
}

impl GuardedClient {
    /// Downloads the body at the address. Errors: the reason of the failure, for people.
    pub async fn get(&self, address: &str) -> Result<Vec<u8>, Message> {
        let Ok(turn) = Arc::clone(&self.turns).acquire_owned().await else {
            return Err("the server is stopping".into());
        };
        let (agent, address) = (self.agent.clone(), address.to_owned());
        let span = trace::outgoing("fetch", "GET", host(&address).as_deref());
        let fetched = tokio::task::spawn_blocking(move || {
            let body = span.in_scope(|| fetch(&agent, &address));
            if body.is_err() {
                trace::ended(&span, None);
            }
            drop(turn);
            body
        });
        fetched.await.map_err(Problem::internal).map_err(|problem| problem.message)?
    }
}

fn fetch(agent: &ureq::Agent, address: &str) -> Result<Vec<u8>, Message> {
    let failed = |error: ureq::Error| match error {
        ureq::Error::RequireHttpsOnly(_) => message!("'{address}' is not https"),
        other => message!("'{address}' cannot be read: {reason}", reason = reason(other)),
    };
    let mut answer = agent.get(address).call().map_err(failed)?;
    let body = answer.body_mut().with_config().limit(crate::limits::FETCH_MAX_BYTES).read_to_vec();
    body.map_err(failed)
}

/// Why a connection failed, in common words.
fn reason(error: ureq::Error) -> Message {
    match error {
        ureq::Error::Io(error) => io_reason(&error),
        ureq::Error::HostNotFound => "no computer has this name".into(),
        ureq::Error::Timeout(_) => "no answer in time".into(),
        ureq::Error::ConnectionFailed => "the connection failed".into(),
        other => Message::untranslated(other.to_string()),
    }
}

/// The host of an address.
pub fn host(address: &str) -> Option<String> {
    address.parse::<Uri>().ok()?.host().map(str::to_owned)
}

/// The guarded HTTP client that sends messages to the targets of webhooks. Cheap to clone.
#[derive(Clone)]
pub struct WebhookClient {
    agent: ureq::Agent,
    exceptions: HostExceptions,
}

impl WebhookClient {
    /// A client that also connects to these hosts, and in a sandbox to this machine.
    pub fn new(allow: &[String], allows_loopback: bool) -> Self {
        let hosts = allow.iter().map(|host| host.to_ascii_lowercase()).collect();
        let exceptions = HostExceptions { hosts, allows_loopback };
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .max_idle_connections(limits::WEBHOOK_SENDS_MAX_COUNT)
            .timeout_global(Some(Duration::from_millis(limits::WEBHOOK_SEND_MAX_MS)))
            .user_agent("lyceum-webhooks")
            .build();
        let inner = DefaultResolver::default();
        let resolver = PublicResolver { inner, exceptions: exceptions.clone() };
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), resolver);
        Self { agent, exceptions }
    }

    /// Checks the form of a target's address. Errors: a message that begins with a verb.
    pub fn check(&self, address: &str) -> Result<(), Message> {
        let uri: Uri = address.parse().map_err(|_| "must be an address such as https://…")?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err("must be an address such as https://…".into());
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("must not contain a user name or password".into());
        }
        match scheme {
            "https" => Ok(()),
            "http" if self.exceptions.include(host) => Ok(()),
            _ => Err(message!(
                "must begin with https://; add the host '{host}' to the setting webhooks.allow if \
                 it belongs to your own network"
            )),
        }
    }

    /// Sends a JSON body and answers the status code. Blocks. Errors: why there was no answer, for people.
    pub fn post(
        &self,
        address: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<u16, Message> {
        self.check(address).map_err(|reason| message!("the address {reason}"))?;
        let mut request = self.agent.post(address).content_type("application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut answer = request.send(body).map_err(reason)?;
        // The connection can be used again only if the body was read. Its content does not matter.
        let most = limits::WEBHOOK_ANSWER_MAX_BYTES;
        let _ = answer.body_mut().with_config().limit(most).read_to_vec();
        Ok(answer.status().as_u16())
    }
}

/// Hosts that may be reached although their addresses are not public.
#[derive(Clone, Debug, Default)]
struct HostExceptions {
    /// In lower case.
    hosts: Arc<[String]>,
    allows_loopback: bool,
}

impl HostExceptions {
    fn include(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        self.hosts.contains(&host) || self.allows_loopback && is_loopback(&host)
    }
}

fn is_loopback(host: &str) -> bool {
    let is_named = host == "localhost" || host.ends_with(".localhost");
    is_named || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Resolves host names only to public addresses, except for some hosts.
#[derive(Debug, Default)]
struct PublicResolver {
    inner: DefaultResolver,
    exceptions: HostExceptions,
}

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        if uri.host().is_some_and(|host| self.exceptions.include(host)) {
            return Ok(found);
        }
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        match public.is_empty() {
            false => Ok(public),
            true => Err(ureq::Error::Io(std::io::Error::other(
                "its address is not public; the server connects only to public addresses",
            ))),
        }
    }
}

impl std::fmt::Debug for GuardedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guarded")
    }
}

/// Whether an address belongs to the public internet (the special-purpose registries of RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 224;
    !special
}

/// Only global unicast, without addresses that contain another address (6to4, Teredo, NAT64, mapped).
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let global = (0x2000..0x4000).contains(&a);
    let special =
        (a == 0x2001 && (b < 0x0200 || b == 0x0db8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_machines_networks_and_clouds_are_not_public() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "198.18.0.1",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2001:4860::1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn webhooks_reach_this_machine_only_if_the_settings_allow_it() {
        let inside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        inside.set_nonblocking(true).unwrap();
        let port = inside.local_addr().unwrap().port();
        let client = WebhookClient::new(&[], false);
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "10.0.0.1"]
        {
            let refused = client.post(&format!("https://{host}:{port}/"), &[], "{}").unwrap_err();
            assert!(refused.contains("its address is not public"), "{host}: {refused}");
            let refused = client.post(&format!("http://{host}:{port}/"), &[], "{}").unwrap_err();
            assert!(refused.contains("must begin with https://"), "{host}: {refused}");
        }
        // In a sandbox, only names and addresses of this machine.
        let sandbox = WebhookClient::new(&[], true);
        assert!(sandbox.check(&format!("http://127.0.0.1:{port}/")).is_ok());
        assert!(sandbox.check("http://localhost/").is_ok());
        assert!(sandbox.check("http://10.0.0.1/").is_err());
        assert!(sandbox.post("https://10.0.0.1/", &[], "{}").is_err());
        assert!(inside.accept().is_err(), "a connection was made");
        let allowing = WebhookClient::new(&["SIS.internal".to_owned()], false);
        assert!(allowing.check("http://sis.internal:8080/hook").is_ok());
        assert!(allowing.check("http://other.internal/").is_err());
        assert!(allowing.check("https://user:secret@sis.internal/").is_err());
        for address in ["", "x", "https://", "ftp://a.example/", "/path"] {
            assert!(allowing.check(address).is_err(), "{address}");
        }
    }

    #[test]
    fn addresses_from_callers_cause_no_connection_to_internal_hosts() {
        let inside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        inside.set_nonblocking(true).unwrap();
        let port = inside.local_addr().unwrap().port();
        let GuardedClient { agent, .. } = GuardedClient::default();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"] {
            let error = fetch(&agent, &format!("https://{host}:{port}/did.json")).unwrap_err();
            assert!(error.contains("cannot be read"), "{error}");
        }
        let error = fetch(&agent, &format!("http://127.0.0.1:{port}/")).unwrap_err();
        assert!(error.contains("is not https"), "{error}");
        for address in ["file:///etc/passwd", "gopher://127.0.0.1/", "https://", "x"] {
            assert!(fetch(&agent, address).is_err(), "{address}");
        }
        assert!(inside.accept().is_err(), "a connection was made");
    }
}
