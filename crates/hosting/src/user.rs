//! The user that a backend is told of: who holds the token that came with a request.

use hyper::header::{HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

/// The header that names the user to the generated entry, as JSON, percent-encoded. Whoever passes
/// requests on takes it out of those that come from outside.
pub const USER_HEADER: HeaderName = HeaderName::from_static("lyceum-user");

/// A user, in the names of `OpenID` Connect's claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct User {
    /// The user's sourcedId.
    pub sub: String,
    /// Given and family name.
    pub name: String,
    /// Empty where the roster has none.
    pub email: String,
    /// The roster is the school's: what it has counts as verified.
    pub email_verified: bool,
    /// Given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// Family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_name: Option<String>,
    /// The learner; none where the project teaches nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lms_id: Option<String>,
    /// The same in its other spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeback_id: Option<String>,
}

impl User {
    /// A user of the roster, with given and family name; `learns` where there is somebody to learn with.
    pub fn new(
        sub: String,
        (given, family): (String, String),
        email: String,
        learns: bool,
    ) -> Self {
        let name = format!("{given} {family}").trim().to_owned();
        let some = |text: String| (!text.is_empty()).then_some(text);
        let learner = learns.then(|| sub.clone());
        Self {
            given_name: some(given),
            family_name: some(family),
            email_verified: !email.is_empty(),
            lms_id: learner.clone(),
            timeback_id: learner,
            sub,
            name,
            email,
        }
    }

    /// The value of [`USER_HEADER`].
    pub fn header(&self) -> HeaderValue {
        let json = serde_json::to_string(self).expect("texts are JSON");
        let encoded = utf8_percent_encode(&json, NON_ALPHANUMERIC).to_string();
        HeaderValue::try_from(encoded).expect("letters, digits and %")
    }
}
