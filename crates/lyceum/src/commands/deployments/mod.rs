//! `lyceum deployments`

mod logs;

use std::fs::File;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_deploy::{DeployOptions, LocalProject, Server};
use lyceum_project::schema::Schema;
use lyceum_project::{Action, Artifact, State};
use serde_json::{Value, json};

use super::deploy::{consent, print_addresses, prompt, send, show, verify};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::profile::Env;
pub(crate) use logs::Logs;

/// List the versions of a deployed project, roll back to one, or promote one
#[derive(Subcommand)]
pub(crate) enum Deployments {
    /// List the stored versions, and which one is served
    List(Of),
    /// Serve an earlier version again, with its code, frontend and secrets
    Rollback(Rollback),
    /// Deploy the version that staging serves to production, without rebuilding it
    Promote(Promote),
    /// Print the backend's output, its requests, and why it stopped
    Logs(Logs),
}

/// The project and its server.
#[derive(Args)]
pub(crate) struct Of {
    /// Slug of the project [default: from the config]
    pub(crate) slug: Option<String>,
    /// The project's config file, or its folder
    #[arg(short, long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) config: PathBuf,
    /// Environment of the server
    #[arg(long, value_enum, default_value_t = Env::Staging)]
    pub(crate) env: Env,
    /// Print every HTTP request
    #[arg(long)]
    pub(crate) debug: bool,
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Rollback {
    #[command(flatten)]
    of: Of,
    /// The version to serve [default: the previous one]
    #[arg(long, value_name = "NUMBER")]
    version: Option<i64>,
    /// Keep the database even if the version had a different schema
    #[arg(long, conflicts_with = "restore_database")]
    keep_database: bool,
    /// Restore the database to when the version was last served. Rows written since then are lost
    #[arg(long)]
    restore_database: bool,
    /// Show which version would be served, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Promote {
    /// Slug of the project [default: from the config]
    slug: Option<String>,
    /// The project's config file, or its folder
    #[arg(short, long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    config: PathBuf,
    /// The staging version to promote [default: the one that staging serves]
    #[arg(long, value_name = "NUMBER")]
    version: Option<i64>,
    /// Show the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Change the schema even if that loses the data that the plan lists
    #[arg(long)]
    accept_data_loss: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print every HTTP request
    #[arg(long)]
    debug: bool,
}

impl Deployments {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(of) => of.list(printer),
            Self::Rollback(rollback) => rollback.run(printer),
            Self::Promote(promote) => promote.run(printer),
            Self::Logs(logs) => logs.run(printer),
        }
    }
}

/// The slug from the command line, or else from the config.
pub(crate) fn slug_of(slug: Option<&String>, config: &std::path::Path) -> Result<String> {
    if let Some(slug) = slug {
        return Ok(slug.clone());
    }
    let config = crate::project::config(config)?;
    Ok(LocalProject::slug_of(config.as_ref(), &DeployOptions::default())?)
}

impl Of {
    pub(crate) fn open(&self, printer: &Printer) -> Result<(Server, State)> {
        let slug = slug_of(self.slug.as_ref(), &self.config)?;
        self.env.open(&slug, self.debug, printer)
    }

    fn list(&self, printer: &Printer) -> Result {
        let (server, state) = self.open(printer)?;
        let versions = server.get(&format!("/api/projects/{}/deployments", state.slug))?;
        let current = state.version.unwrap_or_default();
        printer.answer(
            || {
                let rows: Vec<_> =
                    elements(&versions).map(|version| row(version, current)).collect();
                table(&["version", "made", "by", "frontend", "backend", "served"], &rows)
            },
            || json!({ "served": current, "deployments": versions }),
        );
        Ok(())
    }
}

fn elements(versions: &Value) -> impl Iterator<Item = &Value> {
    versions.as_array().into_iter().flatten()
}

fn row(version: &Value, served: i64) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let build = version["frontend"]["size"].as_u64().map_or_else(|| "none".to_owned(), show::bytes);
    let routes = version["backend"]["routes"].as_array();
    let routes = routes.map_or_else(|| "none".to_owned(), |all| counted(all.len(), "route"));
    let mark = if version["version"] == served { "yes" } else { "" };
    vec![
        version["version"].to_string(),
        text(&version["madeAt"]),
        text(&version["madeByName"]),
        build,
        routes,
        mark.to_owned(),
    ]
}

