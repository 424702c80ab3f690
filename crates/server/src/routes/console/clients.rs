//! Clients, which get tokens with an id and a secret: for administrators, since they act for everybody.

use lyceum_access::{Client, NewClient, Role, Scope, Scopes, client};
use lyceum_console::{Cell, Column, Facts, List, keys as view, screens};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::json;

use super::events::at;
use super::keys::{note, state, used};
use super::visitor::query;
use super::{Form, Visitor, action, listed, on_to, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::render;
use crate::route::Route;

const CLIENTS: (&str, &str) = ("/console/keys/clients", "Clients");
/// Seconds that a secret works on after a new one was made.
const OVERLAP_S: i64 = 24 * 3600;

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::KEYS;
    vec![
        page("/keys/clients", screen, clients),
        page("/keys/clients/new", screen, new_client),
        action("/keys/clients/new", screen, make_client),
        page("/keys/clients/{client}", screen, one_client),
        action("/keys/clients/{client}/rotate", screen, rotate_client),
        action("/keys/clients/{client}/revoke", screen, revoke_client),
    ]
}

const CLIENT_COLUMNS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("id", "Id"),
    Column::text("scopes", "Scopes"),
    Column::text("created", "Made"),
    Column::text("used", "Last used"),
    Column::text("state", "State"),
];

/// Clients act for everybody: they are for administrators.
fn administers(visitor: &Visitor) -> Result<()> {
    match visitor.person.role {
        Role::Administrator => Ok(()),
        role => {
            let message = format!(
                "clients are for the role 'administrator', not for '{role}'; make a key for a \
                 project of yours"
            );
            Err(Problem::new(ProblemKind::Forbidden, message))
        }
    }
}

fn scopes(client: &Client) -> Cell {
    match client.scopes == Scopes::EVERYTHING {
        true => Cell::text("all"),
        false => Cell::text(client.scopes.to_string()),
    }
}

async fn clients(context: Context, visitor: Visitor) -> Result<Answer> {
    administers(&visitor)?;
    let read = |tx: &mut Tx<'_>| Ok((client::list(tx)?, client::uses(tx)?));
    let (clients, uses) = context.app.db.read(read).await?;
    let row = |client: &Client| {
        vec![
            Cell::text(&client.name).to(path(&client.id)),
            Cell::text(&client.id),
            scopes(client),
            at(&visitor, client.created),
            used(&visitor, uses.get(&client.id).copied()),
            state(client.revoked),
        ]
    };
    let rows = clients.iter().map(row).collect();
    let list = List::new("Clients", CLIENT_COLUMNS, query(&context), rows)
        .or_else("There is no client yet. An app gets tokens as one, with an id and a secret.");
    let tabs = view::tabs("Clients", visitor.person.role.name());
    let frame = visitor.frame("Apps and keys");
    let page = view::Keys { frame, tabs, list, make: ("/console/keys/clients/new", "New client") };
    listed("clients", &page.list, &page)
}

/// The page of a client; its id may be any visible ASCII.
fn path(id: &str) -> String {
    format!("/console/keys/clients/{}", segment(id))
}

async fn one_client(context: Context, visitor: Visitor) -> Result<Answer> {
    administers(&visitor)?;
    let id = context.param("client").to_owned();
    let unknown = Problem::new(ProblemKind::NotFound, format!("there is no client '{id}'"));
    let read = move |tx: &mut Tx<'_>| Ok((client::find(tx, &id)?, client::uses(tx)?));
    let (found, uses) = context.app.db.read(read).await?;
    let client = found.ok_or(unknown)?;
    let rate = match client.requests_per_second {
        None => "as the settings say".to_owned(),
        Some(0) => "no limit".to_owned(),
        Some(rate) => rate.to_string(),
    };
    let origins = match client.origins.is_empty() {
        true => "none".to_owned(),
        false => client.origins.join(", "),
    };
    let facts = Facts::new(vec![
        ("Id", Cell::text(&client.id)),
        ("Scopes", scopes(&client)),
        ("Dialect", Cell::text(client.dialect.name())),
        ("Origins of web pages", Cell::text(origins)),
        ("Requests a second", Cell::text(rate)),
        ("Made", at(&visitor, client.created)),
        ("Last token", used(&visitor, uses.get(&client.id).copied())),
        ("State", state(client.revoked)),
    ]);
    let rotating = "The secret that is used now works for one more day.";
    shown(&view::Key {
        frame: visitor.frame(&client.name),
        list: CLIENTS,
        path: path(&client.id),
        facts,
        rotating: client.revoked.is_none().then_some(rotating),
    })
}

