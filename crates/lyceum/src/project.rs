//! The project that a command works on. All commands read and, if needed, evaluate its config in the
//! same way.

use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::config::variable;
use lyceum_deploy::{DeployOptions, Evaluator, LocalProject, Server};
use lyceum_hosting::engine::find_workerd;
use lyceum_project::{Config, folder_of};

use crate::failure::Result;
use crate::printer::Printer;
use crate::profile::Env;

/// The problem on a machine without workerd.
pub(crate) const NO_WORKERD: &str =
    "workerd was not found; it is needed to run the backends of projects";
/// The hint for installing workerd.
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

/// A project, and whether a command works on its local or its deployed data.
#[derive(Args, Clone)]
pub(crate) struct ProjectDataArgs {
    /// The project's config file, or its folder
    #[arg(
        short,
        long,
        alias = "config-path",
        value_name = "PATH",
        default_value = ".",
        hide_default_value = true
    )]
    pub(crate) config: PathBuf,
    /// Use the data of the deployed project instead of the local data
    #[arg(long)]
    pub(crate) remote: bool,
    /// Environment of the server
    #[arg(long, value_enum, default_value_t = Env::Staging, requires = "remote")]
    pub(crate) env: Env,
}

impl ProjectDataArgs {
    /// The server and the slug of the deployed project, if the flags select it.
    pub(crate) fn deployed(&self, printer: &Printer) -> Result<Option<(Server, String)>> {
        let config = config(&self.config)?;
        if !self.remote {
            return Ok(None);
        }
        let slug = LocalProject::slug_of(config.as_ref(), &DeployOptions::default())?;
        let (server, _) = self.env.open(&slug, false, printer)?;
        Ok(Some((server, slug)))
    }
}
