//! Home: counts of what is stored, the flow of events, the first steps of a new server.

use lyceum_access::screens::system;
use lyceum_access::{Player, Role, api_key, client, person};
use lyceum_bridge::repository::unknown_actors;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::repository::{self as events, ArrivalRange, Flow};
use lyceum_games::games;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::screens::home::{self as roster, RecordCounts};
use lyceum_store::Tx;

use crate::backup::runs;
use crate::nodes::report::{self, NodeStatus};

const MINUTE_MS: i64 = 60_000;
/// Minutes that the flow of events covers.
const MINUTES: i64 = 60;
/// Minutes over which the rate is computed.
const RATE_MINUTES: i64 = 5;
/// Milliseconds from which an event arrives late.
const LATE_MS: i64 = 60_000;
/// Seconds from which a backup is old.
const BACKUP_OLD_S: i64 = 7 * 86_400;

/// The data of the page.
#[derive(Debug)]
pub struct Home {
    /// The numbers of students, courses and enrollments.
    pub roster: RecordCounts,
    /// The number of events.
    pub events: i64,
    /// The number of actors who are not in the roster.
    pub unknown_actors: i64,
    /// The events of the last hour.
    pub intake: EventIntake,
    /// The last backup.
    pub last_backup: Option<ListedBackup>,
    /// The servers that share the database.
    pub nodes: Vec<NodeStatus>,
    /// The number of jobs that failed for good.
    pub failed_jobs: i64,
    /// The steps to set up a new server.
    pub steps: SetupSteps,
    /// The project and the user of a sandbox.
    pub sandbox: Option<SandboxPlayer>,
}

/// The events of the last hour.
#[derive(Debug)]
pub struct EventIntake {
    /// The first instant of the hour: it begins with a whole minute.
    pub since: Timestamp,
    /// Each minute of the hour, the earliest first: how many events arrived, and which they are.
    pub minutes: Vec<(i64, Option<ArrivalRange>)>,
    /// Events per minute over the last five minutes.
    pub rate: f64,
    /// The events that the rate counts.
    pub rate_arrived: Option<ArrivalRange>,
    /// The newest event of all.
    pub newest: Option<NewestEvent>,
    /// The number of envelopes that were rejected in the hour and wait to be replayed.
    pub rejected: i64,
}

/// The newest event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestEvent {
    /// Its id.
    pub id: String,
    /// When it was received.
    pub received: Timestamp,
    /// Milliseconds from when it was sent to when it arrived.
    pub delay_ms: i64,
    /// Whether that is too long.
    pub is_late: bool,
}

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBackup {
    /// Its age in seconds.
    pub age_s: i64,
    /// Whether it is time for another one.
    pub is_old: bool,
    /// Whether the last backup that was tried out could not be restored.
    pub is_broken: bool,
}

/// The completed steps of a new server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a step of its own")]
pub struct SetupSteps {
    /// There are students and courses.
    pub has_roster: bool,
    /// Students are enrolled.
    pub has_enrollments: bool,
    /// An app can call the API: a client or an API key is in force.
    pub has_app: bool,
    /// An event arrived.
    pub has_events: bool,
    /// A guide can sign in.
    pub has_guide: bool,
}

/// The demo user of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxPlayer {
    /// The name of the project.
    pub project: String,
    /// The name of the demo user.
    pub student: String,
    /// The sourcedId of the demo user.
    pub student_id: String,
}

/// Reads the page, of a sandbox with its demo user.
pub fn read(tx: &mut Tx<'_>, now: Timestamp, player: Option<&Player>) -> Result<Home> {
    let (roster, events) = (roster::counts(tx, &Reach::Everything)?, tx.tally_total("events")?);
    let system = system::overview(tx)?;
    let has_client = client::list(tx)?.iter().any(|client| client.revoked.is_none());
    let has_key = api_key::list(tx)?.iter().any(|key| key.revoked.is_none());
    let people = person::list(tx)?;
    let steps = SetupSteps {
        has_roster: roster.students > 0 && roster.courses > 0,
        has_enrollments: roster.enrollments > 0,
        has_app: has_client || has_key,
        has_events: events > 0,
        has_guide: people.iter().any(|one| one.role == Role::Guide && one.disabled.is_none()),
    };
    Ok(Home {
        roster,
        events,
        unknown_actors: unknown_actors::count(tx)?,
        intake: intake(tx, now)?,
        last_backup: backup(tx, now)?,
        nodes: report::list(tx)?,
        failed_jobs: system.failed_jobs,
        steps,
        sandbox: player.map(|player| sandbox(tx, player)).transpose()?,
    })
}

fn backup(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<ListedBackup>> {
    let Some(last) = runs::last_complete(tx)? else { return Ok(None) };
    let age_s = (now.milliseconds() - last.began.milliseconds()) / 1000;
    let is_broken = runs::last_checked(tx)?.is_some_and(|checked| checked.check_error.is_some());
    Ok(Some(ListedBackup { age_s, is_old: age_s > BACKUP_OLD_S, is_broken }))
}

fn sandbox(tx: &mut Tx<'_>, player: &Player) -> Result<SandboxPlayer> {
    let project = games::find(tx, &player.game)?.display_name;
    let student = fields::full_name(&fields::in_use(tx, &USER, &player.user)?);
    Ok(SandboxPlayer { project, student, student_id: player.user.clone() })
}

fn intake(tx: &mut Tx<'_>, now: Timestamp) -> Result<EventIntake> {
    let last = now.milliseconds().div_euclid(MINUTE_MS);
    let (first, first_of_rate) = (last - MINUTES + 1, last - RATE_MINUTES + 1);
    let since = Timestamp::from_milliseconds(first * MINUTE_MS);
    let flow = events::flow(tx, since)?;
    let counted = |minute| flow.minutes.get(&minute).map_or(0, |minute| minute.count);
    let lately: i64 = (first_of_rate..=last).map(counted).sum();
    Ok(EventIntake {
        since,
        minutes: (first..=last)
            .map(|minute| (counted(minute), arrived(&flow, minute, 1)))
            .collect(),
        #[expect(clippy::cast_precision_loss, reason = "few")]
        rate: lately as f64 / RATE_MINUTES as f64,
        rate_arrived: arrived(&flow, first_of_rate, RATE_MINUTES),
        newest: flow.newest.as_ref().map(|newest| {
            let delay_ms = newest.delay_ms();
            let id = newest.event.id.clone();
            NewestEvent { id, received: newest.received, delay_ms, is_late: delay_ms > LATE_MS }
        }),
        rejected: flow.refused,
    })
}

/// The events that arrived in some minutes; `None` if no event did.
fn arrived(flow: &Flow, from: i64, minutes: i64) -> Option<ArrivalRange> {
    let within = || flow.minutes.range(from..from + minutes).map(|(_, minute)| minute);
    let first = within().map(|minute| minute.first).min()?;
    let last = within().map(|minute| minute.last).max()?;
    let instant = |minute: i64| Timestamp::from_milliseconds(minute * MINUTE_MS);
    Some(ArrivalRange { from: instant(from), to: instant(from + minutes), first, last })
}
