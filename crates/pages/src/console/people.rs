//! People: the accounts, for administrators. What these pages do, the API does at `/api/people`.

pub(crate) mod view;

use lyceum_access::account::{self, AccountChange, AccountFilter};
use lyceum_access::{Person, Role, identity};
use lyceum_api::new_account::NewAccount;
use lyceum_api::{Context, Route, accounts};
use lyceum_console::{
    Cell, ExportFile, FactList, List, ListFilter, Row, limits, links, screens, t, words,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_roster::reach as roster_reach;
use lyceum_store::Tx;

use super::keys::{access_cell, chosen_organizations, organizations};
use super::visitor::query;
use super::{Form, Visitor, action, deadline, first_rows, on_to, page, show_page};
use crate::console::people::view::{
    AccountLimit, AccountPage, COLUMNS, NewAccountPage, PeoplePage,
};
use crate::own_account::view::AccountForms;
use crate::own_account::{self, Outcome};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::PEOPLE;
    vec![
        page("/accounts", screen, list),
        page("/accounts/new", screen, |_, visitor| async move {
            new_page(&visitor, <[String; 4]>::default(), None)
        }),
        action("/accounts/new", screen, create),
        page("/accounts/{id}", screen, |context, visitor| async move {
            let id = context.param("id").to_owned();
            account_page(&context, &visitor, &id, None).await
        }),
        action("/accounts/{id}/role", screen, set_role),
        action("/accounts/{id}/limit", screen, limit),
        action("/accounts/{id}/link", screen, link),
        action("/accounts/{id}/identity", screen, link_identity),
        action("/accounts/{id}/unlink", screen, unlink_identity),
        action("/accounts/{id}/sessions", screen, |context, visitor, _| async move {
            let end = |tx: &mut Tx<'_>, now, who: &str, id: &str| {
                account::end_sessions(tx, now, who, id, None)
            };
            change(&context, &visitor, end).await
        }),
        action("/accounts/{id}/disable", screen, |context, visitor, _| async move {
            change(&context, &visitor, account::disable).await
        }),
        action("/accounts/{id}/enable", screen, |context, visitor, _| async move {
            change(&context, &visitor, account::enable).await
        }),
    ]
}

async fn list(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let filter =
        AccountFilter { role: query.parameter("role").parse().ok(), text: query.filter.clone() };
    if let Some(export) = query.export {
        let add = move |tx: &mut Tx<'_>, file: &mut ExportFile, most: i64| {
            let accounts = account::page(tx, &filter, (most + 1, 0))?.accounts;
            let most = usize::try_from(most).unwrap_or_default();
            accounts.iter().take(most).try_for_each(|account| file.add(&row(account, &visitor)))?;
            Ok(accounts.len() > most)
        };
        return first_rows(&context, "people", (COLUMNS, export), add).await;
    }
    let most = i64::try_from(limits::CONSOLE_PAGE_ROWS_COUNT).map_err(Problem::internal)?;
    let skip = i64::try_from(query.skipped()).map_err(Problem::internal)?;
    let read = move |tx: &mut Tx<'_>| account::page(tx, &filter, (most, skip));
    let found = context.app.db.scan(deadline(), read).await?;
    let rows = found.accounts.iter().map(|account| row(account, &visitor)).collect();
    let total = usize::try_from(found.total).unwrap_or_default();
    let roles = Role::ALL.map(Role::name);
    let list =
        List::page("People", COLUMNS, query, rows, total).or_else("No account fits.").choice(
            ListFilter::of("role", "Role", roles.iter().map(|role| (*role, words::role(role)))),
        );
    show_page(&PeoplePage { frame: visitor.frame(t!("People")), list })
}

fn row(account: &Person, visitor: &Visitor) -> Row {
    vec![
        Cell::text(&account.name).to(links::account(&account.id)),
        Cell::text(&account.email),
        Cell::text(words::role(account.role.name())),
        access(account),
        visitor.time(account.created),
        state(account),
    ]
}

fn access(account: &Person) -> Cell {
    match &account.roster_user {
        Some(user) => Cell::text(t!("own lessons")).to(links::student(user)),
        None => access_cell(&account.reach),
    }
}

fn state(account: &Person) -> Cell {
    match account.disabled {
        Some(_) => Cell::text(t!("disabled")).toned("bad"),
        None => Cell::text(t!("active")).toned("good"),
    }
}

/// Shows the form with what was entered: e-mail address, name, role and user in the roster.
fn new_page(visitor: &Visitor, entered: [String; 4], problem: Option<&Problem>) -> Result<Answer> {
    let page = show_page(&NewAccountPage {
        frame: visitor.frame(t!("New account")),
        problem: problem.map(render::sentence),
        entered,
        roles: ["guide", "developer", "administrator", "student"].to_vec(),
    })?;
    Ok(match problem {
        Some(problem) => page.status(render::status(problem.kind)),
        None => page,
    })
}

