//! The sandbox next to a backend: it answers `env.LYCEUM` and identifies users.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Body as HttpBody;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lyceum_hosting::engine::{BACKEND_HEADER, Body, BoxError, PlatformApi};
use lyceum_hosting::user::{PlayerIdentity, UserClaims};
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// A sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Platform {
    base: String,
}

impl Platform {
    pub(crate) fn at(base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned() }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The API for a project's backend.
    pub(crate) fn api(&self, slug: &str) -> PlatformApi {
        let (platform, slug) = (self.clone(), slug.to_owned());
        PlatformApi::new(move |mut request| {
            let (platform, slug) = (platform.clone(), slug.clone());
            Box::pin(async move {
                if let Ok(slug) = HeaderValue::from_str(&slug) {
                    request.headers_mut().insert(BACKEND_HEADER, slug);
                }
                platform.send(request).await.unwrap_or_else(|fault| platform.silent(&*fault))
            })
        })
    }

    /// The user of a token; `None` if the token is not valid or the sandbox does not answer.
    pub(crate) async fn user(&self, token: &HeaderValue) -> Option<UserClaims> {
        let request = Request::get("/api/users/me").header(AUTHORIZATION, token);
        let answer = self.send(request.body(Empty::<Bytes>::new()).ok()?).await.ok()?;
        if answer.status() != StatusCode::OK {
            return None;
        }
        let profile: Value =
            serde_json::from_slice(&answer.into_body().collect().await.ok()?.to_bytes()).ok()?;
        let text = |name: &str| profile[name].as_str().unwrap_or_default().to_owned();
        let learns = !profile["lms"].is_null();
        let name = text("name");
        let (given_name, family) = name.split_once(' ').unwrap_or((&name, ""));
        let player = PlayerIdentity {
            id: text("id"),
            username: text("username"),
            given_name: given_name.to_owned(),
            family_name: family.to_owned(),
            email: text("email"),
            is_visitor: !learns,
            demo_of: None,
        };
        Some(UserClaims::of(player, learns))
    }

    async fn send<B>(&self, mut request: Request<B>) -> Result<Response<Body>, BoxError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let host = self.base.strip_prefix("http://").ok_or_else(|| {
            io::Error::other(format!("'{}' is not the address of a sandbox", self.base))
        })?;
        request.headers_mut().insert(HOST, HeaderValue::from_str(host)?);
        let stream = TcpStream::connect(host).await?;
        let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        let (mut sender, connection) = http1::handshake::<_, Body>(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let answer = sender.send_request(request).await?;
        Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
    }

    fn silent(&self, fault: &(dyn std::error::Error + Send + Sync)) -> Response<Body> {
        let message = format!(
            "cannot reach the sandbox at {} ({fault}); start one with `lyceum sandbox`",
            self.base
        );
        refusal("PLATFORM_UNREACHABLE", &message)
    }
}

/// A 503 in the platform's error format.
pub(crate) fn refusal(code: &str, message: &str) -> Response<Body> {
    let body = json!({ "error": { "code": code, "message": message, "details": [] } }).to_string();
    let body = Full::new(Bytes::from(body)).map_err(|never: Infallible| match never {});
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}
