//! Connects to the OpenID provider that the settings name. It follows no redirects and uses no proxy. It calls only the
//! addresses in the provider's discovery document that are on the issuer's host or on hosts named in the settings.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::oidc::{IdTokenClaims, Provider, SignInAttempt, refused};
use lyceum_core::config::OidcSettings;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_credentials::jwt;
use lyceum_credentials::key::PublicKey;
use lyceum_store::run_blocking;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::{Http, limits};

/// The provider with its cached documents.
pub struct ProviderCache {
    agent: ureq::Agent,
    known: Mutex<Option<FetchedProvider>>,
}

/// The documents that were read from a provider.
#[derive(Clone)]
struct FetchedProvider {
    provider: Arc<Provider>,
    /// The provider's keys as JWKs.
    keys: Arc<Vec<Value>>,
    read: Timestamp,
}

impl Default for ProviderCache {
    fn default() -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_millis(limits::FETCH_MAX_MS)))
            .user_agent("lyceum")
            .accept("application/json")
            .build();
        Self { agent: config.into(), known: Mutex::default() }
    }
}

impl ProviderCache {
    /// The address to which a browser is sent to sign in (RFC 6749, 4.1.1; RFC 7636, 4.3).
    /// Errors: the provider does not answer, or its answer is not acceptable.
    pub async fn authorization(
        &self,
        app: &Http,
        oidc: &OidcSettings,
        attempt: &SignInAttempt,
    ) -> Result<String> {
        let provider = self.known(app, oidc).await?.provider;
        let (state, nonce, challenge) = (attempt.state(), attempt.nonce(), attempt.challenge());
        let callback = callback(app);
        let pairs = [
            ("response_type", "code"),
            ("scope", "openid email profile"),
            ("client_id", oidc.client_id.as_str()),
            ("redirect_uri", callback.as_str()),
            ("state", state.as_str()),
            ("nonce", nonce.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ];
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let separator = if provider.authorization.contains('?') { '&' } else { '?' };
        Ok(format!("{}{separator}{query}", provider.authorization))
    }

    /// Exchanges the provider's code for an ID token, verifies it, and returns the identity.
    /// Errors: the provider does not answer, refuses the code, or its answer is not acceptable.
    pub async fn claims(
        &self,
        app: &Http,
        oidc: &OidcSettings,
        attempt: &SignInAttempt,
        code: &str,
    ) -> Result<IdTokenClaims> {
        let known = self.known(app, oidc).await?;
        let mut form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.to_owned()),
            ("redirect_uri", callback(app)),
            ("client_id", oidc.client_id.clone()),
            ("code_verifier", attempt.verifier()),
        ];
        let mut basic = None;
        if let Some(secret) = &oidc.client_secret {
            match known.provider.takes_basic {
                true => basic = Some(credentials(&oidc.client_id, secret.reveal())),
                false => form.push(("client_secret", secret.reveal().to_owned())),
            }
        }
        let (agent, url) = (self.agent.clone(), known.provider.token.clone());
        let answer = run_blocking(move || {
            let mut request = agent.post(&url);
            if let Some(basic) = basic {
                request = request.header("Authorization", basic);
            }
            read(&url, request.send_form(form))
        });
        let (status, answer) = answer.await?;
        if status != 200 {
            return Err(refused(message!(
                "its token endpoint answered {status}: {reason}",
                reason = answer["error"]
            )));
        }
        let token = answer["id_token"].as_str().ok_or_else(|| refused("it sent no ID token"))?;
        let payload = self.verified(app, oidc, &known, token).await?;
        let (nonce, now) = (attempt.nonce(), app.clock.now());
        let mut claims =
            IdTokenClaims::read(&payload, &known.provider.issuer, &oidc.client_id, &nonce, now)?;
        // Providers may leave out of the ID token what an access token can read.
        if let (None, Some(people), Some(access)) =
            (&claims.email, &known.provider.people, answer["access_token"].as_str())
        {
            let (agent, url, bearer) =
                (self.agent.clone(), people.clone(), format!("Bearer {access}"));
            let get = move || read(&url, agent.get(&url).header("Authorization", bearer).call());
            if let (200, Value::Object(user_info)) = run_blocking(get).await? {
                claims.complete(&user_info)?;
            }
        }
        Ok(claims)
    }

    /// Verifies the signature of an ID token and returns its payload. An unknown key may be new, so the keys are read
    /// again, but not too often.
    async fn verified(
        &self,
        app: &Http,
        oidc: &OidcSettings,
        known: &FetchedProvider,
        token: &str,
    ) -> Result<Map<String, Value>> {
        let token = jwt::read(token).map_err(|problem| refused(problem.message))?;
        let kid = token.header.get("kid").cloned();
        let is_signed = |keys: &[Value]| {
            let fits = |key: &&Value| kid.is_none() || key.get("kid") == kid.as_ref();
            let signs = |key: &&Value| key.get("use").is_none_or(|used| used == "sig");
            let mut keys = keys.iter().filter(fits).filter(signs);
            keys.any(|key| PublicKey::from_jwk(key).is_ok_and(|key| token.is_signed_by(&key)))
        };
        let is_known = |keys: &[Value]| keys.iter().any(|key| key.get("kid") == kid.as_ref());
        let mut signed = is_signed(&known.keys);
        let age_s = app.clock.now().seconds() - known.read.seconds();
        if !signed && !is_known(&known.keys) && age_s >= limits::OIDC_KEYS_MIN_AGE_S {
            self.known.lock().await.take();
            signed = is_signed(&self.known(app, oidc).await?.keys);
        }
        if !signed {
            return Err(refused("the ID token is not signed with a key of the provider"));
        }
        let Value::Object(mut payload) = token.credential else {
            return Err(refused("the ID token's payload is not a JSON object"));
        };
        payload.extend(token.claims);
        Ok(payload)
    }

    /// The provider's documents and keys, from the cache or read from the provider.
    async fn known(&self, app: &Http, oidc: &OidcSettings) -> Result<FetchedProvider> {
        let now = app.clock.now();
        let mut known = self.known.lock().await;
        if let Some(known) = known
            .as_ref()
            .filter(|known| now < known.read.plus_seconds(limits::OIDC_PROVIDER_MAX_AGE_S))
        {
            return Ok(known.clone());
        }
        let issuer = oidc.issuer.clone().unwrap_or_default();
        let base = issuer.strip_suffix('/').unwrap_or(&issuer);
        let document = self.get(&format!("{base}/.well-known/openid-configuration")).await?;
        let provider = Provider::read(&document, &issuer, &oidc.hosts)?;
        let mut keys = self.get(&provider.keys).await?;
        let Value::Array(keys) = keys["keys"].take() else {
            return Err(refused("its keys are not a JWK set"));
        };
        let read =
            FetchedProvider { provider: Arc::new(provider), keys: Arc::new(keys), read: now };
        Ok(known.insert(read).clone())
    }

    async fn get(&self, url: &str) -> Result<Value> {
        let (agent, target) = (self.agent.clone(), url.to_owned());
        match run_blocking(move || read(&target, agent.get(&target).call())).await? {
            (200, document) => Ok(document),
            (status, _) => Err(unreachable(message!("'{url}' answered {status}"))),
        }
    }
}

