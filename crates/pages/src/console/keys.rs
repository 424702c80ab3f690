//! API keys. People see their own keys, and administrators see all keys.

pub(crate) mod view;

use lyceum_access::screens::keys::{self as screen, KeyOfPerson};
use lyceum_access::{ApiKey, Role};
use lyceum_api::{Context, Route};
use lyceum_console::language::ProblemText;
use lyceum_console::{Cell, Column, FactList, List, links, screens, t, words};
use lyceum_core::{Problem, Reach, Result, phrase};
use lyceum_hosting::screens::new_key;
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_roster::reach as roster_reach;
use lyceum_store::Tx;

use super::visitor::query;
use super::{Form, Visitor, action, on_to, page, show_list, show_page};

const KEYS: (&str, &str) = ("/console/keys", phrase!("API keys"));
const NEW: &str = "/console/keys/new";

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::KEYS;
    // People see the keys that they made, and these have the limit of their maker.
    vec![
        page("/keys", screen, keys).of_no_organization(),
        page("/keys/new", screen, new_key).of_no_organization(),
        action("/keys/new", screen, create_key).of_no_organization(),
        page("/keys/api/{key}", screen, key).of_no_organization(),
        action("/keys/api/{key}/limit", screen, limit_key),
        action("/keys/api/{key}/rotate", screen, rotate_key).of_no_organization(),
        action("/keys/api/{key}/revoke", screen, revoke_key).of_no_organization(),
    ]
}

const KEY_COLUMNS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("role", "Role"),
    Column::text("project", "Project"),
    Column::text("access", "Access"),
    Column::text("maker", "Created by"),
    Column::text("created", "Created"),
    Column::text("used", "Last used"),
    Column::text("state", "State"),
];

pub(super) fn state(is_revoked: bool) -> Cell {
    match is_revoked {
        false => Cell::text(t!("active")).toned("good"),
        true => Cell::text(t!("revoked")).toned("bad"),
    }
}

fn key_cells(visitor: &Visitor, KeyOfPerson { key, maker }: &KeyOfPerson) -> [Cell; 7] {
    let project = key.project.as_deref();
    [
        Cell::text(words::role(key.role.name())),
        project.map_or_else(
            || Cell::text(t!("all")),
            |slug| Cell::text(slug).to(links::project(slug)),
        ),
        access_cell(&key.reach),
        maker.as_ref().map_or_else(|| Cell::text(t!("a command")), Cell::text),
        visitor.time(key.created),
        visitor.time_if_any(key.used),
        match key.is_stopped && key.revoked.is_none() {
            true => Cell::text(t!("stopped: its creator lost access to the project")).toned("bad"),
            false => state(key.revoked.is_some()),
        },
    ]
}

async fn keys(context: Context, visitor: Visitor) -> Result<Answer> {
    let person = visitor.person.clone();
    let seen = context.app.db.read(move |tx| screen::list(tx, &person)).await?;
    let rows = seen.iter().map(|one| {
        let name = Cell::text(&one.key.name).to(links::api_key(&one.key.id));
        std::iter::once(name).chain(key_cells(&visitor, one)).collect()
    });
    let list = List::new("API keys", KEY_COLUMNS, query(&context), rows.collect())
        .or_else("There are no API keys yet. A program such as a CI job uses one instead of a person's sign-in.");
    let tabs = view::tabs("API keys", visitor.person.role.name());
    let frame = visitor.frame(t!("Apps and keys"));
    let page = view::KeysPage { frame, tabs, list, create: (NEW, t!("New key")) };
    show_list("api-keys", &page.list, &page)
}

async fn key(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, person) = (context.param("key").to_owned(), visitor.person.clone());
    let one = context.app.db.read(move |tx| screen::read(tx, &person, &id)).await?;
    let names = KEY_COLUMNS.iter().skip(1).map(|column| column.label);
    let environment = (phrase!("Environment"), Cell::text(one.key.environment.name()));
    let facts = names.zip(key_cells(&visitor, &one)).chain([environment]).collect();
    let is_active = one.key.revoked.is_none();
    let can_be_limited = is_active
        && visitor.person.role == Role::Administrator
        && one.key.role != Role::Administrator;
    show_page(&view::KeyPage {
        frame: visitor.frame(&one.key.name),
        list: KEYS,
        path: links::api_key(&one.key.id),
        facts: FactList::new(facts),
        rotating: is_active.then(|| t!("The current secret stops working at once.")),
        organizations: can_be_limited.then(|| organizations(&one.key.reach)),
    })
}

async fn new_key(context: Context, visitor: Visitor) -> Result<Answer> {
    key_form(&context, &visitor, "", None).await
}

