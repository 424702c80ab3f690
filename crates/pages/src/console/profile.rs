//! The own account of a person: name, password and sessions.

use lyceum_access::account::{self, AccountChange};
use lyceum_api::accounts::parsed_language;
use lyceum_api::{Context, Route};
use lyceum_console::{screens, t};
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_store::Tx;

use super::{Form, Visitor, action, on_to, page, show_page};
use crate::own_account::view::ProfilePage;
use crate::own_account::{self, Outcome};

const PATH: &str = "/console/profile";

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::PROFILE;
    vec![
        page("/profile", screen, |context, visitor| async move {
            show(&context, &visitor, Outcome::default()).await
        })
        .of_no_organization(),
        action("/profile", screen, change).of_no_organization(),
        action("/profile/password", screen, set_password).of_no_organization(),
        action("/profile/sessions", screen, end_session).of_no_organization(),
    ]
}

async fn show(context: &Context, visitor: &Visitor, outcome: Outcome) -> Result<Answer> {
    let status = outcome.problem.as_ref().map(|problem| render::status(problem.kind));
    let token = visitor.token().to_owned();
    let forms = own_account::forms(context, &visitor.person, PATH, token, outcome).await?;
    let page = show_page(&ProfilePage {
        frame: visitor.frame(t!("Your account")),
        language: visitor.person.language,
        forms,
    })?;
    Ok(match status {
        Some(status) => page.status(status),
        None => page,
    })
}

async fn change(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (now, person) = (context.app.clock.now(), visitor.person);
    let change = AccountChange {
        name: Some(form.field("name").to_owned()),
        role: None,
        language: Some(parsed_language(form.field("language"))?),
    };
    let write =
        move |tx: &mut Tx<'_>| account::change(tx, now, person.account_name(), &person.id, &change);
    context.app.db.write(write).await?;
    Ok(on_to(PATH))
}

async fn set_password(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let changed = own_account::set_password(&context, &visitor.person, &form).await;
    show(&context, &visitor, Outcome::of(changed, t!("The password is changed."))?).await
}

async fn end_session(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    lyceum_api::own_account::end_session(&context, &visitor.person, form.field("session")).await?;
    Ok(on_to(PATH))
}