/// The address to which the provider sends browsers back.
fn callback(app: &Http) -> String {
    format!("{}/sign-in/oidc/callback", app.base_url)
}

/// The `Authorization` header of a client with a secret. Both parts are encoded before they are joined (RFC 6749,
/// 2.3.1).
fn credentials(id: &str, secret: &str) -> String {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    format!("Basic {}", BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret))))
}

type ProviderAnswer = std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>;

/// The status and the JSON of an answer.
fn read(url: &str, called: ProviderAnswer) -> Result<(u16, Value)> {
    let failed = |error: ureq::Error| unreachable(message!("'{url}' cannot be read: {error}"));
    let mut answer = called.map_err(failed)?;
    let body = answer.body_mut().with_config().limit(limits::FETCH_MAX_BYTES).read_to_vec();
    let document = serde_json::from_slice(&body.map_err(failed)?);
    match (answer.status().as_u16(), document) {
        (status, Ok(document)) => Ok((status, document)),
        (200, Err(error)) => Err(unreachable(message!("'{url}' did not answer JSON: {error}"))),
        (status, Err(_)) => Ok((status, Value::Null)),
    }
}

fn unreachable(reason: Message) -> Problem {
    let message = "the sign-in service cannot be reached; try again in a minute";
    Problem::new(ProblemKind::Unavailable, message).because(reason)
}
