//! No path outside the tables is served. `access` tests the routes themselves.

use std::collections::BTreeSet;

use lyceum_api::Route;
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
