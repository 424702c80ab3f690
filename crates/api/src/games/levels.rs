//! Levels.

use lyceum_access::RequestSubject;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::levels::{self, Level, LevelProgress, NewLevels};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, put};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::play::{GameRequest, of_player, read};
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Levels {
    levels: Vec<Level>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/levels/me", Access::player(GamesRead), progress))
            .within_reach()
            .named("getLevel")
            .description("Reads a player's level, XP and the distance to the next level.")
            .answers::<LevelProgress>(200, "The level."),
        get("/levels/config", Access::player(GamesRead), table)
            .of_no_organization()
            .named("getLevels")
            .description("Lists the levels with the XP at which they begin and their credits.")
            .answers::<Levels>(200, "The table."),
        // All games and organizations share the table, so that limited callers do not set it.
        put("/levels/config", GamesWrite, replaced)
            .named("putLevels")
            .description("Sets the table of levels, which all games share. Only administrators and clients may do this. The levels of all players follow at once.")
            .reads::<NewLevels>()
            .answers::<Levels>(200, "The table."),
    ]
}

async fn progress(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let user = play.player_of_all_games(tx)?;
        levels::progress(tx, user)
    })
    .await
}

async fn table(context: Context) -> Result<Answer> {
    read(context, |tx, _| Ok(Levels { levels: levels::table(tx)? })).await
}

async fn replaced(context: Context) -> Result<Answer> {
    let table = context.body_as::<NewLevels>()?.table()?;
    let shown = Levels { levels: table.clone() };
    let play = GameRequest::of(context)?;
    play.decide(RequestSubject::Platform)?;
    let db = &play.context.app.db;
    db.write(move |tx: &mut Tx<'_>| levels::set_table(tx, &table)).await?;
    Ok(Answer::of(&shown))
}
