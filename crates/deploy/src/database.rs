//! Reads the schema of a project's database: from drizzle-kit, SQL files or migration files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use lyceum_core::text::hex;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::schema::{self, Consent, Schema, migrations_in};
use lyceum_project::{Config, SchemaWish, Strategy};
use sha2::{Digest, Sha256};

use crate::backend::Target;
use crate::bundle::{bundle, input};
use crate::drizzle::{self, Drizzle};
use crate::evaluate::Evaluator;
use crate::unreadable;

/// The folders that are searched for a schema, unless the config names one.
const DIRECTORIES: [&str; 4] = ["db", "server/db", "src/db", "src/server/db"];
/// The languages that drizzle-kit reads.
const TYPED: [&str; 4] = ["ts", "mts", "js", "mjs"];
/// All modules in a folder except tests and type declarations, as a glob for drizzle-kit.
const ALL_MODULES: &str = "**/!(*.test|*.spec|*.d).{ts,mts,js,mjs}";
const JOURNAL: &str = "meta/_journal.json";
/// The folder of the cached drizzle-kit exports. Their names are hashes of their input.
const EXPORTS: &str = ".lyceum/schema";

/// The sources of a project's schema.
#[derive(Clone, Debug)]
pub struct SchemaSources {
    /// The project's folder.
    pub root: PathBuf,
    /// The folders to search, in order.
    directories: Vec<PathBuf>,
    strategy: Option<Strategy>,
    evaluator: Evaluator,
    /// Read at the first use.
    drizzle: OnceLock<Option<Drizzle>>,
}

/// The form of a schema.
enum SchemaSource {
    /// Modules for drizzle-kit, as its config names them.
    Configured(Drizzle),
    /// A module for drizzle-kit, which may import others.
    Module(PathBuf),
    /// All modules in a folder, for drizzle-kit.
    Folder(PathBuf),
    /// SQL files.
    Sql(Vec<PathBuf>),
}

impl SchemaSources {
    /// The sources in the folder that the config names, or in one of the usual folders.
    pub fn of(root: &Path, config: Option<&Config>, evaluator: &Evaluator) -> Self {
        let database = config.and_then(|config| config.integrations.database.clone());
        let (directory, strategy) = match database {
            Some(database) => (database.directory, database.strategy),
            None => (None, None),
        };
        let directories = match directory {
            Some(directory) => vec![root.join(directory)],
            None => DIRECTORIES.iter().map(|directory| root.join(directory)).collect(),
        };
        let (root, evaluator) = (root.to_owned(), evaluator.clone());
        Self { root, directories, strategy, evaluator, drizzle: OnceLock::new() }
    }

    fn drizzle(&self) -> Result<Option<&Drizzle>> {
        if self.drizzle.get().is_none() {
            let _ = self.drizzle.set(Drizzle::read(&self.root, &self.evaluator)?);
        }
        Ok(self.drizzle.get().and_then(Option::as_ref))
    }

    /// The strategy in the config. By default, it depends on whether the project has migrations.
    ///
    /// Errors: those of [`SchemaSources::migrations`].
    pub fn strategy(&self) -> Result<Strategy> {
        if let Some(strategy) = self.strategy {
            return Ok(strategy);
        }
        let has_journal = self.migrations()?.join(JOURNAL).is_file();
        Ok(if has_journal { Strategy::Migrate } else { Strategy::Push })
    }

