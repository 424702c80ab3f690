//! The record of processing, step by step.

use std::fmt;

use crate::limits::QTI_TRACE_MAX_ENTRIES;

/// A rule or expression and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TraceStep {
    /// Its nesting depth.
    pub depth: usize,
    /// The line of its element; 0 in a template.
    pub line: u32,
    /// The name of its element.
    pub name: &'static str,
    /// The variable that it reads, or the function that it computes; empty where its name says all.
    pub about: Box<str>,
    /// The value, the assignment or the branch that was taken.
    pub result: String,
}

/// The steps in the order of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Trace {
    /// Further steps than the limit are left out.
    pub steps: Vec<TraceStep>,
    #[serde(skip)]
    depth: usize,
}

impl Trace {
    pub(super) fn enter(&mut self, name: &'static str, line: u32, about: &str) -> Option<usize> {
        let depth = self.depth;
        self.depth += 1;
        if self.steps.len() >= QTI_TRACE_MAX_ENTRIES {
            return None;
        }
        self.steps.push(TraceStep {
            depth,
            line,
            name,
            about: about.into(),
            result: String::new(),
        });
        Some(self.steps.len() - 1)
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn set_result(&mut self, step: usize, result: String) {
        self.steps[step].result = result;
    }
}

/// Writes a line for each step: line number, name indented by depth, what it is about, result.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let name = step.name.trim_start_matches("qti-");
            let arrow = if step.result.is_empty() { "" } else { " → " };
            let indent = "  ".repeat(step.depth);
            let blank = if step.about.is_empty() { "" } else { " " };
            let (line, about, result) = (step.line, &step.about, &step.result);
            writeln!(f, "{line:>5}  {indent}{name}{blank}{about}{arrow}{result}")?;
        }
        Ok(())
    }
}
