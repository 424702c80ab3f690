//! Accounts of people.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value};

use crate::person::Person;

const COLUMNS: &str = "id, email, name, role, password IS NOT NULL, created_ms, disabled_ms";

/// The account of an id.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Person>> {
    tx.query_one(&format!("SELECT {COLUMNS} FROM people WHERE id = $1"), &[id.into()], read)
}

/// The account of an address in lower case.
pub(crate) fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<Person>> {
    tx.query_one(&format!("SELECT {COLUMNS} FROM people WHERE email = $1"), &[email.into()], read)
}

/// Every account in the order of its making, disabled ones too.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Person>> {
    let mut people = Vec::new();
    tx.query(&format!("SELECT {COLUMNS} FROM people ORDER BY created_ms, id"), &[], |row| {
        people.push(read(row)?);
        Ok(true)
    })?;
    Ok(people)
}

/// The condition that a person can sign in to the account, with a password or an identity at a sign-in service.
const OPENS: &str = "disabled_ms IS NULL AND (password IS NOT NULL OR \
                     EXISTS (SELECT 1 FROM person_identities i WHERE i.person = people.id))";

/// Whether there is an account that a person can sign in to.
pub fn any(tx: &mut Tx<'_>) -> Result<bool> {
    let sql = format!("SELECT 1 FROM people WHERE {OPENS} LIMIT 1");
    Ok(tx.query_one(&sql, &[], |_| Ok(()))?.is_some())
}

/// The hash of an account's password; `None` if it has no password or is disabled.
pub fn password(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>> {
    let sql = "SELECT password FROM people WHERE id = $1 AND disabled_ms IS NULL";
    let found = tx.query_one(sql, &[id.into()], |row| Ok(row.opt_text(0)?.map(str::to_owned)))?;
    Ok(found.flatten())
}

/// Adds an account. Returns false if its address has one already.
pub(crate) fn insert(tx: &mut Tx<'_>, person: &Person, password: Option<&str>) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO people (id, email, name, role, password, created_ms) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (email) DO NOTHING",
        &[
            Value::from(&person.id),
            Value::from(&person.email),
            Value::from(&person.name),
            Value::from(person.role.name()),
            Value::from(password),
            Value::from(person.created.milliseconds()),
        ],
    )?;
    Ok(inserted == 1)
}

/// Gives the account a password.
pub(crate) fn set_password(tx: &mut Tx<'_>, id: &str, password: &str) -> Result<()> {
    tx.send("UPDATE people SET password = $1 WHERE id = $2", &[password.into(), id.into()])?;
    Ok(())
}

/// Disables the account.
pub(crate) fn disable(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE people SET disabled_ms = $1 WHERE id = $2";
    tx.send(sql, &[now.milliseconds().into(), id.into()])?;
    Ok(())
}

/// How many administrators can sign in.
pub(crate) fn active_administrators(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = format!("SELECT COUNT(*) FROM people WHERE role = 'administrator' AND {OPENS}");
    Ok(tx.query_one(&sql, &[], |row| row.int(0))?.unwrap_or(0))
}

fn read(row: &Row<'_>) -> Result<Person> {
    Ok(Person {
        id: row.text(0)?.to_owned(),
        email: row.text(1)?.to_owned(),
        name: row.text(2)?.to_owned(),
        role: row.text(3)?.parse().map_err(Problem::internal)?,
        has_password: row.int(4)? == 1,
        created: Timestamp::from_milliseconds(row.int(5)?),
        disabled: row.opt_int(6)?.map(Timestamp::from_milliseconds),
    })
}
