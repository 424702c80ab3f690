//! Notifications for players.

use http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_core::{Problem, Result};
use lyceum_games::limits;
use lyceum_games::notifications::{self, Notification};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, ParamPlace, get, post};
use schemars::JsonSchema;
use serde::Serialize;

use super::IgnoredBody;
use super::play::{of_player, once, paged, read, write};
use crate::shape::flag;
use crate::{Context, Route};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct NewlyRead {
    read: u64,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(paged(
            limits::GAME_PAGE_MAX_RECORDS,
            get("/notifications", Access::player(GamesRead), list_notifications),
        ))
        .within_reach()
        .named("getNotifications")
        .description("Lists a player's notifications, newest first.")
        .param(ParamPlace::Query, "unread", flag(), "Only what the player has not seen.")
        .answers::<Vec<Notification>>(200, "A page."),
        once(post("/notifications/read", Access::player(GamesWrite), all_read))
            .within_reach()
            .named("readNotifications")
            .description("Marks all notifications as read.")
            .reads::<IgnoredBody>()
            .answers::<NewlyRead>(200, "The number of notifications that were unread."),
        once(post("/notifications/{id}/read", Access::player(GamesWrite), one_read))
            .within_reach()
            .named("readNotification")
            .description("Marks a notification as read.")
            .reads::<IgnoredBody>()
            .answers::<Notification>(200, "The notification."),
    ]
}

async fn list_notifications(context: Context) -> Result<Answer> {
    let unread = match context.query_value("unread").as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Problem::invalid("unread", "must be true or false")),
    };
    read(context, move |tx, play| {
        let page = play.page(limits::GAME_PAGE_MAX_RECORDS)?;
        let user = play.player_of_all_games(tx)?;
        notifications::of_user(tx, user, unread, page)
    })
    .await
}

async fn all_read(context: Context) -> Result<Answer> {
    write(context, StatusCode::OK, |tx, play| {
        let user = play.player_of_all_games(tx)?;
        let read = notifications::mark_all_read(tx, play.now, user)?;
        Ok(NewlyRead { read })
    })
    .await
}

async fn one_read(context: Context) -> Result<Answer> {
    write(context, StatusCode::OK, |tx, play| {
        let user = play.player_of_all_games(tx)?;
        notifications::mark_read(tx, play.now, user, play.context.param("id"))
    })
    .await
}
