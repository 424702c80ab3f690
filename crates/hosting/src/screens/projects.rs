//! Projects: those that a person may see.

use lyceum_access::TokenHolder;
use lyceum_core::Result;
use lyceum_store::Tx;

use crate::deployments::{self, Deployment};
use crate::projects::{self, Project};

/// Reads the list: the projects that the holder may see and change.
pub fn read(tx: &mut Tx<'_>, holder: &TokenHolder) -> Result<Vec<Project>> {
    let mut projects = projects::list(tx)?;
    let own = holder.changeable(tx, projects.iter().map(|project| project.slug.as_str()))?;
    projects.retain(|project| own.contains(&project.slug));
    Ok(projects)
}

/// The same projects, each with the version that is served. The number of statements does not depend on them.
pub fn with_versions(
    tx: &mut Tx<'_>,
    holder: &TokenHolder,
) -> Result<Vec<(Project, Option<Deployment>)>> {
    let projects = read(tx, holder)?;
    let slugs: Vec<&str> = projects.iter().map(|project| project.slug.as_str()).collect();
    let mut served = deployments::served_versions(tx, &slugs)?;
    let with_version = |project: Project| {
        let version = served.remove(&project.slug);
        (project, version)
    };
    Ok(projects.into_iter().map(with_version).collect())
}
