//! API keys: each person their own, administrators all.

use lyceum_access::audit::Change;
use lyceum_access::{ApiKey, Holder, NewApiKey, Person, Role, api_key, person};
use lyceum_console::{Cell, Column, Facts, List, Row, keys as view, screens};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_hosting::projects;
use lyceum_store::Tx;
use serde_json::json;

use super::events::at;
use super::visitor::query;
use super::{Form, Visitor, action, listed, on_to, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::render;
use crate::route::Route;

const KEYS: (&str, &str) = ("/console/keys", "API keys");

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::KEYS;
    vec![
        page("/keys", screen, keys),
        page("/keys/new", screen, new_key),
        action("/keys/new", screen, make_key),
        page("/keys/api/{key}", screen, key),
        action("/keys/api/{key}/rotate", screen, rotate_key),
        action("/keys/api/{key}/revoke", screen, revoke_key),
    ]
}

const KEY_COLUMNS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("role", "Role"),
    Column::text("project", "Project"),
    Column::text("environment", "Environment"),
    Column::text("maker", "Made by"),
    Column::text("created", "Made"),
    Column::text("used", "Last used"),
    Column::text("state", "State"),
];
/// The keys that somebody sees, each with who made it.
fn seen(tx: &mut Tx<'_>, visitor: &Person) -> Result<Vec<(ApiKey, Option<String>)>> {
    let sees_all = visitor.role == Role::Administrator;
    let mut seen = Vec::new();
    for key in api_key::list(tx)? {
        if sees_all || key.maker.as_deref() == Some(&visitor.id) {
            let maker = key.maker.as_deref().map(|id| person::find(tx, id)).transpose()?.flatten();
            seen.push((key, maker.map(|maker| maker.email)));
        }
    }
    Ok(seen)
}

pub(super) fn used(visitor: &Visitor, used: Option<Timestamp>) -> Cell {
    used.map_or_else(Cell::none, |used| at(visitor, used))
}

pub(super) fn state(revoked: Option<Timestamp>) -> Cell {
    match revoked {
        None => Cell::text("in force").toned("good"),
        Some(_) => Cell::text("revoked").toned("bad"),
    }
}

fn key_cells(visitor: &Visitor, key: &ApiKey, maker: Option<&str>) -> [Cell; 7] {
    let project = key.project.as_deref();
    [
        Cell::text(key.role.name()),
        project.map_or_else(
            || Cell::text("all"),
            |slug| Cell::text(slug).to(format!("/console/projects/{slug}")),
        ),
        Cell::text(key.environment.name()),
        Cell::text(maker.unwrap_or("a command")),
        at(visitor, key.created),
        used(visitor, key.used),
        match key.is_stopped && key.revoked.is_none() {
            true => Cell::text("stopped: its maker may not change the project").toned("bad"),
            false => state(key.revoked),
        },
    ]
}

async fn keys(context: Context, visitor: Visitor) -> Result<Answer> {
    let person = visitor.person.clone();
    let seen = context.app.db.read(move |tx| seen(tx, &person)).await?;
    let rows = seen.iter().map(|(key, maker)| {
        let name = Cell::text(&key.name).to(format!("/console/keys/api/{}", key.id));
        std::iter::once(name).chain(key_cells(&visitor, key, maker.as_deref())).collect::<Row>()
    });
    let list = List::new("API keys", KEY_COLUMNS, query(&context), rows.collect()).or_else(
        "There is no key yet. A program such as a CI job calls with one in place of a person.",
    );
    let tabs = view::tabs("API keys", visitor.person.role.name());
    let frame = visitor.frame("Apps and keys");
    let page = view::Keys { frame, tabs, list, make: ("/console/keys/new", "New key") };
    listed("api-keys", &page.list, &page)
}

/// The key of the path, where the visitor sees it.
async fn of_path(context: &Context, visitor: &Visitor) -> Result<(ApiKey, Option<String>)> {
    let (id, person) = (context.param("key").to_owned(), visitor.person.clone());
    let found = context.app.db.read(move |tx| {
        let mut seen = seen(tx, &person)?.into_iter();
        seen.find(|(key, _)| key.id == id).ok_or_else(|| {
            let message = format!("there is no key '{id}' of yours");
            Problem::new(ProblemKind::NotFound, message)
        })
    });
    found.await
}

