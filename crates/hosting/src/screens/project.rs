//! A project: its versions, what differs between two of them, its log of changes, serving another version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lyceum_access::audit::AuditChange;
use lyceum_access::{MasterKey, Person};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_games::games;
use lyceum_project::State;
use lyceum_store::Tx;
use serde_json::json;

use crate::audit::{self, CallerNames, ProjectChange};
use crate::databases;
use crate::deployments::{self, Deployment, FrontendFiles};
use crate::homes::{self, ProjectHome};
use crate::limits;
use crate::projects::{self, Project, ProjectLocation};

/// The data of a project's page.
#[derive(Debug)]
pub struct ProjectVersions {
    /// The project.
    pub project: Project,
    /// Its state.
    pub state: State,
    /// Whether the app receives names and e-mail addresses of its players.
    pub shares_identity: bool,
    /// The versions that are stored, the newest first.
    pub versions: Vec<Deployment>,
    /// The node that has the files; `None` if it is unknown.
    pub home: Option<ProjectHome>,
}

impl ProjectVersions {
    /// Its name for people.
    pub fn name(&self) -> &str {
        let metadata = self.state.metadata.as_ref();
        metadata.map_or(&self.project.slug, |metadata| &metadata.name)
    }
}

/// Reads the page of a project.
pub fn versions(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    place: &ProjectLocation,
    project: Project,
) -> Result<ProjectVersions> {
    let state = projects::state(tx, master, &project.slug, place)?;
    let game = games::lookup(tx, &project.slug)?;
    Ok(ProjectVersions {
        shares_identity: game.is_some_and(|game| game.shares_identity),
        versions: deployments::list(tx, &project.slug)?,
        home: homes::find(tx, &project.slug)?,
        state,
        project,
    })
}

/// The difference of a part of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Only the second version has it, with so many bytes.
    Added(u64),
    /// Only the first version has it.
    Removed(u64),
    /// Both have it, with different content: bytes in the first and in the second.
    Changed(u64, u64),
}

/// Two versions side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The numbers of the versions that can be compared, the newest first.
    pub numbers: Vec<i64>,
    /// The first version.
    pub from: i64,
    /// The second version, which may be the older one.
    pub to: i64,
    /// The name of the part.
    pub differences: Vec<(String, Difference)>,
    /// The number of equal parts.
    pub same_count: usize,
}

/// Compares two versions. By default, the second is the newest, and the first is the one before the second.
/// Errors: `NotFound` for a version that is not stored.
pub fn compare(
    tx: &mut Tx<'_>,
    project: &Project,
    from: Option<i64>,
    to: Option<i64>,
) -> Result<Comparison> {
    let stored = deployments::list(tx, &project.slug)?;
    let numbers: Vec<i64> = stored.iter().map(|version| version.version).collect();
    let newest = numbers.first().copied().unwrap_or(project.version);
    let to = to.unwrap_or(newest);
    let before = numbers.iter().copied().find(|number| *number < to).unwrap_or(to);
    let from = from.unwrap_or(before);
    let (first, second) = (parts(tx, project, from)?, parts(tx, project, to)?);
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let (mut differences, mut same_count) = (Vec::new(), 0);
    for name in names {
        let difference = match (first.get(name), second.get(name)) {
            (Some(a), Some(b)) if a.hash != b.hash => Difference::Changed(a.bytes, b.bytes),
            (Some(a), None) => Difference::Removed(a.bytes),
            (None, Some(b)) => Difference::Added(b.bytes),
            _ => {
                same_count += 1;
                continue;
            }
        };
        differences.push((name.clone(), difference));
    }
    Ok(Comparison { numbers, from, to, differences, same_count })
}

/// A file, a module, or something that a version uses.
struct VersionPart {
    hash: String,
    bytes: u64,
}

/// The parts of a version, by their names.
fn parts(
    tx: &mut Tx<'_>,
    project: &Project,
    version: i64,
) -> Result<BTreeMap<String, VersionPart>> {
    let version = deployments::find(tx, &project.slug, version)?;
    let zip = version.frontend.as_ref();
    let manifest = zip.map(|zip| deployments::manifest(tx, &zip.sha256)).transpose()?.flatten();
    let FrontendFiles(files) = manifest.unwrap_or_default();
    let files = files.into_iter().map(|(path, file)| {
        (
            format!("frontend/{path}"),
            VersionPart { hash: file.sha256.to_string(), bytes: file.size },
        )
    });
    let modules = version.backend.into_iter().flat_map(|backend| backend.modules);
    let modules = modules.map(|module| {
        (
            format!("backend/{}", module.name),
            VersionPart { hash: module.sha256, bytes: module.size },
        )
    });
    let uses = version.uses.bindings().map(|binding| {
        let name = format!("integrations/{}", binding.names().key);
        (name, VersionPart { hash: String::new(), bytes: 0 })
    });
    Ok(files.chain(modules).chain(uses).collect())
}

/// Reads the page of a project's log: the newest entries, each with the name of who made the change.
pub fn changes(tx: &mut Tx<'_>, project: &Project) -> Result<Vec<ProjectChange>> {
    let names = CallerNames::load(tx)?;
    let mut entries = audit::newest(tx, &project.slug, limits::CONSOLE_EXPORT_MAX_ROWS)?;
    for entry in &mut entries {
        entry.who = names.of(&entry.who.to_string());
    }
    Ok(entries)
}

/// Refuses to serve a version by a button if its database schema is another one. Errors: `Conflict`; `NotFound`.
pub fn check_roll_back(
    tx: &mut Tx<'_>,
    folder: &Path,
    project: &Project,
    version: i64,
) -> Result<()> {
    let target = deployments::find(tx, &project.slug, version)?;
    match databases::differs(folder, project, &target)? {
        false => Ok(()),
        true => {
            let message = message!(
                "version {version} has another database schema; run `lyceum deployments rollback {project.slug}`, \
                 which lets you keep or restore the database"
            );
            Err(Problem::new(ProblemKind::Conflict, message))
        }
    }
}

/// Serves a version, and notes who did it. Errors: as [`deployments::roll_back`].
pub fn roll_back(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &Person,
    slug: &str,
    version: i64,
    revision: i64,
) -> Result<()> {
    deployments::roll_back(tx, (now, &person.id), slug, Some(version), Some(revision), None)?;
    let change = AuditChange { who: &person.email, what: "project.rollback", subject: slug };
    change.note(tx, now, &json!({ "version": version }))
}
