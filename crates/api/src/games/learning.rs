//! The learning of players: completed activities, time spent, and the XP earned.

use http::StatusCode;
use lyceum_access::AccessReach;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_bridge::zone::Zone;
use lyceum_core::Result;
use lyceum_games::games::Game;
use lyceum_games::levels::Xp;
use lyceum_games::lms::activity::{self, EarnedXp, EndedActivity, SpentTime};
use lyceum_games::lms::events::EventContext;
use lyceum_games::lms::xp::{self, CorrectionScope, DayRange, DayXp, NewDayXp};
use lyceum_games::lms::{self, Integration};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, ParamPlace, get, post, put};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::lms::learning;
use super::play::{
    GameRequest, NamedPlayer, of_game, of_player, once, read, scan, write, write_for,
};
use super::remote_learning;
use crate::shape::text;
use crate::{Context, Route};

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
            "An IANA time zone. The default is UTC.",
        )
    };
    let date = || json!({ "type": "string", "format": "date" });
    let (may_read, may_write) = (Access::player(GamesRead), Access::player(GamesWrite));
    vec![
        learning(once(of_game(post("/lms/end-activity", may_write, ended))), remote_learning::ended)
            .within_reach()
            .named("endActivity")
            .description("Records the result of an activity. One minute of active time earns 1 XP. It is multiplied by accuracy (1.25 if all answers are right, 1 from 80 %, otherwise 0) and by attempt (1, 0.5, 0.25, then 0). 'xpEarned' replaces this computation. Level, XP and the event log change at once.")
            .reads::<EndedActivity>()
            .answers::<EarnedXp>(200, "The XP of the activity."),
        learning(once(of_game(post("/lms/time-spent", may_write, record_time))), remote_learning::record_time)
            .within_reach()
            .named("addTimeSpent")
            .description("Records time in an activity. This time is not counted again when the activity ends.")
            .reads::<SpentTime>()
            .answers::<RecordedEvent>(200, "The XP were recorded."),
        learning(zoned(get("/lms/xp/today", may_read, today)), remote_learning::today)
            .param(ParamPlace::Query, "date", date(), "The day to correct, if it is not today.")
            .within_reach()
            .named("getXpToday")
            .description("Reads a player's XP of today in a time zone.")
            .answers::<DayXp>(200, "The XP."),
        learning(once(of_game(put("/lms/xp/today", may_write, today_set))), remote_learning::today_set)
            .within_reach()
            .named("putXpToday")
            .description("Sets a student's XP of today with an event in a course of the game that adds or subtracts the difference. Developers, API keys, backends and game tokens can subtract at most the XP that the game's courses gave.")
            .reads::<NewDayXp>()
            .answers::<DayXp>(200, "The XP."),
        learning(of_player(get("/lms/xp/total", may_read, total)), remote_learning::total)
            .within_reach()
            .named("getXpTotal")
            .description("All XP of a player.")
            .answers::<Total>(200, "The XP."),
        learning(zoned(get("/lms/xp/history", may_read, history)), remote_learning::history)
            .param(ParamPlace::Query, "startDate", date(), "The first day.")
            .param(ParamPlace::Query, "endDate", date(), "The last day.")
            .within_reach()
            .named("getXpHistory")
            .description("Lists a player's XP by day, including the first and the last day; by default of the last 30 days.")
            .answers::<History>(200, "The days, earliest first."),
    ]
}

/// The game, integration and player of a request.
fn on_scene<T>(
    tx: &mut Tx<'_>,
    play: &GameRequest,
    (game, student): NamedPlayer<'_>,
    work: impl FnOnce(&mut Tx<'_>, &EventContext<'_>) -> Result<T>,
) -> Result<T> {
    let game: Game = play.game_or(tx, game)?;
    let user = play.student_in(tx, &game, student)?;
    let integration: Integration = lms::find(tx, &game)?;
    let base_url = play.context.base_url();
    work(
        tx,
        &EventContext { base_url, now: play.now, game: &game, integration: &integration, user },
    )
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

async fn record_time(context: Context) -> Result<Answer> {
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
    context.query_value("timezone").map_or(Ok(Zone::UTC), |name| Zone::from_name(&name))
}

async fn today(context: Context) -> Result<Answer> {
    let (zone, date) = (zone(&context)?, context.query_value("date"));
    read(context, move |tx, play| {
        let user = play.player_of_all_games(tx)?;
        xp::of_day(tx, play.now, user, &zone, date.as_deref())
    })
    .await
}

async fn today_set(context: Context) -> Result<Answer> {
    let new: NewDayXp = context.body_as()?;
    write(context, StatusCode::OK, move |tx, play| {
        let corrects = match play.decide_route()? {
            AccessReach::Everything { .. } => CorrectionScope::Everything,
            _ => CorrectionScope::OwnCourses,
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
    let (start, end) = (context.query_value("startDate"), context.query_value("endDate"));
    scan(context, move |tx, play| {
        let days = DayRange::between(play.now, &zone, (start.as_deref(), end.as_deref()))?;
        let user = play.player_of_all_games(tx)?;
        Ok(History { history: xp::of_days(tx, user, &zone, days)? })
    })
    .await
}
