//! `lyceum man`: the manual pages that the packages install.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::failure::{Failure, Result};

#[derive(Args)]
pub(crate) struct Man {
    /// The folder to write the pages to, one for each command
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(&self) -> Result {
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(|error| {
            Failure::failed(format!("cannot write pages to {}: {error}", self.folder.display()))
        })
    }
}
