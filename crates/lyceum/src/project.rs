//! The project that a command works on. All commands read and, if needed, evaluate its config in the
//! same way.

use std::path::{Path, PathBuf};

use lyceum_core::config::variable;
use lyceum_deploy::Evaluator;
use lyceum_hosting::engine::find_workerd;
use lyceum_project::{Config, folder_of};

use crate::failure::Result;

/// The problem on a machine without workerd.
pub(crate) const NO_WORKERD: &str =
    "workerd was not found; it is needed to run the backends of projects";
/// How to install workerd.
pub(crate) const INSTALL_WORKERD: &str =
    "run `npm install --save-dev workerd`, or set LYCEUM_WORKERD to the program's path";

/// The runtime of backends: the one that a server on this machine would use, or the one in the project.
pub(crate) fn workerd(project: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let own = std::path::absolute(folder_of(project)).ok();
    let beside = std::env::current_exe().ok();
    let folders: Vec<_> = here.into_iter().chain(own).chain(beside).collect();
    let (named, search) = (variable("LYCEUM_WORKERD"), variable("PATH"));
    find_workerd(named.as_deref(), &folders, search.as_deref())
}

/// Evaluates the modules of a project.
pub(crate) fn evaluator(project: &Path) -> Evaluator {
    Evaluator { workerd: workerd(project) }
}

/// The config at a path: the file itself, or the config file in that folder. `None` if there is none.
pub(crate) fn config(path: &Path) -> Result<Option<Config>> {
    Ok(evaluator(path).config(path)?)
}
