//! Forwards requests for a project, or for an upload, to the node that has its files. Both directions are streamed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lyceum_access::CallerPlace;
use lyceum_core::config::Config;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_hosting::leases::{self, HeldProject, ProjectRoute};
use lyceum_hosting::nodes::{self, KnownNode};
use lyceum_hosting::{homes, uploads};
use percent_encoding::percent_decode_str;
use tokio::io::copy_bidirectional;
use tokio::time::sleep;
use tracing::Instrument;

use crate::hosted::{self, ProjectAddress};
use crate::render::Rendering;
use crate::request_id::{RequestId, X_REQUEST_ID};
use crate::router::{RouteLabels, canonical_path};
use crate::state::App;
use crate::{hop, leases as own_lease, limits, takeovers, trace};

mod connector;

use connector::NodeConnector;

/// Sends requests to other nodes. Connections are used again.
pub(crate) struct NodeClient(Client<NodeConnector, Body>);

/// Where a request is handled.
pub(crate) enum Destination {
    /// Here; with the project if this node must still hold it when it answers.
    Here(Option<HeldProject>),
    /// At another node, for the project with this slug or for an upload.
    At(KnownNode, Option<String>),
}

/// What a request is about.
enum Subject<'a> {
    Project(Cow<'a, str>),
    Upload(&'a str),
}

/// The paths below which the next segment is the slug of a project.
const PROJECTS: [&str; 4] = ["/api/projects/", "/console/projects/", "/play/", "/api/learn/apps/"];
const UPLOADS: &str = "/api/uploads/";

fn subject(path: &str) -> Option<Subject<'_>> {
    if let Some(id) = path.strip_prefix(UPLOADS).and_then(first_segment) {
        return Some(Subject::Upload(id));
    }
    let rest = PROJECTS.iter().find_map(|base| path.strip_prefix(base))?;
    percent_decode_str(first_segment(rest)?).decode_utf8().ok().map(Subject::Project)
}

fn first_segment(path: &str) -> Option<&str> {
    path.split('/').next().filter(|segment| !segment.is_empty())
}

/// Where the request is handled.
///
/// Errors: `Unavailable` if no node can handle it now.
pub(crate) async fn destination(
    app: &App,
    project: Option<&ProjectAddress>,
    path: &str,
) -> Result<Destination> {
    if !app.lease.is_needed() {
        return Ok(Destination::Here(None));
    }
    let path = canonical_path(path);
    let subject = match project {
        Some(project) => Some(Subject::Project(project.slug.as_str().into())),
        None => subject(&path),
    };
    match subject {
        None => Ok(Destination::Here(None)),
        Some(Subject::Upload(id)) => of_upload(app, id).await,
        Some(Subject::Project(slug)) => of_project(app, slug.into_owned()).await,
    }
}

async fn of_upload(app: &App, id: &str) -> Result<Destination> {
    let (_, Some(tag)) = uploads::split(id) else { return Ok(Destination::Here(None)) };
    if tag == app.node.tag() {
        return Ok(Destination::Here(None));
    }
    let tag = tag.to_owned();
    let other = app.db.read(move |tx| nodes::of_tag(tx, &tag)).await?;
    Ok(other.map_or(Destination::Here(None), |node| Destination::At(node, None)))
}

async fn of_project(app: &App, slug: String) -> Result<Destination> {
    if let Some(held) = app.lease.project(&slug) {
        return Ok(Destination::Here(Some(held)));
    }
    let mut found = route(app, &slug).await?;
    if let ProjectRoute::Left(holder) = &found {
        if !takeovers::take_over(app, &slug).await && !app.lease.awaits_replica(&slug) {
            return Err(leases::unreachable(&slug, holder));
        }
        found = route(app, &slug).await?;
    }
    match found {
        ProjectRoute::At(node) => return Ok(Destination::At(node, Some(slug))),
        ProjectRoute::Left(_) => return Err(leases::moved(&slug)),
        ProjectRoute::Nowhere => return Ok(Destination::Here(None)),
        ProjectRoute::Here => {}
    }
    if app.lease.awaits_replica(&slug) && !takeovers::take_over(app, &slug).await {
        return Err(leases::not_replicated_yet(&slug));
    }
    // The project came to this node a moment ago, or the lease has ended.
    own_lease::renew(app).await?;
    let held = app.lease.project(&slug).ok_or_else(|| leases::moved(&slug))?;
    Ok(Destination::Here(Some(held)))
}

async fn route(app: &App, slug: &str) -> Result<ProjectRoute> {
    let (node, lease, slug) = (Arc::clone(&app.node), Arc::clone(&app.lease), slug.to_owned());
    app.db.read(move |tx| leases::route(tx, &node, &lease, &slug)).await
}

/// The labels of a forwarded request. The other node counts it with those of its route.
pub(crate) fn labels(rendering: Rendering) -> RouteLabels<'static> {
    RouteLabels { area: "forwarded", rendering, pattern: "forwarded to another node" }
}

/// The format of problems for the path.
pub(crate) fn rendering(path: &str) -> Rendering {
    if path.starts_with("/console/") || path.starts_with("/play/") {
        Rendering::Page
    } else if path.starts_with("/api/") {
        Rendering::Problem
    } else {
        hosted::LABELS.rendering
    }
}

/// Headers that describe one connection (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

impl NodeClient {
    /// The client of a node that shares its database. Errors: the certificate cannot be read.
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(limits::FORWARD_IDLE_S))
            .pool_max_idle_per_host(limits::FORWARD_IDLE_CONNECTIONS_MAX_COUNT);
        Ok(Self(client.build(NodeConnector::new(config)?)))
    }
}

