//! Stored game states of players.

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::states::{self, NewState, Saved, State, StateToSave};

use super::play::{of_player, once, read, write};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/games/{gameId}/state", Access::player(GamesRead), loaded))
            .named("loadState")
            .says("What a game remembers of a player; null and version 0 where it has saved nothing.")
            .answers::<State>(200, "The state."),
        once(put("/games/{gameId}/state", Access::player(GamesWrite), saved))
            .named("saveState")
            .says("Saves what a game remembers of a player, any JSON up to 1 MiB. With the version that was loaded it is refused, 409, where somebody saved meanwhile.")
            .reads::<StateToSave>()
            .answers::<Saved>(200, "Saved."),
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
    let new = NewState::try_from(context.body_as::<StateToSave>()?)?;
    write(context, StatusCode::OK, move |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        states::save(tx, play.now, &game.id, user, &new)
    })
    .await
}
