//! People: accounts with an e-mail address, a role and a password.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use crate::limits;
pub use crate::repository::people::{
    Person, Role, find, has_sign_in, list, of_roster_user, password,
};
use crate::repository::{api_keys, device, links, people as repository, sessions};
use crate::secret;

/// The prefix of every account's id.
pub(crate) const ID_PREFIX: &str = "lp_";
/// The prefix of the secret of a link that signs its owner in. Links that set a password have none.
const ENTRY_PREFIX: &str = "le_";

/// An account to create.
#[derive(Clone, Debug)]
pub struct NewPerson {
    /// The email address of its owner.
    pub email: String,
    /// The name of its owner.
    pub name: String,
    /// The role of its owner.
    pub role: Role,
    /// The hash of its password; `None` if its owner sets one by a link.
    pub password: Option<String>,
}

/// Creates an account. Errors: a wrong address or name; the role of students, whom [`crate::student::create`] gives
/// access; an address that has an account.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, new: &NewPerson) -> Result<Person> {
    if new.role == Role::Student {
        let rule = "must be 'administrator', 'guide' or 'developer'; a student's account needs a user of the roster";
        return Err(Problem::invalid("role", rule));
    }
    let person = Person {
        id: secret::random_text::<16>(ID_PREFIX),
        email: checked_address(&new.email)?,
        name: checked_name(&new.name)?,
        role: new.role,
        has_password: new.password.is_some(),
        created: now,
        disabled: None,
        reach: Reach::Everything,
        roster_user: None,
        language: None,
    };
    if !repository::insert(tx, &person, new.password.as_deref())? {
        return Err(email_in_use(&person.email));
    }
    Ok(person)
}

/// The address as it is stored. Errors: `Invalid`.
pub(crate) fn checked_address(email: &str) -> Result<String> {
    let rule = "must be an e-mail address such as ada@example.org";
    address(email).ok_or_else(|| Problem::invalid("email", rule))
}

/// The name as it is stored. Errors: `Invalid`.
pub(crate) fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.len() > limits::PERSON_NAME_MAX_BYTES {
        let rule = message!("must have 1 to {n} bytes", n = limits::PERSON_NAME_MAX_BYTES);
        return Err(Problem::invalid("name", rule));
    }
    Ok(name.to_owned())
}

/// The problem with an address that has an account.
pub(crate) fn email_in_use(email: &str) -> Problem {
    let message = message!(
        "there is already an account for '{email}'; `lyceum admin user link` creates a link that sets its password"
    );
    Problem::new(ProblemKind::Conflict, message)
}

/// The account of an address, however it is spelled.
pub fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<Person>> {
    match address(email) {
        Some(email) => repository::by_email(tx, &email),
        None => Ok(None),
    }
}

/// The account with this e-mail address or id. Errors: `NotFound`.
pub fn require(tx: &mut Tx<'_>, account: &str) -> Result<Person> {
    let found = match account.starts_with(ID_PREFIX) {
        true => find(tx, account)?,
        false => by_email(tx, account)?,
    };
    found.ok_or_else(|| Problem::new(ProblemKind::NotFound, message!("'{account}' has no account")))
}

/// Closes the account for sign-ins from now on, ends its sessions and links, and revokes the keys that its owner
/// made. A second call keeps the first instant. Errors: `NotFound`; nobody else could administer.
pub fn disable(tx: &mut Tx<'_>, now: Timestamp, account: &str) -> Result<Person> {
    let mut person = require(tx, account)?;
    if person.disabled.is_none() {
        let was_administered = repository::active_administrators(tx)? > 0;
        repository::disable(tx, &person.id, now)?;
        if was_administered {
            require_administrator(tx, &person)?;
        }
        person.disabled = Some(now);
    }
    end_all(tx, &person)?;
    api_keys::revoke_all_of(tx, &person.id, now)?;
    Ok(person)
}

