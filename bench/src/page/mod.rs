//! `docs/benchmarks.md` and its pictures, from the reports of all subjects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::goals::Finding;
use crate::limits::Limit;
use crate::report::{Curve, Report, Series};
use xtask::chart::{Bar, Line, LineChart, draw_bars, draw_lines};

/// A subject, its heading, and what its figures are compared with.
pub(crate) const AREAS: [(&str, &str, &str); 10] = [
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
        "qti",
        "Assessment content",
        "Reading an item beside a bare scan of its XML, in the process. Scoring over HTTP beside point reads of the anchor, \
         which does no work.",
    ),
    (
        "adaptive",
        "Adaptive lessons",
        "The choice of the next question in the process. Over HTTP, next question and scored answer beside a durable create \
         of one user.",
    ),
    (
        "credentials",
        "Credentials",
        "Badges issued and verified on one core, beside the JavaScript library `@digitalbazaar/vc` and beside bare Ed25519 \
         signatures.",
    ),
    (
        "standards",
        "Academic standards",
        "A framework as a state publishes it: import, whole package and search, and raw inserts of its items.",
    ),
    (
        "console",
        "Console",
        "The pages Today, Students and Classes of an administrator and of a teacher, loaded in turn while students work, on \
         SQLite and on PostgreSQL.",
    ),
    (
        "sandbox",
        "Sandbox",
        "The start of a sandbox with demo data, beside the start of the anchor.",
    ),
    (
        "hosting",
        "Hosting",
        "A deployed backend beside the bare runtime `workerd` and beside miniflare, with the same bundled code.",
    ),
    (
        "growth",
        "Growth",
        "The same operations on data of each power of ten. A flat line means that the operation does not depend on the size.",
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
        for (name, picture) in area.pictures() {
            let file = pictures.join(name).with_extension("svg");
            fs::write(&file, picture + "\n")
                .with_context(|| format!("cannot write '{}'", file.display()))?;
        }
    }
    page.push_str(&limits(&areas));
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
    let (met, all) = (findings().filter(|found| found.met).count(), findings().count());
    let mut versions = BTreeMap::new();
    reports().for_each(|report| versions.extend(&report.versions));
    let versions: Vec<String> =
        versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let missing: Vec<&str> = AREAS
        .iter()
        .map(|(_, title, _)| *title)
        .filter(|title| areas.iter().all(|area| area.title != *title))
        .collect();
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
    if !missing.is_empty() {
        let _ = writeln!(text, "| not measured | {} |", missing.join(", "));
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
            for Finding { goal, measured, met, .. } in
                area.report.findings.iter().filter(|found| found.goal.is_ratio == is_ratio)
            {
                let [median, low, high] =
                    [measured.median, measured.low, measured.high].map(figure);
                let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
                let verdict = if *met { "reached" } else { "**missed**" };
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
            "\n## {title}\n\n{}\n\n{}\n",
            wrapped(about),
            wrapped(&format!(
                "Measured on {} in {minutes} min, with {}.",
                report.date, report.data
            ))
        );
        if !report.findings.is_empty() {
            let _ = writeln!(text, "\n![{}](benchmarks/{}.svg)\n", self.caption(), report.subject);
            text.push_str("| goal | details |\n|---|---|\n");
            for found in &report.findings {
                let details: Vec<&str> = found.detail.lines().map(str::trim).collect();
                let _ = writeln!(text, "| {} | {} |", found.goal.id, details.join("; "));
            }
        }
        for curve in &report.curves {
            let _ = write!(
                text,
                "\n![{}](benchmarks/{}.svg)\n\n{}",
                curve.title,
                curve.name,
                table(curve)
            );
        }
        text
    }

    fn caption(&self) -> String {
        let findings = &self.report.findings;
        let met = findings.iter().filter(|found| found.met).count();
        format!("{}: {met} of {} goals are reached", self.title, findings.len())
    }

    /// The name and the text of each picture.
    fn pictures(&self) -> Vec<(String, String)> {
        let bars: Vec<Bar> = self
            .report
            .findings
            .iter()
            .filter_map(|Finding { goal, measured, .. }| {
                Some(Bar {
                    label: format!("{}  {}", goal.id, goal.what),
                    note: format!("{}, goal {}", figure(measured.median), goal.bar),
                    margin: goal.bar.margin(measured.median)?,
                })
            })
            .collect();
        let mut pictures = Vec::new();
        if !bars.is_empty() {
            let description =
                "How many times better than its goal each figure is. From 1, the goal is reached.";
            let title = format!("{}, against the goals", self.title);
            pictures.push((self.report.subject.clone(), draw_bars(&title, description, &bars)));
        }
        for curve in &self.report.curves {
            let series: Vec<&str> =
                curve.series.iter().map(|series| series.name.as_str()).collect();
            let description = format!(
                "{}, by {}. The table below has the figures.",
                series.join(", "),
                curve.size
            );
            let lines = curve
                .series
                .iter()
                .map(|Series { name, points }| Line { name: name.clone(), points: points.clone() });
            let chart = LineChart {
                title: &curve.title,
                description: &description,
                across: &curve.size,
                up: &curve.unit,
                lines: lines.collect(),
            };
            pictures.push((curve.name.clone(), draw_lines(&chart)));
        }
        pictures
    }
}

/// The figures of a curve: a row for each size.
fn table(curve: &Curve) -> String {
    let names: Vec<&str> = curve.series.iter().map(|series| series.name.as_str()).collect();
    let mut text = format!(
        "| {} | {} |\n|---|{}\n",
        curve.size,
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let mut sizes: Vec<f64> =
        curve.series.iter().flat_map(|series| series.points.iter().map(|point| point.0)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let figures: Vec<String> = curve
            .series
            .iter()
            .map(|series| {
                let point = series.points.iter().find(|point| point.0.total_cmp(&size).is_eq());
                point.map_or_else(|| "–".to_owned(), |point| figure(point.1))
            })
            .collect();
        let _ = writeln!(text, "| {} | {} |", grouped(size), figures.join(" | "));
    }
    text
}

/// The raw limits of the machine.
fn limits(areas: &[Area]) -> String {
    let limits: Vec<&Limit> = areas.iter().flat_map(|area| &area.report.limits).collect();
    if limits.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Limits of this machine\n\nOperations in the process, without a server.\n\n\
         | limit | per second | per second of CPU time | median of a call, µs |\n|---|---|---|---|\n",
    );
    for Limit { name, per_second, per_cpu_second, p50_us } in limits {
        let [per_second, per_cpu_second] = [*per_second, *per_cpu_second].map(grouped);
        let _ = writeln!(text, "| {name} | {per_second} | {per_cpu_second} | {p50_us:.1} |");
    }
    text
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

/// The text in lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + word.chars().count() < 120 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}
