//! School hours: the organizations with their hours, and a form for each.

pub(crate) mod view;

use std::collections::BTreeSet;

use jiff::civil::Weekday;
use lyceum_api::bridge::school_hours::{change, usual};
use lyceum_api::{Context, Route};
use lyceum_bridge::school_hours::SchoolHours;
use lyceum_bridge::screens::school_hours::{self as screen, OrganizationHours};
use lyceum_console::language::ProblemText;
use lyceum_console::{Cell, List, Row, links, screens, t, words};
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_store::Tx;

use super::visitor::query;
use super::{Form, Visitor, action, deadline, on_to, page, show_list, show_page};
use crate::console::classes::view::FilterOption;
use crate::console::school_hours::view::{COLUMNS, SchoolHoursPage};
use crate::console::system::view::{SystemListPage, tabs};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::SYSTEM;
    vec![
        page("/system/hours", screen, all),
        page("/system/hours/{org}", screen, show),
        action("/system/hours/{org}", screen, set),
        action("/system/hours/{org}/remove", screen, remove),
    ]
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let usual = usual(&context.app);
    let found = context.app.db.scan(deadline(), move |tx| screen::read(tx, &usual)).await?;
    let list = List::new("School hours", COLUMNS, query(&context), found.iter().map(row).collect())
        .or_else("There are no organizations yet. Import a roster, or create them over the API.");
    let view = SystemListPage {
        frame: visitor.frame(t!("School hours")),
        tabs: tabs("School hours"),
        description: t!(
            "Students are expected at work in these hours. An organization that sets none has those of the organization above it."
        ),
        makes_backups: false,
        list,
    };
    show_list("school-hours", &view.list, &view)
}

fn row(org: &OrganizationHours) -> Row {
    let hours = &org.in_force.hours;
    let days: Vec<String> = hours
        .weekdays
        .iter()
        .filter_map(|day| Weekday::from_monday_one_offset(*day).ok())
        .map(words::short_weekday)
        .collect();
    let set_by = match &org.in_force.set_by {
        None => Cell::missing(&t!("usual hours")),
        Some(id) => Cell::text(&org.set_by_name).to(links::school_hours(id)),
    };
    vec![
        Cell::text(&org.name).to(links::school_hours(&org.id)),
        Cell::text(days.join(", ")),
        Cell::text(format!("{} – {}", hours.begins, hours.ends)),
        Cell::text(&hours.time_zone),
        Cell::count(hours.days_off.len() as u64).to(links::school_hours(&org.id)),
        set_by,
    ]
}

async fn find(context: &Context) -> Result<OrganizationHours> {
    let (id, usual) = (context.param("org").to_owned(), usual(&context.app));
    context.app.db.read(move |tx: &mut Tx<'_>| screen::one(tx, &usual, &id)).await
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let org = find(&context).await?;
    show_page(&view(&visitor, &org, &org.in_force.hours, None))
}

fn view(
    visitor: &Visitor,
    org: &OrganizationHours,
    hours: &SchoolHours,
    problem: Option<ProblemText>,
) -> SchoolHoursPage {
    let is_own = org.in_force.set_by.as_ref() == Some(&org.id);
    let option = |number: i8| FilterOption {
        value: number.to_string(),
        name: Weekday::from_monday_one_offset(number)
            .map_or_else(|_| String::new(), words::weekday),
        is_chosen: hours.weekdays.contains(&number),
    };
    SchoolHoursPage {
        frame: visitor.frame(t!("School hours of {name}", name = org.name)),
        path: links::school_hours(&org.id),
        source: match (is_own, org.set_by_name.as_str()) {
            (true, _) => t!("This organization sets these hours itself."),
            (false, "") => t!("No organization sets hours, so the usual ones apply."),
            (false, name) => t!("These hours are set by {name}.", name = name),
        },
        weekdays: (1..=7).map(option).collect(),
        begins: hours.begins.clone(),
        ends: hours.ends.clone(),
        time_zone: hours.time_zone.clone(),
        days_off: hours.days_off.iter().map(String::as_str).collect::<Vec<_>>().join("\n"),
        is_own,
        problem,
    }
}

async fn set(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let org = find(&context).await?;
    let days_off = form.field("daysOff").split_whitespace().map(str::to_owned);
    let hours = SchoolHours {
        weekdays: form
            .every("weekday")
            .filter_map(|day| day.parse().ok())
            .collect::<BTreeSet<i8>>(),
        begins: form.field("begins").to_owned(),
        ends: form.field("ends").to_owned(),
        time_zone: form.field("timeZone").trim().to_owned(),
        days_off: days_off.collect(),
    };
    match change(&context, &org.id, Some(hours.clone())).await {
        Ok(()) => Ok(on_to("/console/system/hours")),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => refuse(&visitor, &org, &hours, &problem),
    }
}

fn refuse(
    visitor: &Visitor,
    org: &OrganizationHours,
    hours: &SchoolHours,
    problem: &Problem,
) -> Result<Answer> {
    let page = show_page(&view(visitor, org, hours, Some(render::sentence(problem))))?;
    Ok(page.status(render::status(problem.kind)))
}

async fn remove(context: Context, _: Visitor, _: Form) -> Result<Answer> {
    change(&context, context.param("org"), None).await?;
    Ok(on_to(&links::school_hours(context.param("org"))))
}
