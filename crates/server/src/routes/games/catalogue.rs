//! Games, and the tokens with which players play them.

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::{self as access, Holder, Player};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_games::games::{self, GameChange, NewGame};
use lyceum_games::{Page, players};
use serde::Deserialize;
use serde_json::json;

use super::play::{paged, read};
use super::schema;
use crate::answer::Answer;
use crate::auth::Grant;
use crate::context::Context;
use crate::route::{Access, Route, get, patch, post};
use crate::routes::adaptive::shape::{list, object, some_text};

pub(super) fn routes() -> Vec<Route> {
    vec![
        paged(get("/games", Access::player(GamesRead), listed))
            .named("getGames")
            .says("The games, by name.")
            .answers(200, "A page of games.", list(schema::game())),
        post("/games", GamesWrite, created)
            .named("createGame")
            .says("Registers a game under its slug; sent again with the same members it stays as it is.")
            .reads(schema::new_game())
            .answers(201, "Registered.", schema::game())
            .answers(200, "Was registered already.", schema::game()),
        get("/games/{gameId}", Access::player(GamesRead), shown)
            .named("getGame")
            .says("A game, by id or slug.")
            .answers(200, "The game.", schema::game()),
        patch("/games/{gameId}", GamesWrite, changed)
            .named("changeGame")
            .says("Changes a game; what is not sent stays, and so does the slug.")
            .reads(schema::game_change())
            .answers(200, "The game.", schema::game()),
        post("/games/{gameId}/token", GamesWrite, token)
            .named("createGameToken")
            .says("A token with which a player plays this game, valid for an hour. It opens the platform for that player and game, and nothing else. In a sandbox the player is the demo user unless named.")
            .reads(object(&[], json!({ "userId": some_text() })))
            .answers(200, "The token.", schema::token()),
    ]
}

async fn listed(context: Context) -> Result<Answer> {
    let page = Page::of(lyceum_core::limits::GAME_PAGE_MAX_RECORDS, context.query())?;
    read(context, move |tx, _| games::list(tx, page)).await
}

async fn shown(context: Context) -> Result<Answer> {
    // Every game is open to be looked at.
    read(context, |tx, play| games::find(tx, play.context.param("gameId"))).await
}

async fn created(context: Context) -> Result<Answer> {
    let new: NewGame = lyceum_games::read(&context.body)?;
    let now = context.app.clock.now();
    let holder = context.grant.as_ref().and_then(Grant::holder).cloned();
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        if let Some(Holder::Key(key)) = &holder
            && !Holder::Key(key.clone()).may_make(&new.slug)
        {
            let message = format!("the key is not one for '{}'", new.slug);
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
        let (game, is_new) = games::create(tx, now, new.clone())?;
        if let (Some(Holder::Person(person)), true) = (&holder, is_new) {
            access::join(tx, &game.slug, &person.id)?;
        }
        Ok((game, is_new))
    };
    let (game, is_new) = context.app.db.write(write).await?;
    Ok(Answer::of(&game).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn changed(context: Context) -> Result<Answer> {
    let change: GameChange = lyceum_games::read(&context.body)?;
    let (which, now) = (context.param("gameId").to_owned(), context.app.clock.now());
    let grant = context.grant.clone().expect("the route is not public");
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        let game = games::find(tx, &which)?;
        grant.check_project(tx, &game.slug)?;
        games::change(tx, now, &which, change.clone())
    };
    Ok(Answer::of(&context.app.db.write(write).await?))
}

async fn token(context: Context) -> Result<Answer> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        user_id: Option<String>,
    }
    let grant = context.grant.as_ref().expect("the route is not public");
    let asked: Asked = lyceum_games::read(&context.body)?;
    let user = asked.user_id.or_else(|| grant.player().map(|player| player.user.clone()));
    let user = user.ok_or_else(|| Problem::invalid("userId", "is required: who is to play"))?;
    let named = context.param("gameId").to_owned();
    let caller = grant.clone();
    let find = move |tx: &mut lyceum_store::Tx<'_>| {
        let game = games::find(tx, &named)?;
        caller.check_project(tx, &game.slug)?;
        Ok(Player { user: players::seen(tx, &user)?.id, game: game.id })
    };
    let player = context.app.db.read(find).await?;
    let now = context.app.clock.now();
    let issued = context.app.gate.keyring().issue_game(grant.client_id(), &player, now);
    let ends = Timestamp::from_milliseconds(now.seconds() * 1000).plus_seconds(issued.expires_in_s);
    Ok(Answer::of(&json!({
        "token": issued.token,
        "gameId": player.game,
        "userId": player.user,
        "expiresIn": issued.expires_in_s,
        "exp": ends.seconds(),
    })))
}
