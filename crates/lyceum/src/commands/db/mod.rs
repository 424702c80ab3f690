//! `lyceum db`: the database of a project, on this machine or deployed.

mod project;
mod remote;
mod seed;

use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_project::schema::{self, Consent, MigrationFile, Rename, Schema, SchemaChange};
use lyceum_project::{SchemaWish, Strategy};
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::project::ProjectDataArgs;
use project::Project;
use remote::Remote;

#[derive(Subcommand)]
pub(crate) enum Db {
    /// Show the changes that would bring the database to the project's schema, without making them
    Diff(Diff),
    /// Print the schema of the database as SQL
    Schema(ShowSchema),
    /// Change the database to match the project's schema
    Push(Change),
    /// Apply the migration files that have not been applied yet
    Migrate(Migrate),
    /// Empty the database and fill it with an SQL file or a module that exports `seed`
    Seed(seed::SeedDb),
    /// Empty the database
    Reset(Reset),
    /// Copy the database to a file while it is in use
    Backup(Backup),
    /// Replace the database with a copy or a restore point
    Restore(Restore),
    /// List the copies or restore points that the database can be restored to
    Points(Points),
}

#[derive(Args, Clone)]
struct DatabaseArgs {
    #[command(flatten)]
    data: ProjectDataArgs,
    /// The database file [default: .lyceum/app.db in the project]
    #[arg(long, value_name = "FILE", conflicts_with = "remote")]
    file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    database_args: DatabaseArgs,
    #[command(flatten)]
    renames: Renames,
}

#[derive(Args)]
struct Renames {
    /// A rename: `table.old=new` for a column, `old=new` for a table; can be given several times
    #[arg(long = "rename", value_name = "OLD=NEW")]
    texts: Vec<String>,
}

impl Renames {
    fn parsed(&self) -> Result<Vec<Rename>> {
        let schema = SchemaWish::Push { ddl: String::new(), renames: self.texts.clone() };
        schema.renames().map_err(|problem| Failure::new(Code::Usage, problem.message.to_string()))
    }
}

#[derive(Args)]
pub(crate) struct Change {
    #[command(flatten)]
    database_args: DatabaseArgs,
    #[command(flatten)]
    renames: Renames,
    /// Apply changes even if they lose the data that `lyceum db diff` lists
    #[arg(long)]
    accept_data_loss: bool,
    /// Show the SQL that would run, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    database_args: DatabaseArgs,
    /// Apply migrations even if they lose rows
    #[arg(long)]
    accept_data_loss: bool,
    /// Show the migrations that would be applied, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(crate) struct Reset {
    #[command(flatten)]
    database_args: DatabaseArgs,
    /// Show which database would be emptied, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long, alias = "force", short_alias = 'f')]
    yes: bool,
}

#[derive(Args)]
pub(crate) struct Backup {
    /// The file to create
    to: PathBuf,
    #[command(flatten)]
    database_args: DatabaseArgs,
}

#[derive(Args)]
pub(crate) struct Restore {
    /// The file to restore from. For a deployed database it can also be the id of a restore point
    #[arg(required_unless_present = "at")]
    from: Option<PathBuf>,
    /// Restore a deployed database to a time, such as 2026-11-26T10:00:00Z, if its server has replicas
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "dry_run"])]
    at: Option<Timestamp>,
    #[command(flatten)]
    database_args: DatabaseArgs,
    /// Check the file or restore point, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(crate) struct ShowSchema {
    #[command(flatten)]
    database_args: DatabaseArgs,
}

#[derive(Args)]
pub(crate) struct Points {
    #[command(flatten)]
    database_args: DatabaseArgs,
}

impl Db {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Diff(diff) => diff.run(printer),
            Self::Schema(schema) => schema.run(printer),
            Self::Push(change) => change.run(printer),
            Self::Migrate(migrate) => migrate.run(printer),
            Self::Seed(seed) => seed.run(printer),
            Self::Reset(reset) => reset.run(printer),
            Self::Backup(backup) => backup.run(printer),
            Self::Restore(restore) => restore.run(printer),
            Self::Points(points) => points.run(printer),
        }
    }
}

impl DatabaseArgs {
    fn project(&self) -> Result<Project> {
        Project::at(&self.data.config, self.file.as_deref())
    }

    /// The deployed project, if the flags select it.
    fn remote(&self, printer: &Printer) -> Result<Option<Remote>> {
        match self.data.remote {
            true => Remote::open(&self.data.config, self.data.env, printer).map(Some),
            false => Ok(None),
        }
    }
}

