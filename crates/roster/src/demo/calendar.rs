//! The calendar of the network: fixed, so that the same seed gives the same bytes for ever.

/// A session of the calendar.
pub(super) struct CalendarSession {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) sort: &'static str,
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    pub(super) parent: &'static str,
    pub(super) school_year: &'static str,
}

/// The school year that is taught.
pub(super) const YEAR: &str = "year-2027";
pub(super) const FIRST_DAY: &str = "2026-08-24";
pub(super) const LAST_DAY: &str = "2027-06-11";
/// Its terms, as classes list them.
pub(super) const TERMS: &str = "term-2027-1,term-2027-2,term-2027-3,term-2027-4";

const fn session(
    id: &'static str,
    title: &'static str,
    sort: &'static str,
    (start, end): (&'static str, &'static str),
    parent: &'static str,
) -> CalendarSession {
    CalendarSession { id, title, sort, start, end, parent, school_year: "2027" }
}

pub(super) static SESSIONS: &[CalendarSession] = &[
    CalendarSession {
        id: "year-2026",
        title: "2025-2026",
        sort: "schoolYear",
        start: "2025-08-25",
        end: "2026-06-12",
        parent: "",
        school_year: "2026",
    },
    session(YEAR, "2026-2027", "schoolYear", (FIRST_DAY, LAST_DAY), ""),
    session("semester-2027-1", "Fall Semester", "semester", (FIRST_DAY, "2027-01-15"), YEAR),
    session("semester-2027-2", "Spring Semester", "semester", ("2027-01-19", LAST_DAY), YEAR),
    session("term-2027-1", "Quarter 1", "term", (FIRST_DAY, "2026-10-23"), "semester-2027-1"),
    session("term-2027-2", "Quarter 2", "term", ("2026-10-26", "2027-01-15"), "semester-2027-1"),
    session("term-2027-3", "Quarter 3", "term", ("2027-01-19", "2027-03-26"), "semester-2027-2"),
    session("term-2027-4", "Quarter 4", "term", ("2027-04-05", LAST_DAY), "semester-2027-2"),
    session(
        "period-2027-1",
        "Progress 1",
        "gradingPeriod",
        (FIRST_DAY, "2026-09-25"),
        "term-2027-1",
    ),
    session(
        "period-2027-2",
        "Report 1",
        "gradingPeriod",
        ("2026-09-28", "2026-10-23"),
        "term-2027-1",
    ),
    session(
        "period-2027-3",
        "Progress 2",
        "gradingPeriod",
        ("2026-10-26", "2026-12-04"),
        "term-2027-2",
    ),
    session(
        "period-2027-4",
        "Report 2",
        "gradingPeriod",
        ("2026-12-07", "2027-01-15"),
        "term-2027-2",
    ),
    session(
        "period-2027-5",
        "Progress 3",
        "gradingPeriod",
        ("2027-01-19", "2027-02-19"),
        "term-2027-3",
    ),
    session(
        "period-2027-6",
        "Report 3",
        "gradingPeriod",
        ("2027-02-22", "2027-03-26"),
        "term-2027-3",
    ),
    session(
        "period-2027-7",
        "Progress 4",
        "gradingPeriod",
        ("2027-04-05", "2027-05-07"),
        "term-2027-4",
    ),
    session("period-2027-8", "Report 4", "gradingPeriod", ("2027-05-10", LAST_DAY), "term-2027-4"),
];
