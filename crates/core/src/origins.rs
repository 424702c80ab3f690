//! Decides which web pages have access to a server that needs no token, and which host names it answers to.
//!
//! Such a server listens on a developer's machine, where every page in a browser can reach it. A page of
//! another site is recognized by its `Origin`. A page whose host name resolves to this machine (DNS rebinding) has
//! the origin of that name, and is recognized by its `Host`.

use std::net::IpAddr;

/// The origins and host names that have access: those of the machine, its own, and configured ones.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    named: Vec<String>,
    domain: String,
}

impl Origins {
    /// Allows the machine itself, these origins, and hosts below the domain.
    pub fn of(named: Vec<String>, domain: &str) -> Self {
        Self { named, domain: domain.to_ascii_lowercase() }
    }

    /// Allows further origins.
    pub fn add(&mut self, named: Vec<String>) {
        self.named.extend(named);
    }

    /// Whether pages of the origin have access to the server under this host name.
    pub fn takes_page(&self, origin: &str, host: Option<&str>) -> bool {
        if self.named.iter().any(|named| named.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Some(authority) = authority(origin) else { return false };
        let name = name(authority);
        let is_same = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
        is_same
            || is_localhost(&name)
            || self.is_below_domain(&name)
            || address(&name).is_some_and(|it| it.is_loopback())
    }

    /// Whether the server answers requests for the host, which may include a port. IP addresses are always
    /// allowed, because DNS rebinding needs a name.
    pub fn takes_host(&self, host: &str) -> bool {
        let host = name(host);
        let is_named = self.named.iter().filter_map(|named| authority(named)).map(name);
        address(&host).is_some()
            || is_localhost(&host)
            || self.is_below_domain(&host)
            || is_named.into_iter().any(|name| name == host)
    }

    fn is_below_domain(&self, name: &str) -> bool {
        let above = name.strip_suffix(self.domain.as_str());
        !self.domain.is_empty() && above.is_some_and(|above| above.ends_with('.'))
    }
}

/// Parses an origin as browsers send it, such as `https://app.example.org`. A final slash is removed,
/// and `null` is the origin of files and sandboxed frames. Errors: what the text must be.
pub fn read(text: &str) -> Result<String, String> {
    let origin = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let is_plain = |authority: &str| {
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\*".contains(&byte);
        !authority.is_empty() && authority.bytes().all(plain)
    };
    match origin == "null" || authority(&origin).is_some_and(is_plain) {
        true => Ok(origin),
        false => Err("must be an origin such as https://app.example.org".to_owned()),
    }
}

fn authority(origin: &str) -> Option<&str> {
    origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"))
}

/// The host name in lower case, without the port and without a final dot.
fn name(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Browsers resolve these names to the machine itself (RFC 6761, 6.3).
fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(name).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Origins {
        let named =
            ["http://localhost:4321", "https://tunnel.example", "https://page.example:8443"];
        Origins::of(named.map(str::to_owned).into(), "apps.example")
    }

    #[test]
    fn pages_of_this_machine_and_of_listed_origins_may_call() {
        for origin in [
            "http://localhost:5173",
            "https://localhost",
            "http://fractions.localhost:4321",
            "http://127.0.0.1:3000",
            "http://127.9.9.9",
            "http://[::1]:3000",
            "https://tunnel.example",
            "https://page.example:8443",
            "http://fractions.apps.example",
        ] {
            assert!(origins().takes_page(origin, None), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "http://tunnel.example",
            "https://page.example",
            "https://tunnel.example.evil.example",
            "http://localhost.evil.example",
            "http://evillocalhost",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1@evil.example",
            "http://10.0.0.1",
            "http://apps.example.evil.example",
            "http://evilapps.example",
            "file://localhost",
            "null",
            "",
        ] {
            assert!(!origins().takes_page(origin, Some("localhost:4321")), "{origin}");
        }
        assert!(
            origins().takes_page("http://10.0.0.1:4321", Some("10.0.0.1:4321")),
            "its own page"
        );
        let mut files = origins();
        files.add(vec!["null".to_owned()]);
        assert!(files.takes_page("null", None));
    }

    #[test]
    fn host_names_open_to_dns_rebinding_are_refused() {
        for host in [
            "localhost:4321",
            "localhost",
            "localhost.:4321",
            "LOCALHOST:4321",
            "fractions.localhost:4321",
            "127.0.0.1:4321",
            "[::1]:4321",
            "192.168.1.5:4321",
            "tunnel.example",
            "page.example",
            "fractions.apps.example",
        ] {
            assert!(origins().takes_host(host), "{host}");
        }
        for host in
            ["evil.example:4321", "localhost.evil.example", "127.0.0.1.evil.example", "", "x"]
        {
            assert!(!origins().takes_host(host), "{host}");
        }
    }

    #[test]
    fn text_that_is_not_an_origin_is_refused() {
        assert_eq!(read("https://App.example/").as_deref(), Ok("https://app.example"));
        assert_eq!(read("null").as_deref(), Ok("null"));
        for text in ["app.example", "https://", "https://a/b", "ftp://a", "https://*.a", "*"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
