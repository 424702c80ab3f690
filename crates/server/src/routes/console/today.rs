//! Today: who needs help now, and why.

use lyceum_adaptive::today as learning;
use lyceum_bridge::need::{Need, RULES, Reason, Rule, Sign, When, Window};
use lyceum_console::today::{COLUMNS, Today};
use lyceum_console::{Cell, Choice, Label, List, Row, screens, words};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;

use super::students::{accuracy, behind, goal, link, name, xp};
use super::visitor::query;
use super::{Visitor, deadline, listed, page};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/today", &screens::TODAY, show)]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (now, zone) = (context.app.clock.now(), visitor.zone.clone());
    let scanned = context.app.db.scan(deadline(), move |tx| {
        let students = learning::students(tx, now, &zone)?;
        let count = students.len();
        Ok((count, lyceum_bridge::need::needs(students, RULES, now, &zone)))
    });
    let (count, needs) = scanned.await?;
    let (in_need, behind) = (needs.len(), needs.iter().filter(|need| need.is_behind()).count());
    let query = query(&context);
    let (rule, school) = (query.own("rule").to_owned(), query.own("school").to_owned());
    let mut schools: Vec<String> = needs.iter().map(|need| need.day.school.clone()).collect();
    schools.sort();
    schools.dedup();
    let is_wanted = |need: &&Need| {
        let has_rule = need.reasons.iter().any(|reason| reason.rule.id == rule);
        (rule.is_empty() || has_rule) && (school.is_empty() || need.day.school == school)
    };
    let day = visitor.zone.day_of(now).to_string();
    let rows = needs.iter().filter(is_wanted).map(|need| row(need, now, &day)).collect();
    let list = List::new("Who needs help", COLUMNS, query, rows)
        .or_else("Nobody needs help right now.")
        .choice(Choice::of("rule", "Reason", RULES.iter().map(|rule| (rule.id, rule.title))))
        .choice(Choice::of("school", "School", schools.iter().map(|name| (name, name))));
    let time = visitor.zone.written(now).split_off("2026-01-15 ".len());
    let rules = RULES.iter().map(|rule| (rule.title, speaks(rule))).collect();
    let view = Today {
        frame: visitor.frame("Today"),
        day,
        time,
        students: count,
        needy: in_need,
        behind,
        list,
        rules,
    };
    listed("today", &view.list, &view)
}

fn row(need: &Need, now: Timestamp, today: &str) -> Row {
    let day = &need.day;
    let to = |cell: Cell| cell.to(behind(&day.learner.id, today, today, ""));
    vec![
        Cell::text(name(&day.learner)).to(link(&day.learner.id)),
        Cell::labels(need.reasons.iter().map(label).collect()),
        to(xp(day.xp())),
        goal(day),
        to(accuracy(&day.sums)),
        match day.last {
            Some(last) => Cell::of(last.to_string(), words::ago(last, now)),
            None => Cell::missing("not today"),
        },
    ]
}

/// A reason as a label: red for those behind and those who fail, blue for whom it is too easy.
pub(super) fn label(reason: &Reason) -> Label {
    let tone = match reason.rule.sign {
        Sign::Pace | Sign::Failures => "bad",
        Sign::Accuracy if matches!(reason.rule.when, When::Above(_)) => "good",
        _ => "warn",
    };
    Label { tone, name: reason.rule.title, says: reason.says() }
}

/// When a rule speaks.
fn speaks(rule: &Rule) -> String {
    let limit = match (rule.sign, rule.when) {
        (Sign::Failures, When::Below(limit) | When::Above(limit) | When::From(limit)) => {
            format!(
                "{limit:.0} failed attempts or more of a lesson that is not mastered, the last one"
            )
        }
        (Sign::Idle, When::Below(limit) | When::Above(limit) | When::From(limit)) => {
            format!("no event for {limit:.0} minutes, the daily goal not reached,")
        }
        (sign, when) => {
            let what = match sign {
                Sign::Pace => "of the XP that are due by then",
                Sign::Accuracy => "of the answers right",
                _ => "of the measured time wasted",
            };
            match when {
                When::Below(limit) => format!("less than {:.0} % {what}", limit * 100.0),
                When::Above(limit) => format!("more than {:.0} % {what}", limit * 100.0),
                When::From(limit) => format!("{:.0} % or more {what}", limit * 100.0),
            }
        }
    };
    let window = match rule.window {
        Window::Today => "today".to_owned(),
        Window::SchoolDay { from, to } => {
            format!("on Monday to Friday, the goal falling due evenly from {from}:00 to {to}:00")
        }
        Window::Minutes(most) => format!("seen in the last {most} minutes"),
    };
    let least = match rule.sign {
        Sign::Accuracy => format!("; from {:.0} answers on", rule.least),
        Sign::Waste => format!("; from {:.0} minutes on", rule.least),
        Sign::Pace => format!("; from {:.0} minutes after its beginning on", rule.least),
        Sign::Failures | Sign::Idle => String::new(),
    };
    format!("{limit} {window}{least}.")
}
