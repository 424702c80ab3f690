//! Clients, which get tokens with an id and a secret. Only administrators manage them, because clients can act for all
//! users.

use lyceum_access::screens::clients::{self as screen, ClientWithUse};
use lyceum_access::{Client, ClientSecrets, NewClient, Scope, Scopes};
use lyceum_api::{Context, Route};
use lyceum_console::language::{ValueInText, message};
use lyceum_console::{Cell, Column, FactList, List, Row, links, screens, t};
use lyceum_core::{Problem, Result, phrase};
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_roster::reach as roster_reach;
use lyceum_store::Tx;

use super::keys::{access_cell, chosen_reach, organizations, state, view};
use super::visitor::query;
use super::{Form, Visitor, action, on_to, page, show_list, show_page};

const CLIENTS: (&str, &str) = ("/console/keys/clients", phrase!("Clients"));
const NEW: &str = "/console/keys/clients/new";

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::KEYS;
    vec![
        page("/keys/clients", screen, clients),
        page("/keys/clients/new", screen, new_client),
        action("/keys/clients/new", screen, create_client),
        page("/keys/clients/{client}", screen, one_client),
        action("/keys/clients/{client}/limit", screen, limit_client),
        action("/keys/clients/{client}/rotate", screen, rotate_client),
        action("/keys/clients/{client}/revoke", screen, revoke_client),
    ]
}

const CLIENT_COLUMNS: &[Column] = &[
    Column::text("name", "Name"),
    Column::text("id", "Id"),
    Column::text("scopes", "Scopes"),
    Column::text("access", "Access"),
    Column::text("oauth1", "OAuth 1.0a"),
    Column::text("created", "Created"),
    Column::text("used", "Last used"),
    Column::text("state", "State"),
];

async fn clients(context: Context, visitor: Visitor) -> Result<Answer> {
    let person = visitor.person.clone();
    let clients = context.app.db.read(move |tx| screen::list(tx, &person)).await?;
    let rows = clients.iter().map(|client| row(&visitor, client)).collect();
    let list = List::new("Clients", CLIENT_COLUMNS, query(&context), rows).or_else(
        "There are no clients yet. An app gets tokens with the id and secret of a client.",
    );
    let tabs = view::tabs("Clients", visitor.person.role.name());
    let frame = visitor.frame(t!("Apps and keys"));
    let page = view::KeysPage { frame, tabs, list, create: (NEW, t!("New client")) };
    show_list("clients", &page.list, &page)
}

fn row(visitor: &Visitor, ClientWithUse { client, used, signs }: &ClientWithUse) -> Row {
    vec![
        Cell::text(&client.name).to(links::client(&client.id)),
        Cell::text(&client.id),
        scopes(client),
        access_cell(&client.reach),
        signing(*signs),
        visitor.time(client.created),
        visitor.time_if_any(*used),
        state(client.revoked.is_some()),
    ]
}

fn scopes(client: &Client) -> Cell {
    match client.scopes == Scopes::EVERYTHING {
        true => Cell::text(t!("all")),
        false => Cell::text(client.scopes.to_string()),
    }
}

fn signing(signs: bool) -> Cell {
    Cell::text(if signs { t!("yes") } else { t!("no") })
}

async fn one_client(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, person) = (context.param("client").to_owned(), visitor.person.clone());
    let read = move |tx: &mut Tx<'_>| screen::read(tx, &person, &id);
    let ClientWithUse { client, used, signs } = context.app.db.read(read).await?;
    let rate = match client.requests_per_second {
        None => t!("default from the settings"),
        Some(0) => t!("no limit"),
        Some(rate) => rate.text(),
    };
    let origins = match client.origins.is_empty() {
        true => t!("none"),
        false => client.origins.join(", "),
    };
    let facts = FactList::new(vec![
        ("Id", Cell::text(&client.id)),
        ("Scopes", scopes(&client)),
        ("Access", access_cell(&client.reach)),
        ("Dialect", Cell::text(client.dialect.name())),
        ("Origins of web pages", Cell::text(origins)),
        ("Requests per second", Cell::text(rate)),
        ("Created", visitor.time(client.created)),
        ("OAuth 1.0a", signing(signs)),
        ("Last used", visitor.time_if_any(used)),
        ("State", state(client.revoked.is_some())),
    ]);
    let rotating = match signs {
        true => t!("The current secret and signing secret work for one more day."),
        false => t!("The current secret works for one more day."),
    };
    show_page(&view::KeyPage {
        frame: visitor.frame(&client.name),
        list: CLIENTS,
        path: links::client(&client.id),
        facts,
        rotating: client.revoked.is_none().then_some(rotating),
        organizations: client.revoked.is_none().then(|| organizations(&client.reach)),
    })
}

