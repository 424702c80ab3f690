//! Finds the project of a request: by the host `<slug>.<domain>`, or `<slug>-staging.<domain>` on a staging server, or
//! by the path `/_projects/<slug>/…` on any other host.

use http::request::Parts;
use http::{HeaderMap, Uri, header};
use lyceum_core::config::Environment;

use crate::Http;

/// A project and a path in it.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectAddress {
    /// The slug of the project.
    pub slug: String,
    /// The percent-encoded path with a leading slash, without the query.
    pub path: String,
    /// Whether the path named the project, not the host.
    pub is_by_path: bool,
}

const BY_PATH: &str = "/_projects/";

impl ProjectAddress {
    /// The project of a request; `None` if the request is for the server itself.
    pub fn of(app: &Http, parts: &Parts) -> Option<Self> {
        let is_staging = app.sandbox.is_none() && app.config.server.env == Environment::Staging;
        let of_host =
            |host: &str| slug(host, &app.config.hosting.domain, &app.base_url, is_staging);
        if let Some(slug) = host(&parts.uri, &parts.headers).and_then(of_host) {
            return Some(Self { slug, path: parts.uri.path().into(), is_by_path: false });
        }
        let rest = parts.uri.path().strip_prefix(BY_PATH)?;
        let (slug, path) = rest.split_once('/').unwrap_or((rest, ""));
        Some(Self { slug: slug.into(), path: format!("/{path}"), is_by_path: true })
    }
}

/// The host name without the port.
fn host<'p>(uri: &'p Uri, headers: &'p HeaderMap) -> Option<&'p str> {
    let host = match uri.host() {
        Some(host) => host,
        None => headers.get(header::HOST)?.to_str().ok()?,
    };
    Some(without_port(host))
}

fn without_port(host: &str) -> &str {
    host.rsplit_once(':')
        .filter(|(_, port)| port.parse::<u16>().is_ok())
        .map_or(host, |(host, _)| host)
}

/// The project of a host. The server's own name is never a project, even if it lies below the domain of projects.
fn slug(host: &str, domain: &str, base_url: &str, is_staging: bool) -> Option<String> {
    // Check this first, because most hosts are not below the domain.
    let (label, rest) = host.split_at_checked(host.len().checked_sub(domain.len())?)?;
    if !rest.eq_ignore_ascii_case(domain) {
        return None;
    }
    let own = base_url.split_once("://").map_or(base_url, |(_, own)| own);
    if without_port(own).eq_ignore_ascii_case(host) {
        return None;
    }
    let label = label.strip_suffix('.')?.to_ascii_lowercase();
    if label.is_empty() || label.contains('.') {
        return None;
    }
    // A name that no deploy can have counts as a project that does not exist.
    let slug = if is_staging { label.strip_suffix("-staging").unwrap_or_default() } else { &label };
    Some(slug.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_name_projects() {
        let slug_of =
            |host, is_staging| slug(host, "apps.example", "https://apps.example:8443", is_staging);
        assert_eq!(slug_of("maths.apps.example", false).as_deref(), Some("maths"));
        assert_eq!(slug_of("Maths.Apps.example", false).as_deref(), Some("maths"));
        assert_eq!(slug_of("maths-staging.apps.example", true).as_deref(), Some("maths"));
        assert_eq!(slug_of("maths.apps.example", true).as_deref(), Some(""));
        for host in [
            "apps.example",
            "a.b.apps.example",
            ".apps.example",
            "other.example",
            "mathsapps.example",
        ] {
            assert_eq!(slug_of(host, false), None, "{host}");
        }
        assert_eq!(slug("www.example", "example", "https://www.example", false), None);
        assert_eq!(without_port("[::1]:80"), "[::1]");
        assert_eq!(without_port("a.b:80"), "a.b");
        assert_eq!(without_port("a.b"), "a.b");
    }
}
