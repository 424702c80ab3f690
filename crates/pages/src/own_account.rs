//! The pages on which people and students change their own accounts.

pub(crate) mod view;

use lyceum_access::Person;
use lyceum_access::session::SessionFacts;
use lyceum_api::Context;
use lyceum_api::own_account::{secret, sessions};
use lyceum_console::t;
use lyceum_core::{Problem, Result};
use lyceum_http::auth::sign_in;
use lyceum_http::render;

use crate::calendar::Calendar;
use crate::own_account::view::{AccountForms, SessionLine};
use crate::sign_in::Form;

/// The outcome of the previous form, which the page shows.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) problem: Option<Problem>,
    done: Option<String>,
}

impl Outcome {
    /// The outcome of a change. Errors: one that the person did not cause.
    pub(crate) fn of(changed: Result<()>, done: String) -> Result<Self> {
        match changed {
            Ok(()) => Ok(Self { problem: None, done: Some(done) }),
            Err(problem) if problem.cause.is_some() => Err(problem),
            Err(problem) => Ok(Self { problem: Some(problem), done: None }),
        }
    }
}

/// The forms of the page at `path`.
pub(crate) async fn forms(
    context: &Context,
    person: &Person,
    path: &'static str,
    token: String,
    outcome: Outcome,
) -> Result<AccountForms> {
    let sessions = sessions(context, &person.id).await?;
    let calendar = Calendar::of(&context.app, &context.headers);
    let line = |facts: SessionFacts| SessionLine {
        place: match (&facts.class, facts.is_browser) {
            (Some(_), _) => t!("Class"),
            (None, true) => t!("Browser"),
            (None, false) => t!("Command line"),
        },
        began: calendar.moment(facts.created),
        used: calendar.moment(facts.used),
        is_current: facts.is_current,
        id: facts.id,
    };
    Ok(AccountForms {
        path,
        token,
        has_password: person.has_password,
        sessions: sessions.into_iter().map(line).collect(),
        problem: outcome.problem.as_ref().map(render::sentence),
        done: outcome.done,
    })
}

/// Changes the password as a form asks. Errors: as of [`sign_in::change_password`].
pub(crate) async fn set_password(context: &Context, person: &Person, form: &Form) -> Result<()> {
    let passwords = (form.field("current").to_owned(), form.field("new").to_owned());
    let session = secret(context).unwrap_or_default();
    sign_in::change_password(context, person, session, passwords).await
}