async fn key_form(
    context: &Context,
    visitor: &Visitor,
    name: &str,
    problem: Option<&Problem>,
) -> Result<Answer> {
    let is_administrator = visitor.person.role == Role::Administrator;
    let person = visitor.person.clone();
    let own = context.app.db.read(move |tx| new_key::read(tx, &person)).await?;
    let all = is_administrator.then(|| (String::new(), t!("all projects")));
    let projects: Vec<view::FormOption> =
        all.into_iter().chain(own.into_iter().map(|slug| (slug.clone(), slug))).collect();
    let no_project =
        "you are not a member of a project yet; deploy one, or ask an administrator to add you";
    let problem = match problem {
        Some(problem) => Some(render::sentence(problem)),
        None => projects.is_empty().then(|| ProblemText::of(no_project)),
    };
    let roles = if is_administrator { Role::STAFF.to_vec() } else { Vec::new() };
    let choice = |role: &Role| (role.name().to_owned(), words::role(role.name()));
    show_page(&view::NewKeyPage {
        frame: visitor.frame(t!("New key")),
        list: KEYS,
        path: NEW,
        button: t!("Create key"),
        problem,
        name: name.to_owned(),
        roles: roles.iter().rev().map(choice).collect(),
        projects: Some(projects),
        scopes: Vec::new(),
        has_organizations: is_administrator,
        offers_signing: false,
    })
}

async fn create_key(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let person = visitor.person.clone();
    let (name, project) = (form.field("name").to_owned(), form.field("project").to_owned());
    let role = match person.role {
        Role::Administrator => {
            form.field("role").parse().map_err(|rule| Problem::invalid("role", rule))?
        }
        role => role,
    };
    let (typed, reach) = (name.clone(), chosen_reach(&form)?);
    let created = context.app.db.write(move |tx| {
        let project = Some(project.as_str()).filter(|slug| !slug.is_empty());
        let (key, text) = new_key::create(tx, now, environment, &person, (&name, role, project))?;
        if reach.is_limited() {
            roster_reach::check(tx, &reach)?;
            screen::limit(tx, now, &person, &key.id, &reach)?;
        }
        Ok((key, text))
    });
    match created.await {
        Ok((key, text)) => created_key(&context, &visitor, &key, text),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => {
            let page = key_form(&context, &visitor, &typed, Some(&problem)).await?;
            Ok(page.status(render::status(problem.kind)))
        }
    }
}

fn created_key(context: &Context, visitor: &Visitor, key: &ApiKey, text: String) -> Result<Answer> {
    let base = context.base_url();
    show_page(&view::NewSecretPage {
        frame: visitor.frame(t!("The key '{name}'", name = key.name)),
        list: KEYS,
        path: links::api_key(&key.id),
        id: None,
        example: format!(
            "export LYCEUM_API_KEY={text}\nexport LYCEUM_URL={base}\n\nlyceum deploy --env {}\n\n\
             curl -H \"Authorization: Bearer $LYCEUM_API_KEY\" {base}/api/auth/me",
            context.app.config.server.env.name()
        ),
        secret: text,
        signing_secret: None,
    })
}

/// The reach that a form asks for: organizations separated by spaces or commas, or everything.
pub(super) fn chosen_reach(form: &Form) -> Result<Reach> {
    let ids = chosen_organizations(form);
    if ids.is_empty() { Ok(Reach::Everything) } else { Reach::organizations(ids) }
}

/// The organizations that a form names, separated by spaces or commas.
pub(super) fn chosen_organizations(form: &Form) -> Vec<String> {
    let ids = form.field("organizations").split([' ', ',', '\n', '\r', '\t']);
    ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// The value of the form's field for a reach.
pub(super) fn organizations(reach: &Reach) -> String {
    match reach {
        Reach::Organizations(ids) => ids.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        Reach::Everything | Reach::ClassesOf(_) => String::new(),
    }
}

/// The part of the roster that a person or key has access to, in words.
pub(super) fn reach_text(reach: &Reach) -> String {
    match reach {
        Reach::Everything => t!("everything"),
        Reach::Organizations(_) => t!("organizations: {ids}", ids = organizations(reach)),
        Reach::ClassesOf(teacher) => t!("classes of {teacher}", teacher = teacher),
    }
}

pub(super) fn access_cell(reach: &Reach) -> Cell {
    Cell::text(reach_text(reach))
}

async fn limit_key(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("key").to_owned(), context.app.clock.now(), visitor.person.clone());
    let (to, reach) = (links::api_key(&id), chosen_reach(&form)?);
    let limit = move |tx: &mut Tx<'_>| {
        roster_reach::check(tx, &reach)?;
        screen::limit(tx, now, &person, &id, &reach)
    };
    context.app.db.write(limit).await?;
    Ok(on_to(&to))
}

async fn rotate_key(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("key").to_owned(), context.app.clock.now(), visitor.person.clone());
    let rotated = context.app.db.write(move |tx| screen::rotate(tx, now, &person, &id)).await;
    let (key, text) = rotated?;
    created_key(&context, &visitor, &key, text)
}

async fn revoke_key(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("key").to_owned(), context.app.clock.now(), visitor.person.clone());
    let to = links::api_key(&id);
    context.app.db.write(move |tx| screen::revoke(tx, now, &person, &id)).await?;
    Ok(on_to(&to))
}
