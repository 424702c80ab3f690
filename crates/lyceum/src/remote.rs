//! A client for the API of a running server.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use lyceum_core::messages::io_reason;
use lyceum_deploy::Credentials;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, RequestBuilder};

use crate::failure::{Code, Failure, Result};
use crate::profile::{Connection, Env, usual_profile};

/// The server, and the credentials to use.
#[derive(Args, Clone)]
pub(crate) struct RemoteArgs {
    /// Use the server that you signed in to for this environment, or the running sandbox
    #[arg(long, value_name = "ENV", conflicts_with = "server", help_heading = "Server")]
    env: Option<Env>,
    /// Address of the server
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:4321",
        help_heading = "Server"
    )]
    server: String,
    #[command(flatten)]
    sign_in: SignIn,
}

/// The credentials of a client.
#[derive(Args, Clone, Default)]
pub(crate) struct SignIn {
    /// Id of the client to sign in as; create one with `lyceum client create`
    #[arg(long, value_name = "ID", env = "LYCEUM_CLIENT_ID", help_heading = "Server")]
    client_id: Option<String>,
    /// Secret of the client
    #[arg(
        long,
        value_name = "SECRET",
        env = "LYCEUM_CLIENT_SECRET",
        hide_env_values = true,
        requires = "client_id",
        help_heading = "Server"
    )]
    client_secret: Option<String>,
}

/// A server, with a token for it.
pub(crate) struct Remote {
    agent: Agent,
    base: String,
    token: Option<String>,
    /// The environment that the server must have, otherwise it refuses requests. `None` accepts any.
    env: Option<&'static str>,
    /// The hint for a server that cannot be reached.
    unreachable_hint: &'static str,
}

/// A server's response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The body as JSON; `null` if it is empty.
    pub(crate) body: Value,
}

impl RemoteArgs {
    /// Signs in. Without an environment and an id, requests carry no token, which a sandbox allows.
    pub(crate) fn sign_in(&self) -> Result<Remote> {
        match self.env {
            Some(env) => Remote::of(&env.connection(&usual_profile(), None)?),
            None => self.sign_in.to(
                &self.server,
                None,
                "start the server with `lyceum serve`, or set another address with --server",
            ),
        }
    }
}

impl SignIn {
    /// Signs in to the server. Without a client id, requests carry `token`. `unreachable_hint` says what to do if the
    /// server cannot be reached.
    pub(crate) fn to(
        &self,
        server: &str,
        token: Option<&str>,
        unreachable_hint: &'static str,
    ) -> Result<Remote> {
        let base = server.trim_end_matches('/').to_owned();
        let token = token.map(str::to_owned);
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        let mut remote = Remote { agent, base, token, env: None, unreachable_hint };
        let Some(id) = &self.client_id else { return Ok(remote) };
        let secret = self.client_secret.as_deref().unwrap_or_default();
        let basic = BASE64_STANDARD.encode(format!("{id}:{secret}"));
        let request = remote
            .agent
            .post(format!("{}/oauth2/token", remote.base))
            .header("Authorization", format!("Basic {basic}"));
        let answer = request.send_form([("grant_type", "client_credentials")]);
        let answer = remote.read(answer)?;
        let token = answer.body["access_token"].as_str().map(str::to_owned);
        remote.token = Some(token.ok_or_else(|| remote.refusal(&answer))?);
        Ok(remote)
    }
}

impl Remote {
    /// Signs in to the server of a connection.
    pub(crate) fn of(connection: &Connection) -> Result<Self> {
        let Connection { url, env, credentials } = connection.clone();
        let (sign_in, token) = match credentials {
            Credentials::None => (SignIn::default(), None),
            Credentials::Key(key) => (SignIn::default(), Some(key)),
            Credentials::Client(id, secret) => {
                (SignIn { client_id: Some(id), client_secret: Some(secret) }, None)
            }
        };
        let hint = match env {
            Env::Local => "start the sandbox with `lyceum sandbox`",
            Env::Staging | Env::Production => {
                "start the server with `lyceum serve`, or set another address with `lyceum login --server URL` or the \
                 variable LYCEUM_URL"
            }
        };
        let remote = sign_in.to(&url, token.as_deref(), hint)?;
        Ok(Self { env: Some(env.name()), ..remote })
    }

