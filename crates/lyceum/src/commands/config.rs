//! `lyceum config`

use clap::{Args, Subcommand};
use serde_json::json;

use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::DataArgs;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
    /// Print a commented file with all default settings, as a starting point for your own
    #[arg(long)]
    default: bool,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Print the JSON Schema of a project's config file, for editors
    Schema,
}

impl Config {
    pub(crate) fn run(&self, printer: &Printer) -> Result {
        if let Some(ConfigCommand::Schema) = self.command {
            printer.text(&format!("{:#}\n", lyceum_project::config_schema()));
            return Ok(());
        }
        if self.default {
            printer.text(lyceum_core::config::DEFAULTS);
            return Ok(());
        }
        let loaded = self.data.load(&[])?;
        let settings = loaded.effective();
        printer.answer(
            || {
                let rows: Vec<_> = settings
                    .iter()
                    .map(|(key, value, origin)| {
                        vec![key.clone(), value.clone(), origin.to_string()]
                    })
                    .collect();
                table(&["setting", "value", "from"], &rows)
            },
            || {
                settings
                    .iter()
                    .map(|(key, value, origin)| {
                        json!({ "setting": key, "value": value, "from": origin.to_string() })
                    })
                    .collect()
            },
        );
        Ok(())
    }
}
