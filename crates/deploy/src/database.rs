//! What a project says that the schema of its database is: by drizzle-kit, in SQL, in migration files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lyceum_core::text::hex;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_project::schema::{self, Consent, Schema, migrations_in};
use lyceum_project::{Config, SchemaWish, Strategy, literal};
use sha2::{Digest, Sha256};

use crate::bundle::bundle;
use crate::unreadable;

const TYPED_SCHEMAS: [&str; 2] = ["schema.ts", "schema.js"];
const DRIZZLE_CONFIGS: [&str; 4] =
    ["drizzle.config.ts", "drizzle.config.js", "drizzle.config.mjs", "drizzle.config.json"];
/// Where exports of drizzle-kit are remembered, by what they were made of.
const EXPORTS: &str = ".lyceum/schema";

/// The sources of a project's schema.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The project's folder.
    pub root: PathBuf,
    directory: PathBuf,
    strategy: Option<Strategy>,
}

impl Sources {
    /// Where the config says that they are, else in the folder `db`.
    pub fn of(root: &Path, config: Option<&Config>) -> Self {
        let database = config.and_then(|config| config.integrations.database.clone());
        let (directory, strategy) = match database {
            Some(database) => (database.directory, database.strategy),
            None => (None, None),
        };
        let directory = root.join(directory.as_deref().unwrap_or("db"));
        Self { root: root.to_owned(), directory, strategy }
    }

    /// As the config says, else by whether there is a journal of migrations.
    pub fn strategy(&self) -> Strategy {
        let has_journal = self.migrations().join("meta/_journal.json").is_file();
        let found = if has_journal { Strategy::Migrate } else { Strategy::Push };
        self.strategy.unwrap_or(found)
    }

    /// The folder of the migration files.
    pub fn migrations(&self) -> PathBuf {
        self.directory.join("migrations")
    }

    /// What a deploy wishes; none where the project says nothing of its schema.
    ///
    /// Errors: those of [`Sources::ddl`] and [`migrations_in`].
    pub fn wish(&self, renames: Vec<String>) -> Result<Option<SchemaWish>> {
        if self.strategy() == Strategy::Migrate {
            return Ok(Some(SchemaWish::Migrate { files: migrations_in(&self.migrations())? }));
        }
        if !self.is_typed() && self.sql_files().is_empty() {
            return Ok(None);
        }
        Ok(Some(SchemaWish::Push { ddl: Schema::of(&self.ddl()?)?.ddl(), renames }))
    }

    /// Makes a database file with the project's schema and no rows.
    ///
    /// Errors: those of [`Sources::ddl`] and of what the migrations do.
    pub fn make(&self, file: &Path, now: Timestamp) -> Result<()> {
        let unused = file.with_extension("point");
        match self.strategy() {
            Strategy::Push => {
                let desired = Schema::of(&self.ddl()?)?;
                schema::push(file, &desired, &[], Consent::MayLose, &unused)?;
            }
            Strategy::Migrate => {
                let files = migrations_in(&self.migrations())?;
                schema::migrate(file, &files, now, Consent::MayLose, &unused)?;
            }
        }
        Ok(())
    }

    /// The DDL of the whole schema: of drizzle-kit where it is used, else of the SQL files.
    ///
    /// Errors: `NotFound` where there is none; what drizzle-kit tells.
    pub fn ddl(&self) -> Result<String> {
        if self.is_typed() {
            return self.exported();
        }
        let files = self.sql_files();
        if files.is_empty() {
            let message = format!(
                "there is no schema in '{}'; write it as schema.sql there, or as schema.ts for \
                 drizzle-kit",
                self.directory.display()
            );
            return Err(Problem::new(ProblemKind::NotFound, message));
        }
        let mut ddl = String::new();
        for file in &files {
            ddl += &fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            ddl.push('\n');
        }
        Ok(ddl)
    }

