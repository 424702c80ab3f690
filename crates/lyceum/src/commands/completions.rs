//! `lyceum completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::printer::Printer;

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell to print completions for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, printer: &Printer) {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "lyceum", &mut script);
        printer.text(&String::from_utf8_lossy(&script));
    }
}
