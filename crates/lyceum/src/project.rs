//! The project that a command is for: its config, read and where needed evaluated, in one way for all
//! commands.

use std::path::{Path, PathBuf};

use lyceum_core::config::variable;
use lyceum_deploy::Evaluator;
use lyceum_hosting::engine::find_workerd;
use lyceum_project::{Config, folder_of};

use crate::failure::Result;

/// The runtime of backends, as a server that is started here finds it, else as the project has it.
pub(crate) fn workerd(project: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let own = std::path::absolute(folder_of(project)).ok();
    let beside = std::env::current_exe().ok();
    let folders: Vec<_> = here.into_iter().chain(own).chain(beside).collect();
    let (named, search) = (variable("LYCEUM_WORKERD"), variable("PATH"));
    find_workerd(named.as_deref(), &folders, search.as_deref())
}

/// What evaluates the modules of a project.
pub(crate) fn evaluator(project: &Path) -> Evaluator {
    Evaluator { workerd: workerd(project) }
}

/// The config at a path: the file itself, or the one in that folder. None: there is none there.
pub(crate) fn config(path: &Path) -> Result<Option<Config>> {
    Ok(evaluator(path).config(path)?)
}
