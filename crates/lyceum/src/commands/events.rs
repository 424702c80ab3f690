//! `lyceum events`

use clap::Subcommand;

use super::{rebuild, rejected};
use crate::failure::Result;
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Events {
    /// Compute all facts anew from the log of events, beside a running server
    Rebuild(rebuild::Rebuild),
    /// List refused envelopes, or show one with its faults and its body
    Rejected(rejected::Rejected),
    /// Send refused envelopes through the intake again
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
