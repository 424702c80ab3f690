//! Failures of a backend under development, as its developer reads them.
//!
//! Only this machine sees them. Source maps stay in memory, and the entry module of a deploy answers without a stack.
//! A page of another site gets no failure, because routes let pages of all origins read their answers.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::hints::{ProjectFacts, hint};
use crate::traces::{MappedText, SourcePlace, Traces};

/// The line in which esbuild names the place of an error: file, line and column, both counted from 1 here.
static BUNDLER_PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s+(\S.*?):(\d+):(\d+):$").expect("the pattern is valid"));
/// The prefix of the last line of a message, which names the remedy.
const HINT: &str = "\nhint: ";

/// Why a request failed, or why the saved files are not served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DevFailure {
    /// The error, such as `TypeError: x is not a function`, or what the bundler printed.
    pub message: String,
    /// The calls that led to it, each as `at name (file:line:column)`, and those of its causes. Empty without calls.
    pub stack: String,
    /// The innermost place in the project's own sources.
    pub place: Option<SourcePlace>,
    /// The remedy.
    pub hint: Option<String>,
}

impl DevFailure {
    /// An error that a route threw, from its stack and those of its causes.
    pub(crate) fn thrown(stacks: &[String], traces: &Traces, project: &ProjectFacts) -> Self {
        Self::of(traces.map(&stacks.join("\ncaused by ")), project)
    }

    /// A version that cannot be bundled or does not start, or that stopped.
    pub(crate) fn of_message(
        message: &str,
        root: &Path,
        traces: &Traces,
        project: &ProjectFacts,
    ) -> Self {
        let mut mapped = traces.map(message);
        mapped.place = mapped.place.or_else(|| bundler_place(message, root));
        Self::of(mapped, project)
    }

    fn of(mapped: MappedText, project: &ProjectFacts) -> Self {
        let MappedText { text, place } = mapped;
        let line = place.as_ref().map(|place| place.text.as_str()).unwrap_or_default();
        let (text, hint_in_text) = match text.rsplit_once(HINT) {
            Some((text, hint_in_text)) => (text.to_owned(), Some(hint_in_text.to_owned())),
            None => (text, None),
        };
        let hint = hint_in_text.or_else(|| hint(&text, line, project));
        let is_call = |line: &&str| line.trim_start().starts_with("at ");
        let (message, stack) = match text.lines().find(is_call).and_then(|call| text.find(call)) {
            Some(start) => text.split_at(start),
            None => (text.as_str(), ""),
        };
        Self { message: message.trim().to_owned(), stack: stack.trim_end().to_owned(), place, hint }
    }
}

/// The first place that the bundler names, if its file can be read.
fn bundler_place(message: &str, root: &Path) -> Option<SourcePlace> {
    let named = BUNDLER_PLACE.captures(message)?;
    let source = fs::read_to_string(root.join(&named[1])).ok()?;
    // esbuild counts columns from 0.
    let (line, column) = (named[2].parse().ok()?, named[3].parse::<u32>().ok()? + 1);
    Some(SourcePlace::of(named[1].to_owned(), line, column, &source))
}
