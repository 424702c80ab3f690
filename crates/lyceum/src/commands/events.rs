//! `lyceum events`

use clap::Subcommand;

use super::rebuild;
use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Events {
    /// Compute all facts anew from the log of events, beside a running server
    Rebuild(rebuild::Rebuild),
}

impl Events {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Rebuild(rebuild) => rebuild.run(printer),
        }
    }
}
