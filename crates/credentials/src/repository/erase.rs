//! Removes the contents of a learner's credentials. What is left says only that they are revoked.

use lyceum_core::Result;
use lyceum_core::redaction::{Redaction, TextOwner};
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

/// The ids of the credentials that this server issued to the learner, and of the learner's records.
pub(crate) fn of_learner(tx: &mut Tx<'_>, learner: &str) -> Result<(Vec<String>, Vec<String>)> {
    let sql = "SELECT id FROM issued_credentials WHERE learner = $1 AND issued_by IS NOT NULL";
    let issued = tx.rows(sql, &[learner.into()])?;
    let sql = "SELECT id FROM learner_records WHERE learner = $1 OR compiled_for = $1";
    Ok((issued, tx.rows(sql, &[learner.into()])?))
}

/// Removes what the learner's revoked credentials and records contain.
pub(crate) fn contents(tx: &mut Tx<'_>, learner: &str, now: Timestamp) -> Result<()> {
    let stamp = tx.stamp(now)?;
    let now = stamp.to_string();
    tx.send(
        "INSERT INTO removed_records (kind, id, stamp) SELECT 'badge', id, CAST($1 AS BIGINT) \
         FROM issued_credentials WHERE learner = $2 AND issued_by IS NULL",
        &[stamp.milliseconds().into(), learner.into()],
    )?;
    let dated = &[(&now).into(), learner.into()];
    let learner = &[learner.into()];
    tx.send("DELETE FROM issued_credentials WHERE learner = $1 AND issued_by IS NULL", learner)?;
    tx.send(
        "UPDATE issued_credentials SET body = '', award = NULL, reason = NULL, updated = $1, \
         learner = NULL WHERE learner = $2",
        dated,
    )?;
    tx.send(
        "DELETE FROM learner_record_versions WHERE record IN \
         (SELECT seq FROM learner_records WHERE learner = $1 OR compiled_for = $1)",
        learner,
    )?;
    tx.send(
        "UPDATE learner_records SET deleted = COALESCE(deleted, $1), updated = $1, learner = NULL, \
         compiled_for = NULL, reason = NULL WHERE learner = $2 OR compiled_for = $2",
        dated,
    )
}

/// The number of credentials and records that were removed, by [`naming`].
pub(crate) fn naming(tx: &mut Tx<'_>, redaction: &Redaction, now: Timestamp) -> Result<u64> {
    let mut credentials: Vec<String> = Vec::new();
    let names = |text: &str| redaction.names_in_json(text, TextOwner::Others);
    tx.query("SELECT id, body FROM issued_credentials WHERE body <> ''", &[], |row| {
        if names(row.text(1)?) {
            credentials.push(row.string(0)?);
        }
        Ok(true)
    })?;
    for id in &credentials {
        let foreign = "DELETE FROM issued_credentials WHERE id = $1 AND issued_by IS NULL";
        if tx.execute(foreign, &[id.into()])? > 0 {
            tx.note_removed(("badge", id), None, now)?;
            continue;
        }
        let now = tx.stamp(now)?.to_string();
        tx.send(
            "UPDATE issued_credentials SET body = '', award = NULL, reason = NULL, learner = NULL, \
             revoked = COALESCE(revoked, $1), updated = $1 WHERE id = $2",
            &[(&now).into(), id.into()],
        )?;
    }
    let mut records: Vec<i64> = Vec::new();
    tx.query("SELECT record, given, body FROM learner_record_versions", &[], |row| {
        if names(row.text(1)?) || names(row.text(2)?) {
            records.push(row.int(0)?);
        }
        Ok(true)
    })?;
    records.dedup();
    for seq in &records {
        tx.send("DELETE FROM learner_record_versions WHERE record = $1", &[(*seq).into()])?;
        let now = tx.stamp(now)?.to_string();
        tx.send(
            "UPDATE learner_records SET learner = NULL, compiled_for = NULL, reason = NULL, \
             deleted = COALESCE(deleted, $1), revoked = COALESCE(revoked, $1), updated = $1 \
             WHERE seq = $2",
            &[(&now).into(), (*seq).into()],
        )?;
    }
    Ok((credentials.len() + records.len()) as u64)
}
