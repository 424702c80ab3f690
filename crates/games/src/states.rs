//! The state that a game saves for a player: one JSON value with a version, which reveals changes made in between.

use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::limits;
use crate::repository::states as repository;

/// A saved state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameState {
    /// The saved state; null if nothing was saved.
    #[schemars(with = "Value")]
    pub state: Box<RawValue>,
    /// The number of saves; 0 if nothing was saved.
    pub version: i64,
    /// When it was last saved.
    pub updated_at: Option<Timestamp>,
}

/// The result of saving a state.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedGameState {
    /// Its new version.
    pub version: i64,
    /// When it was saved.
    pub updated_at: Timestamp,
}

/// A state to save.
#[derive(Deserialize, JsonSchema)]
pub struct NewGameState {
    /// Any JSON.
    state: Value,
    /// The version that the game loaded.
    version: Option<i64>,
}

/// A state on its way in.
#[derive(Clone, Debug)]
pub struct CheckedGameState {
    text: String,
    expected: Option<i64>,
}

impl TryFrom<NewGameState> for CheckedGameState {
    type Error = Problem;

    /// Errors: `TooLarge`.
    fn try_from(sent: NewGameState) -> Result<Self> {
        let text = sent.state.to_string();
        let most = limits::GAME_STATE_MAX_BYTES;
        if text.len() > most {
            let message =
                message!("the state has {n} bytes of JSON; the limit is {most}", n = text.len());
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        Ok(Self { text, expected: sent.version })
    }
}

/// The saved state of a player.
pub fn load(tx: &mut Tx<'_>, game: &str, user: &str) -> Result<GameState> {
    let found = repository::find(tx, game, user)?;
    let (state, version, updated_at) = match found {
        Some((text, version, at)) => {
            (RawValue::from_string(text).map_err(Problem::internal)?, version, Some(at))
        }
        None => (RawValue::NULL.to_owned(), 0, None),
    };
    Ok(GameState { state, version, updated_at })
}

/// Replaces the saved state.
///
/// Errors: `Conflict` if the stored version is not the one that the game sent.
pub fn save(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    new: &CheckedGameState,
) -> Result<SavedGameState> {
    match repository::save(tx, now, game, user, &new.text, new.expected)? {
        Some(version) => Ok(SavedGameState { version, updated_at: now }),
        None => {
            let saved_version =
                repository::find(tx, game, user)?.map_or(0, |(_, version, _)| version);
            let message = message!(
                "the saved version is {saved_version}; load it, merge your changes and save with its version"
            );
            let path = "version".into();
            let details = vec![Detail { path, message: message.clone() }];
            let message = message!("the state was changed meanwhile: {message}");
            Err(Problem { details, ..Problem::new(ProblemKind::Conflict, message) })
        }
    }
}
