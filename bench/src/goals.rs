//! The goals, as data: what is measured, against what, and where the bar lies.

use std::fmt;

use anyhow::{Context, Error, Result};
use serde::{Deserialize, Serialize};

use crate::pairs::Spread;

/// Which side of the bar is good.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "bound", content = "threshold")]
pub(crate) enum Bar {
    /// Met at this or above.
    AtLeast(f64),
    /// Met at this or below.
    AtMost(f64),
}

impl Bar {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(bar) => figure >= bar,
            Self::AtMost(bar) => figure <= bar,
        }
    }

    /// How many times better than the goal the figure is: from 1, the goal is reached. `None` if zero is the goal.
    pub(crate) fn margin(self, figure: f64) -> Option<f64> {
        match self {
            Self::AtLeast(bar) | Self::AtMost(bar) if bar <= 0.0 => None,
            Self::AtLeast(bar) => Some(figure / bar),
            // A figure below zero, or zero, is noise around nothing.
            Self::AtMost(bar) => Some(bar / figure.max(bar / MARGIN_MAX)),
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

/// One line of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Goal {
    /// Its id; one goal may have several lines.
    pub(crate) id: &'static str,
    /// The measured quantity, with its unit unless it is a ratio.
    pub(crate) what: &'static str,
    /// The value to reach.
    #[serde(flatten)]
    pub(crate) bar: Bar,
    /// Whether it compares two sides, so that the machine matters little.
    pub(crate) is_ratio: bool,
}

const fn at_least(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtLeast(bar), is_ratio: false }
}

const fn at_most(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtMost(bar), is_ratio: false }
}

const fn ratio_at_least(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtLeast(bar), is_ratio: true }
}

const fn ratio_at_most(id: &'static str, what: &'static str, bar: f64) -> Goal {
    Goal { id, what, bar: Bar::AtMost(bar), is_ratio: true }
}

