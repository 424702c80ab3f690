//! `lyceum events`

use clap::Subcommand;

use super::{rebuild, rejected};
use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Events {
    /// Recompute all facts from the event log while the server runs
    Rebuild(rebuild::Rebuild),
    /// List rejected envelopes, or show one with its errors and body
    Rejected(rejected::Rejected),
    /// Send rejected envelopes to the server's checks again
    Replay(rejected::Replay),
}

impl Events {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Rebuild(rebuild) => rebuild.run(printer),
            Self::Rejected(rejected) => rejected.run(printer),
            Self::Replay(replay) => replay.run(printer),
        }
    }
}
