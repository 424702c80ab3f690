//! Codes of programs that wait to be let in.

use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, Value};

use crate::limits::DEVICE_POLL_INTERVAL_S;
use crate::secret::SecretHash;

/// A code as it stands.
pub(crate) struct StoredDeviceCode {
    pub(crate) state: String,
    pub(crate) person: Option<String>,
    pub(crate) interval_s: i64,
    pub(crate) polled: Option<Timestamp>,
    pub(crate) expires: Timestamp,
}

/// Adds a code; false when the user code is taken.
pub(crate) fn insert(
    tx: &mut Tx<'_>,
    hash: &SecretHash,
    user_code: &str,
    environment: Environment,
    expires: Timestamp,
) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO device_codes (hash, user_code, environment, state, interval_s, expires_ms) \
         VALUES ($1, $2, $3, 'waiting', $4, $5) ON CONFLICT (user_code) DO NOTHING",
        &[
            Value::from(hash.as_slice()),
            Value::from(user_code),
            Value::from(environment.name()),
            Value::from(DEVICE_POLL_INTERVAL_S),
            Value::from(expires.milliseconds()),
        ],
    )?;
    Ok(inserted == 1)
}

/// The number of codes.
pub(crate) fn count(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(tx.query_one("SELECT COUNT(*) FROM device_codes", &[], |row| row.int(0))?.unwrap_or(0))
}

/// Whether a decision on the user code is waited for.
pub(crate) fn is_waiting(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    user_code: &str,
) -> Result<bool> {
    let sql = "SELECT 1 FROM device_codes WHERE user_code = $1 AND environment = $2 \
               AND state = 'waiting' AND expires_ms > $3";
    let now = now.milliseconds();
    let params = [user_code.into(), environment.name().into(), now.into()];
    Ok(tx.query_one(sql, &params, |_| Ok(()))?.is_some())
}

/// Writes the decision; false if no code waits for it.
pub(crate) fn decide(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    user_code: &str,
    state: &str,
    person: &str,
) -> Result<bool> {
    let decided = tx.execute(
        "UPDATE device_codes SET state = $1, person = $2 WHERE user_code = $3 \
         AND environment = $4 AND state = 'waiting' AND expires_ms > $5",
        &[
            Value::from(state),
            Value::from(person),
            Value::from(user_code),
            Value::from(environment.name()),
            Value::from(now.milliseconds()),
        ],
    )?;
    Ok(decided == 1)
}

/// The code of a device code's hash.
pub(crate) fn find(
    tx: &mut Tx<'_>,
    hash: &SecretHash,
    environment: Environment,
) -> Result<Option<StoredDeviceCode>> {
    tx.query_one(
        "SELECT state, person, interval_s, polled_ms, expires_ms FROM device_codes \
         WHERE hash = $1 AND environment = $2",
        &[hash.as_slice().into(), environment.name().into()],
        |row| {
            Ok(StoredDeviceCode {
                state: row.text(0)?.to_owned(),
                person: row.opt_text(1)?.map(str::to_owned),
                interval_s: row.int(2)?,
                polled: row.opt_int(3)?.map(Timestamp::from_milliseconds),
                expires: Timestamp::from_milliseconds(row.int(4)?),
            })
        },
    )
}

/// Keeps when the program asked, and how long it is to wait.
pub(crate) fn polled(
    tx: &mut Tx<'_>,
    hash: &SecretHash,
    now: Timestamp,
    interval_s: i64,
) -> Result<()> {
    let sql = "UPDATE device_codes SET polled_ms = $1, interval_s = $2 WHERE hash = $3";
    tx.send(sql, &[now.milliseconds().into(), interval_s.into(), hash.as_slice().into()])?;
    Ok(())
}

/// Deletes a code.
pub(crate) fn delete(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<()> {
    tx.send("DELETE FROM device_codes WHERE hash = $1", &[hash.as_slice().into()])?;
    Ok(())
}

/// Deletes the codes that a person decided about.
pub(crate) fn delete_all_of(tx: &mut Tx<'_>, person: &str) -> Result<()> {
    tx.send("DELETE FROM device_codes WHERE person = $1", &[person.into()])?;
    Ok(())
}

/// Deletes the codes whose time was over before.
pub(crate) fn delete_before(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.send("DELETE FROM device_codes WHERE expires_ms < $1", &[before.milliseconds().into()])?;
    Ok(())
}
