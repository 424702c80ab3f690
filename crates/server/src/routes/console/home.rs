//! Home: health, what to do next, data that flows.

use lyceum_access::{Role, api_key, audit, client, person};
use lyceum_bridge::repository::unknown;
use lyceum_console::chart::{self, Bar};
use lyceum_console::home::{Figure, Health, Home, Step, UNKNOWN, Unknown};
use lyceum_console::{Cell, List, screens, words};
use lyceum_core::time::Timestamp;
use lyceum_core::{Result, limits};
use lyceum_events::repository::{Arrived, Flow, flow};
use lyceum_games::games;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::{Dialect, Tx, jobs};

use super::visitor::query;
use super::{Visitor, at_most, deadline, events, listed, page, shown, students, system};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

const MINUTE_MS: i64 = 60_000;
/// Minutes that the chart shows.
const MINUTES: i64 = 60;
/// Minutes over which the rate is told.
const RATE_MINUTES: i64 = 5;
/// Milliseconds from which events are late.
const LATE_MS: i64 = 60_000;
/// Milliseconds from which a database that does nothing is slow to answer.
const SLOW_MS: i64 = 100;
/// Seconds from which a backup is old.
const BACKUP_OLD_S: i64 = 7 * 86_400;

pub(super) fn routes() -> Vec<Route> {
    vec![page("", &screens::HOME, show), page("/unknown", &screens::HOME, unknown_students)]
}

/// What is known of the platform.
struct Known {
    students: i64,
    courses: i64,
    enrollments: i64,
    events: i64,
    unknown: i64,
    flow: Flow,
    backup: Option<audit::Entry>,
    failed_jobs: i64,
    has_app: bool,
    has_guide: bool,
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let now = context.app.clock.now();
    context.app.db.ping().await?;
    let ping_ms = context.app.clock.now().milliseconds() - now.milliseconds();
    let player = context.app.sandbox.as_ref().map(|sandbox| sandbox.player().clone());
    let scanned = context.app.db.scan(deadline(), move |tx| {
        let of_sandbox = match &player {
            None => Vec::new(),
            Some(player) => {
                let game = games::find(tx, &player.game)?.display_name;
                let user = fields::in_use(tx, &USER, &player.user)?;
                let name = [fields::text(&user, "givenName"), fields::text(&user, "familyName")];
                let project = ("Project", game, screens::PROJECTS.path.to_owned());
                vec![project, ("Student", name.join(" "), students::link(&player.user))]
            }
        };
        Ok((known(tx, now)?, of_sandbox))
    });
    let (known, sandbox) = scanned.await?;
    let role = visitor.person.role;
    let (mut here, mut flow) = (figures(&known), flowing(&known, now));
    let sees_events = screens::EVENTS.is_for(role.name());
    if !sees_events {
        for one in here.iter_mut().chain(&mut flow) {
            one.href.take_if(|href| href.starts_with(screens::EVENTS.path));
        }
    }
    let steps = if role == Role::Administrator { steps(&known) } else { Vec::new() };
    shown(&Home {
        frame: visitor.frame("Home"),
        about: vec![
            format!("Lyceum {}", env!("CARGO_PKG_VERSION")),
            match context.app.db.dialect() {
                Dialect::Sqlite => "SQLite".to_owned(),
                Dialect::Postgres => "PostgreSQL".to_owned(),
            },
            format!("days in {}", visitor.zone.name()),
        ],
        figures: if role == Role::Developer { Vec::new() } else { here },
        flow,
        minutes: minutes(&known.flow, now, sees_events),
        health: (role == Role::Administrator).then(|| Health {
            figures: vec![database(ping_ms), failed_jobs(&known), last_backup(&known, now)],
            has_button: context.app.db.dialect() == Dialect::Sqlite,
        }),
        steps,
        sandbox,
    })
}

/// Since when the flow is looked at: the first of its minutes, whole.
fn since(now: Timestamp) -> Timestamp {
    let first = now.milliseconds().div_euclid(MINUTE_MS) - MINUTES + 1;
    Timestamp::from_milliseconds(first * MINUTE_MS)
}

