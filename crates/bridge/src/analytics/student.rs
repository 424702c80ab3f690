//! Finds the student of a report, and the actors in the log that are this student.

use std::collections::HashMap;

use lyceum_core::{Problem, Result};
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

/// Finds the student's record. Errors: `NotFound`; `Invalid` if the e-mail address belongs to another user.
pub(super) fn find(tx: &mut Tx<'_>, who: StudentName<'_>) -> Result<Object> {
    match who {
        StudentName::Id(id) => fields::in_use(tx, &USER, id),
        StudentName::Both { id, email } => {
            let user = fields::in_use(tx, &USER, id)?;
            let own = fields::text(&user, "email");
            // An address contradicts a student without an address, even if no user has it.
            if own.eq_ignore_ascii_case(email)
                || own.is_empty() && repository::first_user_with_email(tx, email)?.is_none()
            {
                return Ok(user);
            }
            let message = format!(
                "must be the address of the student '{id}': got {email}; send one of the two"
            );
            Err(Problem::invalid("email", message))
        }
        StudentName::Email(email) => {
            let first = repository::first_user_with_email(tx, email)?.ok_or_else(|| {
                let description =
                    format!("Unknown Object: no user has the e-mail address '{email}'");
                Problem::new(lyceum_core::ProblemKind::NotFound, description)
            })?;
            fields::of(&first)
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
    let places: HashMap<&str, usize> = ids.iter().copied().zip(0..).collect();
    let others: Vec<_> = called.iter().filter(|a| !places.contains_key(&*a.person)).collect();
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
            places.get(first.as_str())
        };
        let place = places.get(actor.person.as_str()).or_else(by_email)?;
        Some((actor.number, *place))
    };
    Ok(called.iter().filter_map(owner).collect())
}
