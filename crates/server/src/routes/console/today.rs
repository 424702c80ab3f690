//! Today: the students who need attention now, and why.

use lyceum_adaptive::screens::today as screen;
use lyceum_bridge::need::{Need, NeedReason, RULES, RuleCondition, RuleMeasure};
use lyceum_console::today::{COLUMNS, TodayPage};
use lyceum_console::{Cell, Label, List, ListFilter, ListQuery, Row, links, screens};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use super::students::{accuracy, goal, last_seen_cell};
use super::visitor::query;
use super::{Visitor, deadline, page, show_list};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/today", &screens::TODAY, show).within_reach()]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (now, zone, query) = (context.app.clock.now(), visitor.zone.clone(), query(&context));
    let filter = screen::TodayFilter {
        rule: query.own("rule").to_owned(),
        school: query.own("school").to_owned(),
    };
    let reach = context.reach();
    let read = move |tx: &mut Tx<'_>| screen::read(tx, now, &zone, &filter, &reach);
    let today = context.app.db.scan(deadline(), read).await?;
    let view = view(&visitor, now, query, &today);
    show_list("today", &view.list, &view)
}

fn view(
    visitor: &Visitor,
    now: Timestamp,
    query: ListQuery,
    today: &screen::TodayList,
) -> TodayPage {
    let day = visitor.zone.day_of(now).to_string();
    let rows = today.needs.iter().map(|need| row(need, now, &day)).collect();
    let list = List::new("Students who need attention", COLUMNS, query, rows)
        .or_else("No student needs attention right now.")
        .choice(ListFilter::of("rule", "Reason", RULES.iter().map(|rule| (rule.id, rule.title))))
        .choice(ListFilter::of("school", "School", today.schools.iter().map(|name| (name, name))));
    TodayPage {
        frame: visitor.frame("Today"),
        time: visitor.zone.format(now).split_off("2026-01-15 ".len()),
        day,
        student_count: today.student_count,
        need_count: today.need_count,
        behind_count: today.behind_count,
        list,
        rules: RULES.iter().map(|rule| (rule.title, rule.describe())).collect(),
    }
}

fn row(need: &Need, now: Timestamp, today: &str) -> Row {
    let day = &need.day;
    let to = |cell: Cell| cell.to(links::events_behind(&day.learner.id, today, today, ""));
    vec![
        Cell::text(day.learner.name()).to(links::student(&day.learner.id)),
        Cell::labels(need.reasons.iter().map(label).collect()),
        to(Cell::thousandths(day.xp())),
        goal(day),
        to(accuracy(&day.sums)),
        last_seen_cell(day, now),
    ]
}

/// A reason as a label: red for students who are behind or fail, green for students who find the work too easy.
pub(super) fn label(reason: &NeedReason) -> Label {
    let tone = match reason.rule.sign {
        RuleMeasure::Pace | RuleMeasure::Failures => "bad",
        RuleMeasure::Accuracy if matches!(reason.rule.when, RuleCondition::Above(_)) => "good",
        _ => "warn",
    };
    Label { tone, name: reason.rule.title, description: reason.description() }
}
