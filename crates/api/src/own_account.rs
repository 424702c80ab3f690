//! The sessions of the own account.

use lyceum_access::session::{self, SessionFacts};
use lyceum_access::{Person, account};
use lyceum_core::Result;
use lyceum_http::auth::{self, people};
use lyceum_store::Tx;

use crate::Context;

/// The sessions of an account, with the one of the request marked.
pub async fn sessions(context: &Context, id: &str) -> Result<Vec<SessionFacts>> {
    let (now, id) = (context.app.clock.now(), id.to_owned());
    let current = secret(context).map(str::to_owned);
    context.app.db.read(move |tx| session::list(tx, now, &id, current.as_deref())).await
}

/// The secret of the session with which the request came.
pub fn secret(context: &Context) -> Option<&str> {
    auth::bearer(&context.headers).or_else(|| people::session(&context.app, &context.headers))
}

/// Ends a session of the person's own. Errors: `NotFound`.
pub async fn end_session(context: &Context, person: &Person, session: &str) -> Result<()> {
    let (now, person, session) = (context.app.clock.now(), person.clone(), session.to_owned());
    let end = move |tx: &mut Tx<'_>| {
        account::end_sessions(tx, now, person.account_name(), &person.id, Some(&session))
    };
    context.app.db.write(end).await
}
