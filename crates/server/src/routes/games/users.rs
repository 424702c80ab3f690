//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::Result;
use lyceum_games::players;
use serde_json::json;

use super::play::{of_player, read};
use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/users/{userId}", Access::player(GamesRead), shown))
            .named("getPlayer")
            .says(
                "A player: 'me' is whoever calls, shown whole; others are shown by their username.",
            )
            .answers(200, "The player.", schema::player()),
    ]
}

async fn shown(context: Context) -> Result<Answer> {
    let work = |tx: &mut lyceum_store::Tx<'_>, play: &super::play::Play| {
        let (user, is_open) = play.named_user()?;
        match is_open {
            true => players::profile(tx, user).map(|profile| json!(profile)),
            false => players::seen(tx, user).map(|seen| json!(seen)),
        }
    };
    read(context, work).await
}
