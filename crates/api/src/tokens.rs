//! Tokens for client credentials (RFC 6749) and for people's programs (RFC 8628), the keys that sign them (RFC 7517),
//! and the metadata with their addresses (RFC 8414).

use http::{HeaderValue, StatusCode, header};
use lyceum_access as access;
use lyceum_access::device::{self, TokenRefusal};
use lyceum_access::limits::{DEVICE_CODE_LIFETIME_S, DEVICE_POLL_INTERVAL_S};
use lyceum_access::session::SessionKind;
use lyceum_access::{Client, ClientRefusal, JwkSet, Scope, guess};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::token_request::{
    self, DEVICE_GRANT, DeviceAuthorizationForm, RequestedToken, SecretCredentials, TokenForm,
    TokenRequest, TokenRequestError,
};
use lyceum_http::auth::{self};
use lyceum_http::cors;
use lyceum_http::render::{Rendering, refusal};
use lyceum_http::route::{Access, get, post};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{App, Area, Context, Route, limits};

const FORM: &[&str] = &["application/x-www-form-urlencoded"];

pub(super) fn area() -> Area {
    Area {
        name: "tokens",
        base: "",
        rendering: Rendering::OAuth,
        description: "Access tokens for client credentials, and the keys that sign them.",
        routes: token_routes().into_iter().chain(key_routes()).collect(),
    }
}

fn token_routes() -> Vec<Route> {
    vec![
        post("/oauth2/token", Access::Public, token)
            .named("postToken")
            .description("Issues a token for the id and secret of a client, sent by HTTP Basic or as form, or for a device code.")
            .reads_as(FORM)
            .reads_up_to(limits::TOKEN_BODY_MAX_BYTES)
            .reads::<TokenForm>()
            .answers::<AccessToken>(200, "The token."),
        post("/oauth2/device_authorization", Access::Public, start_device_sign_in)
            .named("postDeviceAuthorization")
            .description("Issues a device code to a program, which a person approves on the page /device (RFC 8628).")
            .reads_as(FORM)
            .reads_up_to(limits::TOKEN_BODY_MAX_BYTES)
            .reads::<DeviceAuthorizationForm>()
            .answers::<DeviceAuthorization>(200, "The code."),
        get("/oauth2/authorize", Access::Public, refuse_grant)
            .named("authorize")
            .description("Refuses each request. Open Badges and CLR require the address in their discovery documents, but the server has no authorization code grant."),
        post("/oauth2/register", Access::Public, refuse_grant)
            .named("register")
            .description("Refuses each request: administrators create clients. Open Badges and CLR require the address in their discovery documents.")
            .reads_as(&[]),
    ]
}

async fn refuse_grant(_: Context) -> Result<Answer> {
    let message = "this server issues tokens for client credentials only; let an administrator create a client, and \
                   request a token from /oauth2/token";
    Err(Problem::new(ProblemKind::Malformed, message))
}

/// An access token (RFC 6749, section 5.1).
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the standard")]
struct AccessToken {
    /// The token. Send it as `Authorization: Bearer TOKEN`.
    access_token: String,
    /// Always "Bearer".
    #[schemars(extend("const" = "Bearer"))]
    token_type: &'static str,
    /// The lifetime, in seconds.
    expires_in: i64,
    /// The scopes of the token, separated by spaces.
    scope: String,
}

/// The codes of a program that waits for a person's approval (RFC 8628, section 3.2).
#[derive(Serialize, JsonSchema)]
struct DeviceAuthorization {
    /// The code with which the program asks for its token.
    device_code: String,
    /// The code that the program shows to the person.
    user_code: String,
    /// The page on which the person enters the code.
    verification_uri: String,
    /// The same page with the code filled in.
    verification_uri_complete: String,
    /// The lifetime of the codes, in seconds.
    expires_in: i64,
    /// The time between two requests for the token, in seconds.
    interval: i64,
}

