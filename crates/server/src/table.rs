//! The router, built from the areas' tables and from nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::{HeaderValue, Method};
use lyceum_core::{Problem, ProblemKind, Result};
use percent_encoding::percent_decode_str;

use crate::aliases;
use crate::render::Rendering;
use crate::route::{Area, Route};

/// What answers and logs say about where a request went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The area's name.
    pub(crate) area: &'static str,
    /// How the area tells problems.
    pub(crate) rendering: Rendering,
    /// The path pattern, bounded in number, unlike paths.
    pub(crate) pattern: &'a str,
}

/// A path that the server has, with all of its methods.
pub(crate) struct Endpoint {
    area: &'static str,
    rendering: Rendering,
    pattern: String,
    routes: Vec<Arc<Route>>,
    /// The value of `Allow`.
    pub(crate) allow: HeaderValue,
}

impl Endpoint {
    pub(crate) fn place(&self) -> Place<'_> {
        Place { area: self.area, rendering: self.rendering, pattern: &self.pattern }
    }

    /// Whether its path is one parameter, as `/{id}`.
    pub(crate) fn fits_any_word(&self) -> bool {
        self.pattern.starts_with("/{") && self.pattern.matches('/').count() == 1
    }

    /// The route of a method; `HEAD` is served by the one of `GET`.
    pub(crate) fn route(&self, method: &Method) -> Option<&Arc<Route>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| route.method == *method)
    }
}

/// Every endpoint, found by path.
pub(crate) struct Table {
    endpoints: matchit::Router<Endpoint>,
    /// Base, name and rendering of the areas, the longest base first.
    bases: Vec<(&'static str, &'static str, Rendering)>,
}

impl Table {
    /// Builds the router. Panics on two routes of one method and path: a fault of the tables.
    pub(crate) fn new(areas: Vec<Area>) -> Self {
        let mut bases: Vec<_> =
            areas.iter().map(|area| (area.base, area.name, area.rendering)).collect();
        bases.sort_by_key(|(base, ..)| std::cmp::Reverse(base.len()));
        let mut shapes: BTreeMap<String, Endpoint> = BTreeMap::new();
        for area in areas {
            for route in area.routes {
                let pattern = format!("{}{}", area.base, route.path);
                let endpoint = shapes.entry(shape(&pattern)).or_insert_with(|| Endpoint {
                    area: area.name,
                    rendering: area.rendering,
                    pattern,
                    routes: Vec::new(),
                    allow: HeaderValue::from_static(""),
                });
                assert!(
                    endpoint.routes.iter().all(|other| other.method != route.method),
                    "two routes for {} {}",
                    route.method,
                    endpoint.pattern
                );
                endpoint.routes.push(Arc::new(route));
            }
        }
        let mut endpoints = matchit::Router::new();
        for (shape, mut endpoint) in shapes {
            endpoint.allow = allow(&endpoint.routes);
            endpoints.insert(shape, endpoint).expect("shapes are unique and well-formed");
        }
        Self { endpoints, bases }
    }

    /// The endpoint of a path as sent, and its parameters, decoded. Aliases are seen through, and
    /// trailing slashes do not count.
    pub(crate) fn find(&self, path: &str) -> Option<(&Endpoint, Result<Vec<String>>)> {
        let trimmed = path.trim_end_matches('/');
        let path = aliases::canonical(if trimmed.is_empty() { "/" } else { trimmed });
        let matched = self.endpoints.at(&path).ok()?;
        Some((matched.value, decode(&matched.params)))
    }

    /// The place of an unknown path: the area that it seems to be meant for.
    pub(crate) fn nowhere(&self, path: &str) -> Place<'static> {
        let path = aliases::canonical(path);
        let inside = |base: &str| {
            path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let area = self.bases.iter().find(|(base, ..)| !base.is_empty() && inside(base));
        let (_, area, rendering) = area.copied().unwrap_or(("", "none", Rendering::Problem));
        Place { area, rendering, pattern: "unknown path" }
    }
}

/// Decodes path parameters; only now, so that an encoded slash does not part segments.
fn decode(params: &matchit::Params<'_, '_>) -> Result<Vec<String>> {
    let decode = |(_, value): (&str, &str)| match percent_decode_str(value).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Problem::new(
            ProblemKind::Malformed,
            format!("the path segment '{value}' is not percent-encoded UTF-8"),
        )),
    };
    params.iter().map(decode).collect()
}

/// The pattern with numbered parameters: routes of one path may name them differently.
fn shape(pattern: &str) -> String {
    let number = |(index, segment): (usize, &str)| match segment.strip_prefix('{') {
        Some(name) if name.starts_with('*') => format!("{{*p{index}}}"),
        Some(_) => format!("{{p{index}}}"),
        None => segment.to_owned(),
    };
    pattern.split('/').enumerate().map(number).collect::<Vec<_>>().join("/")
}

fn allow(routes: &[Arc<Route>]) -> HeaderValue {
    let mut methods: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.push("OPTIONS");
    methods.sort_unstable();
    HeaderValue::try_from(methods.join(", ")).expect("methods stand in headers")
}
