//! What people and students change on the pages of their own accounts.

use lyceum_access::session::{self, SessionFacts};
use lyceum_access::{Person, account};
use lyceum_console::profile::{AccountForms, SessionLine};
use lyceum_console::t;
use lyceum_core::{Problem, Result};

use crate::auth::{people, sign_in};
use crate::context::Context;
use crate::language::Calendar;
use crate::render;
use crate::routes::sign_in::Form;

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

/// The sessions of an account, with the one of the request marked.
pub(crate) async fn sessions(context: &Context, id: &str) -> Result<Vec<SessionFacts>> {
    let (now, id) = (context.app.clock.now(), id.to_owned());
    let current = secret(context).map(str::to_owned);
    context.app.db.read(move |tx| session::list(tx, now, &id, current.as_deref())).await
}

/// The secret of the session with which the request came.
pub(crate) fn secret(context: &Context) -> Option<&str> {
    crate::auth::bearer(&context.headers)
        .or_else(|| people::session(&context.app, &context.headers))
}

/// Changes the password as a form asks. Errors: as of [`sign_in::change_password`].
pub(crate) async fn set_password(context: &Context, person: &Person, form: &Form) -> Result<()> {
    let passwords = (form.field("current").to_owned(), form.field("new").to_owned());
    let session = secret(context).unwrap_or_default();
    sign_in::change_password(context, person, session, passwords).await
}

/// Ends a session of the person's own. Errors: `NotFound`.
pub(crate) async fn end_session(context: &Context, person: &Person, session: &str) -> Result<()> {
    let (now, person, session) = (context.app.clock.now(), person.clone(), session.to_owned());
    let end = move |tx: &mut lyceum_store::Tx<'_>| {
        account::end_sessions(tx, now, person.account_name(), &person.id, Some(&session))
    };
    context.app.db.write(end).await
}
