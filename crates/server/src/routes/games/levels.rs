//! Levels.

use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::Subject;
use lyceum_core::Result;
use lyceum_games::levels::{self, Level, NewLevels, Progress};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use super::play::{Play, of_player, read};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, put};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Levels {
    levels: Vec<Level>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/levels/me", Access::player(GamesRead), progress))
            .named("getLevel")
            .says("A player's level and XP, and how far the next level is.")
            .answers::<Progress>(200, "The level."),
        get("/levels/config", Access::player(GamesRead), table)
            .named("getLevels")
            .says("The XP at which each level begins, and the credits that reaching it brings.")
            .answers::<Levels>(200, "The table."),
        put("/levels/config", GamesWrite, replaced)
            .named("putLevels")
            .says("Sets the table of levels, which all games share: for administrators and clients. Players are at once where it puts them.")
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
    let play = Play::of(context)?;
    play.decide(Subject::Platform)?;
    let db = &play.context.app.db;
    db.write(move |tx: &mut Tx<'_>| levels::set_table(tx, &table)).await?;
    Ok(Answer::of(&shown))
}
