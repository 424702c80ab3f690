//! Projects: versions and their differences, rollbacks, names of secrets, and the log of changes. Logs, the bucket and
//! promotion have their own files.

pub(crate) mod view;

mod bucket;
mod logs;
mod promote;

use std::sync::Arc;

use lyceum_access::{AccessDenial, Role, TokenHolder};
use lyceum_api::games::catalogue::share_identity;
use lyceum_api::projects::project_location;
use lyceum_api::{Context, Route, hosted};
use lyceum_console::language::{message, translated};
use lyceum_console::{Button, Cell, Column, FactList, List, Row, links, plural, screens, t};
use lyceum_core::{Problem, ProblemKind, Result, message, phrase};
use lyceum_hosting::audit::ProjectChange;
use lyceum_hosting::deployments::Deployment;
use lyceum_hosting::homes::{self, ProjectHome};
use lyceum_hosting::limits;
use lyceum_hosting::nodes::Node;
use lyceum_hosting::projects::{self, Project};
use lyceum_hosting::screens::project::{self as screen, Difference, ProjectVersions};
use lyceum_hosting::screens::projects as list_screen;
use lyceum_http::answer::Answer;
use lyceum_http::auth;
use lyceum_store::Tx;

use super::visitor::query;
use super::{
    Form, Visitor, action, at_most, deadline, on_to, page, show_list, show_list_page, show_page,
};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::PROJECTS;
    // Projects belong to their members and to no organization.
    let routes = vec![
        page("/projects", screen, all),
        page("/projects/{slug}", screen, one),
        action("/projects/{slug}/rollback", screen, roll_back),
        action("/projects/{slug}/identity", screen, identity),
        page("/projects/{slug}/logs", screen, logs::show_logs),
        page("/projects/{slug}/logs/stream", screen, logs::streamed),
        page("/projects/{slug}/bucket", screen, bucket::list_objects),
        page("/projects/{slug}/bucket/object", screen, bucket::one),
        page("/projects/{slug}/bucket/download", screen, bucket::download),
        action("/projects/{slug}/bucket/delete", screen, bucket::deleted),
        page("/projects/{slug}/promote", screen, promote::show_plan),
        action("/projects/{slug}/promote", screen, promote::promote),
        page("/projects/{slug}/diff", screen, diff),
        page("/projects/{slug}/secrets", screen, secrets),
        page("/projects/{slug}/changes", screen, changes),
    ];
    routes.into_iter().map(Route::of_no_organization).collect()
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
    Column::text("made", "Created"),
    Column::text("by", "Created by"),
    Column::text("parts", "Parts"),
    Column::text("state", "State"),
    Column::buttons("Action"),
];
const SECRETS: &[Column] = &[Column::text("name", "Name")];
const CHANGES: &[Column] = &[
    Column::number("number", "Number"),
    Column::text("time", "Time"),
    Column::text("who", "Who"),
    Column::text("what", "Change"),
    Column::text("details", "Details"),
];

/// Refuses a project if the visitor is not a member of it or if another node has its files.
fn admit(tx: &mut Tx<'_>, node: &Node, holder: &TokenHolder, slug: &str) -> Result<Project> {
    let project = projects::find(tx, slug)?;
    match holder.may_change(tx, slug)? {
        true => homes::admit(tx, node, slug).map(|()| project),
        false => Err(auth::refusal(&AccessDenial::Project(slug.to_owned())).problem),
    }
}

/// Reads data of the project in the path, if the visitor may see it.
async fn read<T: Send + 'static>(
    context: &Context,
    visitor: &Visitor,
    work: impl Fn(&mut Tx<'_>, Project) -> Result<T> + Send + Sync + 'static,
) -> Result<(String, T)> {
    let (slug, holder) =
        (context.param("slug").to_owned(), TokenHolder::Person(visitor.person.clone()));
    let (sought, node) = (slug.clone(), Arc::clone(&context.app.cluster.node));
    let read = move |tx: &mut Tx<'_>| {
        let project = admit(tx, &node, &holder, &sought)?;
        work(tx, project)
    };
    Ok((slug, context.app.db.scan(deadline(), read).await?))
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let holder = TokenHolder::Person(visitor.person.clone());
    let own = context.app.db.read(move |tx| list_screen::read(tx, &holder)).await?;
    let row = |project: &Project| {
        let to = links::project(&project.slug);
        let address = project_location(&context.app, &project.slug).play_url;
        vec![
            Cell::text(&project.slug).to(&to),
            Cell::count(project.version).to(&to),
            Cell::text(&address).to(address),
            visitor.time(project.created_at),
            visitor.time(project.updated_at),
        ]
    };
    let rows = own.iter().map(row).collect();
    let list =
        List::new("Projects", PROJECTS, query(&context), rows).or_else(match visitor.person.role {
            Role::Administrator => {
                phrase!("No projects are deployed yet. `lyceum deploy` deploys one.")
            }
            _ => phrase!(
                "You are not a member of a project yet. `lyceum deploy` deploys one of your own."
            ),
        });
    show_list_page("projects", visitor.frame(t!("Projects")), list)
}

