//! The only HTTP client for addresses that callers supplied: key documents and status lists of other issuers.
//!
//! It uses only `https` and only public addresses. It resolves a host name itself and refuses addresses of the machine,
//! its network or a cloud's internal network. It connects to exactly the address that it checked, so that the name
//! cannot resolve to another address a moment later. Redirects follow the same rules. Size, time and number of requests
//! are limited. It forwards no headers of callers, and uses no proxy, because a proxy would resolve names itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use lyceum_core::Problem;
use lyceum_core::messages::io_reason;
use tokio::sync::Semaphore;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::limits;

/// The guarded HTTP client. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GuardedClient {
    agent: ureq::Agent,
    turns: Arc<Semaphore>,
}

impl GuardedClient {
    pub(crate) fn new() -> Self {
        let config = ureq::Agent::config_builder()
            .https_only(true)
            .proxy(None)
            .max_redirects(limits::FETCH_REDIRECTS_MAX_COUNT)
            .timeout_global(Some(Duration::from_millis(limits::FETCH_MAX_MS)))
            .user_agent("lyceum")
            .accept("application/json, application/ld+json;q=0.9, */*;q=0.5")
            .build();
        let agent =
            ureq::Agent::with_parts(config, DefaultConnector::default(), PublicResolver::default());
        Self { agent, turns: Arc::new(Semaphore::new(limits::FETCH_MAX_COUNT)) }
    }

    /// Downloads the body at the address. Errors: the reason of the failure, for people.
    pub(crate) async fn get(&self, address: &str) -> Result<Vec<u8>, String> {
        let Ok(turn) = Arc::clone(&self.turns).acquire_owned().await else {
            return Err("the server is stopping".to_owned());
        };
        let (agent, address) = (self.agent.clone(), address.to_owned());
        let fetched = tokio::task::spawn_blocking(move || {
            let body = fetch(&agent, &address);
            drop(turn);
            body
        });
        fetched.await.map_err(Problem::internal).map_err(|problem| problem.message)?
    }
}

fn fetch(agent: &ureq::Agent, address: &str) -> Result<Vec<u8>, String> {
    let failed = |error: ureq::Error| match error {
        ureq::Error::RequireHttpsOnly(_) => format!("'{address}' is not https"),
        ureq::Error::Io(error) => format!("'{address}' cannot be read: {}", io_reason(&error)),
        other => format!("'{address}' cannot be read: {other}"),
    };
    let mut answer = agent.get(address).call().map_err(failed)?;
    let body = answer.body_mut().with_config().limit(limits::FETCH_MAX_BYTES).read_to_vec();
    body.map_err(failed)
}

/// Resolves host names only to public addresses.
#[derive(Debug, Default)]
struct PublicResolver(DefaultResolver);

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        match public.is_empty() {
            false => Ok(public),
            true => Err(ureq::Error::Io(std::io::Error::other(
                "its address is not a public one; only public addresses are asked",
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
    fn nobody_inside_hears_of_an_address_that_a_caller_made_up() {
        let inside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        inside.set_nonblocking(true).unwrap();
        let port = inside.local_addr().unwrap().port();
        let GuardedClient { agent, .. } = GuardedClient::new();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"] {
            let told = fetch(&agent, &format!("https://{host}:{port}/did.json")).unwrap_err();
            assert!(told.contains("cannot be read"), "{told}");
        }
        let told = fetch(&agent, &format!("http://127.0.0.1:{port}/")).unwrap_err();
        assert!(told.contains("is not https"), "{told}");
        for address in ["file:///etc/passwd", "gopher://127.0.0.1/", "https://", "x"] {
            assert!(fetch(&agent, address).is_err(), "{address}");
        }
        assert!(inside.accept().is_err(), "a connection was made");
    }
}
