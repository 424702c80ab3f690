//! The state that all requests share.

use std::ops::Deref;
use std::sync::Arc;

use http::request::Parts;
use http_body_util::BodyExt;
use lyceum_access::CallerPlace;
use lyceum_blob::{Blobs, BucketInstallations};
use lyceum_cluster::Cluster;
use lyceum_core::Result;
use lyceum_hosting::leases::{HeldProject, RequestPlace};
use lyceum_hosting::nodes::{FORWARD_HEADER, KnownNode};
use lyceum_http::guarded::GuardedClient;
use lyceum_http::proxy::ForwardedCaller;
use lyceum_http::request_id::RequestId;
use lyceum_http::{
    Application, Body, Http, PageProblems, ProjectAddress, Request, Response, canonical_path,
};
use serde_json::Value;

use crate::credentials::StatusLists;
use crate::health::Readiness;
use crate::hosted::{self, ProjectHosting};
use crate::learning::Learning;
use crate::work::activity_watch::ActivityWatch;
use crate::work::gathering::SummedUntil;
use crate::work::imports::RunningImport;
use crate::work::intake::Intake;
use crate::work::live::LiveLog;
use crate::work::webhooks::WebhookSender;

/// The server's state. Cheap to clone.
pub type App = Arc<State>;

/// The parts of the server that handlers and background work use. Database, clock, settings and the checks of callers
/// are those of [`Http`].
pub struct State {
    /// The parts that the way of a request uses.
    pub http: Http,
    /// This server as a node of its database.
    pub cluster: Arc<Cluster>,
    /// The files of hosted projects.
    pub blobs: Blobs,
    /// The installations whose objects of the S3 bucket this server uses.
    pub bucket: BucketInstallations,
    /// Caches for hosted projects, and the engine of their backends.
    pub hosted: ProjectHosting,
    /// Envelopes that wait to be stored.
    pub intake: Intake,
    /// Until when facts of events are summed.
    pub summed_until: SummedUntil,
    /// Wakes live streams.
    pub live: LiveLog,
    /// Tells open pages what students do.
    pub activity: ActivityWatch,
    /// A cache of parsed assessment items.
    pub items: lyceum_assessment::Items,
    /// A cache of lessons.
    pub lessons: lyceum_adaptive::LessonCaches,
    /// The client for addresses that callers supplied.
    pub guarded: GuardedClient,
    /// Sends messages to the targets of webhooks.
    pub webhooks: WebhookSender,
    /// The name, value and origin of each setting, without secrets.
    pub settings: Vec<(String, String, String)>,
    /// A cache of signed status lists.
    pub status_lists: StatusLists,
    /// The imports that this server runs.
    pub imports: RunningImport,
    /// Where the learning of a sandbox's players is recorded; `None` on other servers.
    pub learning: Option<Learning>,
    /// Makes the reference of the command line, if the program that runs the server has one.
    pub commands: Option<fn() -> String>,
    /// Makes the API document of all areas for a server with this address.
    pub openapi: fn(&str) -> Value,
    /// The pages that browsers get instead of pages that are refused or fail.
    pub page_problems: PageProblems<State>,
    /// The latest check whether the store accepts writes.
    pub readiness: Readiness,
}

impl Deref for State {
    type Target = Http;

    fn deref(&self) -> &Http {
        &self.http
    }
}

impl Application for State {
    fn forwarded_caller(&self, parts: &Parts) -> Result<Option<CallerPlace>> {
        self.cluster.forwarded_caller(parts)
    }

    async fn place_of(&self, project: Option<&str>, parts: &Parts) -> Result<RequestPlace> {
        let has_header = parts.headers.contains_key(FORWARD_HEADER);
        if !self.cluster.lease.is_needed() && !has_header {
            return Ok(RequestPlace::Here(None));
        }
        let is_forwarded = parts.extensions.get::<ForwardedCaller>().is_some();
        if !is_forwarded {
            // Only requests of connections are checked before. A backend's requests are never forwarded ones.
            self.cluster.forwarded_caller(parts)?;
        }
        let path = canonical_path(parts.uri.path());
        // Boxed, because its large future would make that of every request larger.
        Box::pin(self.cluster.place_of(project, &path, is_forwarded)).await
    }

    async fn forward(
        &self,
        request: Request,
        to: (&KnownNode, Option<&str>),
        from: &CallerPlace,
    ) -> Result<Response> {
        let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        Ok(self.cluster.forward(request, to, from).await?.map(Body::new))
    }

    async fn answer_of_project(
        self: &Arc<Self>,
        address: ProjectAddress,
        request: Request,
        from: (&CallerPlace, &RequestId),
    ) -> Response {
        hosted::answer(self, address, request, from.0, from.1).await
    }

    fn check_held(&self, held: Option<&HeldProject>) -> Result<()> {
        self.cluster.lease.check(held)
    }

    fn end_streams(&self) {
        self.live.wake();
    }

    fn page_problems(&self) -> &PageProblems<Self> {
        &self.page_problems
    }
}
