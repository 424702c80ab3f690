//! Reads the input: a credential in JSON, a token, an image with one of them, or an object that contains a token.

use lyceum_core::{Message, message};
use serde_json::Value;

use super::shape;
use crate::jwt::{self, Token};
use crate::limits::CREDENTIAL_MAX_BYTES;
use crate::{baking, json, open_badges_2};

/// A credential as it came.
pub(super) enum ReadCredential {
    Json(Value),
    Token(Token),
}

impl ReadCredential {
    pub(super) fn credential(&self) -> &Value {
        match self {
            Self::Json(credential) => credential,
            Self::Token(token) => &token.credential,
        }
    }

    pub(super) fn into_credential(self) -> Value {
        match self {
            Self::Json(credential) => credential,
            Self::Token(token) => token.credential,
        }
    }
}

/// Reads what was sent, and says what it was.
pub(super) fn read(input: &[u8]) -> Result<(ReadCredential, &'static str), Message> {
    if input.len() > CREDENTIAL_MAX_BYTES {
        return Err(message!("a credential has at most {CREDENTIAL_MAX_BYTES} bytes"));
    }
    let (text, baked);
    let (text, forms) = match baking::is_image(input) {
        true => {
            baked = baking::unbake(input).map_err(|problem| problem.message)?;
            (baked.trim(), ["a JSON credential baked into an image", "a JWT baked into an image"])
        }
        false => {
            text = std::str::from_utf8(input).map_err(|_| "the credential is not text in UTF-8")?;
            (text.trim_start_matches('\u{feff}').trim(), ["a JSON credential", "a JWT"])
        }
    };
    if text.starts_with('{') {
        let credential = json::read(text.as_bytes()).map_err(|problem| problem.message)?;
        open_badges_2::refuse(&credential)?;
        return match is_enveloped(&credential) {
            true => Ok((ReadCredential::Token(opened(&credential)?), forms[1])),
            false => Ok((ReadCredential::Json(credential), forms[0])),
        };
    }
    open_badges_2::refuse_address(text)?;
    let token = jwt::read(text).map_err(|problem| {
        message!("the credential is neither JSON nor a JWT nor an image with one: {problem}")
    })?;
    open_badges_2::refuse(&token.credential)?;
    Ok((ReadCredential::Token(token), forms[1]))
}

/// Whether the object is an envelope: it holds a credential as a token (VC 2.0, 4.13).
pub(super) fn is_enveloped(object: &Value) -> bool {
    shape::strings(object.get("type")).contains(&"EnvelopedVerifiableCredential")
}

/// The token in an enveloped credential. Errors: also for one with members of a credential, which would stand
/// beside the token unsigned and be taken for what it says.
pub(super) fn opened(envelope: &Value) -> Result<Token, Message> {
    if ["issuer", "credentialSubject", "proof"].iter().any(|name| envelope.get(*name).is_some()) {
        return Err(
            "an enveloped credential must not have an issuer, subject or proof outside of its \
             token"
                .into(),
        );
    }
    let url = envelope["id"].as_str().unwrap_or_default();
    let token = url.strip_prefix("data:").and_then(|data| data.split_once(','));
    let (_, token) = token.ok_or("the enveloped credential has no data: address")?;
    jwt::read(token).map_err(|fault| fault.message)
}
