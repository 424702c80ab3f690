//! How often things were tried.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::secret::SecretHash;

/// Counts one more; answers how many there are, and since when.
pub(crate) fn count(
    tx: &mut Tx<'_>,
    subject: &SecretHash,
    now: Timestamp,
) -> Result<(i64, Timestamp)> {
    let counted = tx.query_one(
        "INSERT INTO guesses (subject, count, since_ms) VALUES ($1, 1, $2) \
         ON CONFLICT (subject) DO UPDATE SET count = guesses.count + 1 \
         RETURNING count, since_ms",
        &[subject.as_slice().into(), now.milliseconds().into()],
        |row| Ok((row.int(0)?, Timestamp::from_milliseconds(row.int(1)?))),
    )?;
    Ok(counted.unwrap_or((1, now)))
}

/// How many there are, and since when; `None` without guesses.
pub(crate) fn find(tx: &mut Tx<'_>, subject: &SecretHash) -> Result<Option<(i64, Timestamp)>> {
    tx.query_one(
        "SELECT count, since_ms FROM guesses WHERE subject = $1",
        &[subject.as_slice().into()],
        |row| Ok((row.int(0)?, Timestamp::from_milliseconds(row.int(1)?))),
    )
}

/// Counts one less.
pub(crate) fn uncount(tx: &mut Tx<'_>, subject: &SecretHash) -> Result<()> {
    let sql = "UPDATE guesses SET count = count - 1 WHERE subject = $1 AND count > 0";
    tx.send(sql, &[subject.as_slice().into()])?;
    Ok(())
}

/// Forgets the tries of a subject.
pub(crate) fn delete(tx: &mut Tx<'_>, subject: &SecretHash) -> Result<()> {
    tx.send("DELETE FROM guesses WHERE subject = $1", &[subject.as_slice().into()])
}

/// Forgets what began before.
pub(crate) fn delete_before(tx: &mut Tx<'_>, since: Timestamp) -> Result<()> {
    tx.send("DELETE FROM guesses WHERE since_ms <= $1", &[since.milliseconds().into()])?;
    Ok(())
}
