//! The goals, as data: what is measured, against what, and where the bar lies.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pairs::Spread;

/// The least or the greatest value with which a goal is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

impl Bar {
    /// How many times better than the goal the figure is: from 1, the goal is reached.
    pub(crate) fn margin(self, figure: f64) -> f64 {
        match self {
            Self::AtLeast(bar) => figure / bar,
            // A figure below zero, or zero, is noise around nothing.
            Self::AtMost(bar) => bar / figure.max(bar / MARGIN_MAX),
        }
    }
}

/// The greatest margin of a goal that is met at or below its value.
const MARGIN_MAX: f64 = 1000.0;

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bar) => write!(f, "≥ {bar}"),
            Self::AtMost(bar) => write!(f, "≤ {bar}"),
        }
    }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Goal {
    /// Its id; one goal may have several lines.
    pub(crate) id: &'static str,
    /// The measured quantity, with its unit unless it is a ratio, whose sides ` / ` separates.
    pub(crate) what: &'static str,
    /// The value to reach.
    pub(crate) bar: Bar,
}

impl Goal {
    /// Whether it compares two sides, so that the machine matters little.
    pub(crate) fn is_ratio(&self) -> bool {
        self.what.contains(" / ")
    }
}

const fn at_least(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtLeast(bar) }
}

const fn at_most(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtMost(bar) }
}

/// Every goal. The large network's p50 divided by the small one's is its growth.
const GOALS: &[Goal] = &[
    at_least("P1", "user by sourcedId, req/s, ours / anchor", 0.80),
    at_least("P1.large", "user by sourcedId, large network, ours / anchor", 0.80),
    at_least("P2", "users page of 100, req/s, ours / anchor", 0.70),
    at_least("P2.large", "users page of 100, large network, ours / anchor", 0.70),
    at_least("P2.memory", "users page of 100, req/s, ours / same bytes from memory", 0.25),
    at_least("P3", "enrollments of a user, req/s, ours / anchor", 0.75),
    at_least("P3.large", "enrollments of a user, large network, ours / anchor", 0.75),
    at_most("P4", "server CPU a point read, µs", 25.0),
    at_most("P4.large", "server CPU a point read, large network, µs", 28.0),
    at_most("G1.user", "growth of p50, user by sourcedId, ours / anchor's", 1.1),
    at_most("G1.page", "growth of p50, page by key, ours / anchor's", 1.1),
    at_most("G1.enrollments", "growth of p50, enrollments, ours / anchor's", 1.1),
    at_least("W1", "durable creates by 64 clients, rows/s, ours / raw", 0.30),
    at_least("W2", "import, rows/s, ours / raw insert, same indexes", 0.50),
    at_most("S1.empty", "exec to first 200, empty data folder, ms", 70.0),
    at_most("S1.sandbox", "exec to the demo user, `sandbox --memory`, ms", 70.0),
    at_most("S1.filled", "exec to first 200, large network, ms", 150.0),
    at_most("S2.idle", "anonymous memory after the start, MiB", 25.0),
    at_most("S2.load", "anonymous memory, P1-P3 on the large network, MiB", 150.0),
    at_least("E1", "events/s, 100 an envelope, ours / raw, random key", 0.60),
    at_least("E2", "events/s, 100 an envelope, ours / raw, sequential key", 0.35),
    at_least("E3", "events/s on the full log / on the first events", 0.85),
    at_least("E4", "events/s, one an envelope / 100 an envelope", 0.40),
    at_least("E6", "events/s, 100 a request, ours / Ralph with files", 10.0),
    at_most("S2.intake", "anonymous memory during intake, MiB", 250.0),
    at_most("A1", "p50 of an enrollment's 90 days on the full log, ms", 5.0),
    at_most("A1.growth", "p50 of 90 days, full log / first events", 1.5),
    at_most("A1.class", "p99 of 30 students' 90 days, ms", 100.0),
    at_least("D2", "events/s on PostgreSQL, 100 an envelope, ours / raw", 0.60),
    at_least("D4", "events/s, 100 an envelope, three servers / one", 0.95),
    at_most("D4.cpu", "CPU an event, 100 an envelope, three servers / one", 1.15),
    at_least("D4.one", "events/s, one an envelope, three servers / one", 0.95),
    at_most("D4.one.cpu", "CPU an event, one an envelope, three servers / one", 1.15),
    at_least("C1", "badges issued on one core, ours / JavaScript", 10.0),
    at_least("C2", "badges verified on one core, ours / JavaScript", 10.0),
    at_least("C3", "badges issued as JWT / bare signatures", 0.50),
    at_most("Q2", "p50 of next question and answer / of a durable create", 2.0),
    at_most("H1", "first request to an idle backend / start of workerd", 1.3),
    at_least("H2", "requests to a backend, req/s, ours / bare workerd", 0.80),
    at_most("H3", "CPU of an idle `lyceum dev` with its sandbox, % of a core", 0.2),
    at_least("H2.miniflare", "requests to a backend, req/s, ours / miniflare", 1.5),
];

/// The result of a run for one goal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// The id of the goal.
    id: String,
    /// The figure.
    pub(crate) measured: Spread,
    /// The parts of the figure, for people.
    pub(crate) detail: String,
}

impl Finding {
    /// The figure of the goal `id`.
    pub(crate) fn new(id: &str, measured: impl Into<Spread>, detail: impl Into<String>) -> Self {
        Self { id: id.to_owned(), measured: measured.into(), detail: detail.into() }
    }

    /// Whether the goal exists, which the report of another release may not say.
    pub(crate) fn has_goal(&self) -> bool {
        GOALS.iter().any(|goal| goal.id == self.id)
    }

    /// The goal.
    pub(crate) fn goal(&self) -> &'static Goal {
        GOALS.iter().find(|goal| goal.id == self.id).expect("the table names every id used")
    }

    /// Whether the median reaches the bar.
    pub(crate) fn is_met(&self) -> bool {
        self.goal().bar.margin(self.measured.median) >= 1.0
    }
}
