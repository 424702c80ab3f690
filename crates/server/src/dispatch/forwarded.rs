//! Requests that another node answers, because it has the files of their project or upload.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use hyper::body::Body as HttpBody;
use lyceum_core::{PayloadDialect, Problem, Result};
use lyceum_hosting::limits::ANSWER_PIECE_BYTES;
use lyceum_hosting::nodes::KnownNode;

use super::{Dispatch, RequestInfo, bytes_of, finish, report};
use crate::connection::RunningRequest;
use crate::forward::{self, Destination};
use crate::hop::{self, ForwardedCaller};
use crate::hosted::ProjectAddress;

impl Dispatch {
    /// Where the request is handled. Errors: `Forbidden` if its header of forwarded requests is forged; `Unavailable`.
    pub(super) async fn destination(
        &self,
        project: Option<&ProjectAddress>,
        parts: &Parts,
    ) -> Result<Destination> {
        let is_forwarded = parts.extensions.get::<ForwardedCaller>().is_some();
        if !is_forwarded {
            // Only requests of connections are checked before. A backend's requests are never forwarded ones.
            hop::caller(&self.app, parts)?;
        }
        match forward::destination(&self.app, project, parts.uri.path()).await? {
            Destination::At(..) if is_forwarded => Err(forward::forwarded_twice()),
            destination => Ok(destination),
        }
    }

    /// Answers with the answer of another node.
    pub(super) async fn forward(
        &self,
        node: KnownNode,
        slug: Option<String>,
        request: Request,
        mut info: RequestInfo,
    ) -> Response {
        let rendering = forward::rendering(request.uri().path());
        let running = info.peer.running.as_deref();
        let reading =
            running.filter(|_| !request.body().is_end_stream()).map(RunningRequest::reads_body);
        let to = (&node, slug.as_deref());
        let answered = forward::forward(&self.app, request, to, (&info.place, &info.id)).await;
        drop(reading);
        let held = match &answered {
            Ok(response) => bytes_of(response.body()).min(ANSWER_PIECE_BYTES),
            Err(_) => 0,
        };
        let answered = match info.peer.reserve_memory(held).await {
            Ok(()) => answered,
            Err(problem) => Err(problem),
        };
        let labels = forward::labels(rendering);
        let response = answered.unwrap_or_else(|problem| {
            report(&problem, &info.id, labels);
            rendering.answer(&problem, PayloadDialect::Platform).into()
        });
        // The other node has compressed it.
        info.encodings = None;
        finish(&self.app, response, labels, info, None).await
    }

    /// Answers a request for a project or an upload that cannot be handled here nor forwarded.
    pub(super) async fn not_forwarded(
        &self,
        problem: &Problem,
        parts: &Parts,
        info: RequestInfo,
    ) -> Response {
        let rendering = forward::rendering(parts.uri.path());
        let labels = forward::labels(rendering);
        report(problem, &info.id, labels);
        let answer = rendering.answer(problem, PayloadDialect::Platform);
        finish(&self.app, answer.into(), labels, info, None).await
    }
}
