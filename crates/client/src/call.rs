//! A call: token, request, response, and the error if it fails.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::config::Secret;
use lyceum_core::messages::io_reason;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use serde_json::Value;
use tokio::sync::Semaphore;
use ureq::Agent;
use ureq::http::{Method, Request, Response};

use crate::limits;

/// The id and secret of a client.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// The client's id.
    pub id: String,
    /// Its secret.
    pub secret: Secret,
}

/// Calls one server.
pub(crate) struct Caller {
    agent: Agent,
    tokens: String,
    credentials: Option<ClientCredentials>,
    /// The current token. A refused one is replaced, so its expiry need not be known.
    token: Mutex<Option<String>>,
    turns: Arc<Semaphore>,
}

/// The answer of a server.
pub(crate) struct ServerAnswer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Caller {
    pub(crate) fn new(tokens: String, credentials: Option<ClientCredentials>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_millis(limits::CLIENT_CALL_MAX_MS)))
            .user_agent("lyceum")
            .accept("application/json")
            .build();
        let turns = Arc::new(Semaphore::new(limits::CLIENT_CALLS_MAX_COUNT));
        Self { agent: config.into(), tokens, credentials, token: Mutex::default(), turns }
    }

    /// Sends an authenticated request. Returns every response that is not a failure of the server, the connection or
    /// the credentials.
    ///
    /// Errors: `Unavailable`, with the address and the reason.
    pub(crate) async fn call(
        self: &Arc<Self>,
        method: Method,
        url: String,
        body: Option<Value>,
    ) -> Result<ServerAnswer> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(Problem::internal)?;
        let caller = Arc::clone(self);
        let answered = tokio::task::spawn_blocking(move || {
            let answered = caller.signed_in(&method, &url, body.as_ref());
            drop(turn);
            answered
        });
        answered.await.map_err(Problem::internal)?
    }

    fn signed_in(&self, method: &Method, url: &str, body: Option<&Value>) -> Result<ServerAnswer> {
        let known = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_known = known.is_some();
        let token = match known {
            Some(token) => Some(token),
            None => self.sign_in()?,
        };
        let answered = self.send(method, url, body, token.as_deref())?;
        if answered.status != 401 || !is_known {
            return judged(url, answered);
        }
        let token = self.sign_in()?;
        judged(url, self.send(method, url, body, token.as_deref())?)
    }

    /// Gets a token (RFC 6749, 4.4); `None` without credentials, which a sandbox does not need.
    fn sign_in(&self) -> Result<Option<String>> {
        let Some(ClientCredentials { id, secret }) = &self.credentials else { return Ok(None) };
        let url = self.tokens.as_str();
        let basic = BASE64_STANDARD.encode(format!("{id}:{}", secret.reveal()));
        let request = self.agent.post(url).header("Authorization", format!("Basic {basic}"));
        let sent = request.send_form([("grant_type", "client_credentials")]);
        let ServerAnswer { status, body } = read(url, sent)?;
        let token = body["access_token"].as_str().map(str::to_owned);
        if status == 200 && token.is_some() {
            self.token.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&token);
            return Ok(token);
        }
        let why = match status {
            400 | 401 | 403 => message!(
                "refused the credentials of the client '{id}': {reason}; check its id and secret",
                reason = reason(&body)
            ),
            200 => "answered without an access token; is it the token endpoint?".into(),
            _ => message!("answered {status}: {reason}", reason = reason(&body)),
        };
        Err(unavailable(url, &why))
    }

    fn send(
        &self,
        method: &Method,
        url: &str,
        body: Option<&Value>,
        token: Option<&str>,
    ) -> Result<ServerAnswer> {
        let mut request = Request::builder().method(method).uri(url);
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let sent = match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json");
                let request = request.body(body.to_string()).map_err(Problem::internal)?;
                self.agent.run(request)
            }
            None => self.agent.run(request.body(()).map_err(Problem::internal)?),
        };
        read(url, sent)
    }
}

/// Reads a response. An HTML page instead of JSON comes from another program, or from another address.
fn read(url: &str, sent: Result<Response<ureq::Body>, ureq::Error>) -> Result<ServerAnswer> {
    let failed = |error| {
        unavailable(url, &message!("cannot be reached: {reason}", reason = reason_of(error)))
    };
    let mut response = sent.map_err(failed)?;
    let status = response.status().as_u16();
    let limit = limits::CLIENT_ANSWER_MAX_BYTES;
    let text = response.body_mut().with_config().limit(limit).read_to_string().map_err(failed)?;
    if text.is_empty() {
        return Ok(ServerAnswer { status, body: Value::Null });
    }
    match serde_json::from_str(&text) {
        Ok(body) => Ok(ServerAnswer { status, body }),
        Err(_) => {
            let content =
                if text.trim_start().starts_with('<') { "with a page" } else { "no JSON" };
            let why = message!(
                "answered {content}: the server is not running there, or address or port are wrong"
            );
            Err(unavailable(url, &why))
        }
    }
}

fn reason_of(error: ureq::Error) -> Message {
    match error {
        ureq::Error::Io(error) => io_reason(&error),
        other => Message::untranslated(other.to_string()),
    }
}

/// Tells failures of the server from its other responses.
fn judged(url: &str, answered: ServerAnswer) -> Result<ServerAnswer> {
    let ServerAnswer { status, body } = &answered;
    let why = match status {
        401 => "refused the client's token; check the client's id and secret",
        403 => "refused access; give the client the scope that this needs",
        300..=399 => "redirects to another address; use that address directly",
        429 => "received too many requests; try again in a moment",
        500.. => "cannot process the request now",
        _ => return Ok(answered),
    };
    Err(unavailable(url, &message!("{why} ({status}: {reason})", reason = reason(body))))
}

fn unavailable(url: &str, why: &Message) -> Problem {
    let message = message!("the learning platform at '{url}' {why}");
    Problem::new(ProblemKind::Unavailable, message)
}

/// The server's reason for an error, in whichever standard's format it is.
pub(crate) fn reason(body: &Value) -> &str {
    let texts = ["message", "error_description", "imsx_description", "detail", "error"];
    texts.iter().find_map(|name| body[*name].as_str()).unwrap_or("no reason given")
}
