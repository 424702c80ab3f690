//! The account of a student: password, sign-in service and sessions.

use lyceum_access::{StudentSession, identity};
use lyceum_api::{Context, Route};
use lyceum_console::t;
use lyceum_core::Result;
use lyceum_http::answer::Answer;
use lyceum_http::render::{self, as_page, on_to};
use lyceum_roster::kinds::USER;
use lyceum_roster::record::members;
use lyceum_roster::repository;
use lyceum_store::Tx;

use super::{form, frame, page};
use crate::own_account::view::StudentAccountPage;
use crate::own_account::{self, Outcome};
use crate::sign_in::Form;

const PATH: &str = "/learn/account";

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/account", StudentSession::Own, |context| async move {
            show(&context, Outcome::default()).await
        }),
        form("/account/password", StudentSession::Own, set_password),
        form("/account/sessions", StudentSession::Own, end_session),
    ]
}

async fn show(context: &Context, outcome: Outcome) -> Result<Answer> {
    let student = context.signed_in_student()?;
    let (user, id) = (student.user.clone(), student.person.id.clone());
    let issuer = context.app.config.oidc.issuer.clone();
    let read = move |tx: &mut Tx<'_>| {
        let identities = identity::of_account(tx, &id)?;
        let is_linked = identities.iter().any(|one| Some(&one.issuer) == issuer.as_ref());
        Ok((username(tx, &user)?, is_linked))
    };
    let (username, is_linked) = context.app.db.read(read).await?;
    let email = Some(student.person.email.clone()).filter(|email| !email.is_empty());
    let oidc = &context.app.config.oidc;
    let frame = frame(context, t!("Your account"))?;
    let status = outcome.problem.as_ref().map(|problem| render::status(problem.kind));
    let view = StudentAccountPage {
        sign_in_names: email.into_iter().chain(username).collect(),
        provider: oidc.issuer.is_some().then(|| (oidc.name.clone(), is_linked)),
        forms: own_account::forms(context, &student.person, PATH, frame.token.clone(), outcome)
            .await?,
        frame,
    };
    let page = as_page(lyceum_console::html(&view)?);
    Ok(match status {
        Some(status) => page.status(status),
        None => page,
    })
}

/// The username of a user in the roster, if there is one.
fn username(tx: &mut Tx<'_>, user: &str) -> Result<Option<String>> {
    let Some(record) = repository::find(tx, &USER, user)? else { return Ok(None) };
    let members = members(&record.body, None)?;
    let username = members.get("username").and_then(|name| name.as_str());
    Ok(username.filter(|name| !name.is_empty()).map(str::to_owned))
}

async fn set_password(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let person = context.signed_in_student()?.person.clone();
    let changed = own_account::set_password(&context, &person, &form).await;
    show(&context, Outcome::of(changed, t!("The password is changed."))?).await
}

async fn end_session(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let person = context.signed_in_student()?.person.clone();
    lyceum_api::own_account::end_session(&context, &person, form.field("session")).await?;
    Ok(on_to(PATH))
}
