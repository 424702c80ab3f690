//! Home: own classes or projects, health, next steps and incoming data.

pub(crate) mod view;

use std::collections::BTreeSet;

use lyceum_access::Scope::{EventsRead, EventsWrite, RosterRead};
use lyceum_access::{Role, TokenHolder};
use lyceum_adaptive::screens::chosen_class::OWN_CLASSES;
use lyceum_adaptive::screens::my_classes as teacher;
use lyceum_adaptive::screens::today::StudentCounts;
use lyceum_api::bridge::school_hours::moment;
use lyceum_api::{Context, Route};
use lyceum_bridge::need::StudentInNeed;
use lyceum_bridge::repository::unknown_actors;
use lyceum_console::chart::{self, Bar};
use lyceum_console::language::{ValueInText, message};
use lyceum_console::{Cell, List, links, plural, screens, t, words};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Reach, Result, phrase};
use lyceum_events::repository::ArrivalRange;
use lyceum_hosting::deployments::Deployment;
use lyceum_hosting::engine::LogStream;
use lyceum_hosting::nodes::report::{self, NodeState, NodeStatus};
use lyceum_hosting::projects::Project;
use lyceum_hosting::screens::home::{self as screen, EventIntake, SetupSteps};
use lyceum_hosting::screens::projects;
use lyceum_http::answer::Answer;
use lyceum_roster::screens::home::{self as roster, RecordCounts};
use lyceum_store::{SqlDialect, Tx};

use super::system::database;
use super::today::label;
use super::visitor::query;
use super::{Visitor, at_most, deadline, page, show_list, show_page};
use crate::console::home::view::{
    EventFlow, Figure, Health, HomePage, MyClass, MyClasses, MyProject, SetupStep, UNKNOWN,
    UnknownActorsPage,
};
use crate::limits;

/// A ping of the database that takes longer than this many milliseconds is shown as slow.
const SLOW_MS: i64 = 100;

pub(super) fn routes() -> Vec<Route> {
    // Unknown students are actors of events, and in no organization: the list is for readers of all events.
    vec![
        page("", &screens::HOME, show).within_reach(),
        page("/unknown", &screens::HOME, unknown_students).needing(EventsRead),
    ]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let own = OwnWork::read(&context, &visitor).await?;
    let reach = context.reach();
    if reach.is_limited() {
        return show_part(&context, &visitor, reach, own).await;
    }
    let now = context.app.clock.now();
    context.app.db.ping().await?;
    let ping_ms = context.app.clock.now().milliseconds() - now.milliseconds();
    let player = context.app.sandbox.as_ref().map(|sandbox| sandbox.player().clone());
    let read = move |tx: &mut Tx<'_>| screen::read(tx, now, player.as_ref());
    let home = context.app.db.scan(deadline(), read).await?;
    let dialect = context.app.db.dialect();
    let OwnWork { my_classes, my_projects } = own;
    show_page(&HomePage { my_classes, my_projects, ..view(&visitor, now, dialect, ping_ms, &home) })
}

/// The classes and projects that the visitor works on.
struct OwnWork {
    my_classes: Option<MyClasses>,
    my_projects: Option<Vec<MyProject>>,
}

impl OwnWork {
    async fn read(context: &Context, visitor: &Visitor) -> Result<Self> {
        let role = visitor.person.role;
        Ok(Self {
            my_classes: match role {
                Role::Guide => my_classes(context, visitor).await?,
                _ => None,
            },
            my_projects: match role {
                Role::Developer => Some(my_projects(context, visitor).await?),
                _ => None,
            },
        })
    }
}

async fn my_classes(context: &Context, visitor: &Visitor) -> Result<Option<MyClasses>> {
    let (moment, reach, email) = (moment(context), context.reach(), visitor.person.email.clone());
    let read = move |tx: &mut Tx<'_>| teacher::read(tx, &moment, &email, &reach);
    let Some(found) = context.app.db.scan(deadline(), read).await? else { return Ok(None) };
    let class = |one: &teacher::ClassToday| MyClass {
        title: one.class.title.clone(),
        href: links::class(&one.class.id),
        course: one.class.course_title.clone(),
        figures: class_figures(&one.class.id, one.counts, one.xp),
    };
    let need = |need: &StudentInNeed| {
        let learner = &need.day.learner;
        let labels = need.reasons.iter().map(label).collect();
        (learner.name(), links::student(&learner.id), labels)
    };
    let counts = found.counts;
    Ok(Some(MyClasses {
        figures: class_figures(OWN_CLASSES, counts, found.xp).into(),
        needs_href: links::today("", OWN_CLASSES, ""),
        classes: found.classes.iter().map(class).collect(),
        needs: found.needs.iter().take(limits::HOME_NEEDS_COUNT).map(need).collect(),
        need_count: found.needs.len(),
    }))
}

