//! Students: accounts that belong to users of the roster, and the sessions that they sign in to.
//!
//! This crate does not know the roster: the caller of [`create`] has found the user there.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use crate::person::{self, Person, Role};
use crate::repository::people as repository;
use crate::secret;

/// How a student signed in, the one that opens less first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StudentSession {
    /// With the code of a class, on a device that students share. It opens lessons only.
    Class,
    /// With what only the student has: a password, a link or a sign-in service.
    Own,
}

/// A student who is signed in in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Student {
    /// The account.
    pub person: Person,
    /// The sourcedId of the user in the roster.
    pub user: String,
    /// How the student signed in.
    pub session: StudentSession,
}

/// The account of a student to create.
#[derive(Clone, Debug)]
pub struct NewStudent {
    /// The sourcedId of the user in the roster.
    pub roster_user: String,
    /// The name of the student.
    pub name: String,
    /// The e-mail address, if the student has one to sign in with.
    pub email: Option<String>,
    /// The hash of the password; `None` if the student signs in by a link, a sign-in service or in class.
    pub password: Option<String>,
}

/// The active account of a user of the roster.
pub fn of_user(tx: &mut Tx<'_>, user: &str) -> Result<Option<Person>> {
    let accounts = person::of_roster_user(tx, user)?;
    Ok(accounts.into_iter().find(|account| account.disabled.is_none()))
}

/// The active accounts of these users of the roster, by the sourcedId of the user. One statement.
pub fn of_users(tx: &mut Tx<'_>, users: &[&str]) -> Result<HashMap<String, Person>> {
    let accounts = repository::of_roster_users(tx, users)?.into_iter();
    Ok(accounts.filter_map(|account| Some((account.roster_user.clone()?, account))).collect())
}

/// Creates the account of a student. Errors: a wrong address or name; an address that has an account; a user of the
/// roster who has an active one.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, new: &NewStudent) -> Result<Person> {
    let email = new.email.as_deref().map(person::checked_address).transpose()?;
    let student = Person {
        id: secret::random_text::<16>(person::ID_PREFIX),
        email: email.unwrap_or_default(),
        name: person::checked_name(&new.name)?,
        role: Role::Student,
        has_password: new.password.is_some(),
        created: now,
        disabled: None,
        reach: Reach::Everything,
        roster_user: Some(new.roster_user.clone()),
        language: None,
    };
    if repository::insert(tx, &student, new.password.as_deref())? {
        return Ok(student);
    }
    Err(match of_user(tx, &new.roster_user)? {
        Some(known) => {
            let (user, account) = (&new.roster_user, known.account_name());
            let message =
                message!("the user '{user}' of the roster has the account '{account}' already");
            Problem::new(ProblemKind::Conflict, message)
        }
        None => person::email_in_use(&student.email),
    })
}
