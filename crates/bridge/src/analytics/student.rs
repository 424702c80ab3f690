//! Who is asked about, and which actors of the log they are.

use lyceum_core::{Problem, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_store::Tx;

/// How a student is named.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// By sourcedId.
    Id(&'a str),
    /// By e-mail, letters A-Z alike in both cases; of several users with one, the first created.
    Email(&'a str),
}

/// The student's record. Errors: `NotFound`.
pub(super) fn find(tx: &mut Tx<'_>, who: Who<'_>) -> Result<Object> {
    match who {
        Who::Id(id) => fields::in_use(tx, &USER, id),
        Who::Email(email) => {
            let first = repository::first_user_with_email(tx, email)?.ok_or_else(|| {
                let says = format!("Unknown Object: no user has the e-mail address '{email}'");
                Problem::new(lyceum_core::ProblemKind::NotFound, says)
            })?;
            fields::of(&first)
        }
    }
}

/// The numbers of the actors that are the student: those that the student's sourcedId names, and
/// those with the student's e-mail address whose id names nobody else who is known. An address that
/// several users share stands for the first of them that was created.
pub(crate) fn actors(tx: &mut Tx<'_>, user: &Object) -> Result<Vec<i64>> {
    let id = fields::text(user, "sourcedId");
    let email = fields::text(user, "email");
    let mut named = lyceum_events::actors_called(tx, id, email)?;
    if named.iter().any(|actor| actor.person != id) {
        let first = repository::first_user_with_email(tx, email)?;
        let first = first.map(|first| fields::of(&first)).transpose()?;
        let is_theirs = first.is_some_and(|first| fields::text(&first, "sourcedId") == id);
        let persons: Vec<&str> = named.iter().map(|actor| actor.person.as_str()).collect();
        let known = repository::present(tx, &USER, &persons)?;
        named.retain(|actor| actor.person == id || is_theirs && !known.contains_key(&actor.person));
    }
    Ok(named.into_iter().map(|actor| actor.number).collect())
}
