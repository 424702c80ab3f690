//! Projects: games of the platform that this server hosts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_access::MasterKey;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_games::games;
use lyceum_project::{Metadata, Secrets, State, Uses};
use lyceum_store::Tx;

use crate::limits;
use crate::nodes::Node;
use crate::{courses, databases, homes, repository};

pub use crate::repository::projects::Project;

/// The server's environment, and the addresses and folder of a project on it.
#[derive(Clone, Debug)]
pub struct ProjectLocation {
    /// `local`, `staging`, `production`.
    pub environment: &'static str,
    /// URL of the frontend.
    pub frontend_url: String,
    /// URL of the backend.
    pub backend_url: String,
    /// URL of the server's page that signs players in and embeds the frontend.
    pub play_url: String,
    /// The node that serves it.
    pub node: Arc<Node>,
    /// The folder of the project's database, keys and bucket.
    pub folder: PathBuf,
    /// Whether projects can have courses, because the server has a roster for them.
    pub teaches: bool,
}

/// The projects by slug.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Project>> {
    repository::projects::list(tx)
}

/// Finds a project. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, slug: &str) -> Result<Project> {
    repository::projects::find(tx, slug)?.ok_or_else(|| {
        let message = message!("no project '{slug}' is deployed here; `lyceum deploy` creates one");
        Problem::new(ProblemKind::NotFound, message)
    })
}

/// Finds a project; `None` if it is not deployed here.
pub fn lookup(tx: &mut Tx<'_>, slug: &str) -> Result<Option<Project>> {
    repository::projects::find(tx, slug)
}

/// Whether a project with that slug is deployed here.
pub fn exists(tx: &mut Tx<'_>, slug: &str) -> Result<bool> {
    Ok(lookup(tx, slug)?.is_some())
}

/// Refuses a new project if the server has [`limits::PROJECTS_MAX_COUNT`].
pub(crate) fn check_room(tx: &mut Tx<'_>) -> Result<()> {
    if repository::projects::count(tx)? < limits::PROJECTS_MAX_COUNT {
        return Ok(());
    }
    let message = message!(
        "the limit for projects on this server is {most}",
        most = limits::PROJECTS_MAX_COUNT
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// The server's state of a project, from which plans start. A project that is not deployed has an empty state.
///
/// Errors: `Invalid` if the slug is not valid; `Misdirected` if another node holds the project's files.
pub fn state(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    slug: &str,
    place: &ProjectLocation,
) -> Result<State> {
    if !games::is_slug(slug) {
        return Err(Problem::invalid("slug", games::SLUG_RULE));
    }
    homes::admit(tx, &place.node, slug)?;
    let project = repository::projects::find(tx, slug)?;
    let deployment = match &project {
        Some(project) => repository::deployments::find(tx, slug, project.version)?,
        None => None,
    };
    let digests = match &deployment {
        Some(deployment) => repository::secrets::digests(tx, slug, deployment.version)?,
        None => BTreeMap::new(),
    };
    let database = databases::state(&place.folder, project.as_ref(), deployment.as_ref())?;
    let (frontend, backend, uses) = match deployment {
        Some(deployment) => (deployment.frontend, deployment.backend, deployment.uses),
        None => (None, None, Uses::default()),
    };
    Ok(State {
        slug: slug.to_owned(),
        environment: place.environment.to_owned(),
        revision: project.as_ref().map_or(0, |project| project.revision),
        metadata: metadata(tx, slug)?,
        version: project.as_ref().map(|project| project.version),
        frontend,
        backend,
        uses,
        secrets: Secrets { key: BASE64_STANDARD.encode(digest_key(master, slug)), digests },
        database,
        lms: if place.teaches { Some(courses::state(tx, slug)?) } else { None },
        frontend_url: place.frontend_url.clone(),
        backend_url: place.backend_url.clone(),
        play_url: place.play_url.clone(),
    })
}

/// The key of the digests of a project's secrets. Clients that may deploy the project know it.
pub(crate) fn digest_key(master: &MasterKey, slug: &str) -> [u8; 32] {
    master.derive(&format!("digests of the project {slug}"))
}

/// The metadata of the project's game.
fn metadata(tx: &mut Tx<'_>, slug: &str) -> Result<Option<Metadata>> {
    let game = games::lookup(tx, slug)?;
    Ok(game.map(|game| Metadata {
        name: game.display_name,
        description: game.description,
        emoji: game.emoji,
        platform: Some(game.platform),
    }))
}
