//! Levels.

use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::Subject;
use lyceum_core::Result;
use lyceum_games::levels;
use lyceum_store::Tx;
use serde_json::json;

use super::play::{Play, of_player, read};
use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, put};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/levels/me", Access::player(GamesRead), progress))
            .named("getLevel")
            .says("A player's level and XP, and how far the next level is.")
            .answers(200, "The level.", schema::progress()),
        get("/levels/config", Access::player(GamesRead), table)
            .named("getLevels")
            .says("The XP at which each level begins, and the credits that reaching it brings.")
            .answers(200, "The table.", schema::levels()),
        put("/levels/config", GamesWrite, replaced)
            .named("putLevels")
            .says("Sets the table of levels, which all games share: for administrators and clients. Players are at once where it puts them.")
            .reads(schema::levels())
            .answers(200, "The table.", schema::levels()),
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
    read(context, |tx, _| Ok(json!({ "levels": levels::table(tx)? }))).await
}

async fn replaced(context: Context) -> Result<Answer> {
    let table = levels::read_table(&context.body)?;
    let shown = json!({ "levels": table });
    let play = Play::of(context)?;
    play.decide(Subject::Platform)?;
    let db = &play.context.app.db;
    db.write(move |tx: &mut Tx<'_>| levels::set_table(tx, &table)).await?;
    Ok(Answer::of(&shown))
}
