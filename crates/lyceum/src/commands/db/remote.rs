//! The database of a deployed project.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_deploy::{DeployOptions, LocalProject, SchemaSources, Server, artifact_of};
use lyceum_project::schema::{self, Schema};
use lyceum_project::{Action, DatabaseWish, Desired, Plan, SchemaWish, State, Strategy, plan};
use serde_json::{Value, json};

use crate::commands::deploy::{consent, print_addresses, problems, prompt, refuse, send, show};
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::profile::Env;
use crate::project::evaluator;

/// The SQL that a plan runs, in order: the statements of a push, or whole migration files.
fn sql(plan: &Plan) -> Vec<String> {
    let (Some(change), Some(database)) = (&plan.database, &plan.desired.database) else {
        return Vec::new();
    };
    match &database.schema {
        SchemaWish::Push { .. } => {
            change.statements.iter().map(|one| format!("{one};\n")).collect()
        }
        SchemaWish::Migrate { files } => {
            let files = files.iter().filter(|file| change.migrations.contains(&file.tag));
            files.map(super::commented).collect()
        }
    }
}

/// A deployed project.
pub(super) struct Remote {
    server: Server,
    state: State,
    sources: SchemaSources,
}

impl Remote {
    pub(super) fn open(path: &Path, env: Env, printer: &Printer) -> Result<Self> {
        let evaluator = evaluator(path);
        let config = evaluator.config(path)?;
        let slug = LocalProject::slug_of(config.as_ref(), &DeployOptions::default())?;
        let (server, state) = env.open(&slug, false, printer)?;
        if state.revision == 0 || !state.uses.database {
            let message = match state.revision {
                0 => format!("'{slug}' is not deployed to {}", env.name()),
                _ => format!("'{slug}' uses no database on {}", env.name()),
            };
            return Err(
                Failure::new(Code::NotFound, message).hint("deploy it with `lyceum deploy`")
            );
        }
        let sources =
            SchemaSources::of(lyceum_project::folder_of(path), config.as_ref(), &evaluator);
        Ok(Self { server, state, sources })
    }

    fn wish(&self, strategy: Strategy, renames: &[String]) -> Result<SchemaWish> {
        Ok(match strategy {
            Strategy::Push => {
                SchemaWish::Push { ddl: self.sources.ddl()?, renames: renames.to_vec() }
            }
            Strategy::Migrate => {
                SchemaWish::Migrate { files: schema::migrations_in(&self.sources.migrations()?)? }
            }
        })
    }

    /// A plan that changes only the schema.
    fn plan(&self, strategy: Strategy, renames: &[String], accept: bool) -> Result<Plan> {
        let schema = self.wish(strategy, renames)?;
        let desired = Desired {
            slug: self.state.slug.clone(),
            metadata: self.state.metadata.clone().unwrap_or_default(),
            frontend: None,
            backend: None,
            force_backend: false,
            uses: self.state.uses,
            secrets: None,
            database: Some(DatabaseWish { schema, accept_data_loss: accept }),
            lms: None,
        };
        Ok(plan(&self.state, &desired)?)
    }

    /// The schema of the deployed database.
    pub(super) fn schema(&self) -> Result<Schema> {
        Ok(Schema::of(&self.state.database.ddl)?)
    }

    /// The way in which the project changes its schema.
    pub(super) fn strategy(&self) -> Result<Strategy> {
        Ok(self.sources.strategy()?)
    }

    pub(super) fn diff(&self, strategy: Strategy, renames: &[String], printer: &Printer) -> Result {
        let plan = self.plan(strategy, renames, false)?;
        let problems = problems(&self.server, &plan)?;
        let sql = sql(&plan);
        printer.answer(
            || sql.concat(),
            || json!({ "database": plan.database, "problems": problems, "sql": sql }),
        );
        if let Some(change) = &plan.database {
            if change.adopts {
                printer
                    .note("the database already has the schema of these files: they are marked as applied, not run");
            }
            change.losses.iter().for_each(|loss| printer.warn(loss));
            change.hints.iter().for_each(|hint| printer.note(hint));
            for statement in &change.drift {
                printer.note(&format!("changed since the last deploy: {statement}"));
            }
        }
        for problem in &problems {
            printer.warn(problem);
        }
        if plan.database.is_none() {
            printer.done("the database matches the project's schema");
        }
        Ok(())
    }

    pub(super) fn change(
        &self,
        strategy: Strategy,
        renames: &[String],
        accept: bool,
        printer: &Printer,
    ) -> Result {
        let mut plan = self.plan(strategy, renames, accept)?;
        if plan.action == Action::Nothing {
            printer.done("the database matches the project's schema");
            printer.answer(String::new, || show::outcome(&plan, &self.state, 0));
            return Ok(());
        }
        printer.note(show::changes(&plan).trim_end());
        refuse(problems(&self.server, &plan)?)?;
        consent(&mut plan, false)?;
        let question = format!("Change the database on {}?", self.state.environment);
        if prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let applied = self.server.apply(&plan, &BTreeMap::new())?;
        print_addresses(&applied, printer, || show::outcome(&plan, &applied, 0));
        Ok(())
    }

