//! `lyceum lesson`

mod policy;
mod simulate;

use clap::Subcommand;

use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Lesson {
    /// Show, change and simulate policies: how lessons choose questions, score and reward
    #[command(subcommand)]
    Policy(policy::Policy),
}

impl Lesson {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Policy(policy) => policy.run(printer),
        }
    }
}
