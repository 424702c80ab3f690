//! The access of a class's students: the students are in the roster, and their accounts and secrets are not.

use std::collections::HashMap;

use lyceum_access::audit::AuditChange;
use lyceum_access::class_secret::{self, ClassSecret, ClassSecretKind};
use lyceum_access::class_sign_in::{self, OpenClass};
use lyceum_access::student::{self, NewStudent};
use lyceum_access::{MasterKey, Person, account};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::kinds::CLASS;
use lyceum_roster::record::members;
use lyceum_roster::repository;
use lyceum_store::Tx;
use serde_json::{Value, json};

/// A student of a class, with the ways to sign in.
#[derive(Debug)]
pub struct StudentAccess {
    /// The sourcedId.
    pub user: String,
    /// First and last name; the sourcedId if the student has neither.
    pub name: String,
    /// The active account.
    pub account: Option<Person>,
    /// The student's secret for signing in in class.
    pub secret: Option<ClassSecret>,
}

/// The students of a class within the reach, by their names. Three statements.
pub fn students(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    class: &str,
    reach: &Reach,
) -> Result<Vec<StudentAccess>> {
    let members = repository::in_class(tx, now, class, "student", reach)?;
    let users: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
    let mut accounts: HashMap<String, Person> = student::of_users(tx, &users)?;
    let ids: Vec<String> = accounts.values().map(|account| account.id.clone()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut secrets = class_secret::open_secrets(tx, master, &ids)?;
    let students = members.into_iter().map(|member| {
        let account = accounts.remove(&member.id);
        let secret = account.as_ref().and_then(|account| secrets.remove(&account.id));
        StudentAccess { name: member.shown_name().to_owned(), user: member.id, account, secret }
    });
    Ok(students.collect())
}

/// The title of a class; the sourcedId if it has none.
pub fn title(tx: &mut Tx<'_>, class: &str) -> Result<String> {
    let record = repository::find(tx, &CLASS, class)?;
    let Some(record) = record else { return Ok(class.to_owned()) };
    let members = members(&record.body, None)?;
    Ok(members.get("title").and_then(|title| title.as_str()).unwrap_or(class).to_owned())
}

/// Creates accounts for the students of a class within the reach who have none, and secrets of the kind for those who have
/// none. Answers how many accounts are new.
pub fn create_access(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    (who, class): (&str, &str),
    reach: &Reach,
    kind: ClassSecretKind,
) -> Result<usize> {
    let mut created = 0;
    for one in students(tx, now, master, class, reach)? {
        let student = match one.account {
            Some(account) => account,
            None => {
                created += 1;
                let new = NewStudent {
                    roster_user: one.user,
                    name: one.name,
                    email: None,
                    password: None,
                };
                let new_account = student::create(tx, now, &new)?;
                account::note_created(tx, now, who, &new_account)?;
                new_account
            }
        };
        if one.secret.is_none() {
            renew(tx, now, master, who, &student, kind)?;
        }
    }
    Ok(created)
}

/// Gives a student of a class within the reach, by the sourcedId, a new secret of the kind. Errors: `NotFound` for a
/// student who is not in the class or has no account.
pub fn renew_of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    who: &str,
    (class, student): (&str, &str),
    reach: &Reach,
    kind: ClassSecretKind,
) -> Result<()> {
    let students = students(tx, now, master, class, reach)?;
    let found = students.into_iter().find(|one| one.user == student);
    let account = found
        .and_then(|one| one.account)
        .ok_or_else(|| Problem::not_found("student with an account in the class", student))?;
    renew(tx, now, master, who, &account, kind)
}

/// Opens a class within the reach for sign-in. Errors: `NotFound`; as [`class_sign_in::open`].
pub fn open(
    tx: &mut Tx<'_>,
    now: Timestamp,
    by: &Person,
    (class, reach): (&str, &Reach),
    minutes: i64,
) -> Result<OpenClass> {
    require(tx, class, reach)?;
    let open = class_sign_in::open(tx, now, class, by, minutes)?;
    let change = AuditChange { who: by.account_name(), what: "class.open", subject: class };
    change.note(tx, now, &json!({ "closes": open.closes.to_string() }))?;
    Ok(open)
}

/// Closes a class within the reach for sign-in. Errors: `NotFound`.
pub fn close(
    tx: &mut Tx<'_>,
    now: Timestamp,
    by: &Person,
    (class, reach): (&str, &Reach),
) -> Result<()> {
    require(tx, class, reach)?;
    class_sign_in::close(tx, class)?;
    let change = AuditChange { who: by.account_name(), what: "class.close", subject: class };
    change.note(tx, now, &Value::Null)
}

/// Refuses a class that does not exist or lies outside of the reach. Errors: `NotFound`.
pub fn require(tx: &mut Tx<'_>, class: &str, reach: &Reach) -> Result<()> {
    repository::require_within(tx, &CLASS, class, reach)
}

fn renew(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    who: &str,
    account: &Person,
    kind: ClassSecretKind,
) -> Result<()> {
    class_secret::renew(tx, now, master, &account.id, kind)?;
    let change = AuditChange { who, what: "user.secret", subject: account.account_name() };
    change.note(tx, now, &json!({ "kind": kind }))
}