impl Diff {
    fn run(self, printer: &Printer) -> Result {
        if let Some(remote) = self.database_args.remote(printer)? {
            return remote.diff(remote.strategy()?, &self.renames.texts, printer);
        }
        let project = self.database_args.project()?;
        if project.sources.strategy()? == Strategy::Migrate {
            return project.show_pending(printer);
        }
        project.show_difference(&self.renames.parsed()?, printer)
    }
}

impl Project {
    /// Prints the migrations that are not applied yet.
    fn show_pending(&self, printer: &Printer) -> Result {
        let files = schema::migrations_in(&self.sources.migrations()?)?;
        let pending = schema::pending(&self.file, &files)?;
        printer.answer(
                || pending.iter().map(commented).collect::<Vec<_>>().concat(),
                || json!({ "strategy": "migrate", "pending": pending.iter().map(|one| &one.tag).collect::<Vec<_>>() }),
            );
        printer.done(&match pending.len() {
            0 => "all migrations are applied".to_owned(),
            count => {
                format!("{} not applied yet; run `lyceum db migrate`", counted(count, "migration"))
            }
        });
        Ok(())
    }

    /// Prints the statements that bring the database to the project's schema.
    fn show_difference(&self, renames: &[Rename], printer: &Printer) -> Result {
        let desired = self.schema(printer)?;
        let current = schema::read(&self.file)?;
        let difference = schema::diff(&current, &desired, renames)?;
        let problems = schema::problems(&self.file, &desired, renames)?;
        printer.answer(
            || {
                difference
                    .statements
                    .iter()
                    .map(|one| format!("{one};\n"))
                    .collect::<Vec<_>>()
                    .concat()
            },
            || {
                json!({
                    "strategy": "push",
                    "statements": difference.statements,
                    "losses": difference.losses,
                    "hints": difference.hints,
                    "problems": problems,
                })
            },
        );
        for warning in difference.losses.iter().chain(&problems) {
            printer.warn(warning);
        }
        for hint in &difference.hints {
            printer.note(hint);
        }
        if difference.is_empty() {
            printer.done("the database matches the project's schema");
        }
        Ok(())
    }
}

/// A migration file, headed by its name.
fn commented(file: &MigrationFile) -> String {
    format!("-- {}\n{}\n", file.tag, file.sql.trim())
}

fn consent(accepts_data_loss: bool) -> Consent {
    if accepts_data_loss { Consent::MayLose } else { Consent::KeepEverything }
}

impl Change {
    fn run(self, printer: &Printer) -> Result {
        let Self { database_args, renames, accept_data_loss, dry_run } = self;
        if let Some(remote) = database_args.remote(printer)? {
            let renames = &renames.texts;
            return match dry_run {
                true => remote.diff(Strategy::Push, renames, printer),
                false => remote.change(Strategy::Push, renames, accept_data_loss, printer),
            };
        }
        let project = database_args.project()?;
        if dry_run {
            return project.show_difference(&renames.parsed()?, printer);
        }
        let desired = project.schema(printer)?;
        let (renames, consent) = (&renames.parsed()?, consent(accept_data_loss));
        super::deploy::refuse(schema::problems(&project.file, &desired, renames)?)?;
        project.make_folder()?;
        let restore_point = project.restore_point();
        let pushed = schema::push(&project.file, &desired, renames, consent, &restore_point);
        let outcome = pushed.map_err(|problem| {
            Failure::from(problem).hint(
                "run `lyceum db diff` to see the steps; accept the loss with --accept-data-loss, or \
                       declare a rename with --rename old=new",
            )
        })?;
        print_outcome(printer, &outcome, "steps");
        Ok(())
    }
}

impl Migrate {
    fn run(self, printer: &Printer) -> Result {
        if let Some(remote) = self.database_args.remote(printer)? {
            return match self.dry_run {
                true => remote.diff(Strategy::Migrate, &[], printer),
                false => remote.change(Strategy::Migrate, &[], self.accept_data_loss, printer),
            };
        }
        let project = self.database_args.project()?;
        if self.dry_run {
            return project.show_pending(printer);
        }
        migrate(&project, consent(self.accept_data_loss), printer)
    }
}

fn migrate(project: &Project, consent: Consent, printer: &Printer) -> Result {
    let files = schema::migrations_in(&project.sources.migrations()?)?;
    project.make_folder()?;
    let (now, restore_point) = (SystemClock.now(), project.restore_point());
    let outcome = schema::migrate(&project.file, &files, now, consent, &restore_point)?;
    print_outcome(printer, &outcome, "migrations");
    Ok(())
}

