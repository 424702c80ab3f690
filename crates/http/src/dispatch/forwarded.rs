//! Requests that another node answers, because it has the files of their project or upload.

use http::Uri;
use http::request::Parts;
use hyper::body::Body as HttpBody;
use lyceum_core::{PayloadDialect, Problem};
use lyceum_hosting::limits::ANSWER_PIECE_BYTES;
use lyceum_hosting::nodes::KnownNode;
use tracing::Instrument;

use super::{Dispatch, OF_PROJECTS, RequestInfo, bytes_of, finish, report};
use crate::connection::RunningRequest;
use crate::render::Rendering;
use crate::request_id::X_REQUEST_ID;
use crate::router::RouteLabels;
use crate::{Application, Request, Response, trace};

impl<A: Application> Dispatch<A> {
    /// Answers with the answer of another node.
    pub(super) async fn forward(
        &self,
        node: KnownNode,
        slug: Option<String>,
        mut request: Request,
        mut info: RequestInfo,
    ) -> Response {
        let labels = labels(request.uri().path());
        let running = info.peer.running.as_deref();
        let reading =
            running.filter(|_| !request.body().is_end_stream()).map(RunningRequest::reads_body);
        let address: Option<Uri> = node.address.parse().ok();
        let host = address.as_ref().and_then(Uri::host);
        let span = trace::outgoing("forward", request.method().as_str(), host);
        trace::write(&span, request.headers_mut());
        request.headers_mut().insert(X_REQUEST_ID, info.id.header());
        let answered = self.app.forward(request, (&node, slug.as_deref()), &info.place);
        let answered = answered.instrument(span.clone()).await;
        trace::ended(&span, answered.as_ref().ok().map(|response| response.status().as_u16()));
        drop(reading);
        let held = match &answered {
            Ok(response) => bytes_of(response.body()).min(ANSWER_PIECE_BYTES),
            Err(_) => 0,
        };
        let answered = match info.peer.reserve_memory(held).await {
            Ok(()) => answered,
            Err(problem) => Err(problem),
        };
        let response = answered.unwrap_or_else(|problem| {
            report(&problem, &info.id, labels);
            labels.rendering.answer(&problem, PayloadDialect::Platform).into()
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
        let labels = labels(parts.uri.path());
        report(problem, &info.id, labels);
        let answer = labels.rendering.answer(problem, PayloadDialect::Platform);
        finish(&self.app, answer.into(), labels, info, None).await
    }
}

/// The labels of a forwarded request. The other node counts it with those of its route.
fn labels(path: &str) -> RouteLabels<'static> {
    let rendering = if path.starts_with("/console/") || path.starts_with("/play/") {
        Rendering::Page
    } else if path.starts_with("/api/") {
        Rendering::Problem
    } else {
        OF_PROJECTS.rendering
    };
    RouteLabels { area: "forwarded", rendering, pattern: "forwarded to another node" }
}