    fn path(&self, tail: &str) -> String {
        format!("/api/projects/{}/database{tail}", self.state.slug)
    }

    /// Downloads a copy of the database to a file.
    pub(super) fn fetch(&self, to: &Path) -> Result {
        self.server.fetch(&self.path(""), to)?;
        Ok(())
    }

    pub(super) fn backup(&self, to: &Path, printer: &Printer) -> Result {
        if to.exists() {
            let message = format!("the file '{}' already exists", to.display());
            return Err(Failure::new(Code::Conflict, message));
        }
        let size = self.server.fetch(&self.path(""), to)?;
        printer.answer(String::new, || json!({ "file": to, "size": size }));
        printer.done(&format!("backed up {} to '{}'", show::bytes(size), to.display()));
        Ok(())
    }

    pub(super) fn points(&self, printer: &Printer) -> Result {
        let points = self.server.get(&self.path("/points"))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let row = |point: &Value| {
            vec![
                text(&point["id"]),
                text(&point["at"]),
                point["version"].to_string(),
                text(&point["what"]),
            ]
        };
        let rows: Vec<_> = points.as_array().into_iter().flatten().map(row).collect();
        printer
            .answer(|| table(&["id", "until", "version", "replaced by"], &rows), || points.clone());
        Ok(())
    }

    /// Restores a local copy, or a restore point by its id.
    pub(super) fn restore(&self, from: &Path, dry_run: bool, printer: &Printer) -> Result {
        if dry_run {
            return self.check_restore(from, printer);
        }
        self.confirm_replacement()?;
        if from.is_file() {
            return self.put(from, printer);
        }
        let body = json!({ "point": from });
        let points = self.server.post(&self.path("/restore"), &body)?;
        self.replaced(&points, printer);
        Ok(())
    }

    /// Restores the state of a time.
    pub(super) fn restore_to(&self, at: Timestamp, printer: &Printer) -> Result {
        self.confirm_replacement()?;
        let points = self.server.post(&self.path("/restore"), &json!({ "at": at }))?;
        self.replaced(&points, printer);
        Ok(())
    }

    fn confirm_replacement(&self) -> Result {
        let question =
            format!("Replace the database of {} on {}?", self.state.slug, self.state.environment);
        match prompt::is_interactive() && !prompt::confirm(&question, false)? {
            true => Err(prompt::cancelled()),
            false => Ok(()),
        }
    }

    /// Checks that a copy is a database, or that the restore point exists.
    fn check_restore(&self, from: &Path, printer: &Printer) -> Result {
        let name = from.display().to_string();
        if from.is_file() {
            schema::check(from)?;
        } else {
            let points = self.server.get(&self.path("/points"))?;
            if !points.as_array().into_iter().flatten().any(|point| point["id"] == name.as_str()) {
                let message = format!("there is no file and no restore point '{name}'");
                return Err(Failure::new(Code::NotFound, message)
                    .hint("run `lyceum db points --remote` to see what you can restore"));
            }
        }
        printer.answer(|| format!("restore {name}\n"), || json!({ "restore": name }));
        Ok(())
    }

    pub(super) fn put(&self, file: &Path, printer: &Printer) -> Result {
        let artifact = artifact_of(file)?;
        let opened = File::open(file).map_err(|error| {
            Failure::failed(format!("'{}' cannot be read: {}", file.display(), io_reason(&error)))
        })?;
        send(&self.server, "Uploading database", &artifact, opened, printer)?;
        let body = json!({ "sha256": artifact.sha256 });
        let points = self.server.post(&self.path("/restore"), &body)?;
        self.replaced(&points, printer);
        Ok(())
    }

    fn replaced(&self, points: &Value, printer: &Printer) {
        let before = points[0]["id"].as_str().unwrap_or_default();
        printer.answer(String::new, || json!({ "restorePoint": before }));
        let env = &self.state.environment;
        printer.done(&format!("replaced the database of {} on {env}", self.state.slug));
        printer
            .note(&format!("run `lyceum db restore {before} --remote --env {env}` to undo this"));
    }

    /// Replaces the database with an empty one that has the project's schema.
    pub(super) fn reset(&self, (yes, dry_run): (bool, bool), printer: &Printer) -> Result {
        let (slug, env) = (&self.state.slug, &self.state.environment);
        if dry_run {
            let name = format!("the database of {slug} on {env}");
            printer.answer(|| format!("reset {name}\n"), || json!({ "reset": slug }));
            return Ok(());
        }
        if !yes {
            if !prompt::is_interactive() {
                let message = format!("this deletes all rows of '{slug}' on {env}");
                return Err(Failure::new(Code::Conflict, message).hint("confirm it with --yes"));
            }
            let question = format!("Delete all rows of {slug} on {env}?");
            if !prompt::confirm(&question, false)?
                || prompt::ask(&format!("Type '{slug}' to confirm"), None)? != *slug
            {
                return Err(prompt::cancelled());
            }
        }
        let failed = |error: std::io::Error| {
            Failure::failed(format!("cannot create a temporary file: {error}"))
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("new.db");
        self.sources.make(&file, SystemClock.now())?;
        self.put(&file, printer)
    }
}