/// Answers the request with the other node's answer.
///
/// Errors: `Unavailable` if the node does not answer.
pub(crate) async fn forward(
    app: &App,
    mut request: Request<Body>,
    (node, slug): (&KnownNode, Option<&str>),
    from: (&CallerPlace, &RequestId),
) -> Result<Response<Body>> {
    let client = app.node_client.as_ref().expect("a node that forwards shares its database");
    let here = hyper::upgrade::on(&mut request);
    let mut request = addressed(app, request, node, from)?;
    let span = trace::outgoing("forward", request.method().as_str(), request.uri().host());
    trace::write(&span, request.headers_mut());
    // The other node answers within this time, too, unless it was paused.
    let patience = app.config.server.request_timeout_s + limits::FORWARD_SPARE_S;
    let answered = async {
        tokio::select! {
            answered = client.0.request(request) => {
                answered.map_err(|error| silent(node).because(error))
            }
            problem = until_moved(app, slug, &node.id) => Err(problem),
            () = sleep(Duration::from_secs(patience)), if slug.is_none() => Err(silent(node)),
        }
    };
    let answered = answered.instrument(span.clone()).await;
    trace::ended(&span, answered.as_ref().ok().map(|response| response.status().as_u16()));
    let mut response = answered?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let there = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(here), Ok(there)) = tokio::join!(here, there) {
                let (mut here, mut there) = (TokioIo::new(here), TokioIo::new(there));
                let _ = copy_bidirectional(&mut here, &mut there).await;
            }
        });
    } else {
        remove_of_connection(response.headers_mut());
    }
    Ok(response.map(Body::new))
}

/// The request as the other node receives it: the same, with the signature of this node.
fn addressed(
    app: &App,
    request: Request<Body>,
    node: &KnownNode,
    (caller, id): (&CallerPlace, &RequestId),
) -> Result<Request<Body>> {
    let (mut parts, body) = request.into_parts();
    // In HTTP/2, the host is part of the address.
    if let Some(authority) = parts.uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        parts.headers.insert(header::HOST, host);
    }
    let upgrade = parts.headers.get(header::UPGRADE).cloned();
    remove_of_connection(&mut parts.headers);
    // hyper answers it to the caller when the body is read.
    parts.headers.remove(header::EXPECT);
    if let Some(upgrade) = upgrade {
        parts.headers.insert(header::UPGRADE, upgrade);
        parts.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    parts.headers.insert(X_REQUEST_ID, id.header());
    let signed = hop::signed(app, &parts, &node.id, caller);
    parts.headers.insert(hop::HEADER, signed);
    let (scheme, authority) = connector::place(&node.address, app.config.tls.certificate.is_some())
        .ok_or_else(|| without_address(node))?;
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    parts.uri = Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(target)
        .build()
        .map_err(|_| without_address(node))?;
    parts.version = axum::http::Version::HTTP_11;
    Ok(Request::from_parts(parts, body))
}

/// Headers of the request itself, which `Connection` cannot take away.
const NEVER_OF_CONNECTION: [HeaderName; 3] =
    [header::HOST, header::CONTENT_LENGTH, header::AUTHORIZATION];

/// Removes the headers that are about one connection: those of the list, and those that `Connection` names (RFC 9110, 7.6.1).
fn remove_of_connection(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter();
    let named = named.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let named: Vec<HeaderName> = named.filter_map(|name| name.trim().parse().ok()).collect();
    for name in named.iter().filter(|name| !NEVER_OF_CONNECTION.contains(name)) {
        headers.remove(name);
    }
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}

/// Completes when the node that should answer no longer holds the project.
async fn until_moved(app: &App, slug: Option<&str>, holder: &str) -> Problem {
    let Some(slug) = slug else { return std::future::pending().await };
    loop {
        sleep(Duration::from_millis(limits::FORWARD_CHECK_EVERY_MS)).await;
        if !matches!(route(app, slug).await, Ok(ProjectRoute::At(node)) if node.id == holder) {
            return leases::moved(slug);
        }
    }
}

fn silent(node: &KnownNode) -> Problem {
    unavailable(format!(
        "the server {} has the files for this request and does not answer; try again in a moment",
        homes::describe_node(node)
    ))
}

fn without_address(node: &KnownNode) -> Problem {
    unavailable(format!(
        "the server {} has the files for this request, but other servers cannot reach it at this address; set \
         'server.node_address' there",
        homes::describe_node(node)
    ))
}

/// The problem of a request that was forwarded to this node, although another one has the files.
pub(crate) fn forwarded_twice() -> Problem {
    unavailable("the files for this request have moved to another server; try again".to_owned())
}

fn unavailable(message: String) -> Problem {
    let mut problem = Problem::new(ProblemKind::Unavailable, message);
    problem.retry_after_s = Some(1);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_projects_and_uploads() {
        let named = |path: &str| match subject(path) {
            Some(Subject::Project(slug)) => slug.into_owned(),
            Some(Subject::Upload(id)) => format!("upload {id}"),
            None => String::new(),
        };
        assert_eq!(named("/api/projects/rivers/kv"), "rivers");
        assert_eq!(named("/api/projects/r%69vers"), "rivers");
        assert_eq!(named("/console/projects/rivers"), "rivers");
        assert_eq!(named("/play/rivers"), "rivers");
        assert_eq!(named("/api/learn/apps/rivers/token"), "rivers");
        assert_eq!(named("/api/uploads/abc"), "upload abc");
        for path in ["/api/projects", "/api/projects/", "/console/projects", "/api/uploads", "/"] {
            assert_eq!(named(path), "", "{path}");
        }
    }
}