/// The numbers of a class, each with a link to its students.
fn class_figures(class: &str, counts: StudentCounts, xp: i64) -> [Figure; 5] {
    let figure = |name, shown, href| Figure {
        name,
        shown,
        description: String::new(),
        tone: "",
        href: Some(href),
    };
    let group =
        |name, count: usize, group| figure(name, count.text(), links::today(group, class, ""));
    [
        figure(phrase!("Students"), counts.all.text(), links::students(class)),
        group(phrase!("Working now"), counts.working, "working"),
        group(phrase!("Absent"), counts.absent, "absent"),
        group(phrase!("Need attention"), counts.in_need, ""),
        figure(phrase!("XP today"), words::thousandths(xp), links::students(class)),
    ]
}

async fn my_projects(context: &Context, visitor: &Visitor) -> Result<Vec<MyProject>> {
    let holder = TokenHolder::Person(visitor.person.clone());
    let own = context.app.db.read(move |tx| projects::with_versions(tx, &holder)).await?;
    let project = |(project, version): &(Project, Option<Deployment>)| {
        let log = context.app.hosted.logs(&project.slug);
        let deployed = version.as_ref().map(|version| {
            let at = visitor.calendar.moment(version.made_at);
            let made_by = || Message::untranslated(version.made_by.clone());
            let by = message(&version.made_by_name.clone().unwrap_or_else(made_by));
            t!("Version {n} on {day} by {name}", n = version.version, day = at, name = by)
        });
        MyProject {
            slug: project.slug.clone(),
            href: links::project(&project.slug),
            state: match version {
                None => ("warn", t!("nothing is served")),
                Some(version) => ("good", served_parts(version)),
            },
            deployed: deployed.unwrap_or_else(|| "–".to_owned()),
            errors: log.iter().filter(|line| line.stream == LogStream::Error).count(),
            errors_href: format!("{}/logs?stream=error", links::project(&project.slug)),
        }
    };
    Ok(own.iter().map(project).collect())
}

fn served_parts(version: &Deployment) -> String {
    match (&version.frontend, &version.backend) {
        (Some(_), Some(_)) => t!("frontend and backend are served"),
        (Some(_), None) => t!("frontend is served"),
        (None, Some(_)) => t!("backend is served"),
        (None, None) => t!("no code is served"),
    }
}

/// Home for a person who is limited to a part of the roster: its numbers, and nothing about the server.
async fn show_part(
    context: &Context,
    visitor: &Visitor,
    reach: Reach,
    OwnWork { my_classes, my_projects }: OwnWork,
) -> Result<Answer> {
    let read = move |tx: &mut Tx<'_>| roster::counts(tx, &reach);
    let counts = context.app.db.scan(deadline(), read).await?;
    show_page(&HomePage {
        frame: visitor.frame(t!("Home")),
        about: about(visitor, context.app.db.dialect()),
        my_classes,
        my_projects,
        figures: if visitor.has(RosterRead) { figures(counts) } else { Vec::new() },
        flow: None,
        health: None,
        steps: Vec::new(),
        sandbox: Vec::new(),
    })
}

fn about(visitor: &Visitor, dialect: SqlDialect) -> Vec<String> {
    vec![
        format!("Lyceum {}", env!("CARGO_PKG_VERSION")),
        database(dialect).to_owned(),
        t!("time zone {zone}", zone = visitor.zone().name()),
    ]
}

fn view(
    visitor: &Visitor,
    now: Timestamp,
    dialect: SqlDialect,
    ping_ms: i64,
    home: &screen::Home,
) -> HomePage {
    let role = visitor.person.role;
    HomePage {
        frame: visitor.frame(t!("Home")),
        about: about(visitor, dialect),
        my_classes: None,
        my_projects: None,
        figures: if visitor.has(RosterRead) { all_figures(home) } else { Vec::new() },
        flow: visitor.has(EventsRead).then(|| EventFlow {
            figures: flow(home, now, visitor.has(EventsWrite)),
            minutes: minutes(&home.intake),
        }),
        health: (role == Role::Administrator).then(|| Health {
            figures: vec![
                answer_time(ping_ms),
                servers(&home.nodes),
                failed_jobs(home),
                last_backup(home),
            ],
        }),
        steps: if role == Role::Administrator { steps(home.steps) } else { Vec::new() },
        sandbox: sandbox(home),
    }
}