fn known(tx: &mut Tx<'_>, now: Timestamp) -> Result<Known> {
    let people = person::list(tx)?;
    let has_client = client::list(tx)?.iter().any(|client| client.revoked.is_none());
    let has_key = api_key::list(tx)?.iter().any(|key| key.revoked.is_none());
    Ok(Known {
        students: tx.tally_total("students")?,
        courses: tx.tally_total("courses")?,
        enrollments: tx.tally_total("enrollments")?,
        events: tx.tally_total("events")?,
        unknown: unknown::count(tx)?,
        flow: flow(tx, since(now))?,
        backup: system::last_backup(tx)?,
        failed_jobs: system::jobs_in(&jobs::counts(tx)?, "failed"),
        has_app: has_client || has_key,
        has_guide: people.iter().any(|one| one.role == Role::Guide && one.disabled.is_none()),
    })
}

fn database(ping_ms: i64) -> Figure {
    let (tone, says) = if ping_ms > SLOW_MS { ("warn", "slow") } else { ("good", "ready") };
    Figure {
        name: "Database answers in",
        shown: words::brief(ping_ms),
        says: says.to_owned(),
        tone,
        href: Some(screens::SYSTEM.path.to_owned()),
    }
}

fn failed_jobs(known: &Known) -> Figure {
    let (tone, says) = if known.failed_jobs > 0 { ("bad", "look") } else { ("good", "none") };
    let figure = figure("Jobs that failed", known.failed_jobs, "/console/system/jobs?state=failed");
    Figure { says: says.to_owned(), tone, ..figure }
}

fn last_backup(known: &Known, now: Timestamp) -> Figure {
    let age_s =
        known.backup.as_ref().map(|made| (now.milliseconds() - made.at.milliseconds()) / 1000);
    let (shown, tone, says) = match age_s {
        None => ("none".to_owned(), "warn", "make one"),
        Some(age) if age > BACKUP_OLD_S => (words::span(age) + " ago", "warn", "make another"),
        Some(age) => (words::span(age) + " ago", "good", "fresh"),
    };
    let href = Some("/console/system/backups".to_owned());
    Figure { name: "Last backup", shown, says: says.to_owned(), tone, href }
}

/// What makes the platform of use; nothing once all of it is done.
fn steps(known: &Known) -> Vec<Step> {
    let step = |is_done, name, says, href, command| Step { is_done, name, says, href, command };
    let steps = vec![
        step(
            known.students > 0 && known.courses > 0,
            "Bring in your roster",
            "Schools, classes, courses and students, as OneRoster CSV or over the API.",
            screens::IMPORTS.path,
            "lyceum import roster.zip",
        ),
        step(
            known.enrollments > 0,
            "Enrol students",
            "An enrollment in a class or a course says who learns what.",
            screens::IMPORTS.path,
            "",
        ),
        step(
            known.has_app,
            "Let an app in",
            "A client's id and secret, or a key, is what an app calls the API with.",
            screens::KEYS.path,
            "lyceum client create my-app",
        ),
        step(
            known.events > 0,
            "See the first event arrive",
            "Apps tell what students do as Caliper events.",
            screens::EVENTS.path,
            "lyceum trigger activity.completed",
        ),
        step(
            known.has_guide,
            "Invite a guide",
            "Guides see who needs help now; the command prints a link to send.",
            screens::SYSTEM.path,
            "lyceum admin user create guide@example.org --role guide",
        ),
    ];
    if steps.iter().all(|step| step.is_done) { Vec::new() } else { steps }
}

fn figure(name: &'static str, count: i64, href: &'static str) -> Figure {
    Figure {
        name,
        shown: words::count(count),
        says: String::new(),
        tone: "",
        href: Some(href.to_owned()),
    }
}

fn figures(known: &Known) -> Vec<Figure> {
    vec![
        figure("Students", known.students, screens::STUDENTS.path),
        figure("Courses", known.courses, screens::COURSES.path),
        figure("Enrollments", known.enrollments, screens::CLASSES.path),
        figure("Events", known.events, screens::EVENTS.path),
    ]
}

