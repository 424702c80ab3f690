//! The learning of players if another server's event log records it.
//!
//! An activity is scored here, sent to the other server, and counted here after the other server has stored it. A
//! request that is repeated with its key creates events with the same ids, which the other log counts once. So a crash
//! between the two steps neither loses nor duplicates anything.
//!
//! The sandbox copies nothing of the other server's roster, which would be wrong as soon as somebody writes there.
//! Its setups change only records that they created there.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::StatusCode;
use lyceum_bridge::zone::Zone;
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_events::learning::LearningEvent;
use lyceum_games::games::Game;
use lyceum_games::levels::Xp;
use lyceum_games::lms::Integration;
use lyceum_games::lms::activity::{self, ActivityOutcome, EndedActivity, GameActivity, SpentTime};
use lyceum_games::lms::events::{EventContext, EventLearner, envelope};
use lyceum_games::lms::xp::{DayRange, DayXp, NewDayXp};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;
use serde::Serialize;

use super::learning::{History, RecordedEvent, Total, zone};
use super::play::{GameRequest, text_of};
use super::remote_setup::{email, only_the_student, taught_course};
use crate::Context;
use crate::learning::RemoteLearning;

/// A range of days that contains all learning.
const EVER: (&str, &str) = ("1970-01-01", "2200-01-01");

/// The owned values that an event is made from.
struct OwnedEventContext {
    base_url: String,
    now: Timestamp,
    game: Game,
    integration: Integration,
    user: String,
    actor: EventLearner,
}

impl OwnedEventContext {
    fn event_context(&self) -> EventContext<'_> {
        let Self { base_url, game, integration, user, .. } = self;
        EventContext { base_url, now: self.now, game, integration, user }
    }
}

/// The stage of a request, and its earlier answer if the request is repeated.
async fn stage(
    play: &Arc<GameRequest>,
    other: &RemoteLearning,
    (game, student): (Option<String>, Option<String>),
    about: Option<&GameActivity>,
) -> Result<Result<OwnedEventContext, String>> {
    let user = only_the_student(play, other, student.as_deref())?;
    let mut key = None;
    if let Some(once) = play.once()? {
        let (asking, game, student) = (Arc::clone(play), game.clone(), student);
        let known = move |tx: &mut Tx<'_>| {
            let owner = asking.owner(tx, (game.as_deref(), student.as_deref()))?;
            Ok((once.stored_answer(tx, &owner)?, once.name(&owner)))
        };
        let (answer, name) = play.context.app.db.read(known).await?;
        if let Some(answer) = answer {
            return Ok(Err(answer));
        }
        key = Some(name);
    }
    let (game, integration) = taught_course(play, game).await?;
    let student = other.student().await?;
    if let Some(activity) = about {
        let course = activity.course(&integration)?;
        let enrollments = other.client.enrollments(&other.student).await?.unwrap_or_default();
        let of_course = |role: &str, id: &str| role == "student" && id == course.course_id;
        let learns = enrollments.iter().any(|it| of_course(&it.role, &it.course));
        if !learns || other.role.is_some_and(|(role, _)| role != "student") {
            return Err(activity::no_student(&other.student, course));
        }
    }
    let actor = EventLearner { id: other.student.clone(), email: email(&student), key };
    let base_url = other.client.roster_url().to_owned();
    Ok(Ok(OwnedEventContext { base_url, now: play.now, game, integration, user, actor }))
}

/// Counts a sent activity once for each key, and returns the answer.
async fn counted<T: Serialize + Send + 'static>(
    play: Arc<GameRequest>,
    (game, player): (Option<String>, Option<String>),
    answer: T,
    count: impl Fn(&mut Tx<'_>, &T) -> Result<()> + Send + 'static,
) -> Result<Answer> {
    let once = play.once()?;
    let db = play.context.app.db.clone();
    let write = move |tx: &mut Tx<'_>| {
        let work = |tx: &mut Tx<'_>| {
            count(tx, &answer)?;
            text_of(&answer)
        };
        match &once {
            Some(once) => {
                let owner = play.owner(tx, (game.as_deref(), player.as_deref()))?;
                once.run(tx, play.now, &owner, work)
            }
            None => work(tx),
        }
    };
    Ok(Answer::json(db.write(write).await?).status(StatusCode::OK))
}

async fn send(
    other: &RemoteLearning,
    stage: &OwnedEventContext,
    events: &[LearningEvent],
) -> Result<()> {
    other.client.send(envelope(&stage.event_context(), events)).await
}