async fn create(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let entered = ["email", "name", "role", "rosterUser"].map(|name| form.field(name).to_owned());
    let text_at = |at: usize| Some(entered[at].clone()).filter(|text| !text.trim().is_empty());
    let new = NewAccount {
        email: text_at(0),
        name: text_at(1),
        role: entered[2].parse().map_err(|rule| Problem::invalid("role", rule))?,
        roster_user: text_at(3),
        password: None,
    };
    let who = visitor.person.account_name();
    match accounts::create_with_link(&context, who, new).await {
        Ok((account, link)) => account_page(&context, &visitor, &account.id, Some(link)).await,
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => new_page(&visitor, entered, Some(&problem)),
    }
}

/// Shows an account, with the address of a link that was just created.
async fn account_page(
    context: &Context,
    visitor: &Visitor,
    id: &str,
    link: Option<String>,
) -> Result<Answer> {
    let id = id.to_owned();
    let read = move |tx: &mut Tx<'_>| {
        let account = account::find(tx, &id)?;
        let identities = identity::of_account(tx, &account.id)?;
        Ok((account, identities))
    };
    let (account, identities) = context.app.db.read(read).await?;
    let token = visitor.token().to_owned();
    let AccountForms { sessions, .. } =
        own_account::forms(context, &account, "", token, Outcome::default()).await?;
    let password = if account.has_password { t!("set") } else { t!("none") };
    let roles = match account.role {
        Role::Student => Vec::new(),
        own => Role::STAFF.map(|role| (role.name(), role == own)).to_vec(),
    };
    let limit = matches!(account.role, Role::Guide | Role::Developer).then(|| AccountLimit {
        organizations: organizations(&account.reach),
        teacher: match &account.reach {
            Reach::ClassesOf(teacher) => teacher.clone(),
            Reach::Everything | Reach::Organizations(_) => String::new(),
        },
    });
    show_page(&AccountPage {
        frame: visitor.frame(&account.name),
        limit,
        path: links::account(&account.id),
        facts: FactList::new(vec![
            ("E-mail address", Cell::text(&account.email)),
            ("Role", Cell::text(words::role(account.role.name()))),
            ("Access", access(&account)),
            ("State", state(&account)),
            ("Password", Cell::text(password)),
            ("Created", visitor.time(account.created)),
        ]),
        link,
        is_disabled: account.disabled.is_some(),
        roles,
        identities: identities.into_iter().map(|one| (one.issuer, one.subject)).collect(),
        issuer: context.app.config.oidc.issuer.clone().unwrap_or_default(),
        sessions,
        data: links::person(&account.id),
    })
}

async fn set_role(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let role = form.field("role").parse().map_err(|rule| Problem::invalid("role", rule))?;
    let to = AccountChange { role: Some(role), ..AccountChange::default() };
    let work =
        move |tx: &mut Tx<'_>, now, who: &str, id: &str| account::change(tx, now, who, id, &to);
    change(&context, &visitor, work).await
}

async fn limit(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let teacher = form.field("teacher").trim().to_owned();
    let reach = accounts::account_reach(chosen_organizations(&form), teacher)?;
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        roster_reach::check(tx, &reach)?;
        account::limit(tx, now, who, id, &reach)
    };
    change(&context, &visitor, work).await
}

async fn link(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let (account, link) = changed(&context, &visitor, account::new_link).await?;
    let link = accounts::password_address(&context, &link);
    account_page(&context, &visitor, &account.id, Some(link)).await
}

async fn link_identity(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let subject = form.field("subject").trim().to_owned();
    let issuer = context.app.config.oidc.issuer.clone().unwrap_or_default();
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        let account = account::find(tx, id)?;
        identity::link(tx, now, who, (&issuer, &subject), &account)
    };
    change(&context, &visitor, work).await
}

async fn unlink_identity(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let issuer = form.field("issuer").to_owned();
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        let account = account::find(tx, id)?;
        identity::unlink(tx, now, who, &issuer, &account)
    };
    change(&context, &visitor, work).await
}

/// Changes the account of the path and goes back to its page.
async fn change<T: Send + 'static>(
    context: &Context,
    visitor: &Visitor,
    work: impl Fn(&mut Tx<'_>, Timestamp, &str, &str) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    changed(context, visitor, work).await?;
    Ok(on_to(&links::account(context.param("id"))))
}

async fn changed<T: Send + 'static>(
    context: &Context,
    visitor: &Visitor,
    work: impl Fn(&mut Tx<'_>, Timestamp, &str, &str) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (now, id) = (context.app.clock.now(), context.param("id").to_owned());
    let who = visitor.person.account_name().to_owned();
    context.app.db.write(move |tx| work(tx, now, &who, &id)).await
}