/// Describes the parts of a version.
fn parts(version: &Deployment) -> String {
    let frontend =
        version.frontend.iter().map(|zip| t!("frontend ({size})", size = bytes(zip.size)));
    let backend = version.backend.iter().map(|backend| {
        let size = backend.modules.iter().map(|module| module.size).sum();
        plural!(
            backend.routes.len(),
            "backend ({n} route, {size})",
            "backend ({n} routes, {size})",
            size = bytes(size),
        )
    });
    let uses = version.uses.bindings().map(|binding| binding.names().key.to_owned());
    frontend.chain(backend).chain(uses).collect::<Vec<_>>().join(", ")
}

/// A size in bytes, formatted for people.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => t!("{n} B", n = size),
        1024..1_048_576 => t!("{n} KiB", n = size.div_ceil(1024)),
        _ => t!("{n} MiB", n = size.div_ceil(1_048_576)),
    }
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let master = context.app.gate.keyring().master().clone();
    let location = project_location(&context.app, context.param("slug"));
    let of_versions = location.clone();
    let work = move |tx: &mut Tx<'_>, project: Project| {
        screen::versions(tx, &master, &of_versions, project)
    };
    let (slug, found) = read(&context, &visitor, work).await?;
    let ProjectVersions { project, state, versions, shares_identity, home } = &found;
    let rows = versions.iter().map(|one| version(&visitor, project, one)).collect();
    let to = links::project(&slug);
    let facts = FactList::new(vec![
        ("Slug", Cell::text(&slug)),
        (
            "Served",
            Cell::of(project.version, t!("version {n}", n = project.version))
                .to(format!("{to}/diff?to={}", project.version)),
        ),
        ("Environment", Cell::text(location.environment)),
        ("Server", home.as_ref().map_or_else(Cell::default, server)),
        ("Play", Cell::text(&location.play_url).to(&location.play_url)),
        ("Own address", Cell::text(&location.frontend_url).to(&location.frontend_url)),
        ("Secrets", Cell::count(state.secrets.digests.len()).to(format!("{to}/secrets"))),
        ("Revision", Cell::count(project.revision).to(format!("{to}/changes"))),
        ("First deployed", visitor.time(project.created_at)),
        ("Changed", visitor.time(project.updated_at)),
    ]);
    let page = view::ProjectPage {
        frame: visitor.frame(found.name()),
        tabs: view::tabs("Versions", &slug),
        facts,
        versions: List::new("Versions", VERSIONS, query(&context), rows),
        kept: versions.len(),
        shares_identity: *shares_identity,
        is_administrator: visitor.person.role == Role::Administrator,
        promotes_to: promote::target(&context.app).map(|(address, _)| address.to_owned()),
        slug,
    };
    super::show_list("versions", &page.versions, &page)
}

/// The server with the files of a project.
fn server(home: &ProjectHome) -> Cell {
    let name = &home.node.name;
    match home.has_lease {
        Some(false) => Cell::text(t!("{name} (not running)", name = name)).toned("bad"),
        Some(true) | None => Cell::text(name),
    }
}

fn version(visitor: &Visitor, project: &Project, version: &Deployment) -> Row {
    let (number, to) = (version.version, links::project(&project.slug));
    let is_served = number == project.version;
    let button = Button {
        path: format!("{to}/rollback"),
        fields: vec![
            ("token", visitor.token().to_owned()),
            ("version", number.to_string()),
            ("revision", project.revision.to_string()),
        ],
        description: t!("Serve version {n}", n = number),
        tone: "",
    };
    vec![
        Cell::count(number).to(format!("{to}/diff?to={number}")),
        visitor.time(version.made_at),
        version.made_by_name.as_ref().map_or_else(Cell::none, |name| Cell::text(message(name))),
        Cell::text(parts(version)),
        if is_served { Cell::text(t!("served")).toned("good") } else { Cell::text(t!("stored")) },
        if is_served { Cell::default() } else { Cell::button(button) },
    ]
}

