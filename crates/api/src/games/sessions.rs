//! Play sessions.

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::limits;
use lyceum_games::sessions::{self, GameSession};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, post};

use super::IgnoredBody;
use super::play::{of_player, once, paged, read, write};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(paged(
            limits::GAME_PAGE_MAX_RECORDS,
            get("/games/{gameId}/sessions", Access::player(GamesRead), list_sessions),
        ))
        .within_reach()
        .named("getSessions")
        .description("Lists a player's sessions in a game, newest first.")
        .answers::<Vec<GameSession>>(200, "A page of sessions."),
        once(post("/games/{gameId}/sessions", Access::player(GamesWrite), started))
            .within_reach()
            .named("startSession")
            .description("Starts a play session of a player.")
            .reads::<IgnoredBody>()
            .answers::<GameSession>(201, "The session has started."),
        once(post("/games/{gameId}/sessions/{sessionId}/end", Access::player(GamesWrite), ended))
            .within_reach()
            .named("endSession")
            .description("Ends a play session; a session that has ended does not change.")
            .reads::<IgnoredBody>()
            .answers::<GameSession>(200, "It has ended."),
    ]
}

async fn list_sessions(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let page = play.page(limits::GAME_PAGE_MAX_RECORDS)?;
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        sessions::of_user(tx, &game.id, user, page)
    })
    .await
}

async fn started(context: Context) -> Result<Answer> {
    write(context, StatusCode::CREATED, |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        sessions::start(tx, play.now, &game.id, user)
    })
    .await
}

async fn ended(context: Context) -> Result<Answer> {
    write(context, StatusCode::OK, |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        sessions::end(tx, play.now, &game.id, user, play.context.param("sessionId"))
    })
    .await
}
