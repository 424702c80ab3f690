//! What a game remembers of a player: one JSON value, with a version that tells of changes between.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::repository::states as repository;

/// A saved state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// What the game saved; null where it has not.
    pub state: Box<RawValue>,
    /// Counts the saves; 0 where there is none.
    pub version: i64,
    /// When it was saved.
    pub updated_at: Option<Timestamp>,
}

/// A state that was saved.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// The version that it has now.
    pub version: i64,
    /// When it was saved.
    pub updated_at: Timestamp,
}

/// A state on its way in.
#[derive(Clone, Debug)]
pub struct NewState {
    text: String,
    expected: Option<i64>,
}

impl NewState {
    /// Reads `{state, version?}`; the version is the one that the game has seen last.
    ///
    /// Errors: `Malformed`, `Invalid`, `TooLarge`.
    pub fn read(body: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Body {
            state: serde_json::Value,
            version: Option<i64>,
        }
        let body: Body = crate::read(body)?;
        let text = body.state.to_string();
        let most = limits::GAME_STATE_MAX_BYTES;
        if text.len() > most {
            let message =
                format!("the state is {} bytes of JSON; at most {most} are kept", text.len());
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        Ok(Self { text, expected: body.version })
    }
}

/// What a game remembers of a player.
pub fn load(tx: &mut Tx<'_>, game: &str, user: &str) -> Result<State> {
    let found = repository::find(tx, game, user)?;
    let (state, version, updated_at) = match found {
        Some((text, version, at)) => {
            (RawValue::from_string(text).map_err(Problem::internal)?, version, Some(at))
        }
        None => (RawValue::NULL.to_owned(), 0, None),
    };
    Ok(State { state, version, updated_at })
}

/// Saves a state over the former one.
///
/// Errors: `Conflict` where another version is there than the game has seen last.
pub fn save(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    new: &NewState,
) -> Result<Saved> {
    match repository::save(tx, now, game, user, &new.text, new.expected)? {
        Some(version) => Ok(Saved { version, updated_at: now }),
        None => {
            let there = repository::find(tx, game, user)?.map_or(0, |(_, version, _)| version);
            let message =
                format!("version {there} is saved; load it, merge, save with its version");
            let path = "version".into();
            let details = vec![Detail { path, message: message.clone() }];
            let message = format!("the state was saved by someone else meanwhile: {message}");
            Err(Problem { details, ..Problem::new(ProblemKind::Conflict, message) })
        }
    }
}
