//! Stored game states of players.

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::states::{self, CheckedGameState, GameState, NewGameState, SavedGameState};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, put};

use super::play::{of_player, once, read, write};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/games/{gameId}/state", Access::player(GamesRead), loaded))
            .within_reach()
            .named("loadState")
            .description("Reads a game's state of a player; null and version 0 if nothing was saved.")
            .answers::<GameState>(200, "The state."),
        once(put("/games/{gameId}/state", Access::player(GamesWrite), saved))
            .within_reach()
            .named("saveState")
            .description("Saves a game's state of a player: any JSON up to 1 MiB. If the request has the loaded version and another save came first, it answers 409.")
            .reads::<NewGameState>()
            .answers::<SavedGameState>(200, "The state was saved."),
    ]
}

async fn loaded(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        states::load(tx, &game.id, user)
    })
    .await
}

async fn saved(context: Context) -> Result<Answer> {
    let new = CheckedGameState::try_from(context.body_as::<NewGameState>()?)?;
    write(context, StatusCode::OK, move |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        states::save(tx, play.now, &game.id, user, &new)
    })
    .await
}
