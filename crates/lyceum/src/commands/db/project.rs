//! A project's local database, and the schema that the project declares.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::time::{Clock, SystemClock};
use lyceum_deploy::SchemaSources;
use lyceum_project::Binding;
use lyceum_project::schema::{self, Schema};

use crate::failure::{Failure, Result};
use crate::printer::Printer;
use crate::project::evaluator;

/// The local database of a project.
const FILE: &str = Binding::Database.names().local;
const RESTORE_POINTS: &str = ".lyceum/restore";

/// A project and its database.
pub(super) struct Project {
    pub(super) sources: SchemaSources,
    pub(super) file: PathBuf,
}

impl Project {
    pub(super) fn at(path: &Path, file: Option<&Path>) -> Result<Self> {
        let evaluator = evaluator(path);
        let config = evaluator.config(path)?;
        let root = lyceum_project::folder_of(path);
        let file = file.map_or_else(|| root.join(FILE), Path::to_owned);
        Ok(Self { sources: SchemaSources::of(root, config.as_ref(), &evaluator), file })
    }

    /// An unused file name for a copy.
    pub(super) fn restore_point(&self) -> PathBuf {
        let name = SystemClock.now().to_string().replace([':', '.'], "-");
        self.sources.root.join(RESTORE_POINTS).join(format!("{name}.db"))
    }

    /// Copies the database, if it exists, before it is replaced, and prints how to restore it.
    pub(super) fn back_up(&self, printer: &Printer) -> Result {
        if !self.file.exists() {
            return Ok(());
        }
        let point = self.restore_point();
        schema::backup(&self.file, &point)?;
        printer.note(&format!("run `lyceum db restore {}` to undo this", point.display()));
        Ok(())
    }

    /// The copies made before changes, newest first.
    pub(super) fn points(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sources.root.join(RESTORE_POINTS));
        let mut points: Vec<_> =
            entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        points.retain(|point| point.extension().is_some_and(|extension| extension == "db"));
        points.sort();
        points.reverse();
        points
    }

    /// Creates the folder of the database if it is missing.
    pub(super) fn make_folder(&self) -> Result {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| {
            Failure::failed(format!("cannot create the folder '{}': {error}", folder.display()))
        })
    }

    /// The schema that the project declares.
    pub(super) fn schema(&self, printer: &Printer) -> Result<Schema> {
        printer.step("reading the schema");
        Ok(Schema::of(&self.sources.ddl()?)?)
    }
}
