//! `lyceum secrets`

use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, Subcommand};
use lyceum_core::Problem;
use lyceum_project::{Action, Desired};
use serde_json::json;

use super::deploy::{print_addresses, prompt, show};
use super::deployments::Of;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};

/// Push the secrets of a deployed project, or list their names
#[derive(Subcommand)]
pub(crate) enum Secrets {
    /// Make the server's secrets match `.env`: add, update and remove
    Push(Push),
    /// List the names of the server's secrets. Values are never shown
    #[command(visible_alias = "ls")]
    List(List),
}

#[derive(Args)]
pub(crate) struct Push {
    #[command(flatten)]
    of: Of,
    /// The file with the secrets [default: .env next to the config]
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    of: Of,
}

impl Secrets {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Push(push) => push.run(printer),
            Self::List(list) => list.run(printer),
        }
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, state) = self.of.open(printer)?;
        let names: Vec<_> = state.secrets.digests.keys().collect();
        let text = || names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
        printer.answer(text, || json!(names));
        Ok(())
    }
}

impl Push {
    fn run(self, printer: &Printer) -> Result {
        let beside = || lyceum_project::folder_of(&self.of.config).join(lyceum_deploy::ENV);
        let file = self.file.clone().unwrap_or_else(beside);
        let Some(known) = lyceum_deploy::secrets_in(&file)? else {
            let message = format!("there is no file '{}'", file.display());
            return Err(
                Failure::new(Code::NotFound, message).hint("choose another file with --file")
            );
        };
        let (server, state) = self.of.open(printer)?;
        let Some(metadata) = state.metadata.clone().filter(|_| state.revision > 0) else {
            let message = format!("'{}' is not deployed to {}", state.slug, state.environment);
            return Err(
                Failure::new(Code::NotFound, message).hint("deploy it with `lyceum deploy`")
            );
        };
        let key = BASE64_STANDARD.decode(&state.secrets.key).map_err(Problem::internal)?;
        let digest = |(name, value): (&String, &String)| {
            (name.clone(), lyceum_project::secrets::digest(&key, name, value))
        };
        let desired = Desired {
            slug: state.slug.clone(),
            metadata,
            frontend: None,
            backend: None,
            force_backend: false,
            uses: state.uses,
            secrets: Some(known.iter().map(digest).collect()),
            database: None,
            lms: None,
        };
        let plan = lyceum_project::plan(&state, &desired)?;
        if self.dry_run || plan.action == Action::Nothing {
            let text = || match plan.action {
                Action::Nothing => "✦ Nothing to do\n".to_owned(),
                _ => show::changes(&plan),
            };
            printer.answer(text, || json!(plan));
            return Ok(());
        }
        printer.note(show::changes(&plan).trim_end());
        let secrets = counted(plan.secrets.count(), "secret");
        let question = format!("Push {secrets} to {}?", state.environment);
        if !self.yes && prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let pushed = plan.secrets.pushed().filter_map(|name| known.get_key_value(name));
        let pushed = pushed.map(|(name, value)| (name.clone(), value.clone())).collect();
        let applied = server.apply(&plan, &pushed)?;
        printer.done(&format!("✔ Pushing {secrets}"));
        print_addresses(&applied, printer, || show::outcome(&plan, &applied, 0));
        Ok(())
    }
}