async fn new_client(_: Context, visitor: Visitor) -> Result<Answer> {
    client_form(&visitor, "", None)
}

fn client_form(visitor: &Visitor, name: &str, problem: Option<&Problem>) -> Result<Answer> {
    administers(visitor)?;
    let choice =
        |scope: Scope| (scope.name().to_owned(), format!("{}: {}", scope.name(), scope.says()));
    shown(&view::New {
        frame: visitor.frame("New client"),
        list: CLIENTS,
        path: "/console/keys/clients/new",
        problem: problem.map(render::sentence),
        name: name.to_owned(),
        roles: Vec::new(),
        projects: None,
        scopes: Scope::all()
            .filter(|scope| scope.name().starts_with("lyceum/"))
            .map(choice)
            .collect(),
    })
}

async fn make_client(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    administers(&visitor)?;
    let (now, person) = (context.app.clock.now(), visitor.person.clone());
    let name = form.field("name").to_owned();
    let wanted = form.every("scope").collect::<Vec<_>>();
    // A client without scopes has all: on a page that is easily overlooked, so that it is said there.
    if wanted.is_empty() && form.field("all").is_empty() {
        let problem = Problem::invalid("scope", "is required: choose what the client may do");
        let page = client_form(&visitor, &name, Some(&problem))?;
        return Ok(page.status(render::status(problem.kind)));
    }
    let scopes = if form.field("all").is_empty() { wanted.join(" ") } else { String::new() };
    let scopes = scopes.parse().map_err(|unknown: lyceum_access::UnknownScope| {
        Problem::invalid("scope", format!("there is no scope '{}'", unknown.0))
    })?;
    let new = NewClient { scopes, ..NewClient::named(name.clone()) };
    let made = context.app.db.write(move |tx| {
        let (client, secret) = client::create(tx, now, &new)?;
        let details = json!({ "name": client.name, "scopes": client.scopes.to_string() });
        note(tx, now, &person, "client.create", &client.id, &details)?;
        Ok((client, secret))
    });
    match made.await {
        Ok((client, secret)) => made_client(&context, &visitor, &client, secret),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => {
            Ok(client_form(&visitor, &name, Some(&problem))?.status(render::status(problem.kind)))
        }
    }
}

fn made_client(
    context: &Context,
    visitor: &Visitor,
    client: &Client,
    secret: String,
) -> Result<Answer> {
    let (base, id) = (context.base_url(), &client.id);
    shown(&view::Made {
        frame: visitor.frame(format!("The client '{}'", client.name)),
        list: CLIENTS,
        path: path(id),
        id: Some(id.clone()),
        example: format!(
            "curl -u '{id}:{secret}' -d grant_type=client_credentials {base}/oauth2/token"
        ),
        secret,
    })
}

async fn rotate_client(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    administers(&visitor)?;
    let (id, now, person) =
        (context.param("client").to_owned(), context.app.clock.now(), visitor.person.clone());
    let rotated = context.app.db.write(move |tx| {
        let rotated = client::rotate(tx, now, &id, None, OVERLAP_S)?;
        note(tx, now, &person, "client.rotate", &id, &json!(null))?;
        Ok(rotated)
    });
    let (client, secret) = rotated.await?;
    made_client(&context, &visitor, &client, secret)
}

async fn revoke_client(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    administers(&visitor)?;
    let (id, now, person) =
        (context.param("client").to_owned(), context.app.clock.now(), visitor.person.clone());
    let to = path(&id);
    let revoked = context.app.db.write(move |tx| {
        client::revoke(tx, now, &id)?;
        note(tx, now, &person, "client.revoke", &id, &json!(null))
    });
    revoked.await?;
    Ok(on_to(&to))
}
