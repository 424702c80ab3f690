//! The client credentials request (RFC 6749 sections 2.3.1, 4.4 and 5).

use std::collections::HashMap;

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::device;
use percent_encoding::percent_decode_str;

/// The requested kind of token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A token for the client's id and secret.
    Client(TokenRequest),
    /// A token for a device code that a person approved (RFC 8628, 3.4).
    Device(String),
}

/// A parsed token request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TokenRequest {
    pub(crate) credentials: Credentials,
    pub(crate) scope: Option<String>,
}

/// An id and a secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) basic: bool,
}

impl Credentials {
    /// The form-decoded credentials, as section 2.3.1 requires them in the header. Published clients do not encode
    /// them, so the plain ones are tried first. `None` if both are equal.
    pub(crate) fn decoded(&self) -> Option<Self> {
        let encoded = |text: &str| text.contains(['%', '+']);
        if !self.basic || !(encoded(&self.id) || encoded(&self.secret)) {
            return None;
        }
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
        };
        Some(Self { id: decode(&self.id)?, secret: decode(&self.secret)?, basic: true })
    }
}

/// An error of section 5.2: its code and a message for the developer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) error: &'static str,
    pub(crate) description: String,
}

fn fault(error: &'static str, description: impl Into<String>) -> Fault {
    Fault { error, description: description.into() }
}

/// Parses a request from its headers and form.
pub(crate) fn parse(headers: &HeaderMap, body: &[u8]) -> Result<Request, Fault> {
    let mut form = parameters(body)?;
    let Some(grant_type) = form.remove("grant_type") else {
        return Err(fault("invalid_request", "the parameter 'grant_type' is missing"));
    };
    if grant_type == DEVICE_GRANT {
        check_program(&mut form)?;
        let code = form.remove("device_code");
        return code
            .map(Request::Device)
            .ok_or_else(|| fault("invalid_request", "the parameter 'device_code' is missing"));
    }
    if grant_type != "client_credentials" {
        let told = "the grant_type here is 'client_credentials', or the one of device codes";
        return Err(fault("unsupported_grant_type", told));
    }
    let credentials = credentials(headers, &mut form)?;
    Ok(Request::Client(TokenRequest { credentials, scope: form.remove("scope") }))
}

/// The grant type of RFC 8628, 3.4.
pub(crate) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Parses a program's request for a device code (RFC 8628, 3.1).
pub(crate) fn parse_device(body: &[u8]) -> Result<(), Fault> {
    check_program(&mut parameters(body)?)
}

/// Refuses all programs except Lyceum's command line, which is a public client and therefore has no secret.
fn check_program(form: &mut HashMap<String, String>) -> Result<(), Fault> {
    match form.remove("client_id").as_deref() {
        Some(device::CLIENT_ID) => Ok(()),
        Some(_) => Err(fault("invalid_client", "no program with this client_id signs people in")),
        None => Err(fault("invalid_request", "the parameter 'client_id' is missing")),
    }
}

/// The form's parameters. Each may be sent once, and empty ones count as missing (section 3.2).
fn parameters(body: &[u8]) -> Result<HashMap<String, String>, Fault> {
    if std::str::from_utf8(body).is_err() {
        return Err(fault("invalid_request", "the form is not UTF-8"));
    }
    let mut form = HashMap::new();
    for (name, value) in form_urlencoded::parse(body) {
        if form.insert(name.to_string(), value.into_owned()).is_some() {
            let name: String = name.chars().take(40).collect();
            return Err(fault(
                "invalid_request",
                format!("the parameter '{name}' was sent more than once; send it once"),
            ));
        }
    }
    form.retain(|_, value| !value.is_empty());
    Ok(form)
}

fn credentials(
    headers: &HeaderMap,
    form: &mut HashMap<String, String>,
) -> Result<Credentials, Fault> {
    let (id, secret) = (form.remove("client_id"), form.remove("client_secret"));
    let Some(authorization) = headers.get(header::AUTHORIZATION) else {
        let (Some(id), Some(secret)) = (id, secret) else {
            let told = "send client id and secret by HTTP Basic or as client_id and client_secret";
            return Err(fault("invalid_client", told));
        };
        return Ok(Credentials { id, secret, basic: false });
    };
    if secret.is_some() {
        let told = "the client authenticates by header and by form at once; choose one";
        return Err(fault("invalid_request", told));
    }
    let basic = authorization.to_str().ok().and_then(basic).ok_or_else(|| {
        fault("invalid_client", "the Authorization header is not 'Basic base64(id:secret)'")
    })?;
    if id.is_some_and(|id| id != basic.id) {
        let told = "client_id names another client than the Authorization header";
        return Err(fault("invalid_request", told));
    }
    Ok(basic)
}

fn basic(value: &str) -> Option<Credentials> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some(Credentials { id: id.to_owned(), secret: secret.to_owned(), basic: true })
}
