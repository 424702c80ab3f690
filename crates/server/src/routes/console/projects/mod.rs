//! Projects: versions and what differs between them, rollback, secrets by name, who changed what; logs,
//! the bucket and promotion in files of their own.

mod bucket;
mod logs;
mod promote;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use lyceum_access::audit::Change;
use lyceum_access::{Denied, Holder, Role, api_key, client, person};
use lyceum_console::{Button, Cell, Column, Facts, List, Row, projects as view, screens};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_games::games;
use lyceum_hosting::deployments::{self, Deployment, Manifest};
use lyceum_hosting::nodes::Node;
use lyceum_hosting::projects::{self, Project};
use lyceum_hosting::{audit, databases, homes};
use lyceum_store::Tx;
use serde_json::json;

use super::events::at;
use super::visitor::query;
use super::{Form, Visitor, action, at_most, listed, on_to, page, shown};
use crate::answer::Answer;
use crate::auth;
use crate::context::Context;
use crate::hosted;
use crate::route::Route;
use crate::routes::games::catalogue::share_identity;
use crate::routes::projects::place;

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::PROJECTS;
    vec![
        page("/projects", screen, all),
        page("/projects/{slug}", screen, one),
        action("/projects/{slug}/rollback", screen, roll_back),
        action("/projects/{slug}/identity", screen, identity),
        page("/projects/{slug}/logs", screen, logs::shown),
        page("/projects/{slug}/logs/stream", screen, logs::streamed),
        page("/projects/{slug}/bucket", screen, bucket::listed),
        page("/projects/{slug}/bucket/object", screen, bucket::one),
        page("/projects/{slug}/bucket/download", screen, bucket::downloaded),
        action("/projects/{slug}/bucket/delete", screen, bucket::deleted),
        page("/projects/{slug}/promote", screen, promote::planned),
        action("/projects/{slug}/promote", screen, promote::done),
        page("/projects/{slug}/diff", screen, diff),
        page("/projects/{slug}/secrets", screen, secrets),
        page("/projects/{slug}/changes", screen, changes),
    ]
}

const PROJECTS: &[Column] = &[
    Column::text("slug", "Project"),
    Column::number("version", "Version"),
    Column::text("address", "Play"),
    Column::text("created", "First deployed"),
    Column::text("updated", "Changed"),
];
const VERSIONS: &[Column] = &[
    Column::number("version", "Version"),
    Column::text("made", "Made"),
    Column::text("by", "By"),
    Column::text("parts", "Parts"),
    Column::text("state", "State"),
    Column::buttons("What to do"),
];
const SECRETS: &[Column] = &[Column::text("name", "Name")];
const CHANGES: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("time", "Time"),
    Column::text("who", "Who"),
    Column::text("what", "What"),
    Column::text("details", "Details"),
];

/// Refuses a project that the visitor does not belong to, and one whose files another node holds.
fn admit(tx: &mut Tx<'_>, node: &Node, holder: &Holder, slug: &str) -> Result<Project> {
    let project = projects::find(tx, slug)?;
    match holder.may_change(tx, slug)? {
        true => homes::admit(tx, node, slug).map(|()| project),
        false => Err(auth::refusal(&Denied::Project(slug.to_owned())).problem),
    }
}

/// Who people, keys and clients are, by the ids that logs have of them.
fn names(tx: &mut Tx<'_>) -> Result<HashMap<String, String>> {
    let people = person::list(tx)?.into_iter().map(|person| (person.id, person.email));
    let keys = api_key::list(tx)?.into_iter();
    let keys = keys.map(|key| (key.id, format!("the key '{}'", key.name)));
    let clients = client::list(tx)?.into_iter();
    let clients = clients.map(|client| (client.id, format!("the client '{}'", client.name)));
    Ok(people.chain(keys).chain(clients).collect())
}

