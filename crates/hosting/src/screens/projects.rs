//! Projects: those that a person may see.

use lyceum_access::TokenHolder;
use lyceum_core::Result;
use lyceum_store::Tx;

use crate::projects::{self, Project};

/// Reads the list: the projects that the holder may see and change.
pub fn read(tx: &mut Tx<'_>, holder: &TokenHolder) -> Result<Vec<Project>> {
    let mut projects = projects::list(tx)?;
    let own = holder.changeable(tx, projects.iter().map(|project| project.slug.as_str()))?;
    projects.retain(|project| own.contains(&project.slug));
    Ok(projects)
}
