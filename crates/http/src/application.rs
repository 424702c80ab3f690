//! The state of this crate, and the questions that it asks the application above it.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use futures_util::future::BoxFuture;
use http::request::Parts;
use lyceum_access::{AccessDenial, CallerPlace};
use lyceum_core::config::Config;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use lyceum_hosting::leases::{HeldProject, RequestPlace};
use lyceum_hosting::nodes::KnownNode;
use lyceum_store::Db;
use tokio::sync::Semaphore;

use crate::admission::Admission;
use crate::answer::Answer;
use crate::auth::{Gate, Grant, HeaderRefusal, ProviderCache, SandboxGrants};
use crate::context::Context;
use crate::fixed::FixedAnswers;
use crate::metrics::Metrics;
use crate::problem_request::ProblemRequest;
use crate::project_address::ProjectAddress;
use crate::request_id::RequestId;
use crate::{Request, Response};

/// The parts of a server that the way of a request needs, whatever the routes do. An application contains one and leads
/// to it by [`Deref`], so that handlers use the same parts.
pub struct Http {
    /// The database.
    pub db: Db,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The settings.
    pub config: Config,
    /// The public address of the server without a trailing slash.
    pub base_url: String,
    /// The servers that share the database, as far as this one knows: at least itself.
    pub live_servers: Arc<AtomicU32>,
    /// The OpenID provider that the settings name.
    pub providers: ProviderCache,
    /// Permits for hashing passwords.
    pub hashing: Arc<Semaphore>,
    /// Permits for waiting for such a permit.
    pub hashing_queue: Arc<Semaphore>,
    /// Limits of connections, and of memory for callers without a token.
    pub admission: Arc<Admission>,
    /// Checks tokens.
    pub gate: Gate,
    /// The default callers of a sandbox; `None` on other servers.
    pub sandbox: Option<SandboxGrants>,
    /// Counters.
    pub metrics: Metrics,
    /// Constant answers by name. Each is made when it is first requested.
    pub fixed: FixedAnswers,
    /// Whether the server was told to stop.
    pub draining: Arc<AtomicBool>,
}

/// The questions that the way of a request asks the application: which server has the files of a project, what a hosted
/// project answers, and what a browser sees that gets no page.
pub trait Application: Deref<Target = Http> + Send + Sync + Sized + 'static {
    /// The caller of a request that another node forwarded; `None` for other requests. Errors: the request is forged, or
    /// was sent to another node.
    fn forwarded_caller(&self, parts: &Parts) -> Result<Option<CallerPlace>>;

    /// The node that handles a request. `project` is the slug of the hosted project that it is for. Errors: `Unavailable`.
    fn place_of(
        &self,
        project: Option<&str>,
        parts: &Parts,
    ) -> impl Future<Output = Result<RequestPlace>> + Send;

    /// The answer of another node, for the project with this slug or for an upload. Errors: `Unavailable`.
    fn forward(
        &self,
        request: Request,
        to: (&KnownNode, Option<&str>),
        from: &CallerPlace,
    ) -> impl Future<Output = Result<Response>> + Send;

    /// The answer of a hosted project.
    fn answer_of_project(
        self: &Arc<Self>,
        address: ProjectAddress,
        request: Request,
        from: (&CallerPlace, &RequestId),
    ) -> impl Future<Output = Response> + Send;

    /// Checks that this node still holds the project that it held when it began to answer. Errors: `Unavailable`.
    fn check_held(&self, held: Option<&HeldProject>) -> Result<()>;

    /// Ends what would keep connections open, because the server stops.
    fn end_streams(&self);

    /// The pages that browsers get instead of pages that are refused or fail.
    fn page_problems(&self) -> &PageProblems<Self>;
}

/// The pages for a browser that has no access to a page, or whose page failed.
pub struct PageProblems<A> {
    /// Answers a browser without access, for example with a redirect to the sign-in page. Errors: the refusal.
    pub refuse: fn(&Context<A>, &AccessDenial) -> Result<Answer, HeaderRefusal>,
    /// The problem in the frame of the person who is signed in; `None` if nobody is. `Grant` holds the rights of the
    /// caller, if they are known.
    pub frame: FrameProblem<A>,
}

/// Makes the page of a problem.
pub type FrameProblem<A> = for<'a> fn(
    &'a A,
    &'a ProblemRequest,
    Option<&'a Grant>,
    &'a Problem,
) -> BoxFuture<'a, Option<Answer>>;
