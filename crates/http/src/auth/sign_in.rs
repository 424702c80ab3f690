//! Sign-in with a password.

use std::sync::Arc;

use lyceum_access::guess::{self, GuessedAccount};
use lyceum_access::session::{self, SessionKind};
use lyceum_access::{CallerPlace, Person, Role, account, password, person, student};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::repository;
use lyceum_store::Tx;

use super::people;
use crate::context::Context;
use crate::{Application, Http, limits};

/// Checks a sign-in name and a password. The name is an e-mail address, or the username of a student in the roster. Returns the person and the secret of a new session, which replaces the
/// browser's previous one. Errors: the pair is wrong, without saying which part; too many tries.
pub async fn sign_in(
    context: &Context<impl Application>,
    email: &str,
    password: String,
) -> Result<(Person, String)> {
    let person = owner(context, email, password).await?;
    let session = begin_session(context, &person).await?;
    Ok((person, session))
}

/// The owner of a sign-in name and a password. Errors: as of [`sign_in`].
async fn owner(
    context: &Context<impl Application>,
    name: &str,
    password: String,
) -> Result<Person> {
    let (app, now) = (&context.app, context.app.clock.now());
    // A caller who is refused here has not used up a try.
    if app.hashing_queue.available_permits() == 0 {
        return Err(busy());
    }
    let subjects = subjects(name, &context.place);
    let counted = subjects.clone();
    app.db.write(move |tx| guess::count(tx, now, &counted)).await?;
    let wanted = name.to_owned();
    let found = app.db.read(move |tx| {
        let Some(person) = person_with_name(tx, &wanted)? else { return Ok(None) };
        let password = person::password(tx, &person.id)?;
        Ok(Some((person, password)))
    });
    let (person, stored) = match found.await? {
        Some((person, stored)) => (Some(person), stored),
        None => (None, None),
    };
    let known = stored.clone();
    let is_right = hashing(app, move || password::is_right(&password, known.as_deref())).await?;
    let wrong = || Problem::new(ProblemKind::Unauthorized, "name or password is wrong");
    let (Some(person), Some(stored), true) = (person, stored, is_right) else {
        return Err(wrong());
    };
    let owner = person.clone();
    let taken_back = app.db.write(move |tx| {
        guess::take_back(tx, &subjects)?;
        person::still_has(tx, &owner, &stored)
    });
    if taken_back.await? { Ok(person) } else { Err(wrong()) }
}

/// The account of a sign-in name. The e-mail address of somebody who is not a student comes before usernames, so that no name
/// in the roster locks an administrator out. Of several students with the name, the oldest active account has it, so that
/// another user of the roster locks no student out.
fn person_with_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<Person>> {
    let by_email = person::by_email(tx, name)?;
    if by_email.as_ref().is_some_and(|person| person.role != Role::Student) {
        return Ok(by_email);
    }
    let users = repository::users_with_username(tx, name.trim())?;
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    let by_username = student::of_users(tx, &users)?.into_values();
    let found = by_username.chain(by_email.filter(|person| person.disabled.is_none()));
    Ok(found.min_by_key(|person| {
        let user = person.roster_user.as_deref();
        (person.created, users.iter().position(|one| Some(*one) == user))
    }))
}

/// Gives the signed-in owner of the account another password, if the current one is right. All other sessions end.
/// Errors: as of [`sign_in`]; `Invalid` for a password that is too short or too long; `Conflict` without a password.
pub async fn change_password(
    context: &Context<impl Application>,
    person: &Person,
    session: &str,
    (current, new): (String, String),
) -> Result<()> {
    password::check(&new)?;
    if !person.has_password {
        let message =
            "the account has no password yet; an administrator can create a link that sets one";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let (app, now) = (&context.app, context.app.clock.now());
    // A caller who is refused here has not used up a try.
    if app.hashing_queue.available_permits() == 0 {
        return Err(busy());
    }
    let subjects = subjects(person.account_name(), &context.place);
    let (counted, id) = (subjects.clone(), person.id.clone());
    app.db.write(move |tx| guess::count(tx, now, &counted)).await?;
    let stored = app.db.read(move |tx| person::password(tx, &id)).await?;
    let known = stored.clone();
    let hash = hashing(app, move || {
        password::is_right(&current, known.as_deref()).then(|| password::hash(&new))
    });
    let wrong = || Problem::invalid("current", "is not the current password");
    let (Some(hash), Some(stored)) = (hash.await?, stored) else { return Err(wrong()) };
    let (person, session) = (person.clone(), session.to_owned());
    let write = move |tx: &mut Tx<'_>| {
        guess::take_back(tx, &subjects)?;
        // A reset link may have set another password since.
        if !person::still_has(tx, &person, &stored)? {
            return Err(wrong());
        }
        account::set_own_password(tx, now, &person, &hash, &session)
    };
    app.db.write(write).await
}

/// Creates a session that replaces the browser's previous one, and returns its secret.
pub async fn begin_session(context: &Context<impl Application>, person: &Person) -> Result<String> {
    let (app, person) = (&context.app, person.clone());
    let (now, environment) = (app.clock.now(), app.config.server.env);
    let former = people::session(app, &context.headers).map(str::to_owned);
    let started = app.db.write(move |tx| {
        session::start(tx, now, environment, &person, SessionKind::Page, former.as_deref())
    });
    started.await
}

/// Hashes or checks a password on another thread. Only few run at the same time, because each needs much memory.
///
/// Errors: `Unavailable` if too many wait.
pub async fn hashing<T: Send + 'static>(
    app: &Http,
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

fn subjects(email: &str, place: &CallerPlace) -> Vec<GuessedAccount> {
    let account = format!("account {}", email.trim().to_lowercase());
    vec![
        guess::from_place(&account, place, limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT),
        (account, limits::GUESSES_ACCOUNT_COUNT),
        guess::from_place("sign-ins", place, limits::GUESSES_ADDRESS_COUNT),
    ]
}
