//! Tokens for client credentials (RFC 6749) and for people's programs (RFC 8628), the keys that sign them (RFC 7517),
//! and the metadata with their addresses (RFC 8414).

use axum::http::{HeaderValue, StatusCode, header};
use lyceum_access::device::{self, TokenRefusal};
use lyceum_access::session::SessionKind;
use lyceum_access::{self as access, Client, Refusal, Scope, guess};
use lyceum_core::{Result, limits};
use serde_json::json;

use crate::answer::Answer;
use crate::auth;
use crate::auth::token_request::{self, Credentials, DEVICE_GRANT, Fault, Request, TokenRequest};
use crate::context::Context;
use crate::cors;
use crate::render::{Rendering, refusal};
use crate::route::{Access, Area, get, post};
use crate::state::App;

const FORM: &[&str] = &["application/x-www-form-urlencoded"];

pub(super) fn area() -> Area {
    Area {
        name: "tokens",
        base: "",
        rendering: Rendering::OAuth,
        says: "Access tokens for client credentials, and the keys that sign them.",
        routes: vec![
            post("/oauth2/token", Access::Public, token)
                .named("postToken")
                .says("Gives a token for a client's id and secret, sent by HTTP Basic or as form, or for a device code.")
                .reads_as(FORM)
                .reads_up_to(limits::TOKEN_BODY_MAX_BYTES)
                .reads_schema(json!({
                    "type": "object",
                    "required": ["grant_type"],
                    "properties": {
                        "grant_type": {"type": "string", "enum": ["client_credentials", DEVICE_GRANT]},
                        "scope": {"type": "string", "description": "Scopes, spaces between them."},
                        "client_id": {"type": "string"},
                        "client_secret": {"type": "string"},
                        "device_code": {"type": "string"},
                    },
                }))
                .answers_schema(
                    200,
                    "The token.",
                    json!({
                        "type": "object",
                        "required": ["access_token", "token_type", "expires_in", "scope"],
                        "properties": {
                            "access_token": {"type": "string"},
                            "token_type": {"type": "string", "const": "Bearer"},
                            "expires_in": {"type": "integer", "description": "Seconds."},
                            "scope": {"type": "string"},
                        },
                    }),
                ),
            post("/oauth2/device_authorization", Access::Public, ask_for_device)
                .named("postDeviceAuthorization")
                .says("Gives a program a code that a person approves on the page /device (RFC 8628).")
                .reads_as(FORM)
                .reads_up_to(limits::TOKEN_BODY_MAX_BYTES)
                .reads_schema(json!({
                    "type": "object",
                    "required": ["client_id"],
                    "properties": {"client_id": {"type": "string", "const": device::CLIENT_ID}},
                }))
                .answers_schema(
                    200,
                    "The code.",
                    json!({
                        "type": "object",
                        "required": [
                            "device_code", "user_code", "verification_uri", "expires_in", "interval",
                        ],
                        "properties": {
                            "device_code": {"type": "string"},
                            "user_code": {"type": "string"},
                            "verification_uri": {"type": "string"},
                            "verification_uri_complete": {"type": "string"},
                            "expires_in": {"type": "integer", "description": "Seconds."},
                            "interval": {"type": "integer", "description": "Seconds."},
                        },
                    }),
                ),
            get("/.well-known/jwks.json", Access::Public, jwks)
                .named("getJwks")
                .says("The public keys that verify tokens (JWK Set).")
                .answers_schema(
                    200,
                    "The keys.",
                    json!({
                        "type": "object",
                        "required": ["keys"],
                        "properties": {"keys": {"type": "array", "items": {"type": "object"}}},
                    }),
                ),
            get("/.well-known/oauth-authorization-server", Access::Public, metadata)
                .named("getAuthorizationServerMetadata")
                .says("Where tokens are to be had, and how (RFC 8414).")
                .answers_schema(200, "The metadata.", json!({"type": "object"})),
        ],
    }
}

async fn token(context: Context) -> Result<Answer> {
    let answer = match token_request::parse(&context.headers, &context.body) {
        Ok(Request::Client(request)) => grant(&context, request).await?,
        Ok(Request::Device(code)) => token_of_device(&context, code).await?,
        Err(fault) => refused(&fault),
    };
    Ok(unkept(answer))
}