    /// `schema.sql`, else every SQL file of the folder by name; not those that fill it.
    fn sql_files(&self) -> Vec<PathBuf> {
        let one = self.directory.join("schema.sql");
        if one.is_file() {
            return vec![one];
        }
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
        files.retain(|file| file.file_stem().is_none_or(|stem| stem != "seed"));
        files.sort();
        files
    }

    fn typed(&self) -> Option<PathBuf> {
        TYPED_SCHEMAS.iter().map(|name| self.directory.join(name)).find(|file| file.is_file())
    }

    fn drizzle_config(&self) -> Option<PathBuf> {
        DRIZZLE_CONFIGS.iter().map(|name| self.root.join(name)).find(|file| file.is_file())
    }

    fn is_typed(&self) -> bool {
        self.typed().is_some() || self.drizzle_config().is_some()
    }

    /// The DDL that the project's own drizzle-kit makes of its schema, from memory where nothing that
    /// it is made of changed: drizzle-kit takes a second to start.
    fn exported(&self) -> Result<String> {
        let known =
            self.fingerprint().map(|hash| self.root.join(EXPORTS).join(format!("{hash}.sql")));
        if let Some(text) = known.as_ref().and_then(|file| fs::read_to_string(file).ok()) {
            return Ok(text);
        }
        let text = self.export()?;
        if let Some(file) = known {
            let folder = self.root.join(EXPORTS);
            let _ = fs::remove_dir_all(&folder);
            // Without this memory it takes longer, and nothing else.
            let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &text));
        }
        Ok(text)
    }

    fn export(&self) -> Result<String> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let program = drizzle_kit(&root).ok_or_else(|| {
            let message = "the schema is written for drizzle-kit, which is not installed; run \
                           `npm install --save-dev drizzle-kit`, or write the schema as schema.sql";
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        let mut command = Command::new(&program);
        command.arg("export").current_dir(&root);
        if let (Some(typed), None) = (self.typed(), self.drizzle_config()) {
            let typed = typed.canonicalize().unwrap_or(typed);
            command.args(["--dialect", "sqlite", "--schema"]).arg(typed);
        }
        let output = command.output().map_err(|error| {
            let message = format!("'{}' does not run: {error}", program.display());
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let told: Vec<_> = told.lines().take(20).collect();
            let message = format!("drizzle-kit cannot export the schema:\n{}", told.join("\n"));
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A hash over all that an export is made of: the schema with every file that it imports from
    /// anywhere, the config, drizzle-kit itself. None where not all of that is known.
    fn fingerprint(&self) -> Option<String> {
        let typed = self.typed()?;
        let mut hash = Sha256::new();
        if let Some(config) = self.drizzle_config() {
            let text = fs::read_to_string(&config).ok()?;
            let told = match config.extension()?.to_str()? {
                "json" => literal::json(&text),
                _ => literal::module(&text),
            };
            let told = told.ok()?;
            let named = match &told.member("schema")?.value {
                literal::Value::Text(named) => self.root.join(named),
                _ => return None,
            };
            if named.canonicalize().ok()? != typed.canonicalize().ok()? {
                return None;
            }
            hash.update(&text);
        }
        let root = self.root.canonicalize().ok()?;
        let package = drizzle_kit(&root)?.parent()?.parent()?.join("drizzle-kit/package.json");
        hash.update(fs::read(package).ok()?);
        let typed = typed.canonicalize().ok()?;
        let entry = format!("export * from {};", serde_json::Value::from(typed.to_str()?));
        hash.update(bundle(&root, &entry).ok()?.bytes);
        Some(hex(hash.finalize()))
    }
}

/// The project's own drizzle-kit, in its folder or one above.
fn drizzle_kit(root: &Path) -> Option<PathBuf> {
    let mut programs = root.ancestors().map(|at| at.join("node_modules/.bin/drizzle-kit"));
    programs.find(|program| program.is_file())
}
