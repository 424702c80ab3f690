//! Access tokens: compact JWS (RFC 7515) with Ed25519 (RFC 8037), in the profile of RFC 9068.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::scope::{Rights, Scopes};
use crate::secret;

/// A token that was given out.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// Its text.
    pub token: String,
    /// The scopes granted.
    pub scopes: Scopes,
    /// Seconds that it is valid.
    pub expires_in_s: i64,
}

/// The rights of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The client's id.
    pub client_id: String,
    /// The scopes granted.
    pub scopes: Scopes,
    /// The rights that the scopes give, which each route checks.
    pub rights: Rights,
    /// The player of a game token; `None` in a client's own token.
    pub player: Option<Player>,
    /// The token's own id.
    pub jti: String,
    /// When it was given out.
    pub issued: Timestamp,
    /// When it ends, by the clock of the server that created it.
    pub expires: Timestamp,
}

impl Grant {
    /// Whether the token has ended. A verified token that is kept must be checked again.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        has_ended(self.expires.seconds(), now.seconds())
    }
}

/// The issuer of game tokens for demo visitors. No client can have this id, because it contains a colon.
pub const DEMO_CLIENT: &str = "demo:visitor";

/// A user in a game: what a game token names. It opens what belongs to that user there and holds
/// no scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    /// The user's sourcedId.
    pub user: String,
    /// The game's id.
    pub game: String,
}

/// The reason why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// Not three parts of base64url with the JSON of our tokens.
    Malformed,
    /// Another algorithm than `EdDSA`.
    Algorithm,
    /// This server has no key with the id.
    UnknownKey,
    /// The signature does not fit.
    Signature,
    /// Given out by another server or environment.
    Issuer,
    /// Meant for another server or environment.
    Audience,
    /// Its time is over.
    Expired,
    /// Its time has not begun.
    NotYet,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the token is not a signed token of this server",
            Self::Algorithm => "the token must be signed with EdDSA",
            Self::UnknownKey => "the token is signed with a key that this server does not have",
            Self::Signature => "the token's signature is wrong",
            Self::Issuer => "the token was issued by another server or environment",
            Self::Audience => "the token is meant for another server or environment",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token is not valid yet",
        })
    }
}

impl std::error::Error for TokenError {}

#[derive(Serialize, Deserialize)]
struct JwtHeader {
    alg: String,
    typ: String,
    kid: String,
    #[serde(default, skip_serializing)]
    crit: Option<serde::de::IgnoredAny>,
}

const TYPE: &str = "at+jwt";
/// Explicit typing (RFC 8725, 3.11): one sort of token never passes for the other.
const GAME_TYPE: &str = "game+jwt";

#[derive(Serialize, Deserialize)]
struct JwtClaims {
    iss: String,
    aud: String,
    sub: String,
    client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    game: Option<String>,
    scope: String,
    jti: String,
    iat: i64,
    exp: i64,
}

/// Signs a token of a client, or one that the client asked for on behalf of a player.
pub(crate) fn issue(
    (kid, key): (&str, &SigningKey),
    (issuer, audience): (&str, &str),
    client_id: &str,
    scopes: Scopes,
    player: Option<&Player>,
    (now, lifetime_s): (Timestamp, i64),
) -> IssuedToken {
    let typ = if player.is_some() { GAME_TYPE } else { TYPE };
    let header =
        JwtHeader { alg: "EdDSA".to_owned(), typ: typ.to_owned(), kid: kid.to_owned(), crit: None };
    let claims = JwtClaims {
        iss: issuer.to_owned(),
        aud: audience.to_owned(),
        sub: player.map_or(client_id, |player| &player.user).to_owned(),
        client_id: client_id.to_owned(),
        game: player.map(|player| player.game.clone()),
        scope: scopes.to_string(),
        jti: secret::random_text::<16>(""),
        iat: now.seconds(),
        exp: now.seconds() + lifetime_s,
    };
    let mut token = format!("{}.{}", encode(&header), encode(&claims));
    let signature = key.sign(token.as_bytes()).to_bytes();
    token.push('.');
    BASE64_URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    IssuedToken { token, scopes, expires_in_s: lifetime_s }
}

/// Checks a token. `find` gives the key of an id.
pub(crate) fn verify<'k>(
    token: &str,
    (issuer, audience): (&str, &str),
    now: Timestamp,
    find: impl FnOnce(&str) -> Option<&'k VerifyingKey>,
) -> Result<Grant, TokenError> {
    if token.len() > limits::TOKEN_MAX_BYTES {
        return Err(TokenError::Malformed);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    let header: JwtHeader = decode(header)?;
    if header.alg != "EdDSA" {
        return Err(TokenError::Algorithm);
    }
    let is_game = header.typ == GAME_TYPE;
    if !is_game && header.typ != TYPE || header.crit.is_some() {
        return Err(TokenError::Malformed);
    }
    let key = find(&header.kid).ok_or(TokenError::UnknownKey)?;
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| TokenError::Malformed)?;
    let signature = Signature::from_slice(&signature).map_err(|_| TokenError::Malformed)?;
    key.verify_strict(signed.as_bytes(), &signature).map_err(|_| TokenError::Signature)?;
    let claims: JwtClaims = decode(claims)?;
    let seconds = now.seconds();
    match () {
        () if claims.iss != issuer => Err(TokenError::Issuer),
        () if claims.aud != audience => Err(TokenError::Audience),
        () if has_ended(claims.exp, seconds) => Err(TokenError::Expired),
        // `iat` is of the clock of the server that created the token.
        () if claims.iat - CLOCK_DIFFERENCE_MAX_S > seconds => Err(TokenError::NotYet),
        () => grant(claims, is_game).ok_or(TokenError::Malformed),
    }
}

/// Whether a token is refused, because its end has passed on every server of the database.
fn has_ended(end_s: i64, now_s: i64) -> bool {
    end_s + CLOCK_DIFFERENCE_MAX_S <= now_s
}

/// The rights that claims give; `None` if a game token names no game.
fn grant(claims: JwtClaims, is_game: bool) -> Option<Grant> {
    let scopes = if is_game { Scopes::default() } else { Scopes::parse_known(&claims.scope) };
    let player = match is_game {
        true => Some(Player { user: claims.sub, game: claims.game? }),
        false => None,
    };
    Some(Grant {
        player,
        client_id: claims.client_id,
        scopes,
        rights: scopes.rights(),
        jti: claims.jti,
        issued: Timestamp::from_milliseconds(claims.iat * 1000),
        expires: Timestamp::from_milliseconds(claims.exp * 1000),
    })
}

fn encode(part: &impl Serialize) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(part).expect("our claims have string keys"))
}

fn decode<T: DeserializeOwned>(part: &str) -> Result<T, TokenError> {
    let json = BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed)?;
    serde_json::from_slice(&json).map_err(|_| TokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_for_another_audience_is_refused_despite_our_key_and_issuer() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = key.verifying_key();
        let now = Timestamp::from_milliseconds(1_000_000);
        let realm = ("us", "staging");
        let issued = issue(("kid", &key), realm, "x", Scopes::EVERYTHING, None, (now, 60));
        let check = |audience| verify(&issued.token, ("us", audience), now, |_| Some(&public));
        assert!(check("staging").is_ok());
        assert_eq!(check("production"), Err(TokenError::Audience));
    }
}
