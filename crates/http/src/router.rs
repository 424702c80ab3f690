//! Finds the endpoint of a path. The table of endpoints is built from the areas' routes only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderValue, Method};
use percent_encoding::percent_decode_str;

use crate::aliases;
use crate::render::Rendering;
use crate::route::{Area, Route};

/// The names of a request's route in logs, metrics and errors.
#[derive(Clone, Copy, Debug)]
pub struct RouteLabels<'a> {
    /// The area's name.
    pub area: &'static str,
    /// The area's error format.
    pub rendering: Rendering,
    /// The route's path with parameters in braces. Unlike paths, patterns are limited in number.
    pub pattern: &'a str,
}

/// The result of matching a request's path and method.
pub(crate) enum RouteMatch<'a, A> {
    Route(&'a Arc<Route<A>>),
    /// The path exists, but the method is `OPTIONS` or has no route. Holds the value of `Allow`.
    OtherMethod(&'a HeaderValue),
    UnknownPath,
}

/// The decoded values of a path's parameters; `None` if one is not percent-encoded UTF-8.
pub(crate) type ParamValues = Option<Vec<String>>;

/// All routes by path.
pub(crate) struct Router<A> {
    endpoints: matchit::Router<Endpoint<A>>,
    /// Base, name and rendering of the areas, the longest base first.
    bases: Vec<(&'static str, &'static str, Rendering)>,
    patterns: Vec<String>,
}

/// The routes of one path.
pub(crate) struct Endpoint<A> {
    area: &'static str,
    rendering: Rendering,
    pattern: String,
    /// The route of each method of the path.
    routes: Vec<Arc<Route<A>>>,
    /// The value of `Allow`.
    allow: HeaderValue,
}

impl<A> Router<A> {
    /// Panics if the tables have two routes with the same method and path.
    pub(crate) fn new(areas: Vec<Area<A>>) -> Self {
        let mut bases: Vec<_> =
            areas.iter().map(|area| (area.base, area.name, area.rendering)).collect();
        bases.sort_by_key(|(base, ..)| std::cmp::Reverse(base.len()));
        let mut by_shape: BTreeMap<String, Endpoint<A>> = BTreeMap::new();
        let mut patterns = Vec::new();
        for area in areas {
            for route in area.routes {
                let pattern = format!("{}{}", area.base, route.path);
                patterns.push(pattern.clone());
                let endpoint = by_shape.entry(shape(&pattern)).or_insert_with(|| Endpoint {
                    area: area.name,
                    rendering: area.rendering,
                    pattern,
                    routes: Vec::new(),
                    allow: HeaderValue::from_static("OPTIONS"),
                });
                endpoint.add(route);
            }
        }
        let mut endpoints = matchit::Router::new();
        for (path, endpoint) in by_shape {
            endpoints.insert(path, endpoint).expect("the paths of the tables do not contradict");
        }
        Self { endpoints, bases, patterns }
    }

    /// The route of a request with this method and path, or the reason why there is none. Aliases of paths and slashes
    /// at their end do not matter.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &str,
    ) -> (RouteLabels<'_>, RouteMatch<'_, A>, ParamValues) {
        let canonical = canonical_path(path);
        let Ok(found) = self.endpoints.at(&canonical) else {
            return (self.unknown_path(&canonical), RouteMatch::UnknownPath, None);
        };
        let endpoint = found.value;
        let Endpoint { area, rendering, pattern, .. } = endpoint;
        let labels = RouteLabels { area, rendering: *rendering, pattern };
        // `/{id}` matches any word, so with another method the path counts as unknown.
        let fits_any_word = || pattern.starts_with("/{") && pattern.matches('/').count() == 1;
        match endpoint.route(method) {
            Some(route) => {
                let values = found.params.iter().map(|(_, value)| decoded(value));
                (labels, RouteMatch::Route(route), values.collect())
            }
            None if fits_any_word() && method != Method::OPTIONS => {
                (self.unknown_path(&canonical), RouteMatch::UnknownPath, None)
            }
            None => (labels, RouteMatch::OtherMethod(&endpoint.allow), None),
        }
    }

    /// The path of a route that was probably meant.
    pub(crate) fn near_path(&self, path: &str) -> Option<String> {
        lyceum_core::near_path(path, self.patterns.iter().map(String::as_str))
    }

    /// Labels for an unknown path: those of the area whose base it begins with.
    fn unknown_path(&self, path: &str) -> RouteLabels<'static> {
        let inside = |base: &str| {
            path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let area = self.bases.iter().find(|(base, ..)| !base.is_empty() && inside(base));
        let (_, area, rendering) = area.copied().unwrap_or(("", "none", Rendering::Problem));
        RouteLabels { area, rendering, pattern: "unknown path" }
    }
}

impl<A> Endpoint<A> {
    fn add(&mut self, route: Route<A>) {
        let (method, pattern) = (&route.method, &self.pattern);
        assert!(self.route(method).is_none(), "two routes for {method} {pattern}");
        self.routes.push(Arc::new(route));
        let mut methods: Vec<&str> =
            self.routes.iter().map(|route| route.method.as_str()).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.push("OPTIONS");
        methods.sort_unstable();
        self.allow = HeaderValue::try_from(methods.join(", "))
            .expect("names of methods are valid in headers");
    }

    /// The route of a method. `HEAD` uses the route of `GET`.
    fn route(&self, method: &Method) -> Option<&Arc<Route<A>>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| route.method == *method)
    }
}

fn decoded(value: &str) -> Option<String> {
    percent_decode_str(value).decode_utf8().ok().map(Cow::into_owned)
}

/// The path without aliases and without slashes at its end.
pub fn canonical_path(path: &str) -> Cow<'_, str> {
    let trimmed = path.trim_end_matches('/');
    aliases::canonical(if trimmed.is_empty() { "/" } else { trimmed })
}

/// The pattern with numbers as parameter names, because routes of one path may name a parameter differently.
fn shape(pattern: &str) -> String {
    let number = |(index, segment): (usize, &str)| match segment.strip_prefix('{') {
        Some(name) if name.starts_with('*') => format!("{{*p{index}}}"),
        Some(_) => format!("{{p{index}}}"),
        None => segment.to_owned(),
    };
    pattern.split('/').enumerate().map(number).collect::<Vec<_>>().join("/")
}