/// Every goal. "Anchor" is the bare anchor in the same run; "growth" is the large
/// network's figure divided by the small one's.
pub(crate) const GOALS: &[Goal] = &[
    ratio_at_least("P1", "user by sourcedId, req/s, ours / anchor", 0.80),
    ratio_at_least("P1.large", "user by sourcedId, large network, req/s, ours / anchor", 0.80),
    ratio_at_least("P2", "users page of 100, req/s, ours / anchor", 0.70),
    ratio_at_least("P2.large", "users page of 100, large network, req/s, ours / anchor", 0.70),
    ratio_at_least(
        "P2.memory",
        "users page of 100, req/s, ours / the same bytes from memory",
        0.25,
    ),
    ratio_at_least("P3", "enrollments of a user, req/s, ours / anchor", 0.75),
    ratio_at_least("P3.large", "enrollments of a user, large network, req/s, ours / anchor", 0.75),
    at_most("P4", "server CPU a point read, µs", 25.0),
    at_most("P4.large", "server CPU a point read, large network, µs", 28.0),
    at_most("P4.auth", "CPU of the bearer token of a request, µs", 2.0),
    ratio_at_most("G1.user", "growth of p50, user by sourcedId, ours / anchor's growth", 1.1),
    ratio_at_most("G1.page", "growth of p50, page by key, ours / anchor's growth", 1.1),
    ratio_at_most(
        "G1.enrollments",
        "growth of p50, enrollments of a user, ours / anchor's growth",
        1.1,
    ),
    ratio_at_most("G1.user.absolute", "growth of p50, user by sourcedId", 1.7),
    ratio_at_most("G1.page.absolute", "growth of p50, page by key", 1.5),
    ratio_at_most("G1.enrollments.absolute", "growth of p50, enrollments of a user", 1.5),
    ratio_at_most("G2", "p50 of offset n/2 / p50 of the first page, large network", 3.0),
    ratio_at_most("G3", "CPU of the same 1000 users by id, large network / small", 1.2),
    at_most("G4", "p99 of a filter on an unindexed field, large network, ms", 1000.0),
    ratio_at_most("G4.others", "p99 of point reads beside such filters / alone", 2.0),
    ratio_at_least(
        "W1",
        "durable creates by 64 clients, rows/s, ours / raw 1000 a transaction",
        0.30,
    ),
    ratio_at_least(
        "W2",
        "import of users and enrollments, rows/s, ours / raw insert, same indexes",
        0.50,
    ),
    at_most("W3.lost", "acknowledged writes lost by kill -9", 0.0),
    at_most("W3.unsynced", "creates answered before a sync", 0.0),
    at_least("T1", "token endpoint, req/s", 5000.0),
    at_most("T1.secret", "CPU of one token request, ms", 1.0),
    at_most("S1.empty", "exec to first 200, empty database, ms", 70.0),
    at_most("S1.filled", "exec to first 200, large network, ms", 150.0),
    at_most("S2.idle", "anonymous memory after the start, MiB", 25.0),
    at_most("S2.cpu", "an idle server, % of a core", 0.1),
    at_most("S2.load", "anonymous memory under P1-P3 on the large network, MiB", 150.0),
    ratio_at_most("S3.list", "peak memory of listing, large / small", 1.2),
    ratio_at_most("S3.export", "peak memory of an export, large / small", 1.2),
    ratio_at_most("S3.import", "peak memory of an import, large / small", 1.2),
    ratio_at_least("E1", "events/s, 100 an envelope, ours / raw insert, same random key", 0.60),
    ratio_at_least("E2", "events/s, 100 an envelope, ours / raw insert, sequential key", 0.35),
    ratio_at_least("E3", "events/s on the full log / on the first events", 0.85),
    ratio_at_least("E4", "events/s, one an envelope by 64 clients / 100 an envelope", 0.40),
    ratio_at_most("E5", "p99 of point reads beside intake at half of E1 / alone", 3.0),
    ratio_at_least("E6", "events/s, 100 a request, ours / Ralph with its file backend", 10.0),
    at_most("S2.intake", "anonymous memory during intake, MiB", 250.0),
    at_most("A1", "p50 of an enrollment's 90 days on the full log, ms", 5.0),
    ratio_at_most("A1.growth", "p50 of an enrollment's 90 days, full log / first events", 1.5),
    at_most("A1.class", "p99 of 30 students' 90 days, one after the other, ms", 100.0),
    at_most("A2", "p99 from an event's 200 to its analytics, at half of E1, ms", 2000.0),
    ratio_at_least(
        "D2",
        "events/s on PostgreSQL, 100 an envelope, ours / raw unnest of 1000",
        0.60,
    ),
    ratio_at_least(
        "D4",
        "events/s of three servers on one PostgreSQL, 100 an envelope / of one",
        0.95,
    ),
    ratio_at_most("D4.cpu", "CPU an event of three servers, 100 an envelope / of one", 1.15),
    ratio_at_least("D4.one", "events/s of three servers, one an envelope / of one server", 0.95),
    ratio_at_most(
        "D4.one.cpu",
        "CPU an event of three servers, one an envelope / of one server",
        1.15,
    ),
    ratio_at_least(
        "C1",
        "badges issued with a proof on one core, ours / the JavaScript stack",
        10.0,
    ),
    ratio_at_least("C2", "badges verified on one core, ours / the JavaScript stack", 10.0),
    ratio_at_least("C3", "badges issued as JWT / bare signatures", 0.50),
    ratio_at_most("Q1", "CPU of reading and checking an item / of a scan of its events", 10.0),
    at_most("Q1.score", "p99 of scoring a response to a choice item that was read, µs", 20.0),
    at_least("Q1.scored", "scored responses/s over HTTP", 5000.0),
    ratio_at_least("Q1.anchor", "scored responses, req/s, ours / the anchor's point reads", 0.50),
    ratio_at_least(
        "Q1.create",
        "durable item creates by 64 clients, items/s, ours / raw insert",
        0.30,
    ),
    ratio_at_most(
        "Q2",
        "p50 of next question and answer, 64 clients / p50 of a durable create",
        2.0,
    ),
    at_most("Q2.engine", "p99 of the next question of 10 000, in process, ms", 2.0),
    at_most("C4.import", "import of a framework of 20 000 items, s", 5.0),
    at_most("C4.read", "package of that framework read over HTTP, ms", 200.0),
    at_most("C4.search", "search in that framework by two words over HTTP, ms", 100.0),
    ratio_at_least("C4.raw", "import of that framework, items/s, ours / raw insert", 0.15),
    at_most("U1.today", "p99 of the console's page Today, ms", 300.0),
    at_most("U1.students", "p99 of the page Students, ms", 300.0),
    at_most("U1.xp", "p99 of the page Students, sorted by XP, ms", 300.0),
    at_most("U1.classes", "p99 of the page Classes, ms", 300.0),
    at_most("U1.teacher", "p99 of these pages for a teacher, ms", 300.0),
    at_most("U2.today", "p99 of the console's page Today, on PostgreSQL, ms", 300.0),
    at_most("U2.students", "p99 of the page Students, on PostgreSQL, ms", 300.0),
    at_most("U2.xp", "p99 of the page Students, sorted by XP, on PostgreSQL, ms", 300.0),
    at_most("U2.classes", "p99 of the page Classes, on PostgreSQL, ms", 300.0),
    at_most("U2.teacher", "p99 of these pages for a teacher, on PostgreSQL, ms", 300.0),
    at_most("X1.empty", "sandbox, empty folder to first 200 with data, ms", 1000.0),
    at_most("X1.memory", "sandbox --memory, exec to first 200 with data, ms", 70.0),
    ratio_at_most("X1.anchor", "sandbox --memory, exec to first 200 / of the anchor", 10.0),
    at_most("X2.idle", "sandbox, anonymous memory when idle, MiB", 30.0),
    at_most("X2.memory", "sandbox --memory, anonymous memory when idle, MiB", 30.0),
    ratio_at_most(
        "H1",
        "first request to a backend that does not run / a start of bare workerd",
        1.3,
    ),
    ratio_at_least("H2", "requests to a backend, req/s, ours / bare workerd", 0.80),
    ratio_at_least("H2.miniflare", "requests to a backend, req/s, ours / miniflare", 1.5),
    at_most("H3", "a deploy that changes nothing, exec to exit, ms", 300.0),
    at_most("H3.sent", "bytes that such a deploy uploads", 0.0),
    at_most("H4.client", "peak anonymous memory of deploying a large frontend, MiB", 64.0),
    at_most("H4.server", "peak anonymous memory of the server during that deploy, MiB", 100.0),
    ratio_at_most(
        "H4.resume",
        "bytes sent again after that deploy broke off halfway / all bytes",
        0.6,
    ),
    at_most("H5", "from a save to its answer, under development, ms", 500.0),
    at_most("H6", "`lyceum dev` idle, with its sandbox and its backend, % of a core", 0.2),
    ratio_at_least("D1", "point read, req/s, PostgreSQL store / SQLite store", 0.15),
];