/// Refuses a change of the account after which nobody could administer. Errors: `Conflict`.
pub(crate) fn require_administrator(tx: &mut Tx<'_>, person: &Person) -> Result<()> {
    if repository::active_administrators(tx)? == 0 {
        let message =
            message!("'{account}' is the last administrator", account = person.account_name());
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    Ok(())
}

/// Sets the hash of the password and ends what let anybody in before, except the session with that secret.
pub(crate) fn set_password(
    tx: &mut Tx<'_>,
    person: &Person,
    password: &str,
    session: &str,
) -> Result<()> {
    repository::set_password(tx, &person.id, password)?;
    sessions::delete_others_of(tx, &person.id, &secret::hash(session))?;
    links::delete_all_of(tx, &person.id)?;
    device::delete_all_of(tx, &person.id)
}

/// Limits an account to a part of the roster, or removes the limit. Errors: `NotFound`; `Invalid` for an administrator.
pub fn limit(tx: &mut Tx<'_>, email: &str, reach: &Reach) -> Result<Person> {
    let mut person = require(tx, email)?;
    check_limit(person.role, reach)?;
    repository::set_reach(tx, &person.id, reach)?;
    person.reach = reach.clone();
    Ok(person)
}

/// Refuses to limit an administrator or a student. Errors: `Invalid`.
pub(crate) fn check_limit(role: Role, reach: &Reach) -> Result<()> {
    match role {
        Role::Administrator | Role::Student if reach.is_limited() => {
            let message = "must be 'guide' or 'developer'; administrators have access to everything, and students to \
                           what is their own";
            Err(Problem::invalid("role", message))
        }
        _ => Ok(()),
    }
}

/// Makes a link's secret with which the owner sets a password once, within
/// [`limits::SIGN_IN_LINK_LIFETIME_S`]; former links of the account stop.
pub fn new_link(tx: &mut Tx<'_>, now: Timestamp, person: &Person) -> Result<String> {
    let link = secret::random_text::<32>("");
    replace_link(tx, person, &link, now.plus_seconds(limits::SIGN_IN_LINK_LIFETIME_S))?;
    Ok(link)
}

/// Makes a link's secret with which the owner signs in once without a password, within so many seconds; former links of
/// the account stop. It is for the owner of a sandbox and the administrator of a demo.
pub fn new_entry_link(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &Person,
    lifetime_s: i64,
) -> Result<String> {
    let link = secret::random_text::<24>(ENTRY_PREFIX);
    replace_link(tx, person, &link, now.plus_seconds(lifetime_s))?;
    Ok(link)
}

fn replace_link(tx: &mut Tx<'_>, person: &Person, link: &str, expires: Timestamp) -> Result<()> {
    links::delete_all_of(tx, &person.id)?;
    links::insert(tx, &secret::hash(link), &person.id, expires)
}

/// The person whose password a link sets; `None` if it was used, replaced or has expired.
pub fn of_link(tx: &mut Tx<'_>, now: Timestamp, link: &str) -> Result<Option<Person>> {
    if link.starts_with(ENTRY_PREFIX) { Ok(None) } else { owner_of_link(tx, now, link) }
}

/// The person whom a link signs in; `None` if it was used, replaced or has expired.
pub fn of_entry_link(tx: &mut Tx<'_>, now: Timestamp, link: &str) -> Result<Option<Person>> {
    if link.starts_with(ENTRY_PREFIX) { owner_of_link(tx, now, link) } else { Ok(None) }
}

fn owner_of_link(tx: &mut Tx<'_>, now: Timestamp, link: &str) -> Result<Option<Person>> {
    let Some(id) = links::person(tx, now, &secret::hash(link))? else { return Ok(None) };
    Ok(find(tx, &id)?.filter(|person| person.disabled.is_none()))
}

/// Sets the password of a link's owner, uses the link up and ends what let anybody in before.
/// Errors: the link was used, replaced or is too old.
pub fn use_link(tx: &mut Tx<'_>, now: Timestamp, link: &str, password: &str) -> Result<Person> {
    let person = of_link(tx, now, link)?.ok_or_else(no_link)?;
    repository::set_password(tx, &person.id, password)?;
    end_all(tx, &person)?;
    Ok(Person { has_password: true, ..person })
}

/// The person whom a link signs in; the link is used up. Errors: the link was used, replaced or is too old.
pub fn enter(tx: &mut Tx<'_>, now: Timestamp, link: &str) -> Result<Person> {
    let person = of_entry_link(tx, now, link)?.ok_or_else(no_entry_link)?;
    links::delete_all_of(tx, &person.id)?;
    Ok(person)
}

/// Ends what lets anybody in as that person: sessions, links, codes of programs.
fn end_all(tx: &mut Tx<'_>, person: &Person) -> Result<()> {
    sessions::delete_all_of(tx, &person.id)?;
    links::delete_all_of(tx, &person.id)?;
    device::delete_all_of(tx, &person.id)
}

/// Whether the account still has the password whose hash that is, and is not disabled: checking one
/// takes a while.
pub fn still_has(tx: &mut Tx<'_>, person: &Person, hash: &str) -> Result<bool> {
    Ok(password(tx, &person.id)?.as_deref() == Some(hash))
}

/// The problem for a link that does not work.
pub fn no_link() -> Problem {
    let message = "this link was used already, was replaced by a newer link, or has expired; \
                   `lyceum admin user link` creates a new one";
    Problem::new(ProblemKind::NotFound, message)
}

/// The problem for a link that signs nobody in.
pub fn no_entry_link() -> Problem {
    let message = "this link was used already, is from an earlier start, or has expired; restart the sandbox or the \
                   demo for a new link, or sign in at /sign-in";
    Problem::new(ProblemKind::NotFound, message)
}

/// The address in its stored form; `None` if it is not an e-mail address. The mailbox may not exist.
fn address(email: &str) -> Option<String> {
    let email = email.trim();
    let (name, host) = email.rsplit_once('@')?;
    let plain = |c: char| !c.is_whitespace() && !c.is_control();
    let is_address = !name.is_empty()
        && !host.is_empty()
        && email.len() <= limits::EMAIL_MAX_BYTES
        && email.chars().all(plain);
    is_address.then(|| email.to_lowercase())
}
