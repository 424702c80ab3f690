//! Sign-in with a password.

use std::net::IpAddr;
use std::sync::Arc;

use lyceum_access::guess::{self, GuessedAccount};
use lyceum_access::session::{self, SessionKind};
use lyceum_access::{Person, password, person};
use lyceum_core::{Problem, ProblemKind, Result};

use super::people;
use crate::context::Context;
use crate::limits;
use crate::state::App;

/// Checks an e-mail address and a password. Returns the person and the secret of a new session, which replaces the
/// browser's previous one. Errors: the pair is wrong, without saying which part; too many tries.
pub(crate) async fn sign_in(
    context: &Context,
    email: &str,
    password: String,
) -> Result<(Person, String)> {
    let (app, now) = (&context.app, context.app.clock.now());
    // A caller who is refused here has not used up a try.
    if app.hashing_queue.available_permits() == 0 {
        return Err(busy());
    }
    let subjects = subjects(email, context.address);
    let counted = subjects.clone();
    app.db.write(move |tx| guess::count(tx, now, &counted)).await?;
    let wanted = email.to_owned();
    let found = app.db.read(move |tx| {
        let Some(person) = person::by_email(tx, &wanted)? else { return Ok(None) };
        let password = person::password(tx, &person.id)?;
        Ok(Some((person, password)))
    });
    let (person, stored) = match found.await? {
        Some((person, stored)) => (Some(person), stored),
        None => (None, None),
    };
    let known = stored.clone();
    let is_right = hashing(app, move || password::is_right(&password, known.as_deref())).await?;
    let wrong = || Problem::new(ProblemKind::Unauthorized, "e-mail address or password is wrong");
    let (Some(person), Some(stored), true) = (person, stored, is_right) else {
        return Err(wrong());
    };
    let owner = person.clone();
    let taken_back = app.db.write(move |tx| {
        guess::take_back(tx, &subjects)?;
        person::still_has(tx, &owner, &stored)
    });
    if !taken_back.await? {
        return Err(wrong());
    }
    let session = begin(context, &person).await?;
    Ok((person, session))
}

/// Creates a session that replaces the browser's previous one, and returns its secret.
pub(crate) async fn begin(context: &Context, person: &Person) -> Result<String> {
    let (app, person) = (&context.app, person.clone());
    let (now, environment) = (app.clock.now(), app.config.server.env);
    let former = people::session(app, &context.headers).map(str::to_owned);
    let begun = app.db.write(move |tx| {
        session::start(tx, now, environment, &person, SessionKind::Page, former.as_deref())
    });
    begun.await
}

/// Hashes or checks a password on another thread. Only few run at the same time, because each needs much memory.
///
/// Errors: `Unavailable` if too many wait.
pub(crate) async fn hashing<T: Send + 'static>(
    app: &App,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let _waiting = app.hashing_queue.try_acquire().map_err(|_| busy())?;
    let place = Arc::clone(&app.hashing).acquire_owned().await.map_err(Problem::internal)?;
    let hashed = tokio::task::spawn_blocking(move || {
        // The permit moves into the work, which continues even if its caller disconnects.
        let _place = place;
        work()
    });
    hashed.await.map_err(Problem::internal)
}

fn busy() -> Problem {
    let message = "too many people sign in at this moment; try again in a few seconds";
    let mut problem = Problem::new(ProblemKind::Unavailable, message);
    problem.retry_after_s = Some(2);
    problem
}

fn subjects(email: &str, address: IpAddr) -> Vec<GuessedAccount> {
    let account = format!("account {}", email.trim().to_lowercase());
    vec![
        guess::from_place(&account, address, limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT),
        (account, limits::GUESSES_ACCOUNT_COUNT),
        guess::from_place("sign-ins", address, limits::GUESSES_ADDRESS_COUNT),
    ]
}
