//! The axum router, built from the areas' tables and from nothing else.

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

/// Where a request leads.
pub(crate) enum Lead<'a> {
    Route(&'a Arc<Route>),
    /// The path is there, the method is `OPTIONS` or one that the path does not have; the value of `Allow`.
    Other(&'a HeaderValue),
    Nowhere,
}

/// What answers the requests for one path, or for all paths that the server does not have.
pub(crate) struct Endpoint {
    pub(crate) app: App,
    bases: Arc<Bases>,
    area: &'static str,
    rendering: Rendering,
    pattern: String,
    /// All methods of the path; none where the server does not have it.
    routes: Vec<Arc<Route>>,
    /// The value of `Allow`.
    allow: HeaderValue,
}

/// Base, name and rendering of the areas, the longest base first.
type Bases = Vec<(&'static str, &'static str, Rendering)>;

/// Builds the router. Panics on two routes of one method and path: a fault of the tables.
pub(crate) fn build(app: &App, areas: Vec<Area>) -> Router {
    let mut bases: Bases =
        areas.iter().map(|area| (area.base, area.name, area.rendering)).collect();
    bases.sort_by_key(|(base, ..)| std::cmp::Reverse(base.len()));
    let bases = Arc::new(bases);
    let endpoint = |area, rendering, pattern| Endpoint {
        app: App::clone(app),
        bases: Arc::clone(&bases),
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

/// Gives a request the path by which the router finds its endpoint: aliases are seen through, and trailing
/// slashes do not count. Answers the address as the caller spelled it, where that is another one.
pub(crate) fn respell(uri: &mut Uri) -> Option<Uri> {
    let trimmed = uri.path().trim_end_matches('/');
    let path = aliases::canonical(if trimmed.is_empty() { "/" } else { trimmed });
    if path == uri.path() {
        return None;
    }
    let respelled = Uri::try_from(path.as_ref()).ok()?;
    Some(std::mem::replace(uri, respelled))
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
        self.allow = HeaderValue::try_from(methods.join(", ")).expect("methods stand in headers");
    }

    /// The service of all methods. axum's `MethodRouter` would say `Content-Length: 0` in an answer 304, and take the
    /// body from an answer to `HEAD` before it is known how that is compressed.
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

    /// Where a request for one of its paths leads.
    pub(crate) fn lead(&self, method: &Method, path: &str) -> (Place<'_>, Lead<'_>) {
        let Self { area, rendering, pattern, .. } = self;
        let place = Place { area, rendering: *rendering, pattern };
        // A path that any word fits, as `/{id}`, says nothing of what was meant.
        let fits_any_word = || pattern.starts_with("/{") && pattern.matches('/').count() == 1;
        match self.route(method) {
            Some(route) => (place, Lead::Route(route)),
            None if self.routes.is_empty() || fits_any_word() && method != Method::OPTIONS => {
                (self.nowhere(path), Lead::Nowhere)
            }
            None => (place, Lead::Other(&self.allow)),
        }
    }

    /// The route of a method; `HEAD` is served by the one of `GET`.
    fn route(&self, method: &Method) -> Option<&Arc<Route>> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| route.method == *method)
    }

    /// The place of an unknown path: the area that it seems to be meant for.
    fn nowhere(&self, path: &str) -> Place<'static> {
        let path = aliases::canonical(path);
        let inside = |base: &str| {
            path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let area = self.bases.iter().find(|(base, ..)| !base.is_empty() && inside(base));
        let (_, area, rendering) = area.copied().unwrap_or(("", "none", Rendering::Problem));
        Place { area, rendering, pattern: "unknown path" }
    }
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
