//! Finds the address of the real caller behind trusted proxies.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName};
use lyceum_core::config::Network;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The caller's address: the peer's, or the last address in `X-Forwarded-For` that is not a trusted proxy. Values that
/// untrusted senders write into that header are ignored.
pub(crate) fn caller(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
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
    use super::*;

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