fn sandbox(home: &screen::Home) -> Vec<(&'static str, String, String)> {
    let rows = home.sandbox.iter().flat_map(|player| {
        let projects = screens::PROJECTS.path.to_owned();
        let student = links::student(&player.student_id);
        [
            (phrase!("Project"), player.project.clone(), projects),
            (phrase!("Student"), player.student.clone(), student),
        ]
    });
    rows.collect()
}

fn answer_time(ping_ms: i64) -> Figure {
    let (tone, description) =
        if ping_ms > SLOW_MS { ("warn", t!("slow")) } else { ("good", t!("ready")) };
    Figure {
        name: phrase!("Database response time"),
        shown: words::brief(ping_ms),
        description,
        tone,
        href: Some(screens::SYSTEM.path.to_owned()),
    }
}

fn servers(nodes: &[NodeStatus]) -> Figure {
    let live: Vec<&NodeStatus> = nodes.iter().filter(|node| node.state.is_live()).collect();
    let releases: BTreeSet<&str> = live.iter().map(|node| &*node.version).collect();
    let silent = nodes.iter().filter(|node| node.state == NodeState::Silent).count();
    let (tone, description) = if silent > 0 {
        ("bad", plural!(silent, "{n} does not report", "{n} do not report"))
    } else if report::address_conflict(nodes).is_some() {
        ("bad", t!("the public addresses differ"))
    } else if releases.len() > 1 {
        ("warn", t!("the releases differ"))
    } else {
        ("good", t!("ready"))
    };
    let href = Some("/console/system/servers".to_owned());
    Figure { name: phrase!("Servers"), shown: live.len().text(), description, tone, href }
}

fn failed_jobs(home: &screen::Home) -> Figure {
    let (tone, description) =
        if home.failed_jobs > 0 { ("bad", t!("check")) } else { ("good", t!("none")) };
    let figure =
        figure(phrase!("Failed jobs"), home.failed_jobs, "/console/system/jobs?state=failed");
    Figure { description, tone, ..figure }
}

fn last_backup(home: &screen::Home) -> Figure {
    let (shown, tone, description) = match &home.last_backup {
        None => (t!("none"), "warn", t!("create one")),
        Some(backup) => {
            let (tone, description) = if backup.is_broken {
                ("bad", t!("cannot be restored"))
            } else if backup.is_old {
                ("warn", t!("create a new one"))
            } else {
                ("good", t!("recent"))
            };
            (t!("{time} ago", time = words::span(backup.age_s)), tone, description)
        }
    };
    let href = Some("/console/system/backups".to_owned());
    Figure { name: phrase!("Last backup"), shown, description, tone, href }
}