async fn token(context: Context) -> Result<Answer> {
    let answer = match token_request::parse(&context.headers, &context.body) {
        Ok(RequestedToken::Client(request)) => grant(&context, request).await?,
        Ok(RequestedToken::Device(code)) => token_of_device(&context, code).await?,
        Err(fault) => refused(&fault),
    };
    Ok(not_cached(answer))
}

async fn start_device_sign_in(context: Context) -> Result<Answer> {
    if let Err(fault) = token_request::parse_device(&context.body) {
        return Ok(not_cached(refused(&fault)));
    }
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let subjects = [guess::from_place(
        "device codes",
        &context.place,
        lyceum_http::limits::GUESSES_ADDRESS_COUNT,
    )];
    let codes = context.app.db.write(move |tx| {
        guess::count(tx, now, &subjects)?;
        device::start(tx, now, environment)
    });
    let codes = codes.await?;
    let page = format!("{}/device", context.base_url());
    Ok(not_cached(Answer::of(&DeviceAuthorization {
        verification_uri_complete: format!("{page}?user_code={}", codes.user_code),
        device_code: codes.device_code,
        user_code: codes.user_code,
        verification_uri: page,
        expires_in: DEVICE_CODE_LIFETIME_S,
        interval: DEVICE_POLL_INTERVAL_S,
    })))
}

async fn grant(context: &Context, request: TokenRequest) -> Result<Answer> {
    let client = match authenticate(&context.app, request.credentials).await? {
        Ok(client) => client,
        Err(refusal) => return Ok(refused(&refusal_fault(&refusal))),
    };
    let mut answer = match client.grant(request.scope.as_deref()) {
        Ok(scopes) => {
            let keyring = context.app.gate.keyring();
            let issued = keyring.issue(&client.id, scopes, context.app.clock.now());
            Answer::of(&AccessToken {
                access_token: issued.token,
                token_type: "Bearer",
                expires_in: issued.expires_in_s,
                scope: issued.scopes.to_string(),
            })
        }
        Err(refusal) => refused(&refusal_fault(&refusal)),
    };
    let origin = context.headers.get(header::ORIGIN);
    let known = |origin: &&HeaderValue| {
        client.origins.iter().any(|own| own.as_bytes() == origin.as_bytes())
    };
    if let Some(origin) = origin.filter(known) {
        cors::allow(&mut answer.headers, origin);
    }
    Ok(answer)
}

async fn token_of_device(context: &Context, code: String) -> Result<Answer> {
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let polled = context.app.db.write(move |tx| device::poll(tx, now, environment, &code)).await?;
    let waiting = match polled {
        Ok((person, token)) => {
            return Ok(Answer::of(&AccessToken {
                access_token: token,
                token_type: "Bearer",
                expires_in: SessionKind::Token.lifetime_s(),
                scope: person.role.scopes().to_string(),
            }));
        }
        Err(waiting) => waiting,
    };
    let (error, description) = match waiting {
        TokenRefusal::Pending => ("authorization_pending", "the person has not decided yet"),
        TokenRefusal::SlowDown => ("slow_down", "wait five seconds longer between two requests"),
        TokenRefusal::Denied => ("access_denied", "a person refused"),
        TokenRefusal::Expired => ("expired_token", "the code has expired; start again"),
        TokenRefusal::Unknown => {
            ("invalid_grant", "the server does not know this code, or it was used already")
        }
    };
    Ok(refused(&TokenRequestError { error, description: description.to_owned() }))
}

async fn authenticate(
    app: &App,
    credentials: SecretCredentials,
) -> Result<Result<Client, ClientRefusal>> {
    let now = app.clock.now();
    let read = app.db.read(move |tx| {
        let SecretCredentials { id, secret, .. } = &credentials;
        let plain = access::client::authenticate(tx, now, id, secret)?;
        let found = match (&plain, credentials.decoded()) {
            (Err(_), Some(SecretCredentials { id, secret, .. })) => {
                access::client::authenticate(tx, now, &id, &secret)?
            }
            _ => plain,
        };
        let is_stale = match &found {
            Ok(client) => access::client::is_stale(tx, now, &client.id)?,
            Err(_) => false,
        };
        Ok((found, is_stale))
    });
    let (found, is_stale) = read.await?;
    if let (Ok(client), true) = (&found, is_stale) {
        let id = client.id.clone();
        app.db.write(move |tx| access::client::touch(tx, now, &id)).await?;
    }
    Ok(found)
}

