//! Achievements.

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::Result;
use lyceum_games::achievements::{
    self, Achievement, AchievementDefinition, AchievementProgress, NewAchievementProgress,
};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, post, put};
use lyceum_store::Tx;

use super::IgnoredBody;
use super::play::{GameRequest, of_player, once, read, write};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/games/{gameId}/achievements", Access::player(GamesRead), list_achievements))
            .within_reach()
            .named("getAchievements")
            .description("Lists the achievements of a game with a player's progress.")
            .answers::<Vec<AchievementProgress>>(200, "The achievements."),
        put("/games/{gameId}/achievements/{name}", GamesWrite, defined)
            .of_no_organization()
            .named("putAchievement")
            .description("Creates or replaces an achievement of a game. Players keep their progress.")
            .reads::<AchievementDefinition>()
            .answers::<Achievement>(201, "The achievement was created.")
            .answers::<Achievement>(200, "The achievement was replaced."),
        once(post("/games/{gameId}/achievements/{name}/progress", Access::player(GamesWrite), advanced))
            .within_reach()
            .named("advanceAchievement")
            .description("Records a player's progress, which never decreases. At the goal the achievement is unlocked.")
            .reads::<NewAchievementProgress>()
            .answers::<AchievementProgress>(200, "The player's progress."),
        once(post("/games/{gameId}/achievements/{name}/unlock", Access::player(GamesWrite), unlocked))
            .within_reach()
            .named("unlockAchievement")
            .description("Unlocks an achievement for a player, with its rewards and a notification: once.")
            .reads::<IgnoredBody>()
            .answers::<AchievementProgress>(200, "The achievement is unlocked."),
    ]
}

async fn list_achievements(context: Context) -> Result<Answer> {
    read(context, |tx, play| {
        let game = play.game(tx)?;
        let user = play.player_in(tx, &game)?;
        achievements::of_user(tx, &game.id, user)
    })
    .await
}

async fn defined(context: Context) -> Result<Answer> {
    let definition: AchievementDefinition = context.body_as()?;
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    let define = move |tx: &mut Tx<'_>| {
        let game = play.game_to_change(tx, None)?;
        achievements::define(tx, &game.id, play.context.param("name"), definition.clone())
    };
    let (achievement, is_new) = db.write(define).await?;
    Ok(Answer::of(&achievement).status(if is_new { StatusCode::CREATED } else { StatusCode::OK }))
}

async fn advanced(context: Context) -> Result<Answer> {
    let NewAchievementProgress { progress } = context.body_as()?;
    reach(context, Some(progress)).await
}

async fn unlocked(context: Context) -> Result<Answer> {
    reach(context, None).await
}

async fn reach(context: Context, progress: Option<i64>) -> Result<Answer> {
    write(context, StatusCode::OK, move |tx, play| {
        let game = play.game(tx)?;
        let (user, name) = (play.player_in(tx, &game)?, play.context.param("name"));
        achievements::advance(tx, play.now, &game.id, user, name, progress)
    })
    .await
}
