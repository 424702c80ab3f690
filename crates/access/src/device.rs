//! Signs in a program that has no page (RFC 8628): it shows a short code, a person who
//! is signed in approves it, and the program gets a token.

use lyceum_core::config::Environment;
use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;

use crate::limits;
use crate::person::{self, Person};
use crate::repository::device as repository;
use crate::secret;
use crate::session::{self, SessionKind};

/// The one program that may ask: `client_id` of the requests.
pub const CLIENT_ID: &str = "lyceum-cli";
/// The letters of user codes: no vowels, so that no words arise (RFC 8628, 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// The letters of a user code: 20⁸ codes.
const CODE_LETTERS: usize = 8;

/// The codes with which a program starts a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCodes {
    /// The secret code with which the program requests its token.
    pub device_code: String,
    /// The code that the program shows, such as `BCDF-GHJK`.
    pub user_code: String,
}

/// The reason why the program gets no token, or not yet: the error codes of RFC 8628, 3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// Nobody has decided yet.
    Pending,
    /// It asks too often, and is to wait five seconds more from now on.
    SlowDown,
    /// A person said no.
    Denied,
    /// The time to decide is over.
    Expired,
    /// No such code is waiting here: it never was, was used, or is another environment's.
    Unknown,
}

/// Begins: a code for the program and one for the person.
/// Errors: more are waiting than [`limits::DEVICE_CODES_MAX_COUNT`].
pub fn start(tx: &mut Tx<'_>, now: Timestamp, environment: Environment) -> Result<DeviceCodes> {
    // Longer than their validity, so that a late program gets the right error.
    repository::delete_before(tx, now.plus_seconds(-limits::DEVICE_CODE_LIFETIME_S))?;
    if repository::count(tx)? >= limits::DEVICE_CODES_MAX_COUNT {
        let mut problem = Problem::new(
            ProblemKind::TooManyRequests,
            "too many sign-ins are waiting for confirmation; try again later",
        );
        problem.retry_after_s = u32::try_from(limits::DEVICE_CODE_LIFETIME_S).ok();
        return Err(problem);
    }
    let device_code = secret::random_text::<32>("");
    let expires = now.plus_seconds(limits::DEVICE_CODE_LIFETIME_S);
    loop {
        let code = new_user_code();
        if repository::insert(tx, &secret::hash(&device_code), &code, environment, expires)? {
            let user_code = format_code(&code);
            return Ok(DeviceCodes { device_code, user_code });
        }
    }
}

/// The code as it is shown, if one is waiting for a decision; `typed` may have any case and spaces.
pub fn waiting(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    typed: &str,
) -> Result<Option<String>> {
    let code = plain(typed);
    let is_waiting = repository::is_waiting(tx, now, environment, &code)?;
    Ok(is_waiting.then(|| format_code(&code)))
}

/// Approves or denies the sign-in with this code. Returns false if no sign-in waits for it.
pub fn decide(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    typed: &str,
    person: &Person,
    approve: bool,
) -> Result<bool> {
    let state = if approve { "approved" } else { "denied" };
    repository::decide(tx, now, environment, &plain(typed), state, &person.id)
}

/// Asks for the token: it is given once.
pub fn poll(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    device_code: &str,
) -> Result<Result<(Person, String), TokenRefusal>> {
    let hash = secret::hash(device_code);
    let Some(found) = repository::find(tx, &hash, environment)? else {
        return Ok(Err(TokenRefusal::Unknown));
    };
    // A server whose clock is ahead notes a later time, which must not make each poll at another server too soon.
    let too_soon =
        found.polled.is_some_and(|last| last <= now && now < last.plus_seconds(found.interval_s));
    let interval_s = found.interval_s + if too_soon { limits::DEVICE_SLOW_DOWN_S } else { 0 };
    repository::polled(tx, &hash, now, interval_s)?;
    match (found.state.as_str(), found.person) {
        _ if found.expires <= now => Ok(Err(TokenRefusal::Expired)),
        _ if too_soon => Ok(Err(TokenRefusal::SlowDown)),
        ("waiting", _) => Ok(Err(TokenRefusal::Pending)),
        ("approved", Some(id)) => {
            repository::delete(tx, &hash)?;
            match person::find(tx, &id)?.filter(|person| person.disabled.is_none()) {
                Some(person) => {
                    let token =
                        session::start(tx, now, environment, &person, SessionKind::Token, None)?;
                    Ok(Ok((person, token)))
                }
                None => Ok(Err(TokenRefusal::Denied)),
            }
        }
        _ => {
            repository::delete(tx, &hash)?;
            Ok(Err(TokenRefusal::Denied))
        }
    }
}

fn new_user_code() -> String {
    let mut code = String::with_capacity(CODE_LETTERS);
    while code.len() < CODE_LETTERS {
        // Bytes beyond the last multiple of 20 are left out: every letter is equally likely.
        for byte in secret_bytes::<16>().into_iter().filter(|byte| *byte < 240) {
            if code.len() < CODE_LETTERS {
                code.push(char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
            }
        }
    }
    code
}

/// The letters of a typed code without its separators (RFC 8628, 6.1).
fn plain(typed: &str) -> String {
    let upper = typed.chars().map(|c| c.to_ascii_uppercase());
    upper.filter(char::is_ascii_uppercase).take(CODE_LETTERS + 1).collect()
}

fn format_code(code: &str) -> String {
    let (front, back) = code.split_at(CODE_LETTERS / 2);
    format!("{front}-{back}")
}
