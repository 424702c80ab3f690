//! Where a project keeps its database, and what it says the schema is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lyceum_core::time::{Clock, SystemClock};
use lyceum_project::Strategy;
use lyceum_project::schema::Schema;

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;

/// The database of a project on this machine.
const FILE: &str = ".lyceum/app.db";
const RESTORE_POINTS: &str = ".lyceum/restore";
const TYPED_SCHEMAS: [&str; 2] = ["schema.ts", "schema.js"];
const DRIZZLE_CONFIGS: [&str; 4] =
    ["drizzle.config.ts", "drizzle.config.js", "drizzle.config.mjs", "drizzle.config.json"];

/// A project and its database.
pub(super) struct Project {
    root: PathBuf,
    directory: PathBuf,
    strategy: Option<Strategy>,
    pub(super) file: PathBuf,
}

impl Project {
    pub(super) fn at(path: &Path, file: Option<&Path>) -> Result<Self> {
        let config = lyceum_project::find(path)?;
        let root = match &config {
            Some(config) => config.file.parent().unwrap_or(Path::new(".")).to_owned(),
            None => path.to_owned(),
        };
        let database = config.and_then(|config| config.integrations.database);
        let (directory, strategy) = match database {
            Some(database) => (database.directory, database.strategy),
            None => (None, None),
        };
        Ok(Self {
            directory: root.join(directory.as_deref().unwrap_or("db")),
            file: file.map_or_else(|| root.join(FILE), Path::to_owned),
            strategy,
            root,
        })
    }

    /// As the config says, else by whether there is a journal of migrations.
    pub(super) fn strategy(&self) -> Strategy {
        let has_journal = self.migrations().join("meta/_journal.json").is_file();
        let found = if has_journal { Strategy::Migrate } else { Strategy::Push };
        self.strategy.unwrap_or(found)
    }

    pub(super) fn migrations(&self) -> PathBuf {
        self.directory.join("migrations")
    }

    /// A name for a copy that nothing has yet.
    pub(super) fn restore_point(&self) -> PathBuf {
        let name = SystemClock.now().to_string().replace([':', '.'], "-");
        self.root.join(RESTORE_POINTS).join(format!("{name}.db"))
    }

    /// Makes the folder of the database where it is missing.
    pub(super) fn make_folder(&self) -> Result {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| {
            Failure::failed(format!("the folder '{}' cannot be made: {error}", folder.display()))
        })
    }

    /// What the project says the schema is: by drizzle-kit where it is used, else in SQL files.
    pub(super) fn schema(&self, printer: &Printer) -> Result<Schema> {
        let typed =
            TYPED_SCHEMAS.iter().map(|name| self.directory.join(name)).find(|it| it.is_file());
        let has_config = DRIZZLE_CONFIGS.iter().any(|name| self.root.join(name).is_file());
        if typed.is_some() || has_config {
            let ddl = self.exported(typed.as_deref(), has_config, printer)?;
            return Ok(Schema::of(&ddl)?);
        }
        let files = self.sql_files()?;
        let mut ddl = String::new();
        for file in &files {
            let text = fs::read_to_string(file).map_err(|error| {
                Failure::failed(format!("'{}' cannot be read: {error}", file.display()))
            })?;
            ddl.push_str(&text);
            ddl.push('\n');
        }
        Ok(Schema::of(&ddl)?)
    }

    /// `schema.sql`, else every SQL file of the folder by name.
    fn sql_files(&self) -> Result<Vec<PathBuf>> {
        let one = self.directory.join("schema.sql");
        if one.is_file() {
            return Ok(vec![one]);
        }
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
        files.sort();
        if files.is_empty() {
            let message = format!("there is no schema in '{}'", self.directory.display());
            return Err(Failure::new(Code::NotFound, message)
                .hint("write it as schema.sql there, or as schema.ts for drizzle-kit"));
        }
        Ok(files)
    }

    /// The DDL that the project's own drizzle-kit makes of its schema.
    fn exported(
        &self,
        typed: Option<&Path>,
        has_config: bool,
        printer: &Printer,
    ) -> Result<String> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let mut programs = root.ancestors().map(|at| at.join("node_modules/.bin/drizzle-kit"));
        let program = programs.find(|program| program.is_file()).ok_or_else(|| {
            Failure::failed("the schema is written for drizzle-kit, which is not installed")
                .hint("run `npm install --save-dev drizzle-kit`, or write the schema as schema.sql")
        })?;
        printer.step("asking drizzle-kit for the schema");
        let mut command = Command::new(&program);
        command.arg("export").current_dir(&root);
        if let (Some(typed), false) = (typed, has_config) {
            let typed = typed.canonicalize().unwrap_or_else(|_| typed.to_owned());
            command.args(["--dialect", "sqlite", "--schema"]).arg(typed);
        }
        let output = command.output().map_err(|error| {
            Failure::failed(format!("'{}' does not run: {error}", program.display()))
        })?;
        if !output.status.success() {
            let mut failure = Failure::failed("drizzle-kit cannot export the schema");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            failure.details.extend(told.lines().take(20).map(str::to_owned));
            return Err(failure);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
