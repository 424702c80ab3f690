//! Creates accounts, those of students too: their names are in the roster.

use lyceum_access::student::{self, NewStudent};
use lyceum_access::{NewPerson, Person, Role, person};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::repository;
use lyceum_store::Tx;

/// An account to create. `roster_user` is required for a student, and refused for other roles.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// The e-mail address; a student may have none.
    pub email: Option<String>,
    /// The name; by default the e-mail address, or the student's name in the roster.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// The sourcedId of the student's user in the roster.
    pub roster_user: Option<String>,
    /// The hash of the password.
    pub password: Option<String>,
}

impl NewAccount {
    /// Creates the account. Errors: `Invalid`; `NotFound` if the roster has no such student; `Conflict` if the address
    /// or the user has an account.
    pub fn create(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Person> {
        let (email, password) = (self.email.clone(), self.password.clone());
        let user = match (&self.roster_user, self.role) {
            (Some(user), Role::Student) => user,
            (Some(_), _) => {
                return Err(Problem::invalid(
                    "rosterUser",
                    "must be left out unless the role is 'student'",
                ));
            }
            (None, Role::Student) => {
                return Err(Problem::invalid("rosterUser", "is required for a student"));
            }
            (None, role) => {
                let email = email.unwrap_or_default();
                let name = self.name.clone().unwrap_or_else(|| email.clone());
                return person::create(tx, now, &NewPerson { email, name, role, password });
            }
        };
        let known = repository::student(tx, user, &Reach::Everything)?;
        let name = self.name.clone().unwrap_or_else(|| known.shown_name().to_owned());
        student::create(tx, now, &NewStudent { roster_user: user.clone(), name, email, password })
    }
}
