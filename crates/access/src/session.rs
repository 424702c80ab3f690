//! Sessions of people, for a browser's cookie or a token of `lyceum login`.

use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::limits;
use crate::person::Person;
use crate::repository::sessions as repository;
use crate::secret;

/// Where the session's secret is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// A browser, in a cookie.
    Page,
    /// A program that its owner let in, as a bearer token.
    Token,
}

impl SessionKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Token => "token",
        }
    }

    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Page => "lw_",
            Self::Token => "lu_",
        }
    }

    /// Seconds that a session lives, used or not.
    pub fn lifetime_s(self) -> i64 {
        match self {
            Self::Page => limits::PAGE_SESSION_LIFETIME_S,
            Self::Token => limits::TOKEN_SESSION_LIFETIME_S,
        }
    }

    /// Seconds that a session lives without being used.
    pub fn idle_s(self) -> i64 {
        match self {
            Self::Page => limits::PAGE_SESSION_IDLE_S,
            Self::Token => limits::TOKEN_SESSION_IDLE_S,
        }
    }
}

/// Begins a session and answers its secret. `former` is the secret of a session that the same browser
/// had: that session ends, so that an attacker cannot share a session that they planted in the browser.
pub fn start(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    person: &Person,
    sort: SessionKind,
    former: Option<&str>,
) -> Result<String> {
    repository::delete_ended(tx, now)?;
    if let Some(former) = former {
        end(tx, former)?;
    }
    let session = secret::random_text::<32>(sort.prefix());
    let expires = now.plus_seconds(sort.lifetime_s());
    let hash = secret::hash(&session);
    repository::insert(tx, &hash, &person.id, sort, environment, now, expires)?;
    Ok(session)
}

/// Ends a session if it exists.
pub fn end(tx: &mut Tx<'_>, session: &str) -> Result<()> {
    repository::delete(tx, &secret::hash(session))
}

/// A secret that guards the forms of a browser that has no session.
pub fn new_form_secret() -> String {
    secret::random_text::<32>("")
}

/// Whether the token is the one of the secret.
pub fn is_form_token(secret: &str, token: &str) -> bool {
    secret::same(&secret::hash(&form_token(secret)), &secret::hash(token))
}

/// A token that only pages of this session contain. It protects against forged forms.
pub fn form_token(session: &str) -> String {
    secret::derived("lyceum form", session)
}