async fn key(context: Context, visitor: Visitor) -> Result<Answer> {
    let (key, maker) = of_path(&context, &visitor).await?;
    let names =
        ["Role", "Project", "Environment", "Made by", "Made", "Last used", "State"].into_iter();
    let facts = names.zip(key_cells(&visitor, &key, maker.as_deref())).collect();
    shown(&view::Key {
        frame: visitor.frame(&key.name),
        list: KEYS,
        path: format!("/console/keys/api/{}", key.id),
        facts: Facts::new(facts),
        rotating: key.revoked.is_none().then_some("The secret that is used now stops at once."),
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
    let holder = Holder::Person(visitor.person.clone());
    let read = move |tx: &mut Tx<'_>| {
        let mut own = Vec::new();
        for project in projects::list(tx)? {
            if holder.may_change(tx, &project.slug)? {
                own.push((project.slug.clone(), project.slug));
            }
        }
        Ok(own)
    };
    let mut own = context.app.db.read(read).await?;
    if is_administrator {
        own.insert(0, (String::new(), "every project".to_owned()));
    }
    let no_project = "You belong to no project yet: deploy one, or let an administrator add you.";
    let problem = match problem {
        Some(problem) => Some(render::sentence(problem)),
        None => own.is_empty().then(|| no_project.to_owned()),
    };
    let roles = if is_administrator { Role::ALL.to_vec() } else { Vec::new() };
    let choice = |role: &Role| (role.name().to_owned(), role.name().to_owned());
    shown(&view::New {
        frame: visitor.frame("New key"),
        list: KEYS,
        path: "/console/keys/new",
        problem,
        name: name.to_owned(),
        roles: roles.iter().rev().map(choice).collect(),
        projects: Some(own),
        scopes: Vec::new(),
    })
}

async fn make_key(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (now, environment) = (context.app.clock.now(), context.app.config.server.env);
    let person = visitor.person.clone();
    let (name, project) = (form.field("name").to_owned(), form.field("project").to_owned());
    // Nobody makes a key that may more than they do.
    let role = match person.role {
        Role::Administrator => {
            form.field("role").parse().map_err(|rule| Problem::invalid("role", rule))?
        }
        role => role,
    };
    let new = NewApiKey {
        name: name.clone(),
        role,
        project: Some(project).filter(|slug| !slug.is_empty()),
        maker: Some(person.id.clone()),
    };
    let made = context.app.db.write(move |tx| {
        let may = match &new.project {
            Some(slug) => {
                projects::find(tx, slug)?;
                Holder::Person(person.clone()).may_change(tx, slug)?
            }
            None => person.role == Role::Administrator,
        };
        if !may {
            let message = "a key of yours is for a project that you belong to; choose one";
            return Err(Problem::new(ProblemKind::Forbidden, message));
        }
        let (key, text) = api_key::create(tx, now, environment, &new)?;
        let details = json!({ "name": key.name, "role": role.name(), "project": key.project });
        note(tx, now, &person, "key.create", &key.id, &details)?;
        Ok((key, text))
    });
    match made.await {
        Ok((key, text)) => made_key(&context, &visitor, &key, text),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => {
            let page = key_form(&context, &visitor, &name, Some(&problem)).await?;
            Ok(page.status(render::status(problem.kind)))
        }
    }
}

fn made_key(context: &Context, visitor: &Visitor, key: &ApiKey, text: String) -> Result<Answer> {
    let base = context.base_url();
    shown(&view::Made {
        frame: visitor.frame(format!("The key '{}'", key.name)),
        list: KEYS,
        path: format!("/console/keys/api/{}", key.id),
        id: None,
        example: format!(
            "export LYCEUM_API_KEY={text}\nexport LYCEUM_URL={base}\n\nlyceum deploy --env {}\n\n\
             curl -H \"Authorization: Bearer $LYCEUM_API_KEY\" {base}/api/auth/me",
            context.app.config.server.env.name()
        ),
        secret: text,
    })
}

async fn rotate_key(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (key, _) = of_path(&context, &visitor).await?;
    let (now, person) = (context.app.clock.now(), visitor.person.clone());
    let rotated = context.app.db.write(move |tx| {
        let (key, text) = api_key::rotate(tx, &key.id)?;
        note(tx, now, &person, "key.rotate", &key.id, &json!({ "name": key.name }))?;
        Ok((key, text))
    });
    let (key, text) = rotated.await?;
    made_key(&context, &visitor, &key, text)
}

async fn revoke_key(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (key, _) = of_path(&context, &visitor).await?;
    let (now, person, to) =
        (context.app.clock.now(), visitor.person.clone(), format!("/console/keys/api/{}", key.id));
    let revoked = context.app.db.write(move |tx| {
        let key = api_key::revoke(tx, now, &key.id)?;
        note(tx, now, &person, "key.revoke", &key.id, &json!({ "name": key.name }))
    });
    revoked.await?;
    Ok(on_to(&to))
}

pub(super) fn note(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &Person,
    what: &'static str,
    subject: &str,
    details: &serde_json::Value,
) -> Result<()> {
    Change { who: &who.email, what, subject }.note(tx, now, details)
}
