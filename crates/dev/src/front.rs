//! Serves the backend on a local address.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Collected, Empty};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lyceum_core::{ProblemKind, near_path};
use lyceum_hosting::engine::{Body, SCHEME_HEADER};
use lyceum_hosting::user::USER_HEADER;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::answers::{self, BuildState, EVENTS, Reader, with_failure};
use crate::failure::DevFailure;
use crate::platform::refusal;
use crate::{Dev, DevMessage, lock};

/// The header with which the generated entry module marks the answer for an error that a route threw.
const THROWN: &str = "lyceum-thrown";

/// Serves requests until it is dropped.
pub(crate) async fn serve(dev: &Arc<Dev>, listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let dev = Arc::clone(dev);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let dev = Arc::clone(&dev);
                async move { Ok::<_, Infallible>(dev.answer(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // Errors here are caused by the caller, which closed the connection or does not speak HTTP.
            let _ = connection.with_upgrades().await;
        });
    }
}

impl Dev {
    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let start = Instant::now();
        if let Some(answer) = self.strange(&request) {
            return answer;
        }
        let reader = Reader::of(&request, &self.settings.origins);
        if request.uri().path() == EVENTS && reader != Reader::OtherSite {
            return answers::events(self.builds.subscribe());
        }
        let _ = self.builds.subscribe().wait_for(|builds| builds.count > 0).await;
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        // Only the server may set these headers.
        for name in [USER_HEADER.as_str(), SCHEME_HEADER] {
            request.headers_mut().remove(name);
        }
        if let (Some(platform), Some(token)) =
            (&self.platform, request.headers().get(AUTHORIZATION).cloned())
            && let Some(user) = platform.user(&token).await
        {
            request.headers_mut().insert(USER_HEADER, user.header());
        }
        let answer = self.answer_of_backend(request, reader).await;
        let similar_path = match answer.status() {
            StatusCode::NOT_FOUND => near_path(&path, lock(&self.paths).iter().map(String::as_str)),
            _ => None,
        };
        let (status, took) = (answer.status().to_string(), start.elapsed());
        (self.on_message)(DevMessage::Answered { method, path, status, took, similar_path });
        answer
    }

    /// The backend's answer, or why there is none. A browser that opens an address also gets the reason if the saved
    /// files are not served, although the version before them would answer.
    async fn answer_of_backend(
        &self,
        request: Request<Incoming>,
        reader: Reader,
    ) -> Response<Body> {
        let BuildState { count, failure: unserved } = self.builds.borrow().clone();
        let refuse = |code, failure: &DevFailure| {
            with_failure(refusal(code, ""), reader, code, failure, count)
        };
        if let (Reader::Browser { .. }, Some(failure)) = (reader, &unserved) {
            return refuse("NOT_BUILT", failure);
        }
        match self.engine.call(&self.settings.slug, request).await {
            Ok(answer) if answer.headers().contains_key(THROWN) => {
                self.thrown(answer, reader, count).await
            }
            Ok(answer) => answer,
            Err(problem) => match (problem.kind, &unserved) {
                (ProblemKind::NotFound, Some(failure)) => refuse("NOT_BUILT", failure),
                _ => refuse("BACKEND_FAILED", &self.failure(&problem)),
            },
        }
    }

    /// The answer for an error that a route threw. The backend's answer has the stacks.
    async fn thrown(&self, answer: Response<Body>, reader: Reader, build: u64) -> Response<Body> {
        let (mut parts, body) = answer.into_parts();
        parts.headers.remove(THROWN);
        let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let stacks = body["stacks"].as_array().into_iter().flatten();
        let stacks: Vec<_> = stacks.filter_map(|stack| stack.as_str().map(str::to_owned)).collect();
        let failure = DevFailure::thrown(&stacks, &self.traces, &lock(&self.project));
        let empty = Empty::new().map_err(|never: Infallible| match never {}).boxed_unsync();
        with_failure(Response::from_parts(parts, empty), reader, "INTERNAL", &failure, build)
    }

    /// Refuses a host name that a foreign site could point at this machine (DNS rebinding).
    fn strange(&self, request: &Request<Incoming>) -> Option<Response<Body>> {
        let host = request.headers().get(HOST)?.to_str().unwrap_or_default();
        if self.settings.origins.takes_host(host) {
            return None;
        }
        let message = format!(
            "this backend does not accept the host '{host}', because a foreign name could point to this machine; \
             if the host is yours, start `lyceum dev` with --origin http://{host}"
        );
        let mut answer = refusal("FORBIDDEN", &message);
        *answer.status_mut() = StatusCode::FORBIDDEN;
        Some(answer)
    }
}