    /// The folder of the migration files: `migrations` next to the schema, or the one in drizzle-kit's config.
    ///
    /// Errors: drizzle-kit's config has another dialect, or cannot be evaluated.
    pub fn migrations(&self) -> Result<PathBuf> {
        let usual = self.directories.iter().map(|directory| directory.join("migrations"));
        let mut usual: Vec<PathBuf> = usual.collect();
        if let Some(found) = usual.iter().find(|folder| folder.join(JOURNAL).is_file()) {
            return Ok(found.clone());
        }
        let config = self.drizzle()?;
        if let Some((config, fault)) = config.and_then(|it| Some((it, it.fault.as_ref()?))) {
            // Without this error, the project would seem to have no migrations, and its tables would be changed
            // without them.
            let message = message!(
                "cannot find the folder of migrations, because {config} cannot be evaluated: {fault}. Correct it, or set \
                 integrations.database.strategy to 'push' if the project has no migrations.",
                config = config.name()
            );
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        let named = config.and_then(|config| config.out.as_ref());
        Ok(named.map_or_else(|| usual.swap_remove(0), |named| self.root.join(named)))
    }

    /// The schema that a deploy asks for.
    ///
    /// Errors: those of [`SchemaSources::ddl`] and [`migrations_in`].
    pub fn wish(&self, renames: Vec<String>) -> Result<SchemaWish> {
        if self.strategy()? == Strategy::Migrate {
            return Ok(SchemaWish::Migrate { files: migrations_in(&self.migrations()?)? });
        }
        Ok(SchemaWish::Push { ddl: Schema::of(&self.ddl()?)?.ddl(), renames })
    }

    /// Creates a database file with the project's schema and without rows.
    ///
    /// Errors: those of [`SchemaSources::ddl`] and of the migrations.
    pub fn make(&self, file: &Path, now: Timestamp) -> Result<()> {
        let unused = file.with_extension("point");
        match self.strategy()? {
            Strategy::Push => {
                let desired = Schema::of(&self.ddl()?)?;
                schema::push(file, &desired, &[], Consent::MayLose, &unused)?;
            }
            Strategy::Migrate => {
                let files = migrations_in(&self.migrations()?)?;
                schema::migrate(file, &files, now, Consent::MayLose, &unused)?;
            }
        }
        Ok(())
    }

    /// The DDL of the whole schema, from drizzle-kit or from the SQL files.
    ///
    /// Errors: `NotFound` without a schema, with the searched places; `Invalid` with drizzle-kit's messages, and if
    /// it exports no table.
    pub fn ddl(&self) -> Result<String> {
        let files = match self.source()? {
            SchemaSource::Sql(files) => files,
            typed => return self.exported(&typed),
        };
        let mut ddl = String::new();
        for file in &files {
            ddl += &fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            ddl.push('\n');
        }
        Ok(ddl)
    }

    fn source(&self) -> Result<SchemaSource> {
        if let Some(config) = self.drizzle()? {
            return Ok(SchemaSource::Configured(config.clone()));
        }
        let found = self.directories.iter().find_map(|directory| written_in(directory));
        found.ok_or_else(|| self.nowhere())
    }

    fn nowhere(&self) -> Problem {
        let shown = |directory: &PathBuf| {
            let shown = directory.strip_prefix(&self.root).unwrap_or(directory).display();
            format!("{shown}/schema.ts, {shown}/schema/, {shown}/*.sql")
        };
        let mut places: Vec<String> = self.directories.iter().map(shown).collect();
        places.push(format!("{}, {}, …", drizzle::FILES[0], drizzle::FILES[1]));
        let message = message!(
            "the project has a database but no schema; looked for {places} in '{root}'; write one, or set its folder \
             in integrations.database.directory",
            places = places.join("; "),
            root = self.root.display()
        );
        Problem::new(ProblemKind::NotFound, message)
    }

    /// The DDL that the project's drizzle-kit exports. If no input has changed, it comes from the cache, because
    /// drizzle-kit takes a second to start.
    fn exported(&self, typed: &SchemaSource) -> Result<String> {
        let known =
            self.fingerprint(typed).map(|hash| self.root.join(EXPORTS).join(format!("{hash}.sql")));
        if let Some(text) = known.as_ref().and_then(|file| fs::read_to_string(file).ok()) {
            return Ok(text);
        }
        let text = self.export(typed)?;
        if let Some(file) = known {
            let folder = self.root.join(EXPORTS);
            let _ = fs::remove_dir_all(&folder);
            // Without the cache, only the next export takes longer.
            let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &text));
        }
        Ok(text)
    }

    fn export(&self, typed: &SchemaSource) -> Result<String> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let program = drizzle_kit(&root).ok_or_else(|| {
            let message = "the schema needs drizzle-kit, which is not installed; run \
                           `npm install --save-dev drizzle-kit`, or write the schema.sql";
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        let mut command = Command::new(&program);
        command.arg("export").current_dir(&root);
        match typed {
            SchemaSource::Configured(config) => {
                command.arg(format!("--config={}", config.name()));
            }
            SchemaSource::Module(file) => {
                let file = file.canonicalize().unwrap_or_else(|_| file.clone());
                command.args(["--dialect", "sqlite", "--schema"]).arg(file);
            }
            SchemaSource::Folder(folder) => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                command.args(["--dialect", "sqlite", "--schema"]).arg(folder.join(ALL_MODULES));
            }
            SchemaSource::Sql(_) => unreachable!("SQL is read, not exported"),
        }
        let output = command.output().map_err(|error| {
            let message = message!("cannot run '{program}': {error}", program = program.display());
            Problem::new(ProblemKind::Unavailable, message)
        })?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !output.status.success() {
            // drizzle-kit prints some errors on its standard output.
            let output = text(&output.stderr) + &text(&output.stdout);
            let output: Vec<_> =
                output.lines().filter(|line| !line.trim().is_empty()).take(20).collect();
            let message = message!(
                "drizzle-kit cannot export the schema:\n{output}",
                output = output.join("\n")
            );
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        let ddl = text(&output.stdout);
        // drizzle-kit exports nothing from a schema of another dialect or from files without tables. Accepting that
        // as a schema would drop every table.
        if !ddl.to_ascii_uppercase().contains("CREATE TABLE") {
            let message = message!(
                "drizzle-kit exports no table from {typed}; define tables with `sqliteTable` of \
                 drizzle-orm/sqlite-core and export them",
                typed = typed.name()
            );
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        Ok(ddl)
    }

    /// A hash over everything that an export depends on: the schema with every imported file, the config, and
    /// drizzle-kit. `None` if that is not fully known.
    fn fingerprint(&self, typed: &SchemaSource) -> Option<String> {
        let mut hash = Sha256::new();
        let modules = match typed {
            SchemaSource::Sql(_) => return None,
            SchemaSource::Module(file) => vec![file.clone()],
            SchemaSource::Folder(folder) => modules_in(folder),
            SchemaSource::Configured(config) => {
                hash.update(&config.text);
                for input in &config.inputs {
                    hash.update(fs::read(input).ok()?);
                }
                let named = config.schema.as_ref()?;
                named.iter().map(|name| self.root.join(name)).collect()
            }
        };
        // Only drizzle-kit can resolve folders and patterns.
        if modules.is_empty() || !modules.iter().all(|module| module.is_file()) {
            return None;
        }
        let root = self.root.canonicalize().ok()?;
        let package = drizzle_kit(&root)?.parent()?.parent()?.join("drizzle-kit/package.json");
        hash.update(fs::read(package).ok()?);
        let mut imports = Vec::new();
        for module in &modules {
            let module = module.canonicalize().ok()?;
            imports.push(format!("import {};\n", serde_json::Value::from(module.to_str()?)));
        }
        let entry = imports.concat();
        for path in bundle(&root, &entry, Target::Server).ok()?.inputs {
            hash.update(&path);
            hash.update(input(&root, &path).ok()?);
        }
        Some(hex(hash.finalize()))
    }
}

impl SchemaSource {
    fn name(&self) -> String {
        match self {
            Self::Configured(config) => {
                let named = config.schema.as_ref().map(|schema| schema.join(", "));
                let named = named.map(|named| format!(" ({named})")).unwrap_or_default();
                format!("the schema that {} names{named}", config.name())
            }
            Self::Module(file) => format!("'{}'", file.display()),
            Self::Folder(folder) => format!("the folder '{}'", folder.display()),
            Self::Sql(_) => "SQL".to_owned(),
        }
    }
}

/// The schema in a folder: `schema.ts`, `schema/index.ts`, all modules in `schema`, or SQL files; `None` if the
/// folder has none of them.
fn written_in(directory: &Path) -> Option<SchemaSource> {
    let module = |stem: &str| {
        let names = TYPED.iter().map(|extension| directory.join(format!("{stem}.{extension}")));
        names.into_iter().find(|file| file.is_file())
    };
    if let Some(file) = module("schema").or_else(|| module("schema/index")) {
        return Some(SchemaSource::Module(file));
    }
    let folder = directory.join("schema");
    if !modules_in(&folder).is_empty() {
        return Some(SchemaSource::Folder(folder));
    }
    let files = sql_files(directory);
    (!files.is_empty()).then_some(SchemaSource::Sql(files))
}

/// The modules in a folder and its subfolders that [`ALL_MODULES`] matches, sorted.
fn modules_in(folder: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            modules.extend(modules_in(&path));
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        let is_other = [".d", ".test", ".spec"].iter().any(|suffix| stem.ends_with(suffix));
        if TYPED.contains(&extension) && !is_other {
            modules.push(path.clone());
        }
    }
    modules.sort();
    modules
}

/// `schema.sql`, or otherwise all SQL files of the folder by name, except those that fill the tables.
fn sql_files(directory: &Path) -> Vec<PathBuf> {
    let one = directory.join("schema.sql");
    if one.is_file() {
        return vec![one];
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.retain(|file| file.file_stem().is_none_or(|stem| stem != "seed"));
    files.sort();
    files
}

/// The project's drizzle-kit, installed in its folder or a folder above.
fn drizzle_kit(root: &Path) -> Option<PathBuf> {
    let mut programs = root.ancestors().map(|at| at.join("node_modules/.bin/drizzle-kit"));
    programs.find(|program| program.is_file())
}