fn print_outcome(printer: &Printer, outcome: &SchemaChange, kind: &str) {
    let point = outcome.restore_point.as_ref().map(|point| point.display().to_string());
    printer.answer(String::new, || json!({ "done": outcome.done, "restorePoint": point }));
    printer.done(&match outcome.done.len() {
        0 => "the database already matches the project's schema".to_owned(),
        count => format!("the database now matches the project's schema: applied {count} {kind}"),
    });
    if let Some(point) = point {
        printer.note(&format!("run `lyceum db restore {point}` to undo this"));
    }
}

impl Reset {
    fn run(self, printer: &Printer) -> Result {
        if let Some(remote) = self.database_args.remote(printer)? {
            return remote.reset((self.yes, self.dry_run), printer);
        }
        let project = self.database_args.project()?;
        if self.dry_run {
            let file = project.file.display().to_string();
            printer.answer(|| format!("reset {file}\n"), || json!({ "reset": file }));
            return Ok(());
        }
        if project.file.exists() && !self.yes {
            let message = format!("this deletes all rows of '{}'", project.file.display());
            return Err(Failure::new(Code::Conflict, message).hint("confirm it with --yes"));
        }
        if project.file.exists() {
            project.back_up(printer)?;
            for suffix in ["", "-wal", "-shm"] {
                let file = PathBuf::from(format!("{}{suffix}", project.file.display()));
                if file.exists() {
                    fs::remove_file(&file).map_err(|error| {
                        Failure::failed(format!("'{}' cannot be removed: {error}", file.display()))
                    })?;
                }
            }
        }
        if project.sources.strategy()? == Strategy::Migrate {
            return migrate(&project, Consent::MayLose, printer);
        }
        let desired = project.schema(printer)?;
        project.make_folder()?;
        let point = project.restore_point();
        let outcome = schema::push(&project.file, &desired, &[], Consent::MayLose, &point)?;
        print_outcome(printer, &outcome, "steps");
        Ok(())
    }
}

impl Backup {
    fn run(self, printer: &Printer) -> Result {
        if let Some(remote) = self.database_args.remote(printer)? {
            return remote.backup(&self.to, printer);
        }
        let project = self.database_args.project()?;
        schema::backup(&project.file, &self.to)?;
        printer.done(&format!("backed up to '{}'", self.to.display()));
        Ok(())
    }
}

impl ShowSchema {
    fn run(self, printer: &Printer) -> Result {
        let found = match self.database_args.remote(printer)? {
            Some(remote) => remote.schema()?,
            None => schema::read(&self.database_args.project()?.file)?,
        };
        printer.answer(|| found.ddl(), || found.described());
        if found == Schema::default() {
            printer.done("the database has no tables");
        }
        Ok(())
    }
}

impl Points {
    fn run(self, printer: &Printer) -> Result {
        match self.database_args.remote(printer)? {
            Some(remote) => remote.points(printer),
            None => {
                let project = self.database_args.project()?;
                let points = project.points();
                let text = || {
                    let names: Vec<_> =
                        points.iter().map(|point| point.display().to_string()).collect();
                    names.join("\n")
                };
                printer.answer(text, || json!(points));
                Ok(())
            }
        }
    }
}

impl Restore {
    fn run(self, printer: &Printer) -> Result {
        let remote = self.database_args.remote(printer)?;
        let Some(from) = &self.from else {
            let Some((remote, at)) = remote.zip(self.at) else {
                let message = "--at works only with --remote: a local database has no replica";
                return Err(Failure::new(Code::Usage, message));
            };
            return remote.restore_to(at, printer);
        };
        if let Some(remote) = remote {
            return remote.restore(from, self.dry_run, printer);
        }
        let project = self.database_args.project()?;
        if !from.is_file() {
            let message = format!("there is no file '{}'", from.display());
            return Err(Failure::new(Code::NotFound, message)
                .hint("run `lyceum db points` to see what you can restore"));
        }
        schema::check(from)?;
        if self.dry_run {
            let from = from.display().to_string();
            printer.answer(|| format!("restore {from}\n"), || json!({ "restore": from }));
            return Ok(());
        }
        project.make_folder()?;
        project.back_up(printer)?;
        schema::restore(from, &project.file)?;
        printer.done(&format!("restored from '{}'", from.display()));
        Ok(())
    }
}
