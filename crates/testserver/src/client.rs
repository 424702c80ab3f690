//! A blocking HTTP client that says what it expects.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{HeaderMap, Method, Request};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A client of one server, with a token or without.
#[derive(Clone)]
pub struct TestClient {
    agent: ureq::Agent,
    address: String,
    token: Option<String>,
}

/// A request on its way.
#[must_use = "a call is sent by 'expect' or 'send'"]
pub struct Call<'a> {
    agent: &'a ureq::Agent,
    request: Request<Vec<u8>>,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, not decompressed unless the client asked for it by itself.
    pub body: Vec<u8>,
}

impl TestClient {
    /// A client of the server at the address.
    pub fn new(address: impl Into<String>) -> Self {
        Self::waiting(address, Duration::from_mins(1))
    }

    /// A client that waits so long for an answer.
    pub fn waiting(address: impl Into<String>, timeout: Duration) -> Self {
        Self::with_config(address, ureq::Agent::config_builder().timeout_global(Some(timeout)))
    }

    /// A client that trusts the certificate (PEM) alone.
    pub fn trusting(address: impl Into<String>, certificate: &[u8]) -> Self {
        let trusted = Certificate::from_pem(certificate).expect("a certificate in PEM");
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[trusted])).build();
        Self::with_config(
            address,
            ureq::Agent::config_builder()
                .tls_config(tls)
                .timeout_global(Some(Duration::from_mins(1))),
        )
    }

    fn with_config(
        address: impl Into<String>,
        config: ureq::config::ConfigBuilder<ureq::typestate::AgentScope>,
    ) -> Self {
        let config = config
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .accept_encoding("")
            .build();
        Self { agent: config.new_agent(), address: address.into(), token: None }
    }

    /// The same client with a bearer token.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The same client without a token.
    #[must_use]
    pub fn without_token(mut self) -> Self {
        self.token = None;
        self
    }

    /// Its token.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// A `GET` of the path.
    pub fn get(&self, path: &str) -> Call<'_> {
        self.call(Method::GET, path)
    }

    /// A `POST` to the path.
    pub fn post(&self, path: &str) -> Call<'_> {
        self.call(Method::POST, path)
    }

    /// A `PUT` to the path.
    pub fn put(&self, path: &str) -> Call<'_> {
        self.call(Method::PUT, path)
    }

    /// A `PATCH` of the path.
    pub fn patch(&self, path: &str) -> Call<'_> {
        self.call(Method::PATCH, path)
    }

    /// A `DELETE` of the path.
    pub fn delete(&self, path: &str) -> Call<'_> {
        self.call(Method::DELETE, path)
    }

    /// A request of any method.
    pub fn call(&self, method: Method, path: &str) -> Call<'_> {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.address));
        let request = request.body(Vec::new()).expect("tests ask for well-formed addresses");
        let call = Call { agent: &self.agent, request };
        match &self.token {
            Some(token) => call.header("authorization", &format!("Bearer {token}")),
            None => call,
        }
    }
}

impl Call<'_> {
    /// The same request with a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        let value = value.parse().expect("tests send well-formed headers");
        self.request.headers_mut().insert(name, value);
        self
    }

    /// The same request with a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// The same request with a form as body.
    pub fn form(self, pairs: &[(&str, &str)]) -> Self {
        let pairs = pairs.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value)));
        let form = pairs.collect::<Vec<_>>().join("&");
        self.body("application/x-www-form-urlencoded", form)
    }

    /// The same request with a body of the media type.
    pub fn body(mut self, media: &str, body: impl Into<Vec<u8>>) -> Self {
        *self.request.body_mut() = body.into();
        self.header("content-type", media)
    }

    /// Sends it. Panics when no answer comes.
    pub fn send(self) -> Reply {
        self.try_send().expect("the server answers")
    }

    /// Sends it; the error is that no answer came.
    pub fn try_send(self) -> Result<Reply, ureq::Error> {
        let (parts, body) = self.request.into_parts();
        let answer = if body.is_empty() {
            self.agent.run(Request::from_parts(parts, ()))
        } else {
            self.agent.run(Request::from_parts(parts, body))
        };
        let (parts, mut body) = answer?.into_parts();
        let body = body.with_config().limit(u64::MAX).read_to_vec()?;
        Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    /// Sends it and answers the reply if it has the status; panics with the reply's body if not.
    #[track_caller]
    pub fn expect(self, status: u16) -> Reply {
        let request = format!("{} {}", self.request.method(), self.request.uri());
        let reply = self.send();
        assert_eq!(reply.status, status, "{request} answered {}", reply.text());
        reply
    }
}

impl Reply {
    /// The body as JSON of any type.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|fault| panic!("{fault} in the body: {}", self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's value; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}
