//! Today: the students who need attention now and why, who works, is idle or absent, and a stream that says when a student
//! does something.

pub(crate) mod view;

use std::sync::Arc;
use std::time::Duration;

use lyceum_adaptive::screens::chosen_class::{ChosenClass, OWN_CLASSES};
use lyceum_adaptive::screens::today::{self as screen, StudentCounts};
use lyceum_api::bridge::school_hours::moment;
use lyceum_api::events::stream;
use lyceum_api::work::activity_watch;
use lyceum_api::{Context, Route};
use lyceum_bridge::need::{NeedReason, RULES, RuleCondition, RuleMeasure, StudentInNeed};
use lyceum_bridge::today::{Moment, Presence, WORKING_MAX_MINUTES};
use lyceum_console::language::{ValueInText, translated};
use lyceum_console::{Cell, Label, List, ListFilter, ListQuery, Tab, Tabs, links, screens, t};
use lyceum_core::time::Timestamp;
use lyceum_core::{Result, phrase};
use lyceum_http::answer::Answer;
use lyceum_http::sse::{self, EventFeed};
use lyceum_roster::screens::classes::ListedClass;
use lyceum_store::Tx;
use tokio::sync::mpsc::channel;
use tokio::sync::watch;
use tokio::time::Instant;

use super::students::{accuracy, goal, last_seen_cell};
use super::visitor::query;
use super::{Visitor, deadline, page, reasons, show_list};
use crate::console::today::view::{COLUMNS, TodayPage};

/// The groups of students: the value of the parameter `group`, the tab, and who is in it.
const GROUPS: [(&str, &str, Option<Presence>); 4] = [
    ("", phrase!("Need attention"), None),
    ("working", phrase!("Working"), Some(Presence::Working)),
    ("idle", phrase!("Stopped"), Some(Presence::Idle)),
    ("absent", phrase!("Absent"), Some(Presence::Absent)),
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/today", &screens::TODAY, show).within_reach(),
        page("/today/stream", &screens::TODAY, streamed).within_reach(),
    ]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (moment, query) = (moment(&context), query(&context));
    let group =
        GROUPS.iter().find(|(value, ..)| *value == query.parameter("group")).unwrap_or(&GROUPS[0]);
    let filter = screen::TodayFilter {
        presence: group.2,
        rule: query.parameter("rule").to_owned(),
        school: query.parameter("school").to_owned(),
        class: chosen_class(&visitor, &query),
    };
    let (reach, of) = (context.reach(), moment.clone());
    let read = move |tx: &mut Tx<'_>| screen::read(tx, &of, &filter, &reach);
    let today = context.app.db.scan(deadline(), read).await?;
    let view = view(&visitor, &moment, query, (group.1, group.2), &today);
    show_list("today", &view.list, &view)
}

