//! Everything that is sealed under the master key: which columns, and sealing their values again under another key.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Db, Tx};
use serde_json::json;

use crate::audit::{AuditChange, COMMAND_LINE};
use crate::limits::RESEAL_MAX_ROWS;
use crate::master::MasterKey;
use crate::repository::sealed as repository;
use crate::repository::sealed::SealedValue;
use crate::{class_secret, keyring, signed_request};

pub use crate::repository::sealed::SealedColumn;

/// The columns of this crate.
pub const SEALED_COLUMNS: &[SealedColumn] = &[
    keyring::DERIVATION_KEY,
    keyring::SEALED_KEYS,
    class_secret::SEALED_SECRETS,
    signed_request::SEALED_SECRETS,
    signed_request::FORMER_SECRETS,
];

impl SealedColumn {
    /// Seals all values of the column that are sealed under the other key again under the main one. Returns how many. It
    /// may be stopped at any time and started again.
    ///
    /// Errors: `Conflict` if neither key opens a value.
    fn reseal(&self, db: &Db, master: &MasterKey) -> Result<u64> {
        let mut count = 0;
        loop {
            let values = db.read_blocking(|tx| self.under_other_key(tx, master))?;
            if values.is_empty() {
                return Ok(count);
            }
            let resealed: Vec<(SealedValue, Vec<u8>)> = values
                .into_iter()
                .map(|value| {
                    let label = (self.label)(&value.key);
                    let plain = master.open(&label, &value.sealed).ok_or_else(|| {
                        let message = message!(
                            "a value of {self.table}.{self.column} ({key}) was sealed under neither 'keys.master' nor \
                             'keys.master_other'; set the key that sealed it as 'keys.master_other'",
                            key = value.key.join(", ")
                        );
                        Problem::new(ProblemKind::Conflict, message)
                    })?;
                    let sealed = master.seal(&label, &plain);
                    Ok((value, sealed))
                })
                .collect::<Result<_>>()?;
            // A value that a server replaced meanwhile is looked at again in the next round.
            count += db.write_blocking(|tx| {
                let replaced =
                    resealed.iter().map(|(old, new)| repository::replace(tx, self, old, new));
                replaced.sum::<Result<u64>>()
            })?;
        }
    }

    /// Some values that the main key alone does not open.
    fn under_other_key(&self, tx: &mut Tx<'_>, master: &MasterKey) -> Result<Vec<SealedValue>> {
        let mut found = Vec::new();
        repository::each(tx, self, |value| {
            if !master.is_sealed_by_main(&(self.label)(&value.key), &value.sealed) {
                found.push(value);
            }
            Ok(found.len() < RESEAL_MAX_ROWS)
        })?;
        Ok(found)
    }
}

/// Seals all values of the columns under the main key and notes it in the audit log. Returns the number of values that
/// were sealed under the other key, for each table with such values. Afterwards no value is left that the main key does
/// not open, unless a server still seals under the other key.
///
/// Errors: `Conflict` if neither key opens a value.
pub fn rotate_master_key(
    db: &Db,
    now: Timestamp,
    master: &MasterKey,
    columns: &[SealedColumn],
) -> Result<Vec<(&'static str, u64)>> {
    let mut counts = Vec::new();
    for column in columns {
        let count = column.reseal(db, master)?;
        if count > 0 {
            counts.push((column.table, count));
        }
    }
    let values: u64 = counts.iter().map(|(_, count)| count).sum();
    db.write_blocking(|tx| {
        let change = AuditChange { who: COMMAND_LINE, what: "master-key.rotate", subject: "" };
        change.note(tx, now, &json!({ "values": values }))
    })?;
    check(db, master, columns)?;
    Ok(counts)
}

/// Checks that the main key opens all values. Errors: `Conflict` with the table of a value that it does not open.
fn check(db: &Db, master: &MasterKey, columns: &[SealedColumn]) -> Result<()> {
    for column in columns {
        let left = db.read_blocking(|tx| column.under_other_key(tx, master))?.len();
        if left > 0 {
            let message = message!(
                "{left} values of {column.table} were sealed under the other key meanwhile, so a server still \
                 uses it as 'keys.master'; change the settings of all servers, then run the command again"
            );
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
    }
    Ok(())
}
