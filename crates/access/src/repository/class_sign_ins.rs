//! Classes that are open for sign-in, and the sealed secrets of their students.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value, columns, dialect};

/// A class that is open for sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClass {
    /// The sourcedId of the class.
    pub class: String,
    /// The code, such as `BCDFGH`.
    pub code: String,
    /// The id of the person who opened it.
    pub opened_by: String,
    /// When it was opened.
    pub opened: Timestamp,
    /// When the code stops working.
    pub closes: Timestamp,
}

columns!(OpenClass {
    class: "class_id",
    code: "code",
    opened_by: "opened_by",
    opened: "opened_ms",
    closes: "closes_ms",
});

const COLUMNS: &str = OpenClass::COLUMNS;

/// Writes the class. Returns false if another class has the code.
pub(crate) fn upsert(tx: &mut Tx<'_>, open: &OpenClass) -> Result<bool> {
    let class_with_code = tx.query_one(
        "SELECT 1 FROM class_sign_ins WHERE code = $1 AND class_id <> $2",
        &[(&open.code).into(), (&open.class).into()],
        |_| Ok(()),
    )?;
    if class_with_code.is_some() {
        return Ok(false);
    }
    tx.send(
        "INSERT INTO class_sign_ins (class_id, code, opened_by, opened_ms, closes_ms) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (class_id) DO UPDATE SET code = excluded.code, \
         opened_by = excluded.opened_by, opened_ms = excluded.opened_ms, closes_ms = excluded.closes_ms",
        &[
            Value::from(&open.class),
            Value::from(&open.code),
            Value::from(&open.opened_by),
            Value::from(open.opened.milliseconds()),
            Value::from(open.closes.milliseconds()),
        ],
    )?;
    Ok(true)
}

/// The class, open or not.
pub(crate) fn find(tx: &mut Tx<'_>, class: &str) -> Result<Option<OpenClass>> {
    let sql = format!("SELECT {COLUMNS} FROM class_sign_ins WHERE class_id = $1");
    tx.row(&sql, &[class.into()])
}

/// The class of a code, open or not.
pub(crate) fn of_code(tx: &mut Tx<'_>, code: &str) -> Result<Option<OpenClass>> {
    tx.row(&format!("SELECT {COLUMNS} FROM class_sign_ins WHERE code = $1"), &[code.into()])
}

/// Deletes the row of a class.
pub(crate) fn delete(tx: &mut Tx<'_>, class: &str) -> Result<()> {
    tx.send("DELETE FROM class_sign_ins WHERE class_id = $1", &[class.into()])
}

/// Deletes the rows of classes that closed.
pub(crate) fn delete_closed(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.send("DELETE FROM class_sign_ins WHERE closes_ms <= $1", &[now.milliseconds().into()])
}

/// Replaces the sealed secret of a student.
pub(crate) fn set_secret(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &str,
    sealed: &[u8],
) -> Result<()> {
    tx.send(
        "INSERT INTO class_secrets (person, sealed, made_ms) VALUES ($1, $2, $3) \
         ON CONFLICT (person) DO UPDATE SET sealed = excluded.sealed, made_ms = excluded.made_ms",
        &[person.into(), sealed.into(), now.milliseconds().into()],
    )
}

/// The sealed secrets of those of these students who have one.
pub(crate) fn secrets(tx: &mut Tx<'_>, people: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
    let list = serde_json::to_string(people).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT person, sealed FROM class_secrets WHERE {}",
        dialect::is_one_of(tx.dialect(), "person", "$1")
    );
    tx.rows(&sql, &[list.as_str().into()])
}
