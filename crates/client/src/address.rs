//! The addresses of a server.

use lyceum_core::{Problem, Result, message};
use ureq::http::Uri;

/// The addresses of a server. Usually one process serves all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Rosters, resources and analytics.
    pub roster: String,
    /// Events.
    pub events: String,
    /// The complete URL of the token endpoint.
    pub tokens: String,
}

impl Addresses {
    /// Parses addresses with or without the paths of the standards. Events and tokens default to the address of
    /// the rosters.
    ///
    /// Errors: `Invalid` for an address that is malformed, or to which credentials must not be sent.
    pub fn of(roster: &str, events: Option<&str>, tokens: Option<&str>) -> Result<Self> {
        let root = checked("the address of the rosters", roster)?;
        let root = before(&root, "/ims/");
        let events = events.map(|url| checked("the address of the events", url)).transpose()?;
        let events = events.as_deref().map(|url| before(before(url, "/ims/"), "/caliper"));
        let tokens = tokens.map(|url| checked("the address of the tokens", url)).transpose()?;
        let tokens = tokens.as_deref().unwrap_or(root);
        Ok(Self {
            roster: root.to_owned(),
            events: events.unwrap_or(root).to_owned(),
            tokens: match tokens.ends_with("/token") {
                true => tokens.to_owned(),
                false => format!("{tokens}/oauth2/token"),
            },
        })
    }
}

fn before<'u>(url: &'u str, path: &str) -> &'u str {
    url.find(path).map_or(url, |at| &url[..at])
}

/// Checks an address and removes a slash at its end.
fn checked(what: &str, url: &str) -> Result<String> {
    let refused = |why: &str| Err(Problem::invalid(what, message!("'{url}' {why}")));
    let url = url.trim_end_matches('/');
    let Ok(uri) = url.parse::<Uri>() else {
        return refused("is not an address; write it as https://lyceum.example.org");
    };
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return refused("is not an address; write it as https://lyceum.example.org");
    };
    match scheme {
        "https" => Ok(url.to_owned()),
        "http" if is_here(host) => Ok(url.to_owned()),
        "http" => {
            refused("must be https: over http, credentials are sent only within this machine")
        }
        _ => refused("must begin with https or http"),
    }
}

/// Whether the host is this machine.
fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_end_with_a_path_of_a_standard() {
        let all = Addresses::of(
            "https://api.example.org/ims/oneroster/rostering/v1p2/",
            Some("https://events.example.org/caliper/event"),
            Some("https://sign.example.org/oauth2/token"),
        );
        let all = all.unwrap();
        assert_eq!(all.roster, "https://api.example.org");
        assert_eq!(all.events, "https://events.example.org");
        assert_eq!(all.tokens, "https://sign.example.org/oauth2/token");
        let one = Addresses::of("http://localhost:4322/", None, None).unwrap();
        assert_eq!((one.roster.as_str(), &one.events), ("http://localhost:4322", &one.roster));
        assert_eq!(one.tokens, "http://localhost:4322/oauth2/token");
    }

    #[test]
    fn credentials_are_sent_only_over_https_or_to_this_machine() {
        for fine in
            ["https://x.example", "http://127.0.0.1:1", "http://[::1]:80", "http://localhost"]
        {
            assert!(Addresses::of(fine, None, None).is_ok(), "{fine}");
        }
        for bad in [
            "http://x.example",
            "ftp://x",
            "x",
            "",
            "http://127.0.0.1.x.example",
            "http://10.0.0.1",
        ] {
            assert!(Addresses::of(bad, None, None).is_err(), "{bad}");
            assert!(Addresses::of("https://x", Some(bad), None).is_err(), "{bad}");
            assert!(Addresses::of("https://x", None, Some(bad)).is_err(), "{bad}");
        }
    }
}
