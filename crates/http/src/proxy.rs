//! Finds where a request comes from: a backend, another node's caller, or the address of the caller behind trusted
//! proxies.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use lyceum_access::CallerPlace;
use lyceum_core::config::Network;

use crate::auth::CallingBackend;

/// The caller of a request that another node forwarded. It is an extension of the request.
#[derive(Clone)]
pub struct ForwardedCaller(pub CallerPlace);

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The place that the request comes from. A backend's own headers do not change its place.
pub fn place(parts: &Parts, peer: IpAddr, trusted: &[Network]) -> CallerPlace {
    let backend = parts.extensions.get().map(CallingBackend::place);
    backend
        .or_else(|| parts.extensions.get().map(|ForwardedCaller(place)| place.clone()))
        .unwrap_or_else(|| CallerPlace::Address(caller(peer, &parts.headers, trusted)))
}

/// The caller's address: the peer's, or the last address in `X-Forwarded-For` that is not a trusted proxy. Values that
/// untrusted senders write into that header are ignored.
pub fn caller(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let trusts = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    if !trusts(peer) {
        return peer;
    }
    let mut caller = peer;
    let values = headers.get_all(X_FORWARDED_FOR).iter().rev();
    for hop in values.filter_map(|value| value.to_str().ok()).flat_map(|list| list.rsplit(',')) {
        let Ok(address) = hop.trim().parse() else { break };
        caller = address;
        if !trusts(address) {
            break;
        }
    }
    caller
}

#[cfg(test)]
mod tests {
    use http::Request;
    use lyceum_core::config::LimitSettings;

    use super::*;

    #[test]
    fn a_backend_does_not_choose_its_place() {
        let trusted: Vec<Network> = serde_json::from_str(r#"["127.0.0.0/8"]"#).unwrap();
        let request = Request::builder().header(X_FORWARDED_FOR, "198.51.100.1");
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let here = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(place(&parts, here, &trusted).to_string(), "198.51.100.1");
        let limits = LimitSettings { requests_per_second: 1, burst: 1 };
        parts.extensions.insert(CallingBackend::of("tides", &limits));
        assert_eq!(place(&parts, here, &trusted).to_string(), "backend:tides");
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted: Vec<Network> = serde_json::from_str(r#"["10.0.0.0/8"]"#).unwrap();
        let caller = |peer: &str, forwarded: &[&str]| {
            let mut headers = HeaderMap::new();
            for list in forwarded {
                headers.append(X_FORWARDED_FOR, list.parse().unwrap());
            }
            caller(peer.parse().unwrap(), &headers, &trusted).to_string()
        };
        assert_eq!(caller("192.0.2.1", &["198.51.100.1"]), "192.0.2.1");
        assert_eq!(caller("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(caller("10.0.0.1", &["1.1.1.1, 198.51.100.1"]), "198.51.100.1");
        assert_eq!(caller("10.0.0.1", &["1.1.1.1", "198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(caller("10.0.0.1", &["198.51.100.1, what"]), "10.0.0.1");
    }
}