/// The refusal of wrong credentials. It does not say which part is wrong, because that would help an attacker.
fn refusal_fault(refusal: &ClientRefusal) -> TokenRequestError {
    match refusal {
        ClientRefusal::UnknownClient | ClientRefusal::WrongSecret | ClientRefusal::Revoked => {
            TokenRequestError {
                error: "invalid_client",
                description: "client id or secret is wrong, or the client was revoked".to_owned(),
            }
        }
        ClientRefusal::UnknownScope(_) | ClientRefusal::ScopeNotAllowed(_) => {
            TokenRequestError { error: "invalid_scope", description: refusal.to_string() }
        }
    }
}

fn refused(fault: &TokenRequestError) -> Answer {
    let answer = refusal(fault.error, &fault.description);
    if fault.error == "invalid_client" {
        answer
            .status(StatusCode::UNAUTHORIZED)
            .header(header::WWW_AUTHENTICATE, HeaderValue::from_static(r#"Basic realm="lyceum""#))
    } else {
        answer.status(StatusCode::BAD_REQUEST)
    }
}

/// The answer, which caches must not store (RFC 6749, 5.1).
fn not_cached(answer: Answer) -> Answer {
    answer
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::PRAGMA, HeaderValue::from_static("no-cache"))
}

fn key_routes() -> Vec<Route> {
    vec![
        get("/.well-known/jwks.json", Access::Public, jwks)
            .named("getJwks")
            .description("The public keys that verify tokens (JWK Set).")
            .answers::<JwkSet>(200, "The keys."),
        get("/.well-known/oauth-authorization-server", Access::Public, metadata)
            .named("getAuthorizationServerMetadata")
            .description("The addresses that issue tokens, and what they support (RFC 8414).")
            .answers::<AuthorizationServerMetadata>(200, "The metadata."),
    ]
}

/// The metadata of the server that issues tokens (RFC 8414, section 2).
#[derive(Serialize, JsonSchema)]
struct AuthorizationServerMetadata {
    /// The issuer in tokens: the public address of the server.
    issuer: String,
    /// The address that issues tokens.
    token_endpoint: String,
    /// The address that issues device codes.
    device_authorization_endpoint: String,
    /// The address of the public keys.
    jwks_uri: String,
    /// The values of `grant_type`.
    grant_types_supported: Vec<&'static str>,
    /// Always empty: the server has no authorization endpoint.
    response_types_supported: Vec<&'static str>,
    /// The ways in which clients authenticate; "none" is for device codes.
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    /// All scopes of the API.
    scopes_supported: Vec<&'static str>,
    /// The environment of the server; a sandbox is "local".
    #[schemars(extend("enum" = ["local", "staging", "production"]))]
    lyceum_environment: &'static str,
}

async fn jwks(context: Context) -> Result<Answer> {
    let cache = HeaderValue::from_static("public, max-age=300");
    Ok(Answer::of(&context.app.gate.keyring().jwks()).header(header::CACHE_CONTROL, cache))
}

async fn metadata(context: Context) -> Result<Answer> {
    let base = context.base_url();
    Ok(Answer::of(&AuthorizationServerMetadata {
        issuer: context.app.gate.keyring().realm().issuer().to_owned(),
        token_endpoint: format!("{base}/oauth2/token"),
        device_authorization_endpoint: format!("{base}/oauth2/device_authorization"),
        jwks_uri: format!("{base}/.well-known/jwks.json"),
        grant_types_supported: vec!["client_credentials", DEVICE_GRANT],
        response_types_supported: Vec::new(),
        token_endpoint_auth_methods_supported: vec![
            "client_secret_basic",
            "client_secret_post",
            "none",
        ],
        scopes_supported: Scope::all().map(Scope::name).collect(),
        lyceum_environment: auth::environment(&context.app),
    }))
}