    /// Sends a GET request and reads JSON.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        let request = self.agent.get(format!("{}{path}", self.base));
        self.read(self.dressed(request).call())
    }

    /// Posts a form without a token.
    pub(crate) fn post_form(&self, path: &str, form: &[(&str, &str)]) -> Result<Answer> {
        let request = self.agent.post(format!("{}{path}", self.base));
        self.read(request.send_form(form.iter().copied()))
    }

    fn dressed<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        match self.env {
            Some(env) => request.header("Lyceum-Environment", env),
            None => request,
        }
    }

    /// Posts JSON.
    pub(crate) fn post(&self, path: &str, body: &str) -> Result<Answer> {
        let request = self.agent.post(format!("{}{path}", self.base));
        self.read(self.dressed(request).header("Content-Type", "application/json").send(body))
    }

    /// Sends a DELETE request.
    pub(crate) fn delete(&self, path: &str) -> Result<Answer> {
        self.read(self.dressed(self.agent.delete(format!("{}{path}", self.base))).call())
    }

    /// Opens a stream of server-sent events after the event with that id.
    pub(crate) fn stream(&self, path: &str, after: Option<&str>) -> Result<impl Read + use<>> {
        let mut request = self.dressed(self.agent.get(format!("{}{path}", self.base)));
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after);
        }
        let answer = request.call();
        match answer {
            Ok(answer) if answer.status() == 200 => Ok(answer.into_body().into_reader()),
            answer => {
                let answer = self.read(answer)?;
                Err(self.refusal(&answer))
            }
        }
    }

    /// The failure for a response with an error status.
    pub(crate) fn refusal(&self, answer: &Answer) -> Failure {
        let texts = ["message", "error_description", "imsx_description", "detail", "error"];
        let text = texts.iter().find_map(|name| answer.body[*name].as_str());
        // The game platform nests its errors.
        let error = &answer.body["error"];
        let text = text.or_else(|| error["message"].as_str());
        let code = match answer.status {
            401 | 403 => Code::NotAllowed,
            404 => Code::NotFound,
            409 | 421 => Code::Conflict,
            _ => Code::Failed,
        };
        let text = text.unwrap_or("the response gives no reason");
        let mut failure =
            Failure::new(code, format!("{} answered {}: {text}", self.base, answer.status));
        if let Some(faults @ [_, _, ..]) = error["details"].as_array().map(Vec::as_slice) {
            let text = |fault: &Value, name: &str| fault[name].as_str().unwrap_or("").to_owned();
            failure.details.extend(
                faults.iter().map(|it| format!("{}: {}", text(it, "path"), text(it, "message"))),
            );
        }
        match answer.status {
            401 if self.env.is_some() => failure.hint("sign in again with `lyceum login`"),
            401 => failure.hint("sign in as a client with --client-id and --client-secret"),
            _ => failure,
        }
    }

    fn read(&self, answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<Answer> {
        let unreachable = |error: ureq::Error| {
            let reason = match error {
                ureq::Error::Io(error) => io_reason(&error).to_string(),
                error => error.to_string(),
            };
            Failure::failed(format!("cannot reach {}: {reason}", self.base))
                .hint(self.unreachable_hint)
        };
        let mut answer = answer.map_err(unreachable)?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().map_err(unreachable)?;
        match serde_json::from_str(&text) {
            Ok(body) => Ok(Answer { status, body }),
            Err(_) if text.is_empty() => Ok(Answer { status, body: Value::Null }),
            Err(_) => Err(Failure::failed(format!("the response of {} is not JSON", self.base))
                .hint("check the address: another program may be listening there")),
        }
    }
}
