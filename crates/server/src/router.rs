//! Builds the axum router from the areas' tables only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Uri};
use axum::response::Response;
use tower::{Service, service_fn};

use crate::render::Rendering;
use crate::route::{Area, Route};
use crate::state::App;
use crate::{aliases, dispatch};

/// What logs, metrics and errors say about the route of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteLabels<'a> {
    /// The area's name.
    pub(crate) area: &'static str,
    /// The area's error format.
    pub(crate) rendering: Rendering,
    /// The route's path with parameters in braces. Unlike paths, patterns are limited in number.
    pub(crate) pattern: &'a str,
}

/// The result of matching a request's path and method.
pub(crate) enum RouteDestination<'a> {
    Route(&'a Arc<Route>),
    /// The path exists, but the method is `OPTIONS` or has no route. Holds the value of `Allow`.
    OtherMethod(&'a HeaderValue),
    UnknownPath {
        /// In a sandbox, the path that was probably meant.
        meant: Option<String>,
    },
}

/// Answers the requests for one path, or for all unknown paths.
pub(crate) struct Endpoint {
    pub(crate) app: App,
    all: Arc<AllRoutes>,
    area: &'static str,
    rendering: Rendering,
    pattern: String,
    /// One for each method of the path; empty for unknown paths.
    routes: Vec<Arc<Route>>,
    /// The value of `Allow`.
    allow: HeaderValue,
}

/// The routes of all areas.
struct AllRoutes {
    /// Base, name and rendering of the areas, the longest base first.
    bases: Vec<(&'static str, &'static str, Rendering)>,
    patterns: Vec<String>,
}

/// Builds the router. Panics if the tables have two routes with the same method and path.
pub(crate) fn build(app: &App, areas: Vec<Area>) -> Router {
    let mut bases: Vec<_> =
        areas.iter().map(|area| (area.base, area.name, area.rendering)).collect();
    bases.sort_by_key(|(base, ..)| std::cmp::Reverse(base.len()));
    let patterns_of = |area: &Area| {
        let patterns = area.routes.iter().map(|route| format!("{}{}", area.base, route.path));
        patterns.collect::<Vec<_>>()
    };
    let patterns = areas.iter().flat_map(patterns_of).collect();
    let all = Arc::new(AllRoutes { bases, patterns });
    let endpoint = |area, rendering, pattern| Endpoint {
        app: App::clone(app),
        all: Arc::clone(&all),
        area,
        rendering,
        pattern,
        routes: Vec::new(),
        allow: HeaderValue::from_static("OPTIONS"),
    };
    let mut endpoints: BTreeMap<String, Endpoint> = BTreeMap::new();
    for area in areas {
        for route in area.routes {
            let pattern = format!("{}{}", area.base, route.path);
            let new = || endpoint(area.name, area.rendering, pattern.clone());
            endpoints.entry(shape(&pattern)).or_insert_with(new).add(route);
        }
    }
    let unknown = endpoint("none", Rendering::Problem, "unknown path".to_owned());
    let routed = endpoints.into_iter().fold(Router::new(), |router, (path, endpoint)| {
        router.route_service(&path, endpoint.service())
    });
    routed.fallback_service(unknown.service())
}

/// Replaces aliases in the path and removes slashes at its end, so that the router finds the endpoint. Returns the
/// original address if it changed.
pub(crate) fn use_canonical_path(uri: &mut Uri) -> Option<Uri> {
    let path = canonical_path(uri.path());
    if path == uri.path() {
        return None;
    }
    let canonical = Uri::try_from(path.as_ref()).ok()?;
    Some(std::mem::replace(uri, canonical))
}

/// The path without aliases and without slashes at its end.
pub(crate) fn canonical_path(path: &str) -> Cow<'_, str> {
    let trimmed = path.trim_end_matches('/');
    aliases::canonical(if trimmed.is_empty() { "/" } else { trimmed })
}

impl Endpoint {
    fn add(&mut self, route: Route) {
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

    /// The service for all methods of the path. axum's `MethodRouter` adds `Content-Length: 0` to a 304 answer, and
    /// removes the body of a `HEAD` answer before compression has set its headers.
    fn service(
        self,
    ) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static {
        let endpoint = Arc::new(self);
        service_fn(move |request| {
            let endpoint = Arc::clone(&endpoint);
            async move { Ok(dispatch::answer(&endpoint, request).await) }
        })
    }

    /// What a request with this method leads to. `path` decides the error format of unknown paths.
    pub(crate) fn destination(
        &self,
        method: &Method,
        path: &str,
    ) -> (RouteLabels<'_>, RouteDestination<'_>) {
        let Self { area, rendering, pattern, .. } = self;
        let labels = RouteLabels { area, rendering: *rendering, pattern };
        // `/{id}` matches any word, so with another method the path counts as unknown.
        let fits_any_word = || pattern.starts_with("/{") && pattern.matches('/').count() == 1;
        match self.route(method) {
            Some(route) => (labels, RouteDestination::Route(route)),
            None if self.routes.is_empty() || fits_any_word() && method != Method::OPTIONS => {
                let meant = self.app.sandbox.as_ref().and_then(|_| self.near_path(path));
                (self.unknown_path(path), RouteDestination::UnknownPath { meant })
            }
            None => (labels, RouteDestination::OtherMethod(&self.allow)),
        }
    }

    /// The route of a method. `HEAD` uses the route of `GET`.
    fn route(&self, method: &Method) -> Option<&Arc<Route>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| route.method == *method)
    }

    fn near_path(&self, path: &str) -> Option<String> {
        lyceum_core::near_path(path, self.all.patterns.iter().map(String::as_str))
    }

    /// Labels for an unknown path: those of the area whose base it begins with.
    fn unknown_path(&self, path: &str) -> RouteLabels<'static> {
        let path = aliases::canonical(path);
        let inside = |base: &str| {
            path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let area = self.all.bases.iter().find(|(base, ..)| !base.is_empty() && inside(base));
        let (_, area, rendering) = area.copied().unwrap_or(("", "none", Rendering::Problem));
        RouteLabels { area, rendering, pattern: "unknown path" }
    }
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