async fn new_client(_: Context, visitor: Visitor) -> Result<Answer> {
    screen::check(&visitor.person)?;
    client_form(&visitor, "", None)
}

fn client_form(visitor: &Visitor, name: &str, problem: Option<&Problem>) -> Result<Answer> {
    let choice = |scope: Scope| {
        (
            scope.name().to_owned(),
            format!("{}: {}", scope.name(), message(&scope.description().into())),
        )
    };
    show_page(&view::NewKeyPage {
        frame: visitor.frame(t!("New client")),
        list: CLIENTS,
        path: NEW,
        button: t!("Create client"),
        problem: problem.map(render::sentence),
        name: name.to_owned(),
        roles: Vec::new(),
        projects: None,
        scopes: Scope::all()
            .filter(|scope| scope.name().starts_with("lyceum/"))
            .map(choice)
            .collect(),
        has_organizations: true,
        offers_signing: true,
    })
}

async fn create_client(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let name = form.field("name").to_owned();
    match create(&context, &visitor, &form).await {
        Ok((client, secrets)) => created_client(&context, &visitor, &client, secrets),
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => {
            screen::check(&visitor.person)?;
            let page = client_form(&visitor, &name, Some(&problem))?;
            Ok(page.status(render::status(problem.kind)))
        }
    }
}

async fn create(
    context: &Context,
    visitor: &Visitor,
    form: &Form,
) -> Result<(Client, ClientSecrets)> {
    let names: Vec<String> = form.every("scope").map(str::to_owned).collect();
    let scopes = screen::chosen_scopes(!form.field("all").is_empty(), &names)?;
    let new = NewClient { scopes, ..NewClient::named(form.field("name")) };
    let (now, person) = (context.app.clock.now(), visitor.person.clone());
    let reach = chosen_reach(form)?;
    let (keyring, signs) = (context.app.gate.keyring(), !form.field("signs").is_empty());
    let create = move |tx: &mut Tx<'_>| {
        let master = signs.then(|| keyring.master());
        let (client, secrets) = screen::create(tx, now, &person, &new, master)?;
        if reach.is_limited() {
            roster_reach::check(tx, &reach)?;
            screen::limit(tx, now, &person, &client.id, &reach)?;
        }
        Ok((client, secrets))
    };
    context.app.db.write(create).await
}

async fn limit_client(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("client").to_owned(), context.app.clock.now(), visitor.person.clone());
    let (to, reach) = (links::client(&id), chosen_reach(&form)?);
    let limit = move |tx: &mut Tx<'_>| {
        roster_reach::check(tx, &reach)?;
        screen::limit(tx, now, &person, &id, &reach)
    };
    context.app.db.write(limit).await?;
    Ok(on_to(&to))
}

fn created_client(
    context: &Context,
    visitor: &Visitor,
    client: &Client,
    ClientSecrets { secret, signing }: ClientSecrets,
) -> Result<Answer> {
    let (base, id) = (context.base_url(), &client.id);
    show_page(&view::NewSecretPage {
        frame: visitor.frame(t!("The client '{name}'", name = client.name)),
        list: CLIENTS,
        path: links::client(id),
        id: Some(id.clone()),
        example: format!(
            "curl -u '{id}:{secret}' -d grant_type=client_credentials {base}/oauth2/token"
        ),
        secret,
        signing_secret: signing,
    })
}

async fn rotate_client(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("client").to_owned(), context.app.clock.now(), visitor.person.clone());
    let keyring = context.app.gate.keyring();
    let rotate = move |tx: &mut Tx<'_>| screen::rotate(tx, now, &person, &id, keyring.master());
    let (client, secrets) = context.app.db.write(rotate).await?;
    created_client(&context, &visitor, &client, secrets)
}

async fn revoke_client(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (id, now, person) =
        (context.param("client").to_owned(), context.app.clock.now(), visitor.person.clone());
    let to = links::client(&id);
    context.app.db.write(move |tx| screen::revoke(tx, now, &person, &id)).await?;
    Ok(on_to(&to))
}
