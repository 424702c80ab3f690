//! Reads and bundles the backend in a project's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, Result};
use lyceum_deploy::{Bundle, COMPATIBILITY_DATE, Evaluator, Target, routes_in, secrets_in};
use lyceum_hosting::engine::Worker;
use lyceum_project::{Config, Uses, slug_of};

use crate::types;

/// The folder in a project with data of this machine.
const DATA: &str = ".lyceum";
/// The files with secrets. Later files override earlier ones.
pub(crate) const ENVS: [&str; 3] = [".env", ".env.development", ".env.local"];

/// A backend that can be started.
pub(crate) struct Source {
    pub(crate) worker: Worker,
    /// The source map of its only module.
    pub(crate) map: Vec<u8>,
    /// The bindings that it has.
    pub(crate) uses: Uses,
    /// All files that it was made from.
    pub(crate) inputs: Vec<PathBuf>,
    /// The folder that contains the folder of routes, in which helper modules are usually stored.
    pub(crate) folder: Option<PathBuf>,
}

/// The first folder of a relative path.
pub(crate) fn first_part(path: &str) -> PathBuf {
    Path::new(path)
        .components()
        .next()
        .map(|part| PathBuf::from(part.as_os_str()))
        .unwrap_or_default()
}

/// The project's folder, from the path of its config file or folder.
pub(crate) fn root(path: &Path) -> PathBuf {
    let folder = lyceum_project::folder_of(path);
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The folder with the project's data. It is created with a `.gitignore` if it is missing.
pub(crate) fn data(path: &Path) -> Result<PathBuf> {
    let folder = root(path).join(DATA);
    if !folder.exists() {
        let created =
            fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(".gitignore"), "*\n"));
        created.map_err(|error| {
            Problem::internal(format!("'{}' cannot be created: {error}", folder.display()))
        })?;
    }
    Ok(folder)
}

/// The project's slug, from its config's name or its folder's.
///
/// Errors: those of [`Evaluator::config`].
pub fn slug_at(path: &Path, evaluator: &Evaluator) -> Result<String> {
    Ok(slug_of_config(path, evaluator.config(path)?.as_ref()))
}

fn slug_of_config(path: &Path, config: Option<&Config>) -> String {
    let folder = root(path).file_name().map(|name| slug_of(&name.to_string_lossy()));
    let slug = config.and_then(Config::slug).or(folder);
    slug.filter(|slug| !slug.is_empty()).unwrap_or_else(|| "my-game".to_owned())
}

/// Reads the folder and bundles the backend.
///
/// Errors: errors in the config, routes, `.env` files and code, with their places.
pub(crate) fn read(path: &Path, evaluator: &Evaluator) -> Result<Source> {
    let config = evaluator.config(path)?;
    let slug = slug_of_config(path, config.as_ref());
    let root = root(path);
    // The folder of the stores must exist.
    data(path)?;
    let (integrations, of_config) =
        config.map(|config| (config.integrations, config.inputs)).unwrap_or_default();
    let uses = integrations.uses;
    let routes = match &integrations.routes {
        Some(folder) => routes_in(&root.join(folder))?,
        None => Vec::new(),
    };
    let mut secrets = BTreeMap::new();
    for file in ENVS {
        secrets.extend(secrets_in(&root.join(file))?.unwrap_or_default());
    }
    types::write(&root, &routes, uses, secrets.keys());
    let bundle = Bundle::of(&root, &routes, uses, COMPATIBILITY_DATE, Target::Development)?;
    let worker = Worker {
        version: "dev".to_owned(),
        modules: vec![(bundle.backend.main.clone(), bundle.bytes)],
        main: bundle.backend.main,
        compatibility_date: bundle.backend.compatibility_date,
        stores: uses.bindings().map(|it| (it, root.join(it.names().local))).collect(),
        secrets,
        variables: BTreeMap::from([("GAME_ID".to_owned(), slug.clone())]),
        slug,
        ..Worker::default()
    };
    let mut inputs: Vec<_> = bundle.inputs.iter().map(|input| root.join(input)).collect();
    inputs.extend(of_config);
    let folder = integrations.routes.as_deref().map(|routes| root.join(first_part(routes)));
    let map = bundle.source_map.unwrap_or_default();
    Ok(Source { worker, map, uses, inputs, folder })
}
