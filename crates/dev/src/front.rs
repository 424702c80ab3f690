//! Serves the backend on a local address.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lyceum_core::{Problem, ProblemKind};
use lyceum_hosting::engine::{Body, SCHEME_HEADER};
use lyceum_hosting::user::USER_HEADER;
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::platform::refusal;
use crate::{Dev, DevMessage};

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
        let begun = Instant::now();
        if let Some(answer) = self.strange(&request) {
            return answer;
        }
        let _ = self.tried.subscribe().wait_for(|tried| *tried).await;
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
        let answer = match self.engine.call(&self.slug, request).await {
            Ok(answer) => answer,
            Err(problem) => self.refused(&problem),
        };
        let status = answer.status().to_string();
        (self.tell)(DevMessage::Answered { method, path, status, took: begun.elapsed() });
        answer
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

    fn refused(&self, problem: &Problem) -> Response<Body> {
        let fault = self.fault().clone();
        match (problem.kind, fault) {
            (ProblemKind::NotFound, Some(fault)) => refusal("NOT_BUILT", &fault),
            _ => refusal("BACKEND_FAILED", &problem.message),
        }
    }
}
