//! Screenings, one per student.

use lyceum_core::Result;
use lyceum_store::Tx;

/// The id and start time of the student's screening.
pub(crate) fn session(tx: &mut Tx<'_>, user: &str) -> Result<Option<(String, String)>> {
    let sql = "SELECT id, started_at FROM screening_session WHERE user_id = $1";
    tx.row(sql, &[user.into()])
}

/// The subjects of assigned tests, and when they were assigned.
pub(crate) fn tests(tx: &mut Tx<'_>, user: &str) -> Result<Vec<(String, String)>> {
    let sql = "SELECT subject, assigned_at FROM screening_test WHERE user_id = $1 ORDER BY subject";
    tx.rows(sql, &[user.into()])
}

/// Begins a screening, unless one is running.
pub(crate) fn begin(tx: &mut Tx<'_>, user: &str, id: &str, now: &str) -> Result<()> {
    let sql = "INSERT INTO screening_session (user_id, id, started_at) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    tx.send(sql, &[user.into(), id.into(), now.into()])?;
    Ok(())
}

/// Assigns a test, unless it is already assigned.
pub(crate) fn assign(tx: &mut Tx<'_>, user: &str, subject: &str, now: &str) -> Result<()> {
    let sql = "INSERT INTO screening_test (user_id, subject, assigned_at) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    tx.send(sql, &[user.into(), subject.into(), now.into()])?;
    Ok(())
}

/// Deletes the student's screening; returns `false` if there is none.
pub(crate) fn delete(tx: &mut Tx<'_>, user: &str) -> Result<bool> {
    tx.send("DELETE FROM screening_test WHERE user_id = $1", &[user.into()])?;
    Ok(tx.execute("DELETE FROM screening_session WHERE user_id = $1", &[user.into()])? > 0)
}