fn view(
    visitor: &Visitor,
    moment: &Moment,
    query: ListQuery,
    (here, presence): (&'static str, Option<Presence>),
    today: &screen::TodayList,
) -> TodayPage {
    let now = moment.now;
    let class = query.parameter("class").to_owned();
    let classes = class_filter(&today.classes, &class);
    let list = List::of_items("Students today", COLUMNS, query, &today.needs, |need, column| {
        cell(need, column, now)
    })
    .or_else(match presence {
        None => phrase!("No student needs attention right now."),
        Some(_) => phrase!("No student is in this group right now."),
    })
    .choices(classes)
    .choice(ListFilter::of(
        "rule",
        "Reason",
        RULES.iter().map(|rule| (rule.id, translated(rule.title))),
    ))
    .choice(ListFilter::of("school", "School", today.schools.iter().map(|name| (name, name))));
    TodayPage {
        frame: visitor.frame(t!("Today")),
        now: visitor.calendar.moment(now),
        student_count: today.counts.all,
        need_count: today.counts.in_need,
        behind_count: today.counts.behind,
        needs_href: format!("{}#needs", links::today("", &class, "")),
        behind_href: links::today("", &class, "behind"),
        students_href: links::enrolled_students(&class),
        tabs: tabs(here, &class, today.counts),
        about: about(presence),
        list,
        rules: RULES
            .iter()
            .map(|rule| (translated(rule.title), reasons::condition(rule)))
            .collect(),
    }
}

/// The class that the address chooses.
pub(super) fn chosen_class(visitor: &Visitor, query: &ListQuery) -> ChosenClass {
    ChosenClass { viewer: visitor.person.email.clone(), class: query.parameter("class").to_owned() }
}

/// The filter for the visitor's own classes and the chosen one; none for a visitor who teaches no class and chose none.
pub(super) fn class_filter(own: &[ListedClass], chosen: &str) -> Option<ListFilter> {
    let mut options: Vec<(&str, String)> =
        own.iter().map(|class| (class.id.as_str(), class.title.clone())).collect();
    if !options.is_empty() || chosen == OWN_CLASSES {
        options.insert(0, (OWN_CLASSES, t!("My classes")));
    }
    if !chosen.is_empty() && options.iter().all(|(value, _)| *value != chosen) {
        options.push((chosen, chosen.to_owned()));
    }
    (!options.is_empty()).then(|| ListFilter::of("class", "Class", options.into_iter()))
}

fn tabs(here: &'static str, class: &str, counts: StudentCounts) -> Tabs {
    let tab = |(value, name, presence): (&str, &'static str, Option<Presence>)| {
        let count = match presence {
            None | Some(Presence::Off) => counts.in_need,
            Some(Presence::Working) => counts.working,
            Some(Presence::Idle) => counts.idle,
            Some(Presence::Absent) => counts.absent,
        };
        let href = links::today(value, class, "");
        Tab { count: Some(count.text()), ..Tab::new(name, href) }
    };
    Tabs::new(here, GROUPS.map(tab).into())
}

fn about(presence: Option<Presence>) -> String {
    match presence {
        None | Some(Presence::Off) => {
            t!("Students for whom a rule found a reason, except absent ones.")
        }
        Some(Presence::Working) => {
            t!("Students who did something in the last {n} minutes.", n = WORKING_MAX_MINUTES)
        }
        Some(Presence::Idle) => {
            t!(
                "Students who worked today, but not in the last {n} minutes.",
                n = WORKING_MAX_MINUTES
            )
        }
        Some(Presence::Absent) => {
            t!("Students who are enrolled and did nothing today, although their school has begun.")
        }
    }
}

/// Says when a student within the visitor's reach did something.
async fn streamed(context: Context, _: Visitor) -> Result<Answer> {
    let activity = activity_watch::follow(&context.app, context.reach()).await?;
    let (sender, receiver) = channel(1);
    let feed = EventFeed::new(sender, stream::check(Arc::new(context)));
    tokio::spawn(send_activity(activity, feed));
    Ok(sse::answer(receiver))
}

async fn send_activity(mut activity: watch::Receiver<()>, mut feed: EventFeed) {
    let heartbeat = Duration::from_secs(lyceum_api::limits::EVENT_STREAM_HEARTBEAT_S);
    let mut last_sent = Instant::now();
    let mut text = ": begin\n\n";
    while feed.send(text.to_owned()).await {
        if !text.is_empty() {
            last_sent = Instant::now();
        }
        text = tokio::select! {
            change = activity.changed() => match change {
                Ok(()) => "data: activity\n\n",
                Err(_) => return,
            },
            is_open = feed.pause(sse::CHECK) => match is_open {
                true if last_sent.elapsed() >= heartbeat => ": alive\n\n",
                true => "",
                false => return,
            },
        };
    }
}

/// The cell of a student in a column of the list.
fn cell(need: &StudentInNeed, column: &str, now: Timestamp) -> Cell {
    let day = &need.day;
    let to = |cell: Cell| cell.to(links::events_behind(&day.learner.id, &day.date, &day.date, ""));
    match column {
        "student" => Cell::text(day.learner.name()).to(links::student(&day.learner.id)),
        "reasons" => Cell::labels(need.reasons.iter().map(label).collect()),
        "xp" => to(Cell::thousandths(day.xp())),
        "goal" => goal(day),
        "accuracy" => to(accuracy(&day.sums)),
        // The last column.
        _ => last_seen_cell(day, now),
    }
}

/// A reason as a label: red for students who are behind or fail, green for students who find the work too easy.
pub(super) fn label(reason: &NeedReason) -> Label {
    let tone = match reason.rule.sign {
        RuleMeasure::Pace | RuleMeasure::Failures => "bad",
        RuleMeasure::Accuracy if matches!(reason.rule.when, RuleCondition::Above(_)) => "good",
        _ => "warn",
    };
    Label { tone, name: reason.rule.title, description: reasons::finding(reason) }
}