fn flowing(known: &Known, now: Timestamp) -> Vec<Figure> {
    let Flow { minutes, newest, refused } = &known.flow;
    let first = now.milliseconds() / MINUTE_MS - RATE_MINUTES + 1;
    let lately: i64 = minutes.range(first..).map(|(_, minute)| minute.count).sum();
    let lag_ms = newest.as_ref().map(events::lag_ms);
    let toned = |is_bad: bool, good: &str, bad: &str| match is_bad {
        false => ("good", good.to_owned()),
        true => ("warn", bad.to_owned()),
    };
    let late = toned(lag_ms.is_some_and(|lag| lag > LATE_MS), "on time", "late");
    let (refused_tone, unknown_tone) =
        (toned(*refused > 0, "none", "look"), toned(known.unknown > 0, "none", "look"));
    vec![
        Figure {
            name: "Events a minute",
            #[expect(clippy::cast_precision_loss, reason = "few")]
            shown: words::number(lately as f64 / RATE_MINUTES as f64),
            says: match newest {
                Some(newest) => format!("the last one {}", words::ago(newest.received, now)),
                None => "none has ever arrived".to_owned(),
            },
            tone: "",
            href: Some(behind(&known.flow, first, RATE_MINUTES)),
        },
        Figure {
            name: "Refused in the last hour",
            shown: words::count(*refused),
            says: refused_tone.1,
            tone: refused_tone.0,
            href: Some(format!("/console/events/refused?state=waits&since={}", since(now))),
        },
        Figure {
            name: "Sent to arrived",
            shown: lag_ms.map_or_else(|| "–".to_owned(), words::brief),
            says: if lag_ms.is_some() { late.1 } else { String::new() },
            tone: if lag_ms.is_some() { late.0 } else { "" },
            href: Some(match newest {
                Some(newest) => events::one_link(&newest.event.id),
                None => screens::EVENTS.path.to_owned(),
            }),
        },
        Figure {
            name: "Unknown students",
            shown: words::count(known.unknown),
            says: unknown_tone.1,
            tone: unknown_tone.0,
            href: Some("/console/unknown".to_owned()),
        },
    ]
}

/// The page of the events that arrived in some minutes; of all where none did.
fn behind(flow: &Flow, from: i64, minutes: i64) -> String {
    let within = || flow.minutes.range(from..from + minutes).map(|(_, minute)| minute);
    let (Some(first), Some(last)) =
        (within().map(|minute| minute.first).min(), within().map(|minute| minute.last).max())
    else {
        return screens::EVENTS.path.to_owned();
    };
    let instant = |minute: i64| Timestamp::from_milliseconds(minute * MINUTE_MS);
    events::arrived_link(&Arrived { from: instant(from), to: instant(from + minutes), first, last })
}

fn minutes(flow: &Flow, now: Timestamp, are_links: bool) -> chart::Svg {
    let last = now.milliseconds() / MINUTE_MS;
    let bar = |minute: i64| {
        let count = flow.minutes.get(&minute).map_or(0, |minute| minute.count);
        let ago = last - minute;
        let when = if ago == 0 { "this minute".to_owned() } else { format!("{ago} min ago") };
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let value = count as f64;
        let label = if ago == 0 { "now".to_owned() } else { format!("−{ago}") };
        let href = (are_links && count > 0).then(|| behind(flow, minute, 1));
        Bar { value, label, says: format!("{when}: {count} events"), href }
    };
    let bars: Vec<Bar> = (last - MINUTES + 1..=last).map(bar).collect();
    chart::bars(&bars, "Events by minute in the last hour", "events", None)
}

async fn unknown_students(context: Context, visitor: Visitor) -> Result<Answer> {
    let most = limits::UNKNOWN_STUDENTS_MAX_RECORDS;
    let found = context.app.db.scan(deadline(), move |tx| unknown::list(tx, most)).await?;
    let row = |one: &unknown::Unknown| vec![Cell::text(&one.iri), Cell::text(&one.email)];
    let list =
        List::new("Unknown students", UNKNOWN, query(&context), found.iter().map(row).collect())
            .or_else("Every actor of every event is somebody in the roster.")
            .note(at_most(found.len(), most));
    let view = Unknown { frame: visitor.frame("Unknown students"), list };
    listed("unknown-students", &view.list, &view)
}