/// The result of a run for one goal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredFinding")]
pub(crate) struct Finding {
    /// The goal.
    #[serde(flatten)]
    pub(crate) goal: Goal,
    /// The figure.
    pub(crate) measured: Spread,
    /// Whether the median reaches the bar.
    pub(crate) met: bool,
    /// The parts of the figure, for people.
    pub(crate) detail: String,
}

impl Finding {
    /// Holds a figure against the goal `id`.
    pub(crate) fn new(id: &str, measured: impl Into<Spread>, detail: impl Into<String>) -> Self {
        let goal = *GOALS.iter().find(|goal| goal.id == id).expect("the table names every id used");
        let measured = measured.into();
        Self { goal, measured, met: goal.bar.is_met(measured.median), detail: detail.into() }
    }
}

/// A finding in the report of an earlier run.
#[derive(Deserialize)]
struct StoredFinding {
    id: String,
    measured: Spread,
    detail: String,
}

impl TryFrom<StoredFinding> for Finding {
    type Error = Error;

    fn try_from(stored: StoredFinding) -> Result<Self> {
        let StoredFinding { id, measured, detail } = stored;
        GOALS.iter().find(|goal| goal.id == id).with_context(|| format!("unknown goal '{id}'"))?;
        Ok(Self::new(&id, measured, detail))
    }
}
