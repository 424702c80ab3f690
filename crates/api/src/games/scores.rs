//! Scores and leaderboards.

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::limits;
use lyceum_games::scores::{self, Board, GameScore, LeaderboardLine, NewGameScore, Timeframe};
use lyceum_games::visible_games::VisibleGames;
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, ParamPlace, get, post};

use super::play::{of_game, once, paged, read, write};
use crate::shape::one_of;
use crate::{Context, Route};

/// The default number of entries of a leaderboard.
const USUAL_LINES: i64 = 10;

pub(super) fn routes() -> Vec<Route> {
    let submits = |route: Route, name: &'static str| {
        once(route)
            .within_reach()
            .named(name)
            .description("Stores a score of the token's player, or of the named player, in a game.")
            .reads::<NewGameScore>()
            .answers::<GameScore>(201, "The score was stored.")
    };
    let board = |route: Route, name: &'static str| {
        let frames = Timeframe::ALL.map(|(name, _)| name);
        paged(USUAL_LINES, route)
            .within_reach()
            .param(ParamPlace::Query, "timeframe", one_of(&frames), "The period of the scores, in UTC; by default all_time.")
            .named(name)
            .description("Lists the best score of each player, highest first. Of equal scores the earlier one comes first.")
            .answers::<Vec<LeaderboardLine>>(200, "A page of the leader board.")
    };
    let write = Access::visitor(GamesWrite);
    let read = Access::visitor(GamesRead);
    vec![
        submits(of_game(post("/scores", write, submitted)), "submitScore"),
        submits(post("/games/{gameId}/scores", write, submitted), "submitScoreOfGame"),
        of_game(paged(limits::GAME_PAGE_MAX_RECORDS, get("/users/{userId}/scores", read, of_user)))
            .within_reach()
            .named("getScoresOfPlayer")
            .description(
                "Lists a player's scores in all games or in one, newest first; 'me' is the caller.",
            )
            .answers::<Vec<GameScore>>(200, "A page of scores."),
        board(of_game(get("/leaderboard", read, leaderboard)), "getLeaderboard"),
        board(get("/games/{gameId}/leaderboard", read, leaderboard), "getLeaderboardOfGame"),
    ]
}

async fn submitted(context: Context) -> Result<Answer> {
    let new: NewGameScore = context.body_as()?;
    write(context, StatusCode::CREATED, move |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        scores::submit(tx, play.now, &game.id, user, new.clone())
    })
    .await
}

async fn of_user(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let user = play.named_in_path()?;
        let page = play.page(limits::GAME_PAGE_MAX_RECORDS)?;
        play.check_player(tx, user)?;
        let games = match play.requested_game(tx)? {
            Some(game) => VisibleGames::Only(vec![game.id]),
            None => play.games(tx)?,
        };
        scores::of_user(tx, &games, user, page)
    })
    .await
}

async fn leaderboard(context: Context) -> Result<Answer> {
    let timeframe = match context.query_value("timeframe") {
        Some(name) => Timeframe::of(&name)?,
        None => Timeframe::AllTime,
    };
    read(context, move |tx, play| {
        let game = play.game(tx)?;
        let board = match play.named_player() {
            Some(user) => Board::of(tx, user, &game.id)?,
            None => Board::Players,
        };
        let page = play.page(USUAL_LINES)?;
        let reach = play.context.reach();
        scores::leaderboard(tx, play.now, (&game.id, board), timeframe, page, &reach)
    })
    .await
}
