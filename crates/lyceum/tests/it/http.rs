//! A plain HTTP client with a token.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::TlsConfig;
use ureq::typestate::AgentScope;

use crate::served::Key;

/// Sends requests to one server.
pub(crate) struct Http {
    agent: Agent,
    base: String,
    token: Option<String>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Calls servers of the tests, whatever their certificate is.
pub(crate) fn config() -> ConfigBuilder<AgentScope> {
    let tls = TlsConfig::builder().disable_verification(true).build();
    Agent::config_builder().tls_config(tls)
}

/// An agent of [`config`].
pub(crate) fn agent() -> Agent {
    config().build().into()
}

impl Answer {
    /// The body as JSON; `null` where it is empty.
    pub(crate) fn json(&self) -> Value {
        match self.body.as_str() {
            "" => Value::Null,
            body => serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {body}")),
        }
    }
}

impl Http {
    /// A client without a token.
    pub(crate) fn without_token(base: &str) -> Self {
        let agent = config().http_status_as_error(false).build().into();
        Self { agent, base: base.to_owned(), token: None }
    }

    /// A client with a token of the scopes (all that the key has where none are named).
    pub(crate) fn sign_in(base: &str, key: &Key, scope: Option<&str>) -> Self {
        let mut http = Self::without_token(base);
        let basic = BASE64_STANDARD.encode(format!("{}:{}", key.id, key.secret));
        let mut form = vec![("grant_type", "client_credentials")];
        form.extend(scope.map(|scope| ("scope", scope)));
        let request = http.agent.post(format!("{base}/oauth2/token"));
        let mut answer =
            request.header("Authorization", format!("Basic {basic}")).send_form(form).unwrap();
        let body: Value =
            serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        assert_eq!(answer.status(), 200, "{body}");
        assert_eq!(body["token_type"], "Bearer");
        http.token = Some(body["access_token"].as_str().unwrap().to_owned());
        http
    }

    /// The token. Panics when there is none.
    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().unwrap()
    }

    /// Sends a request with the method's name in small letters.
    pub(crate) fn send(&self, method: &str, address: &str, body: Option<Value>) -> Answer {
        let uri = format!("{}{address}", self.base);
        let mut request =
            ureq::http::Request::builder().method(method.to_uppercase().as_str()).uri(uri);
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer = match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json");
                self.agent.run(request.body(body.to_string()).unwrap()).unwrap()
            }
            None => self.agent.run(request.body(()).unwrap()).unwrap(),
        };
        let body = answer.body_mut().read_to_string().unwrap();
        Answer { status: answer.status().as_u16(), body }
    }
}
