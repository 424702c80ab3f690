//! The user that a backend learns about: the holder of the token that came with the request.

use hyper::header::{HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

pub use lyceum_games::players::PlayerIdentity;

/// The header that names the user to the generated entry module, as percent-encoded JSON. The server removes it from
/// requests that come from outside.
pub const USER_HEADER: HeaderName = HeaderName::from_static("lyceum-user");

/// A user, with the names of `OpenID` Connect's claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserClaims {
    /// The user's sourcedId, or a visitor's id.
    pub sub: String,
    /// The user's name in games.
    pub username: String,
    /// Whether the user is an anonymous visitor of the project's demo.
    pub demo: bool,
    /// Given and family name; the username if those are not shared with the project.
    pub name: String,
    /// Empty if it is unknown or not shared with the project.
    pub email: String,
    /// Whether the address comes from the school's roster, which counts as verified.
    pub email_verified: bool,
    /// Given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_name: Option<String>,
    /// The learner's id; `None` if the project has no courses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lms_id: Option<String>,
    /// The same id under its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeback_id: Option<String>,
}

impl UserClaims {
    /// The user of a player. `learns` is whether the project has courses.
    pub fn of(player: PlayerIdentity, learns: bool) -> Self {
        let some = |text: String| (!text.is_empty()).then_some(text);
        let learner = (learns && !player.is_visitor).then(|| player.id.clone());
        Self {
            name: player.name(),
            username: player.username,
            demo: player.demo_of.is_some(),
            given_name: some(player.given_name),
            family_name: some(player.family_name),
            email_verified: !player.email.is_empty(),
            lms_id: learner.clone(),
            timeback_id: learner,
            sub: player.id,
            email: player.email,
        }
    }

    /// The value of [`USER_HEADER`].
    pub fn header(&self) -> HeaderValue {
        let json = serde_json::to_string(self).expect("texts are JSON");
        let encoded = utf8_percent_encode(&json, NON_ALPHANUMERIC).to_string();
        HeaderValue::try_from(encoded).expect("letters, digits and %")
    }
}
