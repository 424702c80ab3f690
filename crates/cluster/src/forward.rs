//! Forwards requests for a project, or for an upload, to the node that has its files. Both directions are streamed.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lyceum_access::CallerPlace;
use lyceum_core::config::Config;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_hosting::leases::{self, ProjectRoute, RequestPlace};
use lyceum_hosting::nodes::{self, FORWARD_HEADER, KnownNode};
use lyceum_hosting::{homes, uploads};
use percent_encoding::percent_decode_str;
use tokio::io::copy_bidirectional;
use tokio::time::sleep;

use crate::{Cluster, forward_signature, leases as own_lease, limits, takeovers};

mod connector;

use connector::NodeConnector;

/// Sends requests to other nodes. Connections are used again.
pub(crate) struct NodeClient(Client<NodeConnector, ForwardedBody>);

/// The body of a request that is forwarded.
pub type ForwardedBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// The project or upload that a request is about.
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

impl Cluster {
    /// The node that handles a request to `path`, without aliases of paths. `project` is the slug of the hosted project that
    /// the request is for; `is_forwarded` says whether another node forwarded it.
    ///
    /// Errors: `Unavailable` if no node can handle it now, or if it would be forwarded twice.
    pub async fn place_of(
        self: &Arc<Self>,
        project: Option<&str>,
        path: &str,
        is_forwarded: bool,
    ) -> Result<RequestPlace> {
        let subject = match project {
            Some(slug) => Some(Subject::Project(slug.into())),
            None => subject(path),
        };
        let place = match subject {
            None => RequestPlace::Here(None),
            Some(Subject::Upload(id)) => of_upload(self, id).await?,
            Some(Subject::Project(slug)) => of_project(self, slug.into_owned()).await?,
        };
        match place {
            RequestPlace::At(..) if is_forwarded => Err(unavailable(
                "the files for this request have moved to another server; try again".into(),
            )),
            place => Ok(place),
        }
    }

    /// The answer of another node, for the project with this slug or for an upload. Errors: `Unavailable`.
    pub async fn forward(
        self: &Arc<Self>,
        mut request: Request<ForwardedBody>,
        (node, slug): (&KnownNode, Option<&str>),
        caller: &CallerPlace,
    ) -> Result<Response<Incoming>> {
        let client = self.node_client.as_ref().expect("a node that forwards shares its database");
        let here = hyper::upgrade::on(&mut request);
        let request = addressed(self, request, node, caller)?;
        // The other node answers within this time, too, unless it was paused.
        let patience = self.config.server.request_timeout_s + limits::FORWARD_SPARE_S;
        let answered = async {
            tokio::select! {
                answered = client.0.request(request) => {
                    answered.map_err(|error| silent(node).because(error))
                }
                problem = until_moved(self, slug, &node.id) => Err(problem),
                () = sleep(Duration::from_secs(patience)), if slug.is_none() => Err(silent(node)),
            }
        };
        let mut response = answered.await?;
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
        Ok(response)
    }
}

async fn of_upload(cluster: &Arc<Cluster>, id: &str) -> Result<RequestPlace> {
    let (_, Some(tag)) = uploads::split(id) else { return Ok(RequestPlace::Here(None)) };
    if tag == cluster.node.tag() {
        return Ok(RequestPlace::Here(None));
    }
    let tag = tag.to_owned();
    let other = cluster.db.read(move |tx| nodes::of_tag(tx, &tag)).await?;
    Ok(other.map_or(RequestPlace::Here(None), |node| RequestPlace::At(node, None)))
}

async fn of_project(cluster: &Arc<Cluster>, slug: String) -> Result<RequestPlace> {
    if let Some(held) = cluster.lease.project(&slug) {
        return Ok(RequestPlace::Here(Some(held)));
    }
    let mut found = route(cluster, &slug).await?;
    if let ProjectRoute::Left(holder) = &found {
        if !takeovers::take_over(cluster, &slug).await && !cluster.lease.awaits_replica(&slug) {
            return Err(leases::unreachable(&slug, holder));
        }
        found = route(cluster, &slug).await?;
    }
    match found {
        ProjectRoute::At(node) => return Ok(RequestPlace::At(node, Some(slug))),
        ProjectRoute::Left(_) => return Err(leases::moved(&slug)),
        ProjectRoute::Nowhere => return Ok(RequestPlace::Here(None)),
        ProjectRoute::Here => {}
    }
    if cluster.lease.awaits_replica(&slug) && !takeovers::take_over(cluster, &slug).await {
        return Err(leases::not_replicated_yet(&slug));
    }
    // The project came to this node a moment ago, or the lease has ended.
    own_lease::renew(cluster).await?;
    let held = cluster.lease.project(&slug).ok_or_else(|| leases::moved(&slug))?;
    Ok(RequestPlace::Here(Some(held)))
}

async fn route(cluster: &Arc<Cluster>, slug: &str) -> Result<ProjectRoute> {
    let (node, lease, slug) =
        (Arc::clone(&cluster.node), Arc::clone(&cluster.lease), slug.to_owned());
    cluster.db.read(move |tx| leases::route(tx, &node, &lease, &slug)).await
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

/// The request as the other node receives it: the same, with the signature of this node.
fn addressed(
    cluster: &Arc<Cluster>,
    request: Request<ForwardedBody>,
    node: &KnownNode,
    caller: &CallerPlace,
) -> Result<Request<ForwardedBody>> {
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
    let signed = forward_signature::signed(cluster, &parts, &node.id, caller);
    parts.headers.insert(FORWARD_HEADER, signed);
    let (scheme, authority) =
        connector::place(&node.address, cluster.config.tls.certificate.is_some())
            .ok_or_else(|| without_address(node))?;
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    parts.uri = Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(target)
        .build()
        .map_err(|_| without_address(node))?;
    parts.version = hyper::Version::HTTP_11;
    Ok(Request::from_parts(parts, body))
}

/// Headers of the request itself, which `Connection` cannot take away.
const NEVER_OF_CONNECTION: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::AUTHORIZATION,
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

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
async fn until_moved(cluster: &Arc<Cluster>, slug: Option<&str>, holder: &str) -> Problem {
    let Some(slug) = slug else { return std::future::pending().await };
    loop {
        sleep(Duration::from_millis(limits::FORWARD_CHECK_EVERY_MS)).await;
        if !matches!(route(cluster, slug).await, Ok(ProjectRoute::At(node)) if node.id == holder) {
            return leases::moved(slug);
        }
    }
}

fn silent(node: &KnownNode) -> Problem {
    unavailable(message!(
        "the server {node} has the files for this request and does not answer; try again in a moment",
        node = homes::describe_node(node)
    ))
}

fn without_address(node: &KnownNode) -> Problem {
    unavailable(message!(
        "the server {node} has the files for this request, but other servers cannot reach it at this address; set \
         'server.node_address' there",
        node = homes::describe_node(node)
    ))
}

fn unavailable(message: Message) -> Problem {
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
