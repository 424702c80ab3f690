//! Finds the student of a report, and the actors in the log that are this student.

use std::collections::HashMap;

use lyceum_core::{Problem, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_store::Tx;

/// How a caller names a student.
#[derive(Clone, Copy, Debug)]
pub enum StudentName<'a> {
    /// By sourcedId.
    Id(&'a str),
    /// By e-mail address, without regard to the case of the letters A to Z. If several users share the address, it is
    /// the user who was created first.
    Email(&'a str),
    /// By both, which must belong to the same user.
    Both {
        /// The sourcedId.
        id: &'a str,
        /// The e-mail address.
        email: &'a str,
    },
}

/// Finds the student's record within the reach. Errors: `NotFound`; `Invalid` if the e-mail address belongs to another
/// user.
pub(super) fn find(tx: &mut Tx<'_>, student: StudentName<'_>, reach: &Reach) -> Result<Object> {
    match student {
        StudentName::Id(id) => fields::in_use_within(tx, &USER, id, reach),
        StudentName::Both { id, email } => {
            let user = fields::in_use_within(tx, &USER, id, reach)?;
            let own = fields::text(&user, "email");
            // An address contradicts a student without an address, even if no user has it.
            if own.eq_ignore_ascii_case(email)
                || own.is_empty() && repository::first_user_with_email(tx, email)?.is_none()
            {
                return Ok(user);
            }
            let message = message!(
                "must be the address of the student '{id}': got {email}; send one of the two"
            );
            Err(Problem::invalid("email", message))
        }
        StudentName::Email(email) => {
            let unknown = || {
                let description =
                    message!("Unknown Object: no user has the e-mail address '{email}'");
                Problem::new(lyceum_core::ProblemKind::NotFound, description)
            };
            let first = repository::first_user_with_email(tx, email)?.ok_or_else(unknown)?;
            let user = fields::of(&first)?;
            let id = fields::text(&user, "sourcedId");
            if reach.is_limited() && repository::find_within(tx, &USER, id, reach)?.is_none() {
                return Err(unknown());
            }
            Ok(user)
        }
    }
}

/// The numbers of the actors that are the student, by the rules of [`owners`].
pub(crate) fn actors(tx: &mut Tx<'_>, user: &Object) -> Result<Vec<i64>> {
    let user = (fields::text(user, "sourcedId"), fields::text(user, "email"));
    Ok(owners(tx, &[user])?.into_iter().map(|(actor, _)| actor).collect())
}

/// The actors that are the users, given by sourcedId and e-mail address: each actor's number with the index of its
/// user. An actor belongs to the user whose sourcedId it has. If its id is not in the roster, it belongs to the user
/// with its e-mail address; if several users share the address, to the one who was created first. It needs a fixed
/// number of statements for any number of users.
pub(crate) fn owners(tx: &mut Tx<'_>, users: &[(&str, &str)]) -> Result<Vec<(i64, usize)>> {
    let (ids, emails): (Vec<&str>, Vec<&str>) = users.iter().copied().unzip();
    let called = lyceum_events::actors_called(tx, &ids, &emails)?;
    let indexes: HashMap<&str, usize> = ids.iter().copied().zip(0..).collect();
    let others: Vec<_> = called.iter().filter(|a| !indexes.contains_key(&*a.person)).collect();
    let (mut known, mut firsts) = (HashMap::new(), HashMap::new());
    if !others.is_empty() {
        let persons: Vec<&str> = others.iter().map(|actor| actor.person.as_str()).collect();
        known = repository::present(tx, &USER, &persons)?;
        let emails: Vec<&str> = others.iter().map(|actor| actor.email.as_str()).collect();
        firsts = repository::users_with_emails(tx, &emails)?;
    }
    let owner = |actor: &lyceum_events::Actor| {
        let by_email = || {
            let first = firsts.get(&actor.email).filter(|_| !known.contains_key(&actor.person))?;
            indexes.get(first.as_str())
        };
        let index = indexes.get(actor.person.as_str()).or_else(by_email)?;
        Some((actor.number, *index))
    };
    Ok(called.iter().filter_map(owner).collect())
}

/// The sourcedId of the user that each actor is, given by the id in its IRI and its e-mail address in lower case, by the
/// rules of [`owners`]. `None` for an actor that is not in the roster.
pub(crate) fn owner_ids(tx: &mut Tx<'_>, actors: &[(&str, &str)]) -> Result<Vec<Option<String>>> {
    let persons: Vec<&str> = actors.iter().map(|(person, _)| *person).collect();
    let known = repository::present(tx, &USER, &persons)?;
    let unknown = actors.iter().filter(|(person, _)| !known.contains_key(*person));
    let emails: Vec<&str> =
        unknown.map(|(_, email)| *email).filter(|email| !email.is_empty()).collect();
    let by_email = repository::users_with_emails(tx, &emails)?;
    let owner = |(person, email): &(&str, &str)| match known.contains_key(*person) {
        true => Some((*person).to_owned()),
        false => by_email.get(*email).cloned(),
    };
    Ok(actors.iter().map(owner).collect())
}