/// Reads of the project of the path, for who may see it.
async fn read<T: Send + 'static>(
    context: &Context,
    visitor: &Visitor,
    work: impl Fn(&mut Tx<'_>, Project) -> Result<T> + Send + Sync + 'static,
) -> Result<(String, T)> {
    let (slug, holder) = (context.param("slug").to_owned(), Holder::Person(visitor.person.clone()));
    let (sought, node) = (slug.clone(), Arc::clone(&context.app.node));
    let read = move |tx: &mut Tx<'_>| {
        let project = admit(tx, &node, &holder, &sought)?;
        work(tx, project)
    };
    Ok((slug, context.app.db.read(read).await?))
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let holder = Holder::Person(visitor.person.clone());
    let read = move |tx: &mut Tx<'_>| {
        let mut own = Vec::new();
        for project in projects::list(tx)? {
            if holder.may_change(tx, &project.slug)? {
                own.push(project);
            }
        }
        Ok(own)
    };
    let own = context.app.db.read(read).await?;
    let row = |project: &Project| {
        let to = format!("/console/projects/{}", project.slug);
        let address = place(&context.app, &project.slug).play_url;
        vec![
            Cell::text(&project.slug).to(&to),
            Cell::of(project.version, project.version.to_string()).to(&to),
            Cell::text(&address).to(address),
            at(&visitor, project.created_at),
            at(&visitor, project.updated_at),
        ]
    };
    let rows = own.iter().map(row).collect();
    let list =
        List::new("Projects", PROJECTS, query(&context), rows).or_else(match visitor.person.role {
            Role::Administrator => "No project is deployed here yet; `lyceum deploy` makes one.",
            _ => "You belong to no project yet; `lyceum deploy` makes one that is yours.",
        });
    let page = view::Projects { frame: visitor.frame("Projects"), list };
    listed("projects", &page.list, &page)
}

/// What a version is made of, in words.
fn parts(version: &Deployment) -> String {
    let frontend = version.frontend.iter().map(|zip| format!("frontend ({})", bytes(zip.size)));
    let backend = version.backend.iter().map(|backend| {
        let size = backend.modules.iter().map(|module| module.size).sum();
        let routes = match backend.routes.len() {
            1 => "1 route".to_owned(),
            many => format!("{many} routes"),
        };
        format!("backend ({routes}, {})", bytes(size))
    });
    let uses = [
        (version.uses.database, "database"),
        (version.uses.kv, "KV"),
        (version.uses.bucket, "bucket"),
    ];
    let uses = uses.into_iter().filter(|(used, _)| *used).map(|(_, name)| name.to_owned());
    frontend.chain(backend).chain(uses).collect::<Vec<_>>().join(", ")
}

/// An amount of bytes as people read it.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size.div_ceil(1024)),
        _ => format!("{} MiB", size.div_ceil(1_048_576)),
    }
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let master = context.app.gate.keyring().master().clone();
    let slug = context.param("slug").to_owned();
    let here = place(&context.app, &slug);
    let place = here.clone();
    let work = move |tx: &mut Tx<'_>, project: Project| {
        let state = projects::state(tx, &master, &project.slug, &place)?;
        let game = games::lookup(tx, &project.slug)?;
        let shares = game.is_some_and(|game| game.shares_identity);
        Ok((deployments::list(tx, &project.slug)?, state, names(tx)?, (project, shares)))
    };
    let (slug, (versions, state, names, (project, shares_identity))) =
        read(&context, &visitor, work).await?;
    let rows = versions.iter().map(|one| version(&visitor, &project, &names, one)).collect();
    let list = List::new("Versions", VERSIONS, query(&context), rows);
    let name = state.metadata.as_ref().map_or(slug.as_str(), |metadata| metadata.name.as_str());
    let within = |page: &str| format!("/console/projects/{slug}{page}");
    let secrets = state.secrets.digests.len();
    let facts = Facts::new(vec![
        ("Slug", Cell::text(&slug)),
        (
            "Served",
            Cell::of(project.version, format!("version {}", project.version))
                .to(within(&format!("/diff?to={}", project.version))),
        ),
        ("Environment", Cell::text(here.environment)),
        ("Play", Cell::text(&here.play_url).to(&here.play_url)),
        ("App's own address", Cell::text(&here.frontend_url).to(&here.frontend_url)),
        ("Secrets", Cell::of(secrets, secrets.to_string()).to(within("/secrets"))),
        (
            "Revision",
            Cell::of(project.revision, project.revision.to_string()).to(within("/changes")),
        ),
        ("First deployed", at(&visitor, project.created_at)),
        ("Changed", at(&visitor, project.updated_at)),
    ]);
    let page = view::Project {
        frame: visitor.frame(name),
        tabs: view::tabs("Versions", &slug),
        facts,
        versions: list,
        kept: versions.len(),
        shares_identity,
        is_administrator: visitor.person.role == Role::Administrator,
        promotes_to: promote::target(&context.app).map(|(address, _)| address.to_owned()),
        slug,
    };
    super::listed("versions", &page.versions, &page)
}

