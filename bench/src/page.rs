//! `docs/benchmarks.md` and its pictures, from the reports of all subjects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::chart::{self, Bar};
use crate::report::Report;

/// A subject, its heading, and what its figures are compared with.
pub(crate) const AREAS: [(&str, &str, &str); 5] = [
    (
        "roster",
        "Roster",
        "Lyceum beside the anchor, which is a bare server of axum and SQLite: it answers ready JSON texts from memory-mapped \
         tables and checks nothing. \"Raw\" is SQLite in the process, without a server.",
    ),
    (
        "events",
        "Events and analytics",
        "Validated, deduplicated and durable events beside raw inserts of the same bytes, in the process, into SQLite and \
         PostgreSQL; and beside Ralph, a store of learning records. A log is measured once the facts of its events are summed.",
    ),
    (
        "adaptive",
        "Adaptive lessons",
        "The next question and the scored answer over HTTP, beside a durable create of one user.",
    ),
    (
        "credentials",
        "Credentials",
        "Badges issued and verified on one core, beside the JavaScript library `@digitalbazaar/vc` and beside bare Ed25519 \
         signatures.",
    ),
    (
        "hosting",
        "Hosting",
        "A deployed backend beside the bare runtime `workerd` and beside miniflare, with the same bundled code.",
    ),
];

/// The load average above which the page says that the machine did other work.
const BUSY_LOAD: f64 = 1.0;

/// Writes the page and its pictures into the folder of documents, and returns the number of subjects on it.
pub(crate) fn write(reports: &Path, documents: &Path) -> Result<usize> {
    let mut areas = Vec::new();
    for (subject, title, about) in AREAS {
        if let Some(report) = Report::read(reports, subject)? {
            areas.push(Area { title, about, report });
        }
    }
    ensure!(
        !areas.is_empty(),
        "'{}' has no reports; run `cargo xtask bench` first",
        reports.display()
    );
    let pictures = documents.join("benchmarks");
    // Pictures of an earlier page may have other names.
    if pictures.exists() {
        fs::remove_dir_all(&pictures)?;
    }
    fs::create_dir_all(&pictures)?;
    let mut page = head(&areas);
    page.push_str(&goals(&areas));
    for area in &areas {
        page.push_str(&area.section());
        let file = pictures.join(&area.report.subject).with_extension("svg");
        fs::write(&file, area.picture()? + "\n")
            .with_context(|| format!("cannot write '{}'", file.display()))?;
    }
    let file = documents.join("benchmarks.md");
    fs::write(&file, page).with_context(|| format!("cannot write '{}'", file.display()))?;
    Ok(areas.len())
}

/// A subject on the page.
struct Area {
    title: &'static str,
    about: &'static str,
    report: Report,
}

/// The machine, the programs, and how the figures came about.
fn head(areas: &[Area]) -> String {
    let reports = || areas.iter().map(|area| &area.report);
    let findings = || reports().flat_map(|report| &report.findings);
    let (met, all) = (findings().filter(|found| found.is_met()).count(), findings().count());
    let mut versions = BTreeMap::new();
    reports().for_each(|report| versions.extend(&report.versions));
    let versions: Vec<String> =
        versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let mut text = format!(
        "# Benchmarks\n\n`cargo xtask bench all` measured these figures and wrote this page. {met} of {all} goals are reached.\n\n\
         Ratios come first: two sides are measured in turn in one run, on the same cores, so a ratio says more than an absolute\n\
         figure, which depends on the machine. In the table of goals, a figure is the\n\
         median of all rounds, with the least and the greatest in brackets. Some details below are of the last round, so they\n\
         need not give the same ratio.\n\n\
         \"Ours\" is Lyceum. The \"anchor\" is a bare server of axum and SQLite that checks nothing. \"Raw\" is SQL in the\n\
         process, without a server.\n\n"
    );
    let first = reports().next().expect("a page has an area");
    // Before the other subjects it is the load of the subject before.
    let load = first.machine.load_before;
    let _ = writeln!(
        text,
        "| | |\n|---|---|\n| machine | {} |\n| load average before the first subject | {load} |\n| programs | {} |\n\
         | length of the measurements | loads of {} s; each figure {} |",
        first.machine.hardware(),
        versions.join(", "),
        first.load_seconds,
        match first.rounds {
            1 => "once".to_owned(),
            rounds => format!("{rounds} times"),
        }
    );
    if load > BUSY_LOAD {
        text.push_str("| note | the machine did other work before, so some absolute figures may be worse than on a quiet one |\n");
    }
    text
}

/// The table of all goals: ratios first.
fn goals(areas: &[Area]) -> String {
    let mut text = String::from(
        "\n## Goals\n\n| area | measured quantity | measured | goal | |\n|---|---|---|---|---|\n",
    );
    for is_ratio in [true, false] {
        for area in areas {
            for found in &area.report.findings {
                let goal = found.goal();
                if goal.is_ratio() != is_ratio {
                    continue;
                }
                let measured = found.measured;
                let [median, low, high] =
                    [measured.median, measured.low, measured.high].map(figure);
                let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
                let verdict = if found.is_met() { "reached" } else { "**missed**" };
                let _ = writeln!(
                    text,
                    "| {} | {}: {} | {median}{range} | {} | {verdict} |",
                    area.title, goal.id, goal.what, goal.bar
                );
            }
        }
    }
    text
}

impl Area {
    fn section(&self) -> String {
        let Self { title, about, report } = self;
        let minutes = report.run_seconds.div_ceil(60);
        let mut text = format!(
            "\n## {title}\n\n{about}\n\nMeasured on {} in {minutes} min, with {}.\n",
            report.date, report.data
        );
        let _ = writeln!(text, "\n![{}](benchmarks/{}.svg)\n", self.caption(), report.subject);
        text.push_str("| goal | details |\n|---|---|\n");
        for found in &report.findings {
            let details: Vec<&str> = found.detail.lines().map(str::trim).collect();
            let _ = writeln!(text, "| {} | {} |", found.goal().id, details.join("; "));
        }
        text
    }

    fn caption(&self) -> String {
        let findings = &self.report.findings;
        let met = findings.iter().filter(|found| found.is_met()).count();
        format!("{}: {met} of {} goals are reached", self.title, findings.len())
    }

    /// The chart of all goals.
    fn picture(&self) -> Result<String> {
        let bars = self.report.findings.iter().map(|found| {
            let (goal, median) = (found.goal(), found.measured.median);
            let figure = figure(median);
            let label = format!("{}  {}: {figure}, goal {}", goal.id, goal.what, goal.bar);
            Bar { label, margin: goal.bar.margin(median) }
        });
        chart::draw(self.title, &bars.collect::<Vec<_>>())
    }
}

/// A figure with three or more digits that mean something.
fn figure(value: f64) -> String {
    match value.abs() {
        1000.0.. => grouped(value),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.3}"),
    }
}

/// A whole number in groups of three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
