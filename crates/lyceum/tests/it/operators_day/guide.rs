//! The steps of the operators' guide, and the notes of the day.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use crate::machines::TestMachine;
use crate::served::root;
use crate::walkthrough::blocks;

/// The guide's steps, and how long each took.
pub(super) struct Guide {
    pub(super) steps: BTreeMap<String, String>,
    since: Instant,
}

impl Guide {
    pub(super) fn read() -> Self {
        let text = fs::read_to_string(root().join("docs/guides/operators.md")).unwrap();
        let step = |info: &str| info.strip_prefix("sh debian ").map(str::to_owned);
        let blocks = blocks(&text).into_iter();
        let named: Vec<_> =
            blocks.filter_map(|block| Some((step(block.info)?, block.text))).collect();
        let count = named.len();
        let steps: BTreeMap<String, String> = named.into_iter().collect();
        assert_eq!(steps.len(), count, "two blocks of the guide have the same name");
        Self { steps, since: Instant::now() }
    }

    /// Runs a step on a machine; what it printed.
    pub(super) fn take(&self, machine: &TestMachine, step: &str) -> String {
        self.take_with(machine, step, str::to_owned)
    }

    /// Runs a step whose last command may fail; what it printed.
    pub(super) fn try_take(&self, machine: &TestMachine, step: &str) -> String {
        self.take_with(machine, step, |text| format!("{} || true", text.trim_end()))
    }

    /// Runs a step with values of the machine in place of those in the guide.
    pub(super) fn take_with(
        &self,
        machine: &TestMachine,
        step: &str,
        edit: impl FnOnce(&str) -> String,
    ) -> String {
        let text = self.steps.get(step).unwrap_or_else(|| panic!("the guide has no '{step}'"));
        let since = Instant::now();
        let printed = machine.run(&edit(text));
        self.note(&format!("{}: {step} took {:.1} s", machine.name, since.elapsed().as_secs_f64()));
        printed
    }

    /// A line of the transcript.
    pub(super) fn note(&self, line: &str) {
        println!("{:6.1} s  {line}", self.since.elapsed().as_secs_f64());
    }
}