fn version(
    visitor: &Visitor,
    project: &Project,
    names: &HashMap<String, String>,
    version: &Deployment,
) -> Row {
    let (number, slug) = (version.version, &project.slug);
    let is_served = number == project.version;
    let button = Button {
        path: format!("/console/projects/{slug}/rollback"),
        fields: vec![
            ("token", visitor.token().to_owned()),
            ("version", number.to_string()),
            ("revision", project.revision.to_string()),
        ],
        says: format!("Serve version {number}"),
        tone: "",
    };
    vec![
        Cell::of(number, number.to_string())
            .to(format!("/console/projects/{slug}/diff?to={number}")),
        at(visitor, version.made_at),
        Cell::text(names.get(&version.made_by).unwrap_or(&version.made_by)),
        Cell::text(parts(version)),
        if is_served { Cell::text("served").toned("good") } else { Cell::text("kept") },
        if is_served { Cell::default() } else { Cell::button(button) },
    ]
}

/// Decides whether the app is told names and e-mail addresses of its players: administrators alone.
async fn identity(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    if visitor.person.role != Role::Administrator {
        let message = "administrators decide what an app learns of its players; ask one";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let shares = match form.field("shares") {
        "yes" => true,
        "no" => false,
        other => {
            let message = format!("must be yes or no (got '{other}')");
            return Err(Problem::invalid("shares", message));
        }
    };
    let slug = context.param("slug").to_owned();
    let (now, who, to) =
        (context.app.clock.now(), visitor.person.email, format!("/console/projects/{slug}"));
    let decided =
        context.app.db.write(move |tx| share_identity(tx, now, &slug, shares, &who).map(drop));
    decided.await?;
    Ok(on_to(&to))
}

async fn roll_back(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let whole = |name: &'static str| -> Result<i64> {
        form.field(name).parse().map_err(|_| Problem::invalid(name, "must be a whole number"))
    };
    let (version, revision) = (whole("version")?, whole("revision")?);
    let slug = context.param("slug").to_owned();
    let (now, person) = (context.app.clock.now(), visitor.person.clone());
    let to = format!("/console/projects/{slug}");
    let (folder, sought) = (hosted::folder(&context.app, &slug), slug.clone());
    let holder = Holder::Person(person.clone());
    let (node, changing) = (Arc::clone(&context.app.node), Arc::clone(&context.app.node));
    let differs = context.app.db.read(move |tx| {
        let project = admit(tx, &node, &holder, &sought)?;
        let target = deployments::find(tx, &sought, version)?;
        Ok((project.version, databases::differs(&folder, &project, &target)?))
    });
    let (served, differs) = differs.await?;
    if differs {
        let message = format!(
            "version {version} came with another schema of the database; \
             `lyceum deployments rollback {slug}` lets you keep the database or put it back"
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    if form.field("sure").is_empty() {
        return shown(&view::RollBack {
            frame: visitor.frame(format!("Serve version {version} of {slug}?")),
            served,
            slug,
            version,
            revision,
        });
    }
    let turned = context.app.db.write(move |tx| {
        admit(tx, &changing, &Holder::Person(person.clone()), &slug)?;
        deployments::roll_back(tx, (now, &person.id), &slug, Some(version), Some(revision), None)?;
        let change = Change { who: &person.email, what: "project.rollback", subject: &slug };
        change.note(tx, now, &json!({ "version": version }))
    });
    turned.await?;
    Ok(on_to(&to))
}

/// A version with the files of its frontend.
type Contents = (Deployment, Manifest);

async fn diff(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let wanted = |name: &str| query.own(name).parse::<i64>().ok();
    let (from, to) = (wanted("from"), wanted("to"));
    let work = move |tx: &mut Tx<'_>, project: Project| {
        let kept = deployments::list(tx, &project.slug)?;
        let numbers: Vec<i64> = kept.iter().map(|version| version.version).collect();
        let newest = numbers.first().copied().unwrap_or(project.version);
        let to = to.unwrap_or(newest);
        let before = numbers.iter().copied().find(|number| *number < to).unwrap_or(to);
        let mut contents = |number: i64| -> Result<Contents> {
            let version = deployments::find(tx, &project.slug, number)?;
            let zip = version.frontend.as_ref();
            let manifest = zip.map(|zip| deployments::manifest(tx, &zip.sha256)).transpose()?;
            Ok((version, manifest.flatten().unwrap_or_default()))
        };
        Ok((numbers, contents(from.unwrap_or(before))?, contents(to)?))
    };
    let (slug, (versions, from, to)) = read(&context, &visitor, work).await?;
    let (changes, same) = changed(&from, &to);
    shown(&view::Diff {
        frame: visitor.frame(format!("Version {} to {}", from.0.version, to.0.version)),
        slug,
        versions,
        from: from.0.version,
        to: to.0.version,
        changes,
        same,
    })
}

/// Names with what tells whether they differ, and how large they are.
type Parts = BTreeMap<String, (String, u64)>;

/// What a version is made of: files of the frontend, modules of the backend, what it uses.
fn pieces((version, manifest): &Contents) -> Parts {
    let files = manifest
        .0
        .iter()
        .map(|(path, file)| (format!("frontend/{path}"), (file.sha256.to_string(), file.size)));
    let modules = version.backend.iter().flat_map(|backend| &backend.modules);
    let modules = modules
        .map(|module| (format!("backend/{}", module.name), (module.sha256.clone(), module.size)));
    let uses = [
        (version.uses.database, "uses a database"),
        (version.uses.kv, "uses KV"),
        (version.uses.bucket, "uses a bucket"),
    ];
    let uses = uses.into_iter().filter(|(used, _)| *used);
    let uses = uses.map(|(_, name)| (name.to_owned(), (String::new(), 0)));
    files.chain(modules).chain(uses).collect()
}

type Changed = (&'static str, &'static str, String, String);

fn changed(from: &Contents, to: &Contents) -> (Vec<Changed>, usize) {
    let (from, to) = (pieces(from), pieces(to));
    let mut same = 0;
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        changes.push(match (from.get(name), to.get(name)) {
            (None, Some((_, size))) => ("added", "good", name.clone(), bytes(*size)),
            (Some((_, size)), None) => ("removed", "bad", name.clone(), bytes(*size)),
            (Some((a, old)), Some((b, new))) if a != b => {
                ("changed", "warn", name.clone(), format!("{} to {}", bytes(*old), bytes(*new)))
            }
            _ => {
                same += 1;
                continue;
            }
        });
    }
    (changes, same)
}

