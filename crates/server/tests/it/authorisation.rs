//! The public routes, and a check that no path outside the tables is served. `access` tests the routes themselves.

use std::collections::BTreeSet;

use lyceum_server::route::{Access, Route};
use lyceum_server::routes;
use lyceum_testserver::client::{Call, TestClient};
use lyceum_testserver::server::both;
use ureq::http::Method;

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];

#[test]
fn only_these_routes_are_public() {
    let public: BTreeSet<String> = every_route()
        .filter(|(_, route)| route.access == Access::Public)
        .map(|(path, route)| format!("{} {path}", route.method))
        .collect();
    let known = [
        "GET /",
        "GET /.well-known/did.json",
        "GET /.well-known/jwks.json",
        "GET /.well-known/oauth-authorization-server",
        "GET /api",
        // Anybody who knows a credential's random id may see it. Verifiers need keys and status lists.
        // Pages without a session also need a style.
        "GET /console/assets/{file}",
        // Only in a sandbox.
        "GET /console/enter",
        "GET /credentials/page.css",
        "GET /credentials/{id}",
        // For programs and browsers without a session. Form tokens guard the pages.
        "GET /device",
        "GET /docs",
        "GET /docs/api",
        "GET /docs/search",
        "GET /docs/{file}",
        "GET /first",
        "GET /health",
        "GET /ims/clr/v2p0/discovery",
        "GET /ims/ob/v3p0/discovery",
        "GET /issuers/{issuer}/did.json",
        "GET /issuers/{issuer}/keys",
        "GET /issuers/{issuer}/revocations",
        "GET /issuers/{issuer}/status/{list}",
        // Students without a session enter the code of an open class, and show their card.
        "GET /learn/class",
        "GET /learn/class/{student}",
        "GET /llms.txt",
        "GET /metrics",
        "GET /openapi.json",
        // Redirects visitors without a session to the sign-in page, or shows the demo.
        "GET /play/{slug}",
        "GET /ready",
        "GET /sign-in",
        "GET /sign-in/oidc",
        "GET /sign-in/oidc/callback",
        "GET /welcome",
        "POST /api/auth/sign-in",
        // Demo visitors are anonymous, and limited by address.
        "POST /api/games/{gameId}/demo",
        "POST /device",
        "POST /first",
        // The choice of a language, before anybody has signed in.
        "POST /language",
        "POST /learn/class",
        "POST /learn/class/leave",
        "POST /learn/class/{student}",
        "POST /oauth2/device_authorization",
        "POST /oauth2/token",
        "POST /sign-in",
        "POST /sign-out",
        "POST /welcome",
    ];
    // The standards require public discovery documents (OneRoster REST binding, 2.5).
    let open = |route: &&String| route.contains("/v1p2/discovery") || route.contains("/ims/case/");
    let discovery = public.iter().filter(open).cloned();
    let known: BTreeSet<String> = known.map(str::to_owned).into_iter().chain(discovery).collect();
    assert_eq!(public, known, "a new public route needs a reason and a line here");
}

#[test]
fn every_served_route_is_in_a_table() {
    both(|server| {
        let client = server.client();
        let served: BTreeSet<(String, String)> =
            every_route().map(|(path, route)| (route.method.to_string(), filled(&path))).collect();
        let paths: BTreeSet<String> = every_route().map(|(path, _)| filled(&path)).collect();
        let takes_rest = |(path, _): (String, Route)| Some(filled(path.split_once("{*")?.0));
        let with_rest: BTreeSet<String> = every_route().filter_map(takes_rest).collect();
        for path in &paths {
            for method in METHODS {
                let name = if method == Method::HEAD { "GET" } else { method.as_str() };
                let known =
                    method == Method::OPTIONS || served.contains(&(name.to_owned(), path.clone()));
                if known {
                    continue;
                }
                let status = client.call(method.clone(), path).send().status;
                // A path that matches any word counts as unknown for other methods.
                let wanted = if path.matches('/').count() == 1 && path.contains("unknown") {
                    404
                } else {
                    405
                };
                assert_eq!(status, wanted, "{method} {path}");
            }
            // With further segments, the path is unknown unless a route takes the rest of it.
            let deeper = format!("{path}/no-such-segment/x/y/z");
            if !with_rest.iter().any(|base| deeper.starts_with(base)) {
                assert_eq!(client.get(&deeper).send().status, 404, "{deeper}");
            }
        }
        for path in ["/admin", "/debug", "/.git/config", "/ims", "/ims/oneroster"] {
            assert_eq!(client.get(path).send().status, 404, "{path}");
        }
    });
}

pub(crate) fn every_route() -> impl Iterator<Item = (String, Route)> {
    routes::all().into_iter().flat_map(|area| {
        let base = area.base;
        area.routes.into_iter().map(move |route| (format!("{base}{}", route.path), route))
    })
}

/// A request to the route with placeholder values for path parameters.
pub(crate) fn call<'a>(client: &'a TestClient, route: &Route, path: &str) -> Call<'a> {
    client.call(route.method.clone(), &filled(path))
}

/// The path with placeholder values for its parameters.
fn filled(path: &str) -> String {
    path.split('/')
        .map(|segment| if segment.starts_with('{') { "x-unknown" } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}
