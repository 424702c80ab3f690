//! A running server, as a client of its API sees it.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use lyceum_deploy::Credentials;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, RequestBuilder};

use crate::failure::{Code, Failure, Result};
use crate::profile::{Connection, Env, usual_profile};

/// Which server, and who asks.
#[derive(Args, Clone)]
pub(crate) struct RemoteArgs {
    /// The server that was signed in to for this environment, or the running sandbox, in place of an address
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
    who: SignIn,
}

/// Who asks.
#[derive(Args, Clone, Default)]
pub(crate) struct SignIn {
    /// Id of the client to sign in as; `lyceum client create` makes one
    #[arg(long, value_name = "ID", env = "LYCEUM_CLIENT_ID", help_heading = "Server")]
    client_id: Option<String>,
    /// Its secret
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

/// A server, signed in to.
pub(crate) struct Remote {
    agent: Agent,
    base: String,
    token: Option<String>,
    /// What the server must be, or it refuses; none: it may be any.
    env: Option<&'static str>,
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Its body as JSON; `null` where it is empty.
    pub(crate) body: Value,
}

impl RemoteArgs {
    /// Signs in; without an environment and an id nobody does, which a sandbox allows.
    pub(crate) fn sign_in(&self) -> Result<Remote> {
        match self.env {
            Some(env) => Remote::of(&env.connection(&usual_profile(), None)?),
            None => self.who.to(&self.server, None),
        }
    }
}

impl SignIn {
    /// Signs in to the server; without an id, callers have that token.
    pub(crate) fn to(&self, server: &str, token: Option<&str>) -> Result<Remote> {
        let base = server.trim_end_matches('/').to_owned();
        let token = token.map(str::to_owned);
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        let mut remote = Remote { agent, base, token, env: None };
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
    /// The server of a connection, signed in to.
    pub(crate) fn of(connection: &Connection) -> Result<Self> {
        let Connection { url, env, credentials } = connection.clone();
        let (who, token) = match credentials {
            Credentials::None => (SignIn::default(), None),
            Credentials::Key(key) => (SignIn::default(), Some(key)),
            Credentials::Client(id, secret) => {
                (SignIn { client_id: Some(id), client_secret: Some(secret) }, None)
            }
        };
        let remote = who.to(&url, token.as_deref())?;
        Ok(Self { env: Some(env.name()), ..remote })
    }

    /// Reads JSON.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        let request = self.agent.get(format!("{}{path}", self.base));
        self.read(self.dressed(request).call())
    }

    /// Sends a form, as nobody in particular.
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

    /// Sends JSON.
    pub(crate) fn post(&self, path: &str, body: &str) -> Result<Answer> {
        let request = self.agent.post(format!("{}{path}", self.base));
        self.read(self.dressed(request).header("Content-Type", "application/json").send(body))
    }

    /// Deletes.
    pub(crate) fn delete(&self, path: &str) -> Result<Answer> {
        self.read(self.dressed(self.agent.delete(format!("{}{path}", self.base))).call())
    }

    /// Opens a stream of server-sent events behind the event of that id.
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

    /// Why the server did not do what it was asked.
    pub(crate) fn refusal(&self, answer: &Answer) -> Failure {
        let texts = ["message", "error_description", "imsx_description", "detail", "error"];
        let text = texts.iter().find_map(|name| answer.body[*name].as_str());
        // The game platform's errors.
        let error = &answer.body["error"];
        let text = text.or_else(|| error["message"].as_str());
        let code = match answer.status {
            401 | 403 => Code::NotAllowed,
            404 => Code::NotFound,
            409 | 421 => Code::Conflict,
            _ => Code::Failed,
        };
        let text = text.unwrap_or("no reason given");
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
            401 => failure.hint("name a client with --client-id and --client-secret"),
            _ => failure,
        }
    }

    fn read(&self, answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<Answer> {
        let unreachable = |error: ureq::Error| {
            Failure::failed(format!("{} does not answer: {error}", self.base))
                .hint("start it with `lyceum serve`, or name another with --server")
        };
        let mut answer = answer.map_err(unreachable)?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().map_err(unreachable)?;
        match serde_json::from_str(&text) {
            Ok(body) => Ok(Answer { status, body }),
            Err(_) if text.is_empty() => Ok(Answer { status, body: Value::Null }),
            Err(_) => Err(Failure::failed(format!("{} answered no JSON", self.base)).hint(
                "the server is not running there, or --server names another address or port",
            )),
        }
    }
}
