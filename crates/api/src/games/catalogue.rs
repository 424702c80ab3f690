//! Games, and the tokens with which players play them.

use http::StatusCode;
use lyceum_access as access;
use lyceum_access::Scope::{GamesRead, GamesWrite, RosterWrite};
use lyceum_access::audit::AuditChange;
use lyceum_access::limits::TOKEN_LIFETIME_S;
use lyceum_access::{IssuedToken, Player, RequestSubject, TokenHolder};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_games::games::{self, Game, GameChange, NewGame};
use lyceum_games::{PageRequest, limits, players, scores};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::route::{Access, get, patch, post, put};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::play::{GameRequest, paged, read};
use crate::{Context, Route, projects};

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GameIdentityRequest")]
struct IdentityRequest {
    /// Whether the game receives names and email addresses.
    shares: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GameTokenRequest {
    /// The player; by default the player of the token.
    #[schemars(length(min = 1))]
    user_id: Option<String>,
}

/// A game token with its expiry and its player.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameToken {
    /// The token for the header Authorization, after `Bearer`.
    token: String,
    /// The game.
    game_id: String,
    /// The player.
    user_id: String,
    /// Seconds until it ends.
    expires_in: i64,
    /// When it ends, in seconds since 1970.
    exp: i64,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        // Players of all organizations share a game, so that limited callers do not share their names with it.
        put("/games/{gameId}/identity", RosterWrite, identity)
            .named("putGameIdentity")
            .description("Sets whether a game receives the names and email addresses of its players. Otherwise it receives only an id and a username.")
            .reads::<IdentityRequest>()
            .answers::<Game>(200, "The game."),
        paged(limits::GAME_PAGE_MAX_RECORDS, get("/games", Access::player(GamesRead), list_games))
            .of_no_organization()
            .named("getGames")
            .description("Lists the games by name.")
            .answers::<Vec<Game>>(200, "A page of games."),
        post("/games", GamesWrite, created)
            .of_no_organization()
            .named("createGame")
            .description("Registers a game under its slug. A repeated request with the same members changes nothing.")
            .reads::<NewGame>()
            .answers::<Game>(201, "The game was registered.")
            .answers::<Game>(200, "The same game was already registered."),
        get("/games/{gameId}", Access::visitor(GamesRead), read_game)
            .of_no_organization()
            .named("getGame")
            .description("A game, by id or slug.")
            .answers::<Game>(200, "The game."),
        patch("/games/{gameId}", GamesWrite, changed)
            .of_no_organization()
            .named("changeGame")
            .description("Changes a game. Members that are not sent and the slug stay the same.")
            .reads::<GameChange>()
            .answers::<Game>(200, "The game."),
        post("/games/{gameId}/token", GamesWrite, token)
            .within_reach()
            .named("createGameToken")
            .description("Issues a token for a player of this game, valid for one hour. It gives access only to this player and game. In a sandbox the player is by default the demo user.")
            .reads::<GameTokenRequest>()
            .answers::<GameToken>(200, "The token."),
    ]
}

async fn list_games(context: Context) -> Result<Answer> {
    let page = PageRequest::of(limits::GAME_PAGE_MAX_RECORDS, context.query())?;
    read(context, move |tx, _| games::list(tx, page)).await
}

async fn read_game(context: Context) -> Result<Answer> {
    // Callers may read all games, not only their own.
    read(context, |tx, play| games::find(tx, play.context.param("gameId"))).await
}

async fn created(context: Context) -> Result<Answer> {
    let new: NewGame = context.body_as()?;
    let play = GameRequest::of(context)?;
    play.decide(RequestSubject::NewProject(&new.slug))?;
    let db = play.context.app.db.clone();
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        // An existing game is never changed here. A slug with members belongs to them.
        if let (None, Some(grant)) = (games::lookup(tx, &new.slug)?, &play.context.grant) {
            projects::decide(tx, grant, &new.slug)?;
        }
        let (game, is_new) = games::create(tx, play.now, new.clone())?;
        let holder = play.context.grant.as_ref().and_then(Grant::holder);
        if let (Some(TokenHolder::Person(person)), true) = (holder, is_new) {
            access::join(tx, &game.slug, &person.id)?;
        }
        Ok((game, is_new))
    };
    let (game, is_new) = db.write(write).await?;
    Ok(Answer::of(&game).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn changed(context: Context) -> Result<Answer> {
    let change: GameChange = context.body_as()?;
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        let game = play.game_to_change(tx, None)?;
        games::change(tx, play.now, &game.id, change.clone())
    };
    Ok(Answer::of(&db.write(write).await?))
}

async fn identity(context: Context) -> Result<Answer> {
    let IdentityRequest { shares } = context.body_as()?;
    let (game_name, now) = (context.param("gameId").to_owned(), context.app.clock.now());
    let grant = context.grant.clone().expect("the route is not public");
    let who = grant.name().to_owned();
    let write =
        move |tx: &mut lyceum_store::Tx<'_>| share_identity(tx, now, &game_name, shares, &who);
    Ok(Answer::of(&context.app.db.write(write).await?))
}

/// Sets whether a game receives the identity of its players, and records that in the audit log.
pub fn share_identity(
    tx: &mut lyceum_store::Tx<'_>,
    now: Timestamp,
    game_name: &str,
    shares: bool,
    who: &str,
) -> Result<games::Game> {
    let game = games::share_identity(tx, now, game_name, shares)?;
    let change = AuditChange { who, what: "game.identity", subject: &game.slug };
    change.note(tx, now, &json!({ "shares": shares }))?;
    Ok(game)
}

async fn token(context: Context) -> Result<Answer> {
    let grant = context.grant.clone().expect("the route is not public");
    let request: GameTokenRequest = context.body_as()?;
    let user = request.user_id.or_else(|| grant.player().map(|player| player.user.clone()));
    let user =
        user.ok_or_else(|| Problem::invalid("userId", "is required: the id of the player"))?;
    let (app, now) = (context.app.clone(), context.app.clock.now());
    let play = GameRequest::of(context)?;
    let find = move |tx: &mut lyceum_store::Tx<'_>| {
        let game = play.game(tx)?;
        play.check_within_reach(tx, &user)?;
        let user = players::public_player(tx, &user)?.id;
        // This refuses a demo visitor of another game.
        scores::Board::of(tx, &user, &game.id)?;
        Ok(Player { user, game: game.id })
    };
    let player = app.db.read(find).await?;
    let keyring = app.gate.keyring();
    let issued = keyring.issue_game(grant.client_id(), &player, now, TOKEN_LIFETIME_S);
    Ok(Answer::of(&issued_to(&issued, &player, now)))
}

/// A game token with its expiry and its player.
pub fn issued_to(issued: &IssuedToken, player: &Player, now: Timestamp) -> GameToken {
    GameToken {
        token: issued.token.clone(),
        game_id: player.game.clone(),
        user_id: player.user.clone(),
        expires_in: issued.expires_in_s,
        exp: now.seconds() + issued.expires_in_s,
    }
}
