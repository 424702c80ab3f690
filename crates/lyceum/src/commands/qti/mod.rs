//! `lyceum qti`

mod answers;
mod check;
mod document_files;
mod explain;
mod export;
mod fault_report;
mod files;
mod import;
mod library;
mod score;
mod validate;

use clap::Subcommand;

use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Qti {
    /// Check items, tests, sections and stimuli, and their references to each other
    Validate(validate::Validate),
    /// Score responses to an item
    Score(score::Score),
    /// Show how a response is scored, step by step
    Explain(explain::Explain),
    /// Import items, tests and stimuli
    Import(import::Import),
    /// Export all stored items, tests and stimuli as files
    Export(export::Export),
}

impl Qti {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Validate(validate) => validate.run(printer),
            Self::Score(score) => score.run(printer),
            Self::Explain(explain) => explain.run(printer),
            Self::Import(import) => import.run(printer),
            Self::Export(export) => export.run(printer),
        }
    }
}