/// The steps of setting up a server; empty when all of them are done.
fn steps(done: SetupSteps) -> Vec<SetupStep> {
    let step = |is_done, name, description, href, command| SetupStep {
        is_done,
        name,
        description,
        href,
        command,
    };
    let steps = vec![
        step(
            done.has_roster,
            phrase!("Import your roster"),
            phrase!(
                "Import schools, classes, courses and students as OneRoster CSV, or create them over the API."
            ),
            screens::IMPORTS.path,
            "lyceum import roster.zip",
        ),
        step(
            done.has_enrollments,
            phrase!("Enroll students"),
            phrase!("An enrollment links a student to a class or a course."),
            screens::IMPORTS.path,
            "",
        ),
        step(
            done.has_app,
            phrase!("Connect an app"),
            phrase!("An app calls the API with the id and secret of a client, or with an API key."),
            screens::KEYS.path,
            "lyceum client create my-app",
        ),
        step(
            done.has_events,
            phrase!("Receive the first event"),
            phrase!("Apps report what students do as Caliper events."),
            screens::EVENTS.path,
            "lyceum trigger activity.completed",
        ),
        step(
            done.has_guide,
            phrase!("Invite a guide"),
            phrase!(
                "Guides see which students need attention. The command prints a link to send to the guide."
            ),
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
        description: String::new(),
        tone: "",
        href: Some(href.to_owned()),
    }
}

fn all_figures(home: &screen::Home) -> Vec<Figure> {
    let mut all = figures(home.roster);
    all.push(figure(phrase!("Events"), home.events, screens::EVENTS.path));
    all
}

fn figures(counts: RecordCounts) -> Vec<Figure> {
    vec![
        figure(phrase!("Students"), counts.students, screens::STUDENTS.path),
        figure(phrase!("Courses"), counts.courses, screens::COURSES.path),
        figure(phrase!("Enrollments"), counts.enrollments, screens::CLASSES.path),
    ]
}

/// Numbers about the incoming events. `sees_rejected` tells whether the visitor may open rejected envelopes.
fn flow(home: &screen::Home, now: Timestamp, sees_rejected: bool) -> Vec<Figure> {
    let EventIntake { since, rate, rate_arrived, newest, rejected, .. } = &home.intake;
    let toned = |is_bad: bool, good: String, bad: String| match is_bad {
        false => ("good", good),
        true => ("warn", bad),
    };
    let rejected_label = toned(*rejected > 0, t!("none"), t!("check"));
    let unknown_label = toned(home.unknown_actors > 0, t!("none"), t!("check"));
    let delay_label = match newest {
        Some(newest) => toned(newest.is_late, t!("on time"), t!("late")),
        None => ("", String::new()),
    };
    vec![
        Figure {
            name: phrase!("Events per minute"),
            shown: words::number(*rate),
            description: match newest {
                Some(newest) => t!("last one {time}", time = words::ago(newest.received, now)),
                None => t!("no event has arrived yet"),
            },
            tone: "",
            href: Some(describe_arrival(rate_arrived.as_ref())),
        },
        Figure {
            name: phrase!("Rejected in the last hour"),
            shown: words::count(*rejected),
            description: rejected_label.1,
            tone: rejected_label.0,
            href: sees_rejected
                .then(|| format!("/console/events/refused?state=waiting&since={since}")),
        },
        Figure {
            name: phrase!("Delivery delay"),
            shown: newest
                .as_ref()
                .map_or_else(|| "–".to_owned(), |newest| words::brief(newest.delay_ms)),
            description: delay_label.1,
            tone: delay_label.0,
            href: Some(match newest {
                Some(newest) => links::event(&newest.id),
                None => screens::EVENTS.path.to_owned(),
            }),
        },
        Figure {
            name: phrase!("Unknown students"),
            shown: words::count(home.unknown_actors),
            description: unknown_label.1,
            tone: unknown_label.0,
            href: Some("/console/unknown".to_owned()),
        },
    ]
}

/// The page that lists the events of these minutes, or all events if there were none.
fn describe_arrival(at: Option<&ArrivalRange>) -> String {
    match at {
        Some(at) => links::events_that_arrived(
            (&at.from.to_string(), &at.to.to_string()),
            (at.first, at.last),
        ),
        None => screens::EVENTS.path.to_owned(),
    }
}

fn minutes(intake: &EventIntake) -> chart::Svg {
    let bar = |(minutes_ago, (count, events)): (usize, &(i64, Option<ArrivalRange>))| {
        let (label, when) = match minutes_ago {
            0 => (t!("now"), t!("this minute")),
            ago => (
                format!("−{ago}"),
                t!("{time} ago", time = words::span(i64::try_from(ago).unwrap_or(0) * 60)),
            ),
        };
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let value = *count as f64;
        let href = (*count > 0).then(|| describe_arrival(events.as_ref()));
        Bar {
            value,
            label,
            description: plural!(*count, "{when}: {n} event", "{when}: {n} events", when = when),
            href,
        }
    };
    let mut bars: Vec<Bar> = intake.minutes.iter().rev().enumerate().map(bar).collect();
    bars.reverse();
    chart::bars(&bars, &t!("Events by minute in the last hour"), &t!("events"), None)
}

async fn unknown_students(context: Context, visitor: Visitor) -> Result<Answer> {
    let most = limits::UNKNOWN_STUDENTS_MAX_RECORDS;
    let found = context.app.db.scan(deadline(), move |tx| unknown_actors::list(tx, most)).await?;
    let row =
        |one: &unknown_actors::UnknownActor| vec![Cell::text(&one.iri), Cell::text(&one.email)];
    let list =
        List::new("Unknown students", UNKNOWN, query(&context), found.iter().map(row).collect())
            .or_else("Every event names an actor who is in the roster.")
            .note(at_most(found.len(), most));
    let view = UnknownActorsPage { frame: visitor.frame(t!("Unknown students")), list };
    show_list("unknown-students", &view.list, &view)
}
