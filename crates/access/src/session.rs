//! Sessions of people, for a browser's cookie or a token of `lyceum login`.

use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use sha2::{Digest, Sha256};

use crate::limits;
use crate::person::Person;
use crate::repository::sessions::{self as repository, NewSession};
use crate::secret;

pub use crate::repository::sessions::{SessionFacts, SessionKind};

/// A key that only the owner of a session's secret has, to encrypt what a browser stores. It follows from the secret, so it
/// lives as long as the session.
pub fn sealing_key(secret: &str) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"browser storage\n")
        .chain_update(secret.as_bytes())
        .finalize()
        .into()
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
    let expires = now.plus_seconds(sort.lifetime_s());
    let new = NewSession { person: &person.id, sort, environment, class: None, expires };
    replace(tx, now, &new, former)
}

/// Begins the session of a student who signs in with the code of a class, in a browser. Otherwise as [`start`].
pub(crate) fn start_in_class(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    student: &Person,
    class: &str,
    former: Option<&str>,
) -> Result<String> {
    let new = NewSession {
        person: &student.id,
        sort: SessionKind::Page,
        environment,
        class: Some(class),
        expires: now.plus_seconds(limits::CLASS_SESSION_LIFETIME_S),
    };
    replace(tx, now, &new, former)
}

fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    new: &NewSession<'_>,
    former: Option<&str>,
) -> Result<String> {
    repository::delete_ended(tx, now)?;
    if let Some(former) = former {
        end(tx, former)?;
    }
    let session = secret::random_text::<32>(new.sort.prefix());
    repository::insert(tx, now, &secret::hash(&session), new)?;
    Ok(session)
}

/// Whether a session of this kind still opens something. `is_in_class` says that it began with the code of a class.
pub(crate) fn is_alive(
    now: Timestamp,
    (sort, is_in_class): (SessionKind, bool),
    (used, expires): (Timestamp, Timestamp),
) -> bool {
    let idle_s = if is_in_class { limits::CLASS_SESSION_IDLE_S } else { sort.idle_s() };
    now < expires && now < used.plus_seconds(idle_s)
}

/// The sessions of a person that have not ended, the newest first. `current` is the secret of the session that asks.
pub fn list(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &str,
    current: Option<&str>,
) -> Result<Vec<SessionFacts>> {
    let current = current.map(secret::hash);
    let facts = repository::of_person(tx, person)?.into_iter().map(|(hash, facts)| SessionFacts {
        id: public_id(&hash),
        is_current: current.is_some_and(|current| secret::is_equal(&current, &hash)),
        ..facts
    });
    let is_alive = |facts: &SessionFacts| {
        let sort = if facts.is_browser { SessionKind::Page } else { SessionKind::Token };
        is_alive(now, (sort, facts.class.is_some()), (facts.used, facts.expires))
    };
    Ok(facts.filter(is_alive).collect())
}

/// Ends the session of a person that a list names by this id. Errors: `NotFound`.
pub fn end_of(tx: &mut Tx<'_>, person: &str, id: &str) -> Result<()> {
    let sessions = repository::of_person(tx, person)?;
    let found = sessions.into_iter().find(|(hash, _)| public_id(hash) == id);
    let (hash, _) = found.ok_or_else(|| Problem::not_found("session", id))?;
    repository::delete(tx, &hash)
}

/// Names a session by a hash of its hash, from which nobody finds either.
fn public_id(hash: &[u8]) -> String {
    secret::text(&secret::hash(&format!("session {}", secret::text(hash)))[..12])
}

/// Ends a session if it exists.
pub fn end(tx: &mut Tx<'_>, session: &str) -> Result<()> {
    repository::delete(tx, secret::hash(session).as_slice())
}

/// A secret that guards the forms of a browser that has no session.
pub fn new_form_secret() -> String {
    secret::random_text::<32>("")
}

/// Whether the token is the one of the secret.
pub fn is_form_token(secret: &str, token: &str) -> bool {
    secret::is_equal(&secret::hash(&form_token(secret)), &secret::hash(token))
}

/// A token that only pages of this session contain. It protects against forged forms.
pub fn form_token(session: &str) -> String {
    secret::derived("lyceum form", session)
}
