//! Play sessions.

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::{Result, limits};
use lyceum_games::sessions::{self, Session};

use super::IgnoredBody;
use super::play::{of_player, once, paged, read, write};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, post};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(paged(get("/games/{gameId}/sessions", Access::player(GamesRead), listed)))
            .named("getSessions")
            .says("A player's sessions in a game, the newest first.")
            .answers::<Vec<Session>>(200, "A page of sessions."),
        once(post("/games/{gameId}/sessions", Access::player(GamesWrite), started))
            .named("startSession")
            .says("A player begins to play.")
            .reads::<IgnoredBody>()
            .answers::<Session>(201, "Begun."),
        once(post("/games/{gameId}/sessions/{sessionId}/end", Access::player(GamesWrite), ended))
            .named("endSession")
            .says("A player stops playing; a session that has ended stays as it is.")
            .reads::<IgnoredBody>()
            .answers::<Session>(200, "Ended."),
    ]
}

async fn listed(context: Context) -> Result<Answer> {
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
