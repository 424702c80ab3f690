//! Reads a project's `drizzle.config.*`: the schema, the migrations folder and the dialect.

use std::path::{Path, PathBuf};

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use serde_json::Value as Json;

use crate::evaluate::Evaluator;
use crate::unreadable;

/// The possible names of the file.
pub(crate) const FILES: [&str; 6] = [
    "drizzle.config.ts",
    "drizzle.config.js",
    "drizzle.config.mjs",
    "drizzle.config.mts",
    "drizzle.config.cjs",
    "drizzle.config.json",
];
const HELPER: &str = "drizzle-kit";
/// drizzle-kit's names of databases that use SQLite's SQL.
const DIALECTS: [&str; 2] = ["sqlite", "turso"];

/// A config of drizzle-kit.
#[derive(Clone, Debug)]
pub(crate) struct Drizzle {
    pub(crate) file: PathBuf,
    /// The file's text.
    pub(crate) text: String,
    /// Files, folders and patterns of the schema; `None` if only drizzle-kit can tell.
    pub(crate) schema: Option<Vec<String>>,
    /// The folder of migrations, if it names one.
    pub(crate) out: Option<String>,
    /// The files that were read to evaluate the config, except the config itself.
    pub(crate) inputs: Vec<PathBuf>,
    /// Why the values are unknown. drizzle-kit may still understand the config.
    pub(crate) fault: Option<Message>,
}

impl Drizzle {
    /// The config in a folder; `None` if the file does not exist.
    ///
    /// Errors: `Invalid` for a dialect other than SQLite; the file cannot be read.
    pub(crate) fn read(root: &Path, evaluator: &Evaluator) -> Result<Option<Self>> {
        let found = FILES.iter().map(|name| root.join(name)).find(|file| file.is_file());
        let Some(file) = found else { return Ok(None) };
        let text = std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let evaluated = match is_json {
            true => serde_json::from_str(&text).map(|value| (value, Vec::new())).map_err(|error| {
                let message = message!("'{file}' is not JSON: {error}", file = file.display());
                Problem::new(ProblemKind::Malformed, message)
            }),
            false => evaluator.evaluate(&file, HELPER).map(|module| (module.value, module.inputs)),
        };
        let (config, inputs) = match evaluated {
            Ok(evaluated) => evaluated,
            Err(problem) => {
                let fault = Some(problem.message);
                let inputs = Vec::new();
                return Ok(Some(Self { file, text, schema: None, out: None, inputs, fault }));
            }
        };
        check_dialect(&file, &config["dialect"])?;
        let texts = |value: &Json| match value {
            Json::String(one) => Some(vec![one.clone()]),
            Json::Array(all) => all.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let out = config["out"].as_str().map(str::to_owned);
        Ok(Some(Self { schema: texts(&config["schema"]), out, file, text, inputs, fault: None }))
    }

    /// The file's name for messages.
    pub(crate) fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn check_dialect(file: &Path, dialect: &Json) -> Result<()> {
    match dialect.as_str() {
        Some(known) if DIALECTS.contains(&known) => Ok(()),
        // drizzle-kit reports a missing dialect.
        None => Ok(()),
        Some(other) => {
            let message = message!(
                "'{file}' has the dialect '{other}', but the database of a project is SQLite; write \
                 dialect: \"sqlite\", and the tables with drizzle-orm/sqlite-core",
                file = file.display()
            );
            Err(Problem::new(ProblemKind::Invalid, message))
        }
    }
}
