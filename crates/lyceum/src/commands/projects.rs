//! `lyceum projects`

use clap::{Args, Subcommand};
use lyceum_core::text::segment;
use lyceum_project::Binding;
use serde_json::{Value, json};

use super::deploy::prompt;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::profile::{Env, usual_profile};
use crate::remote::{Answer, Remote};

/// List or delete the projects on a server
#[derive(Subcommand)]
pub(crate) enum Projects {
    /// List the deployed projects that you can see
    #[command(visible_alias = "ls")]
    List(List),
    /// Delete a project with its versions, secrets, database, KV and bucket. The game and its players' results stay
    #[command(visible_aliases = ["del", "rm"])]
    Delete(Delete),
}

#[derive(Args)]
pub(crate) struct List {
    /// Environment of the server
    #[arg(long, value_enum, default_value_t = Env::Staging)]
    env: Env,
}

#[derive(Args)]
pub(crate) struct Delete {
    /// Slug of the project
    slug: String,
    /// Show what would be deleted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for the slug as confirmation
    #[arg(short, long)]
    yes: bool,
    /// Environment of the server
    #[arg(long, value_enum, default_value_t = Env::Staging)]
    env: Env,
}

impl Projects {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(list) => list.run(printer),
            Self::Delete(delete) => delete.run(printer),
        }
    }
}

/// The body of a successful response.
fn accepted(remote: &Remote, answer: Answer) -> Result<Value> {
    match answer.status {
        200..300 => Ok(answer.body),
        _ => Err(remote.refusal(&answer)),
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let remote = Remote::of(&self.env.connection(&usual_profile(), None)?)?;
        let projects = accepted(&remote, remote.get("/api/projects")?)?;
        let row = |project: &Value| {
            let text = |name: &str| project[name].as_str().unwrap_or_default().to_owned();
            vec![text("slug"), project["version"].to_string(), text("createdAt"), text("updatedAt")]
        };
        let rows: Vec<_> = projects.as_array().into_iter().flatten().map(row).collect();
        printer.answer(
            || table(&["project", "version", "created", "updated"], &rows),
            || projects.clone(),
        );
        Ok(())
    }
}

impl Delete {
    fn run(self, printer: &Printer) -> Result {
        let Self { slug, env, .. } = self;
        let remote = Remote::of(&env.connection(&usual_profile(), Some(&slug))?)?;
        let path = format!("/api/projects/{}", segment(&slug));
        let versions = accepted(&remote, remote.get(&format!("{path}/deployments"))?)?;
        let state = accepted(&remote, remote.get(&format!("{path}/state"))?)?;
        let content = Content::of(&slug, env, &versions, &state);
        if self.dry_run {
            printer.answer(|| content.text(), || content.json(false));
            return Ok(());
        }
        if !self.yes {
            let message = format!("this deletes '{slug}' on {} with all its data", env.name());
            if !prompt::is_interactive() {
                return Err(Failure::new(Code::Conflict, message).hint("confirm it with --yes"));
            }
            printer.note(content.text().trim_end());
            if prompt::ask(&format!("Type '{slug}' to delete it"), None)? != slug {
                return Err(prompt::cancelled());
            }
        }
        accepted(&remote, remote.delete(&path)?)?;
        printer.answer(String::new, || content.json(true));
        printer.done(&format!("✔ Deleted '{slug}' from {}", env.name()));
        Ok(())
    }
}

/// The parts of a project.
struct Content<'a> {
    slug: &'a str,
    env: Env,
    versions: usize,
    secrets: Vec<&'a str>,
    /// The stores that the project uses.
    data: Vec<&'static str>,
}

impl<'a> Content<'a> {
    fn of(slug: &'a str, env: Env, versions: &Value, state: &'a Value) -> Self {
        let digests = state["secrets"]["digests"].as_object();
        let secrets = digests.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let stores = Binding::ALL.map(Binding::names).into_iter();
        let data = stores.filter(|store| state["uses"][store.key] == true);
        let data = data.map(|store| store.noun).collect();
        Self { slug, env, versions: versions.as_array().map_or(0, Vec::len), secrets, data }
    }

    fn text(&self) -> String {
        let listed = |names: &[&str]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        format!(
            "delete {} on {}:\n  versions  {}\n  secrets   {}\n  data      {}\n",
            self.slug,
            self.env.name(),
            counted(self.versions, "version"),
            listed(&self.secrets),
            listed(&self.data),
        )
    }

    fn json(&self, is_deleted: bool) -> Value {
        json!({
            "slug": self.slug, "environment": self.env.name(), "deleted": is_deleted,
            "versions": self.versions, "secrets": self.secrets, "data": self.data,
        })
    }
}
