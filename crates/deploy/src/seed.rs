//! The seed data of a project's database: SQL, or a module with a function `seed`.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, ProblemKind, Result, message};

use crate::backend::Target;
use crate::bundle::bundle;
use crate::unreadable;

/// The usual files, in the order in which they are tried.
pub const SEEDS: [&str; 4] =
    ["server/db/seed.ts", "server/db/seed.js", "db/seed.ts", "db/seed.sql"];

/// Fills a database.
pub enum Seed {
    /// SQL statements.
    Sql(String),
    /// A bundled module that a backend's runtime runs for one request.
    Module(Vec<u8>),
}

impl Seed {
    /// The file at a path, otherwise the first existing one of [`SEEDS`] in the project's folder.
    ///
    /// Errors: `NotFound`; `Invalid` with the bundler's messages.
    pub fn read(root: &Path, file: Option<&Path>) -> Result<Self> {
        let usual = || SEEDS.iter().map(|name| root.join(name)).find(|file| file.is_file());
        let file = file.map(PathBuf::from).or_else(usual).ok_or_else(|| {
            let message = message!("there is no seed file; write {seeds}", seeds = SEEDS[0]);
            Problem::new(ProblemKind::NotFound, message)
        })?;
        if file.extension().is_some_and(|extension| extension == "sql") {
            let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
            return Ok(Self::Sql(text));
        }
        let found = file.canonicalize().map_err(|error| unreadable(&file, &error))?;
        let from = serde_json::Value::from(found.to_string_lossy());
        let entry = format!("import * as file from {from};\n{RUN}");
        Ok(Self::Module(bundle(root, &entry, Target::Server)?.bytes))
    }
}

const RUN: &str = r#"const seed = file.seed ?? file.default;
export default {
  async fetch(request, env) {
    try {
      if (typeof seed !== "function") throw new Error("the file exports no function 'seed'");
      await seed({ env, req: { raw: request }, get: () => undefined });
      return new Response("done");
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500 });
    }
  },
};
"#;