async fn secrets(context: Context, visitor: Visitor) -> Result<Answer> {
    let master = context.app.gate.keyring().master().clone();
    let place = place(&context.app, context.param("slug"));
    let work = move |tx: &mut Tx<'_>, project: Project| {
        projects::state(tx, &master, &project.slug, &place)
    };
    let (slug, state) = read(&context, &visitor, work).await?;
    let rows = state.secrets.digests.keys().map(|name| vec![Cell::text(name)]).collect();
    let list = List::new("Secrets", SECRETS, query(&context), rows)
        .or_else("The version that is served has no secrets.");
    let says =
        "Values are sealed and shown to nobody; `lyceum secrets push` changes them.".to_owned();
    let frame = visitor.frame(format!("Secrets of {slug}"));
    let page = view::Listed { frame, tabs: view::tabs("Secrets", &slug), says, list };
    listed("secrets", &page.list, &page)
}

async fn changes(context: Context, visitor: Visitor) -> Result<Answer> {
    let work = |tx: &mut Tx<'_>, project: Project| {
        let (mut all, mut before) = (Vec::new(), None);
        let most = usize::try_from(limits::CONSOLE_EXPORT_MAX_ROWS).map_err(Problem::internal)?;
        while all.len() < most {
            let page = audit::list(tx, &project.slug, before)?;
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            all.extend(page);
        }
        Ok((all, names(tx)?))
    };
    let (slug, (changes, names)) = read(&context, &visitor, work).await?;
    let row = |entry: &audit::Entry| {
        vec![
            Cell::of(entry.id, entry.id.to_string()),
            at(&visitor, entry.at),
            Cell::text(names.get(&entry.who).unwrap_or(&entry.who)),
            Cell::text(&entry.what),
            Cell::text(entry.details.to_string()),
        ]
    };
    let rows = changes.iter().map(row).collect();
    let list = List::new("Changes", CHANGES, query(&context), rows)
        .note(at_most(changes.len(), limits::CONSOLE_EXPORT_MAX_ROWS));
    let says = "Who changed what of this project; entries are never changed.".to_owned();
    let frame = visitor.frame(format!("Changes of {slug}"));
    let page = view::Listed { frame, tabs: view::tabs("Changes", &slug), says, list };
    listed("project-changes", &page.list, &page)
}
