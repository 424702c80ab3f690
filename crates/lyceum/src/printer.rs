//! The only place that prints. Results go to standard output, messages about the work to standard
//! error. Output that cannot be written (a closed pipe) is dropped.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lyceum_core::config;
use serde_json::Value;

use crate::cli::Output;
use crate::failure::Failure;

/// The amount that is printed besides the result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Quiet,
    Normal,
    Verbose,
}

/// Prints in the form that the flags ask for.
#[derive(Clone)]
pub(crate) struct Printer {
    level: Level,
    json: bool,
    color: bool,
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const GREEN: &str = "\x1b[1;32m";
const CYAN: &str = "\x1b[1;36m";

/// `3 documents`, `1 document`.
pub(crate) fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

impl Printer {
    pub(crate) fn new(output: &Output) -> Self {
        let level = match output {
            Output { quiet: true, .. } => Level::Quiet,
            Output { verbose: true, .. } => Level::Verbose,
            _ => Level::Normal,
        };
        let color = io::stderr().is_terminal() && !config::no_color();
        Self { level, json: output.json, color }
    }

    /// Prints the result: as one JSON value with `--json`, otherwise as text.
    pub(crate) fn answer(&self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
        if self.json {
            self.text(&format!("{:#}\n", json()));
        } else {
            self.text(&text());
        }
    }

    /// Prints one of many results: as a line of JSON with `--json`, otherwise as text.
    pub(crate) fn item(&self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
        let line = if self.json { json().to_string() } else { text() };
        self.text(&(line + "\n"));
    }

    /// Prints a last line after many results, only with `--json`. Text output uses [`Self::done`].
    pub(crate) fn closing(&self, json: impl FnOnce() -> Value) {
        if self.json {
            self.text(&format!("{}\n", json()));
        }
    }

    /// Prints a result that is the same in every format. It must end with a line break.
    #[expect(clippy::unused_self, reason = "printing takes a printer")]
    pub(crate) fn text(&self, text: &str) {
        let _ = io::stdout().lock().write_all(text.as_bytes());
    }

    /// Prints one line about what was done.
    pub(crate) fn done(&self, text: &str) {
        if self.level >= Level::Normal {
            self.line(GREEN, "", text);
        }
    }

    /// Prints a line below the one about what was done.
    pub(crate) fn note(&self, text: &str) {
        if self.level >= Level::Normal {
            self.line("", "", text);
        }
    }

    /// Whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether each step is printed.
    pub(crate) fn is_verbose(&self) -> bool {
        self.level >= Level::Verbose
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        if self.level >= Level::Normal {
            self.line(YELLOW, "warning: ", text);
        }
    }

    /// Prints a step of the work with `--verbose`.
    pub(crate) fn step(&self, text: &str) {
        if self.level >= Level::Verbose {
            self.line("", "", text);
        }
    }

    /// Returns a callback that prints steps if `debug` or `--verbose` is set.
    pub(crate) fn debugging(&self, is_debug: bool) -> impl Fn(&str) + Send + Sync + 'static {
        let shown = is_debug || self.level >= Level::Verbose;
        move |text| {
            if shown {
                let _ = writeln!(io::stderr().lock(), "{text}");
            }
        }
    }

    /// Prints the error, its details and what to do next.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.line(RED, "error: ", &failure.message);
        for detail in &failure.details {
            self.line("", "", &format!("  {detail}"));
        }
        if let Some(hint) = &failure.hint {
            self.line(CYAN, "hint: ", hint);
        }
    }

    /// A progress bar up to `total`, hidden if standard error is not a terminal. It disappears when it is
    /// dropped.
    pub(crate) fn progress(&self, message: &'static str, total: u64) -> ProgressBar {
        let is_visible = self.level >= Level::Normal && !self.json;
        // indicatif hides a bar by itself if standard error is not a terminal.
        let target =
            if is_visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = if total == 0 {
            "{spinner} {msg} {human_pos} {elapsed}"
        } else {
            "{msg} {wide_bar} {percent:>3} % {eta}"
        };
        let style = ProgressStyle::with_template(style).expect("the templates are valid");
        let length = (total > 0).then_some(total);
        ProgressBar::with_draw_target(length, target).with_style(style).with_message(message)
    }

    fn line(&self, color: &str, head: &str, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = match (self.color && !color.is_empty(), head.is_empty()) {
            (true, true) => writeln!(stderr, "{color}{text}\x1b[0m"),
            (true, false) => writeln!(stderr, "{color}{head}\x1b[0m{text}"),
            (false, _) => writeln!(stderr, "{head}{text}"),
        };
    }
}

/// A table whose columns are as wide as their longest cell.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |n: usize| rows.iter().map(move |row| row[n].chars().count());
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(n, name)| cells(n).chain([name.len()]).max().unwrap_or(0))
        .collect();
    let line = |row: &[String]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    std::iter::once(&header).chain(rows).map(|row| line(row)).collect()
}
