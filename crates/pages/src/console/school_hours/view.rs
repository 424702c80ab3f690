//! School hours of organizations: the list, and the form for one.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{Column, Frame};

use crate::console::classes::view::FilterOption;

/// The columns of the list.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("organization", "Organization"),
    Column::text("days", "Days"),
    Column::text("hours", "Hours"),
    Column::text("zone", "Time zone"),
    Column::number("daysOff", "Days off"),
    Column::text("setBy", "Set by"),
];

/// The form for the school hours of an organization.
#[derive(Template)]
#[template(path = "console/school_hours/school_hours.html")]
pub(crate) struct SchoolHoursPage {
    /// The frame.
    pub frame: Frame,
    /// The path of the page.
    pub path: String,
    /// Says which organization sets the hours in force.
    pub source: String,
    /// The weekdays: number, name, and whether there is school.
    pub weekdays: Vec<FilterOption>,
    /// The time at which school begins.
    pub begins: String,
    /// The time at which school ends.
    pub ends: String,
    /// The time zone.
    pub time_zone: String,
    /// The days off, one per line.
    pub days_off: String,
    /// Whether the organization sets the hours itself.
    pub is_own: bool,
    /// Why the hours were not stored.
    pub problem: Option<ProblemText>,
}
