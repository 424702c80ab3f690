//! The client credentials request (RFC 6749 sections 2.3.1, 4.4 and 5).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, header};
use lyceum_access::device;
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The form of a request for a token: of a client (RFC 6749, section 4.4.2), or for a device code that a person approved
/// (RFC 8628, section 3.4).
#[derive(Deserialize, JsonSchema)]
pub struct TokenForm {
    /// The kind of request.
    #[schemars(required, extend("enum" = ["client_credentials", DEVICE_GRANT]))]
    grant_type: Option<String>,
    /// The requested scopes, separated by spaces. Without it, the token has all scopes of the client.
    scope: Option<String>,
    /// The id of the client, unless it is sent by HTTP Basic.
    client_id: Option<String>,
    /// The secret of the client, unless it is sent by HTTP Basic.
    client_secret: Option<String>,
    /// The code that a person approved.
    device_code: Option<String>,
}

/// The form of a program's request for a device code (RFC 8628, section 3.1).
#[derive(Deserialize, JsonSchema)]
pub struct DeviceAuthorizationForm {
    /// The id of the program, which is Lyceum's command line.
    #[schemars(required, extend("const" = device::CLIENT_ID))]
    client_id: Option<String>,
}

/// The requested kind of token.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestedToken {
    /// A token for the client's id and secret.
    Client(TokenRequest),
    /// A token for a device code that a person approved (RFC 8628, 3.4).
    Device(String),
}

/// A parsed token request.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// The id and secret of the caller.
    pub credentials: SecretCredentials,
    /// The requested scopes, separated by spaces.
    pub scope: Option<String>,
}

/// An id and a secret.
#[derive(Debug, PartialEq, Eq)]
pub struct SecretCredentials {
    /// The id of the client.
    pub id: String,
    /// The secret.
    pub secret: String,
    /// Whether they came by HTTP Basic.
    pub basic: bool,
}

impl SecretCredentials {
    /// The form-decoded credentials, as section 2.3.1 requires them in the header. Published clients do not encode
    /// them, so the plain ones are tried first. `None` if both are equal.
    pub fn decoded(&self) -> Option<Self> {
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
pub struct TokenRequestError {
    /// The code.
    pub error: &'static str,
    /// The error, for the developer.
    pub description: String,
}

fn fault(error: &'static str, description: impl Into<String>) -> TokenRequestError {
    TokenRequestError { error, description: description.into() }
}

/// Parses a request from its headers and form.
pub fn parse(headers: &HeaderMap, body: &[u8]) -> Result<RequestedToken, TokenRequestError> {
    let form: TokenForm = form(body)?;
    match form.grant_type.as_deref() {
        Some("client_credentials") => {
            let credentials = credentials(headers, form.client_id, form.client_secret)?;
            Ok(RequestedToken::Client(TokenRequest { credentials, scope: form.scope }))
        }
        Some(DEVICE_GRANT) => {
            check_program(form.client_id.as_deref())?;
            form.device_code
                .map(RequestedToken::Device)
                .ok_or_else(|| fault("invalid_request", "the parameter 'device_code' is missing"))
        }
        Some(_) => {
            let message =
                format!("the grant_type must be 'client_credentials' or '{DEVICE_GRANT}'");
            Err(fault("unsupported_grant_type", message))
        }
        None => Err(fault("invalid_request", "the parameter 'grant_type' is missing")),
    }
}

/// The grant type of RFC 8628, 3.4.
pub const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Parses a program's request for a device code (RFC 8628, 3.1).
pub fn parse_device(body: &[u8]) -> Result<(), TokenRequestError> {
    check_program(form::<DeviceAuthorizationForm>(body)?.client_id.as_deref())
}

/// Refuses all programs except Lyceum's command line, which is a public client and therefore has no secret.
fn check_program(client_id: Option<&str>) -> Result<(), TokenRequestError> {
    match client_id {
        Some(device::CLIENT_ID) => Ok(()),
        Some(_) => {
            Err(fault("invalid_client", "only the program 'lyceum-cli' can ask for a device code"))
        }
        None => Err(fault("invalid_request", "the parameter 'client_id' is missing")),
    }
}

/// Reads a form. Each parameter may be sent once, and empty ones count as missing (section 3.2).
fn form<T: DeserializeOwned>(body: &[u8]) -> Result<T, TokenRequestError> {
    if std::str::from_utf8(body).is_err() {
        return Err(fault("invalid_request", "the form is not UTF-8"));
    }
    let mut form = Map::new();
    for (name, value) in form_urlencoded::parse(body) {
        if form.insert(name.to_string(), value.into()).is_some() {
            let name: String = name.chars().take(40).collect();
            return Err(fault(
                "invalid_request",
                format!("the parameter '{name}' was sent more than once; send it once"),
            ));
        }
    }
    form.retain(|_, value| value != "");
    serde_json::from_value(Value::Object(form))
        .map_err(|error| fault("invalid_request", error.to_string()))
}

fn credentials(
    headers: &HeaderMap,
    id: Option<String>,
    secret: Option<String>,
) -> Result<SecretCredentials, TokenRequestError> {
    let Some(authorization) = headers.get(header::AUTHORIZATION) else {
        let (Some(id), Some(secret)) = (id, secret) else {
            let message =
                "send client id and secret by HTTP Basic or as client_id and client_secret";
            return Err(fault("invalid_client", message));
        };
        return Ok(SecretCredentials { id, secret, basic: false });
    };
    if secret.is_some() {
        let message = "the client authenticates by header and by form at once; choose one";
        return Err(fault("invalid_request", message));
    }
    let basic = authorization.to_str().ok().and_then(basic).ok_or_else(|| {
        fault("invalid_client", "the Authorization header is not 'Basic base64(id:secret)'")
    })?;
    if id.is_some_and(|id| id != basic.id) {
        let message = "client_id names another client than the Authorization header";
        return Err(fault("invalid_request", message));
    }
    Ok(basic)
}

fn basic(value: &str) -> Option<SecretCredentials> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some(SecretCredentials { id: id.to_owned(), secret: secret.to_owned(), basic: true })
}