pub(super) async fn ended(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let ended: EndedActivity = context.body_as()?;
    ended.check()?;
    let play = Arc::new(GameRequest::of(context)?);
    let _turn = other.turn.lock().await;
    let named = (ended.game_id.clone(), ended.student_id.clone());
    let stage = match stage(&play, &other, named.clone(), Some(ended.activity())).await? {
        Ok(stage) => Arc::new(stage),
        Err(known) => return Ok(Answer::json(known)),
    };
    let (weighing, of) = (Arc::clone(&stage), ended.clone());
    let weigh = move |tx: &mut Tx<'_>| {
        let course = of.activity().course(&weighing.integration)?;
        activity::weigh(tx, &weighing.event_context(), course, &weighing.actor, &of)
    };
    let ActivityOutcome { events, answer } = play.context.app.db.read(weigh).await?;
    send(&other, &stage, &events).await?;
    let count = move |tx: &mut Tx<'_>, earned: &_| {
        activity::count(tx, &stage.event_context(), &ended, earned)
    };
    counted(play, named, answer, count).await
}

pub(super) async fn record_time(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let spent: SpentTime = context.body_as()?;
    spent.check()?;
    let play = Arc::new(GameRequest::of(context)?);
    let _turn = other.turn.lock().await;
    let named = (spent.game_id.clone(), spent.student_id.clone());
    let stage = match stage(&play, &other, named.clone(), Some(spent.activity())).await? {
        Ok(stage) => stage,
        Err(known) => return Ok(Answer::json(known)),
    };
    let course = spent.activity().course(&stage.integration)?;
    let ActivityOutcome { events, answer } =
        activity::time(&stage.event_context(), course, &stage.actor, &spent)?;
    let course = course.course_id.clone();
    send(&other, &stage, &events).await?;
    counted(play, named, RecordedEvent { event_id: answer }, move |tx, _| {
        activity::count_time(tx, &stage.event_context(), &course, &spent)
    })
    .await
}

/// The XP of each day, as the other server reports them.
async fn xp_of(other: &RemoteLearning, days: DayRange, zone: &str) -> Result<Vec<DayXp>> {
    let days_there = other.client.xp(&other.student, &days.first(), &days.last(), zone).await?;
    let xp_by_day: BTreeMap<String, Xp> =
        days_there.into_iter().map(|day| (day.date, Xp::nearest(day.xp))).collect();
    Ok(days.filled(|date| xp_by_day.get(&date.to_string()).copied().unwrap_or_default()))
}

/// The time zone of a request, and its name.
fn named_zone(context: &Context) -> Result<(Zone, String)> {
    let name = context.query_value("timezone").unwrap_or_else(|| "UTC".to_owned());
    Ok((zone(context)?, name))
}

pub(super) async fn today(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let (zone, name) = named_zone(&context)?;
    let date = context.query_value("date");
    let play = GameRequest::of(context)?;
    only_the_student(&play, &other, None)?;
    let day = DayRange::single_day(play.now, &zone, date.as_deref())?;
    Ok(Answer::of(&xp_of(&other, day, &name).await?[0]))
}

pub(super) async fn today_set(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let new: NewDayXp = context.body_as()?;
    let (zone, wanted) = (new.zone()?, new.checked_xp()?);
    let play = Arc::new(GameRequest::of(context)?);
    let _turn = other.turn.lock().await;
    let stage = match stage(&play, &other, (None, None), None).await? {
        Ok(stage) => stage,
        Err(known) => return Ok(Answer::json(known)),
    };
    let day = DayRange::single_day(play.now, &zone, None)?;
    let remote_xp = xp_of(&other, day, new.zone_name()).await?[0].xp;
    if remote_xp != wanted {
        let difference = Xp(wanted.0 - remote_xp.0);
        let event = activity::correction(&stage.event_context(), &stage.actor, difference)?;
        send(&other, &stage, &[event]).await?;
    }
    let answer = xp_of(&other, day, new.zone_name()).await?.swap_remove(0);
    counted(play, (None, None), answer, |_, _| Ok(())).await
}

pub(super) async fn total(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    only_the_student(&GameRequest::of(context)?, &other, None)?;
    let days = other.client.xp(&other.student, EVER.0, EVER.1, "UTC").await?;
    let total = days.iter().map(|day| Xp::nearest(day.xp).0).sum();
    Ok(Answer::of(&Total { total_xp: Xp(total) }))
}

pub(super) async fn history(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let (zone, name) = named_zone(&context)?;
    let (start, end) = (context.query_value("startDate"), context.query_value("endDate"));
    let play = GameRequest::of(context)?;
    only_the_student(&play, &other, None)?;
    let days = DayRange::between(play.now, &zone, (start.as_deref(), end.as_deref()))?;
    Ok(Answer::of(&History { history: xp_of(&other, days, &name).await? }))
}
