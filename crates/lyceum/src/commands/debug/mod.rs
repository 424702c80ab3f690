//! `lyceum debug`

mod bundle;
mod redaction;

use clap::Subcommand;

use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Debug {
    /// Write a zip for a bug report: versions, checks, settings, log and project config, without secrets
    Bundle(bundle::Bundle),
}

impl Debug {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Bundle(bundle) => bundle.run(printer),
        }
    }
}