/// The answer, which caches must not store (RFC 6749, 5.1).
fn unkept(answer: Answer) -> Answer {
    answer
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::PRAGMA, HeaderValue::from_static("no-cache"))
}

async fn ask_for_device(context: Context) -> Result<Answer> {
    if let Err(fault) = token_request::parse_device(&context.body) {
        return Ok(unkept(refused(&fault)));
    }
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let subjects =
        [guess::from_place("device codes", context.address, limits::GUESSES_ADDRESS_COUNT)];
    let asked = context.app.db.write(move |tx| {
        guess::count(tx, now, &subjects)?;
        device::ask(tx, now, environment)
    });
    let asked = asked.await?;
    let page = format!("{}/device", context.base_url());
    Ok(unkept(Answer::of(&json!({
        "device_code": asked.device_code,
        "user_code": asked.user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={}", asked.user_code),
        "expires_in": limits::DEVICE_CODE_LIFETIME_S,
        "interval": limits::DEVICE_POLL_INTERVAL_S,
    }))))
}

async fn token_of_device(context: &Context, code: String) -> Result<Answer> {
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let polled = context.app.db.write(move |tx| device::poll(tx, now, environment, &code)).await?;
    let waiting = match polled {
        Ok((person, token)) => {
            return Ok(Answer::of(&json!({
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": SessionKind::Token.lifetime_s(),
                "scope": person.role.scopes().to_string(),
            })));
        }
        Err(waiting) => waiting,
    };
    let (error, told) = match waiting {
        TokenRefusal::Pending => ("authorization_pending", "the person has not decided yet"),
        TokenRefusal::SlowDown => ("slow_down", "wait five seconds longer between two questions"),
        TokenRefusal::Denied => ("access_denied", "a person refused"),
        TokenRefusal::Expired => ("expired_token", "the code has expired; start again"),
        TokenRefusal::Unknown => {
            ("invalid_grant", "this code is not one of ours, or was used already")
        }
    };
    Ok(refused(&Fault { error, description: told.to_owned() }))
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
            Answer::of(&json!({
                "access_token": issued.token,
                "token_type": "Bearer",
                "expires_in": issued.expires_in_s,
                "scope": issued.scopes.to_string(),
            }))
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

async fn authenticate(app: &App, credentials: Credentials) -> Result<Result<Client, Refusal>> {
    let now = app.clock.now();
    let read = app.db.read(move |tx| {
        let Credentials { id, secret, .. } = &credentials;
        let plain = access::client::authenticate(tx, now, id, secret)?;
        let found = match (&plain, credentials.decoded()) {
            (Err(_), Some(Credentials { id, secret, .. })) => {
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
fn refusal_fault(refusal: &Refusal) -> Fault {
    match refusal {
        Refusal::UnknownClient | Refusal::WrongSecret | Refusal::Revoked => Fault {
            error: "invalid_client",
            description: "client id or secret is wrong, or the client was revoked".to_owned(),
        },
        Refusal::UnknownScope(_) | Refusal::ScopeNotAllowed(_) => {
            Fault { error: "invalid_scope", description: refusal.to_string() }
        }
    }
}

fn refused(fault: &Fault) -> Answer {
    let answer = refusal(fault.error, &fault.description);
    if fault.error == "invalid_client" {
        answer
            .status(StatusCode::UNAUTHORIZED)
            .header(header::WWW_AUTHENTICATE, HeaderValue::from_static(r#"Basic realm="lyceum""#))
    } else {
        answer.status(StatusCode::BAD_REQUEST)
    }
}

async fn jwks(context: Context) -> Result<Answer> {
    let cache = HeaderValue::from_static("public, max-age=300");
    Ok(Answer::of(&context.app.gate.keyring().jwks()).header(header::CACHE_CONTROL, cache))
}

async fn metadata(context: Context) -> Result<Answer> {
    let base = context.base_url();
    Ok(Answer::of(&json!({
        "issuer": context.app.gate.keyring().realm().issuer(),
        "token_endpoint": format!("{base}/oauth2/token"),
        "device_authorization_endpoint": format!("{base}/oauth2/device_authorization"),
        "jwks_uri": format!("{base}/.well-known/jwks.json"),
        "grant_types_supported": ["client_credentials", DEVICE_GRANT],
        "response_types_supported": [],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "scopes_supported": Scope::all().map(Scope::name).collect::<Vec<_>>(),
        "lyceum_environment": auth::environment(&context.app),
    })))
}
