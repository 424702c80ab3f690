//! `lyceum deployments`

use std::fs::File;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_deploy::{Local, Options, Server};
use lyceum_project::{Action, Artifact, Backend, Desired, State, Uses};
use serde_json::{Value, json};

use super::deploy::target::Environment;
use super::deploy::{prompt, send, show, told};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};

/// Versions of a deployed project
#[derive(Subcommand)]
pub(crate) enum Deployments {
    /// List the versions that are kept, and which one is served
    List(Of),
    /// Serve a version again, the one before unless another is named: code, frontend and secrets
    Rollback(Rollback),
    /// Copy the version that staging serves to production, without building it anew
    Promote(Promote),
}

/// Which project, and where.
#[derive(Args)]
pub(crate) struct Of {
    /// The project's slug [default: that of the config]
    slug: Option<String>,
    /// The project's config file, or the folder that it is in
    #[arg(short, long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    config: PathBuf,
    /// On which server
    #[arg(long, value_enum, default_value_t = Environment::Staging)]
    env: Environment,
    /// Print every request
    #[arg(long)]
    debug: bool,
}

#[derive(Args)]
pub(crate) struct Rollback {
    #[command(flatten)]
    of: Of,
    /// The version to serve
    #[arg(long, value_name = "NUMBER")]
    version: Option<i64>,
    /// Show what would be served and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args)]
pub(crate) struct Promote {
    /// The project's slug [default: that of the config]
    slug: Option<String>,
    /// The project's config file, or the folder that it is in
    #[arg(short, long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    config: PathBuf,
    /// The version of staging, in place of the one that it serves
    #[arg(long, value_name = "NUMBER")]
    version: Option<i64>,
    /// Show the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
    /// Print every request
    #[arg(long)]
    debug: bool,
}

impl Deployments {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(of) => of.list(printer),
            Self::Rollback(rollback) => rollback.run(printer),
            Self::Promote(promote) => promote.run(printer),
        }
    }
}

/// The slug that was typed, else the config's.
pub(crate) fn slug_of(slug: Option<&String>, config: &std::path::Path) -> Result<String> {
    if let Some(slug) = slug {
        return Ok(slug.clone());
    }
    let config = lyceum_project::find(config)?;
    Ok(Local::slug_of(config.as_ref(), &Options::default())?)
}

impl Of {
    pub(crate) fn open(&self, printer: &Printer) -> Result<(Server, State)> {
        let slug = slug_of(self.slug.as_ref(), &self.config)?;
        let server = self.env.server(&slug, self.debug, printer)?;
        let state = server.state(&slug)?;
        self.env.check(&server, &state)?;
        Ok((server, state))
    }

    fn list(&self, printer: &Printer) -> Result {
        let (server, state) = self.open(printer)?;
        let versions = server.get(&format!("/api/projects/{}/deployments", state.slug))?;
        let current = state.version.unwrap_or_default();
        printer.answer(
            || {
                let rows: Vec<_> = listed(&versions).map(|version| row(version, current)).collect();
                table(&["version", "made", "by", "frontend", "backend", "served"], &rows)
            },
            || json!({ "served": current, "deployments": versions }),
        );
        Ok(())
    }
}

fn listed(versions: &Value) -> impl Iterator<Item = &Value> {
    versions.as_array().into_iter().flatten()
}

fn row(version: &Value, served: i64) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let build = version["frontend"]["size"].as_u64().map_or_else(|| "none".to_owned(), show::bytes);
    let routes = version["backend"]["routes"].as_array();
    let routes = routes.map_or_else(|| "none".to_owned(), |all| format!("{} routes", all.len()));
    let mark = if version["version"] == served { "yes" } else { "" };
    vec![
        version["version"].to_string(),
        text(&version["madeAt"]),
        text(&version["madeBy"]),
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
        let target = listed(&versions).find(|kept| match self.version {
            Some(version) => kept["version"] == version,
            None => kept["version"].as_i64() < Some(current),
        });
        let Some(target) = target else {
            let message = match self.version {
                Some(version) => format!("'{}' has no version {version}", state.slug),
                None => format!("'{}' has no version before {current}", state.slug),
            };
            return Err(Failure::new(Code::NotFound, message)
                .hint("`lyceum deployments list` shows the versions that are kept"));
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
        let body = json!({ "version": version, "revision": state.revision });
        let turned = server.post(&format!("{path}/rollback"), &body)?;
        printer.done(&format!("✔ version {version} of {} is served again", state.slug));
        printer.note("data and files are those of now; secrets are those of that version");
        printer.answer(String::new, || {
            json!({ "from": current, "deployment": turned, "frontendUrl": state.frontend_url,
                    "backendUrl": state.backend_url })
        });
        Ok(())
    }
}

impl Promote {
    fn run(self, printer: &Printer) -> Result {
        let slug = slug_of(self.slug.as_ref(), &self.config)?;
        let staging = Environment::Staging.server(&slug, self.debug, printer)?;
        let from = staging.state(&slug)?;
        Environment::Staging.check(&staging, &from)?;
        let production = Environment::Production.server(&slug, self.debug, printer)?;
        let state = production.state(&slug)?;
        Environment::Production.check(&production, &state)?;
        let Some(served) = self.version.or(from.version) else {
            let message = format!("'{slug}' is not deployed to staging");
            return Err(Failure::new(Code::NotFound, message).hint("`lyceum deploy` does that"));
        };
        let version = staging.get(&format!("/api/projects/{slug}/deployments/{served}"))?;
        let desired = desired(&version, &from)?;
        let plan = lyceum_project::plan(&state, &desired);
        if self.dry_run {
            let build = desired.frontend.as_ref().map_or(0, |zip| zip.size);
            printer.answer(|| show::plan(&plan, &state, build), || json!(plan));
            return Ok(());
        }
        if plan.action == Action::Nothing {
            printer.answer(|| "✦ Nothing to do\n".into(), || show::outcome(&plan, &state, 0));
            return Ok(());
        }
        printer.note("Changes detected:");
        printer.note(show::changes(&plan).trim_end());
        let question = format!("Serve version {served} of staging on production?");
        if !self.yes && prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let mut uploaded = 0;
        for artifact in plan.artifacts() {
            uploaded += copy(&staging, &production, &slug, &artifact, printer)?;
        }
        let applied = production.apply(&plan, &std::collections::BTreeMap::new())?;
        told(&applied, printer, || show::outcome(&plan, &applied, uploaded));
        Ok(())
    }
}

/// What production shall have: the version's code and frontend. Secrets and data never travel.
fn desired(version: &Value, from: &State) -> Result<Desired> {
    let wrong =
        |error: serde_json::Error| Failure::failed(format!("staging told no version: {error}"));
    let part = |name: &str| version[name].clone();
    let frontend: Option<Artifact> = serde_json::from_value(part("frontend")).map_err(wrong)?;
    let backend: Option<Backend> = serde_json::from_value(part("backend")).map_err(wrong)?;
    let uses: Uses = serde_json::from_value(part("uses")).map_err(wrong)?;
    let metadata = from.metadata.clone().unwrap_or_default();
    let slug = from.slug.clone();
    Ok(Desired { slug, metadata, frontend, backend, force_backend: false, uses, secrets: None })
}

/// Copies one file by its hash; one that production has is not fetched at all.
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
    let failed = |error: std::io::Error| Failure::failed(format!("no temporary file: {error}"));
    let file = tempfile::NamedTempFile::new().map_err(failed)?;
    from.download(slug, artifact, file.path())?;
    let opened = File::open(file.path()).map_err(failed)?;
    send(to, "Copying to production", artifact, opened, printer)
}
