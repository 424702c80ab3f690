//! The learning of players: completed activities, time spent, and the XP earned.

use axum::http::StatusCode;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::{Reach, Subject};
use lyceum_bridge::zone::Zone;
use lyceum_core::Result;
use lyceum_games::games::Game;
use lyceum_games::levels::Xp;
use lyceum_games::lms::activity::{self, Earned, EndedActivity, SpentTime};
use lyceum_games::lms::told::Scene;
use lyceum_games::lms::xp::{self, Corrects, DayXp, Days, NewXp};
use lyceum_games::lms::{self, Integration};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::lms::learning;
use super::play::{NamedPlayer, Play, of_game, of_player, once, read, scan, write, write_for};
use super::told;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, ParamPlace, Route, get, post, put};
use crate::routes::adaptive::shape::text;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct RecordedEvent {
    /// The event in the log.
    pub(super) event_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Total {
    pub(super) total_xp: Xp,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct History {
    pub(super) history: Vec<DayXp>,
}

pub(super) fn routes() -> Vec<Route> {
    let zoned = |route: Route| {
        of_player(route).param(
            ParamPlace::Query,
            "timezone",
            text(),
            "An IANA time zone; UTC unless said.",
        )
    };
    let date = || json!({ "type": "string", "format": "date" });
    let (may_read, may_write) = (Access::player(GamesRead), Access::player(GamesWrite));
    vec![
        learning(once(of_game(post("/lms/end-activity", may_write, ended))), told::ended)
            .named("endActivity")
            .says("Tells what came of an activity. A minute of active time is one XP, times 1.25 with all answers right, 1 from 80 %, else 0, and times 1, 0.5, 0.25, 0 by attempt; 'xpEarned' stands in place of that. Level, XP and the log of events follow at once.")
            .reads::<EndedActivity>()
            .answers::<Earned>(200, "What it has earned."),
        learning(once(of_game(post("/lms/time-spent", may_write, spent))), told::spent)
            .named("addTimeSpent")
            .says("Tells time that was spent in an activity; what is told here is not counted again when it ends.")
            .reads::<SpentTime>()
            .answers::<RecordedEvent>(200, "Kept."),
        learning(zoned(get("/lms/xp/today", may_read, today)), told::today)
            .param(ParamPlace::Query, "date", date(), "Another day than today.")
            .named("getXpToday")
            .says("A player's XP of today in a time zone.")
            .answers::<DayXp>(200, "The XP."),
        learning(once(of_game(put("/lms/xp/today", may_write, today_set))), told::today_set)
            .named("putXpToday")
            .says("Sets a student's XP of today: an event in a course of the game adds what is missing or takes away what is too much. Developers, their keys and backends, and game tokens take away no more than the game's courses gave.")
            .reads::<NewXp>()
            .answers::<DayXp>(200, "The XP."),
        learning(of_player(get("/lms/xp/total", may_read, total)), told::total)
            .named("getXpTotal")
            .says("All XP of a player.")
            .answers::<Total>(200, "The XP."),
        learning(zoned(get("/lms/xp/history", may_read, history)), told::history)
            .param(ParamPlace::Query, "startDate", date(), "The first day.")
            .param(ParamPlace::Query, "endDate", date(), "The last day.")
            .named("getXpHistory")
            .says("A player's XP by day, both days included: the last thirty days unless they are named.")
            .answers::<History>(200, "The days, the first first."),
    ]
}

/// The game, integration and player of a request.
fn on_scene<T>(
    tx: &mut Tx<'_>,
    play: &Play,
    (game, student): NamedPlayer<'_>,
    work: impl FnOnce(&mut Tx<'_>, &Scene<'_>) -> Result<T>,
) -> Result<T> {
    let game: Game = play.game_or(tx, game)?;
    let user = play.student_in(tx, &game, student)?;
    let integration: Integration = lms::find(tx, &game)?;
    let base_url = play.context.base_url();
    work(tx, &Scene { base_url, now: play.now, game: &game, integration: &integration, user })
}

async fn ended(context: Context) -> Result<Answer> {
    let ended: EndedActivity = context.body_as()?;
    let named = (ended.game_id.clone(), ended.student_id.clone());
    write_for(context, StatusCode::OK, named, move |tx, play| {
        let named = (ended.game_id.as_deref(), ended.student_id.as_deref());
        on_scene(tx, play, named, |tx, scene| activity::end(tx, scene, &ended))
    })
    .await
}

async fn spent(context: Context) -> Result<Answer> {
    let spent: SpentTime = context.body_as()?;
    let named = (spent.game_id.clone(), spent.student_id.clone());
    write_for(context, StatusCode::OK, named, move |tx, play| {
        let named = (spent.game_id.as_deref(), spent.student_id.as_deref());
        let event_id = on_scene(tx, play, named, |tx, scene| activity::spend(tx, scene, &spent))?;
        Ok(RecordedEvent { event_id })
    })
    .await
}

pub(super) fn zone(context: &Context) -> Result<Zone> {
    context.asked("timezone").map_or(Ok(Zone::UTC), |name| Zone::named(&name))
}

async fn today(context: Context) -> Result<Answer> {
    let (zone, date) = (zone(&context)?, context.asked("date"));
    read(context, move |tx, play| {
        let user = play.player_of_all_games(tx)?;
        xp::of_day(tx, play.now, user, &zone, date.as_deref())
    })
    .await
}

async fn today_set(context: Context) -> Result<Answer> {
    let new: NewXp = context.body_as()?;
    write(context, StatusCode::OK, move |tx, play| {
        let corrects = match play.decide(Subject::Route)? {
            Reach::Everything { .. } => Corrects::Everything,
            _ => Corrects::OwnCourses,
        };
        on_scene(tx, play, (None, None), |tx, scene| xp::set_today(tx, scene, &new, corrects))
    })
    .await
}

async fn total(context: Context) -> Result<Answer> {
    scan(context, |tx, play| {
        let user = play.player_of_all_games(tx)?;
        Ok(Total { total_xp: xp::total(tx, user)? })
    })
    .await
}

async fn history(context: Context) -> Result<Answer> {
    let zone = zone(&context)?;
    let (start, end) = (context.asked("startDate"), context.asked("endDate"));
    scan(context, move |tx, play| {
        let days = Days::between(play.now, &zone, (start.as_deref(), end.as_deref()))?;
        let user = play.player_of_all_games(tx)?;
        Ok(History { history: xp::of_days(tx, user, &zone, days)? })
    })
    .await
}