/// Sets whether the app receives names and e-mail addresses of its players. Only administrators may do this.
async fn identity(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    if visitor.person.role != Role::Administrator {
        let message = "only administrators can change which player data an app receives; ask an administrator";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let shares = match form.field("shares") {
        "yes" => true,
        "no" => false,
        other => {
            let message = message!("must be yes or no (got '{other}')");
            return Err(Problem::invalid("shares", message));
        }
    };
    let slug = context.param("slug").to_owned();
    let (now, who, to) = (context.app.clock.now(), visitor.person.email, links::project(&slug));
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
    let folder = hosted::folder(&context.app, context.param("slug"));
    let check = move |tx: &mut Tx<'_>, project: Project| {
        screen::check_roll_back(tx, &folder, &project, version).map(|()| project.version)
    };
    let (slug, served) = read(&context, &visitor, check).await?;
    if form.field("sure").is_empty() {
        return show_page(&view::RollBackPage {
            frame: visitor.frame(t!(
                "Serve version {n} of {project}?",
                n = version,
                project = slug
            )),
            served,
            slug,
            version,
            revision,
        });
    }
    let (now, person, node) =
        (context.app.clock.now(), visitor.person.clone(), Arc::clone(&context.app.cluster.node));
    let to = links::project(&slug);
    let turned = context.app.db.write(move |tx| {
        admit(tx, &node, &TokenHolder::Person(person.clone()), &slug)?;
        screen::roll_back(tx, now, &person, &slug, version, revision)
    });
    turned.await?;
    Ok(on_to(&to))
}

async fn diff(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let wanted = |name: &str| query.parameter(name).parse::<i64>().ok();
    let (from, to) = (wanted("from"), wanted("to"));
    let work = move |tx: &mut Tx<'_>, project: Project| screen::compare(tx, &project, from, to);
    let (slug, found) = read(&context, &visitor, work).await?;
    show_page(&view::DifferencesPage {
        frame: visitor.frame(t!("Version {from} to {to}", from = found.from, to = found.to)),
        slug,
        versions: found.numbers,
        from: found.from,
        to: found.to,
        changes: found.differences.into_iter().map(difference).collect(),
        same: found.same_count,
    })
}

fn difference((name, difference): (String, Difference)) -> view::VersionDifference {
    // The name of a file, or words for what a version uses.
    let name = translated(&name);
    match difference {
        Difference::Added(size) => (t!("added"), "good", name, bytes(size)),
        Difference::Removed(size) => (t!("removed"), "bad", name, bytes(size)),
        Difference::Changed(old, new) => {
            (t!("changed"), "warn", name, t!("{old} to {new}", old = bytes(old), new = bytes(new)))
        }
    }
}

async fn secrets(context: Context, visitor: Visitor) -> Result<Answer> {
    let master = context.app.gate.keyring().master().clone();
    let location = project_location(&context.app, context.param("slug"));
    let work = move |tx: &mut Tx<'_>, project: Project| {
        projects::state(tx, &master, &project.slug, &location)
    };
    let (slug, state) = read(&context, &visitor, work).await?;
    let rows = state.secrets.digests.keys().map(|name| vec![Cell::text(name)]).collect();
    let list = List::new("Secrets", SECRETS, query(&context), rows)
        .or_else("The served version has no secrets.");
    let description =
        t!("Values are encrypted and never shown. `lyceum secrets push` changes them.");
    let frame = visitor.frame(t!("Secrets of {project}", project = slug));
    let page =
        view::ProjectListPage { frame, tabs: view::tabs("Secrets", &slug), description, list };
    show_list("secrets", &page.list, &page)
}

async fn changes(context: Context, visitor: Visitor) -> Result<Answer> {
    let work = |tx: &mut Tx<'_>, project: Project| screen::changes(tx, &project);
    let (slug, changes) = read(&context, &visitor, work).await?;
    let row = |entry: &ProjectChange| {
        vec![
            Cell::count(entry.id),
            visitor.exact_time(entry.at),
            Cell::text(message(&entry.who)),
            Cell::text(&entry.what),
            Cell::text(entry.details.to_string()),
        ]
    };
    let rows = changes.iter().map(row).collect();
    let list = List::new("Changes", CHANGES, query(&context), rows)
        .note(at_most(changes.len(), limits::CONSOLE_EXPORT_MAX_ROWS));
    let description = t!("Who changed what in this project. Entries are never changed.");
    let frame = visitor.frame(t!("Changes of {project}", project = slug));
    let page =
        view::ProjectListPage { frame, tabs: view::tabs("Changes", &slug), description, list };
    show_list("project-changes", &page.list, &page)
}