impl Rollback {
    fn run(self, printer: &Printer) -> Result {
        let (server, state) = self.of.open(printer)?;
        let current = state.version.unwrap_or_default();
        let path = format!("/api/projects/{}", state.slug);
        let versions = server.get(&format!("{path}/deployments"))?;
        let target = elements(&versions).find(|entry| match self.version {
            Some(version) => entry["version"] == version,
            None => entry["version"].as_i64() < Some(current),
        });
        let Some(target) = target else {
            let message = match self.version {
                Some(version) => format!("'{}' has no version {version}", state.slug),
                None => format!("'{}' has no version before {current}", state.slug),
            };
            return Err(Failure::new(Code::NotFound, message)
                .hint("run `lyceum deployments list` to see the stored versions"));
        };
        let version = &target["version"];
        if self.dry_run {
            let text = || format!("version {version} of {} would be served again\n", state.slug);
            printer.answer(text, || json!({ "from": current, "deployment": target }));
            return Ok(());
        }
        let question = format!("Serve version {version} of {} in place of {current}?", state.slug);
        if !self.yes && prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let version_details = server.get(&format!("{path}/deployments/{version}"))?;
        let database = self.database(&version_details, &state, printer)?;
        let body = json!({ "version": version, "revision": state.revision, "database": database });
        let turned = server.post(&format!("{path}/rollback"), &body)?;
        printer.done(&format!("✔ version {version} of {} is served again", state.slug));
        let data = if database == Some("restore") { "of that version" } else { "of now" };
        printer.note(&format!(
            "the data is that {data}, the bucket is unchanged, the secrets are of that version"
        ));
        printer.answer(String::new, || {
            json!({ "from": current, "deployment": turned, "playUrl": state.play_url,
                    "frontendUrl": state.frontend_url, "backendUrl": state.backend_url })
        });
        Ok(())
    }
}

impl Rollback {
    /// The choice for the database if the version had a different schema.
    fn database(
        &self,
        version: &Value,
        state: &State,
        printer: &Printer,
    ) -> Result<Option<&'static str>> {
        if self.keep_database || self.restore_database {
            return Ok(Some(if self.keep_database { "keep" } else { "restore" }));
        }
        let Some(declared) = version["declared"]["ddl"].as_str() else { return Ok(None) };
        if Schema::of(declared)? == Schema::of(&state.database.ddl)? {
            return Ok(None);
        }
        printer.warn("that version had a different database schema");
        if self.yes || !prompt::is_interactive() {
            return Err(Failure::new(Code::Conflict, "choose what to do with the database")
                .hint("keep it with --keep-database, or restore the rows of that version with --restore-database"));
        }
        printer.note("  1  keep the database as it is");
        printer.note("  2  restore it to that version; rows written since then are lost");
        printer.note("  3  cancel");
        loop {
            match prompt::ask("Choose 1, 2 or 3", Some("3"))?.as_str() {
                "1" => return Ok(Some("keep")),
                "2" => return Ok(Some("restore")),
                "3" => return Err(prompt::cancelled()),
                _ => {}
            }
        }
    }
}

impl Promote {
    fn run(self, printer: &Printer) -> Result {
        let slug = slug_of(self.slug.as_ref(), &self.config)?;
        let (staging, from) = Env::Staging.open(&slug, self.debug, printer)?;
        let (production, state) = Env::Production.open(&slug, self.debug, printer)?;
        let Some(served) = self.version.or(from.version) else {
            let message = format!("'{slug}' is not deployed to staging");
            return Err(
                Failure::new(Code::NotFound, message).hint("deploy it with `lyceum deploy`")
            );
        };
        let version = staging.get(&format!("/api/projects/{slug}/deployments/{served}"))?;
        let mut desired = lyceum_deploy::promoted(&version, &from, &state)?;
        if let Some(database) = &mut desired.database {
            database.accept_data_loss = self.accept_data_loss;
        }
        let mut plan = lyceum_project::plan(&state, &desired)?;
        let lacking = lyceum_deploy::lacking(&from, &state);
        if !lacking.is_empty() {
            printer.warn(&format!(
                "production lacks secrets that staging has: {}; push those in .env with \
                 `lyceum secrets push --env production`",
                lacking.join(", ")
            ));
        }
        let with_lacking = |mut value: Value| {
            value["missingSecrets"] = json!(lacking);
            value
        };
        if self.dry_run {
            let build = desired.frontend.as_ref().map_or(0, |zip| zip.size);
            printer.answer(|| show::plan(&plan, &state, build, None), || with_lacking(json!(plan)));
            return Ok(());
        }
        if plan.action == Action::Nothing {
            let outcome = || with_lacking(show::outcome(&plan, &state, 0));
            printer.answer(|| "✦ Nothing to do\n".into(), outcome);
            return Ok(());
        }
        printer.note("Changes detected:");
        printer.note(show::changes(&plan).trim_end());
        consent(&mut plan, self.yes)?;
        let question = format!("Serve version {served} of staging on production?");
        if !self.yes && prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let mut uploaded = 0;
        for artifact in plan.artifacts() {
            uploaded += copy(&staging, &production, &slug, &artifact, printer)?;
        }
        let applied = production.apply(&plan, &std::collections::BTreeMap::new())?;
        verify(&plan, &applied, printer)?;
        print_addresses(&applied, printer, || {
            with_lacking(show::outcome(&plan, &applied, uploaded))
        });
        Ok(())
    }
}

/// Copies one file by its hash, unless production already has it.
fn copy(
    from: &Server,
    to: &Server,
    slug: &str,
    artifact: &Artifact,
    printer: &Printer,
) -> Result<u64> {
    if to.has(artifact)? {
        return Ok(0);
    }
    let failed =
        |error: std::io::Error| Failure::failed(format!("cannot create a temporary file: {error}"));
    let file = tempfile::NamedTempFile::new().map_err(failed)?;
    from.download(slug, artifact, file.path())?;
    let opened = File::open(file.path()).map_err(failed)?;
    send(to, "Copying to production", artifact, opened, printer)
}
