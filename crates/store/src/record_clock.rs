//! The record clock tells when a record changed, so that consumers who poll for changes miss none (docs/decisions/167).
//!
//! A writer takes a lock that others share, then reads the clock: that is the stamp of all records of its transaction. A
//! poll raises the clock, waits until the writers that had the lock then have ended, and reads what is stamped up to the
//! raised time. Whoever stamps later has a later stamp. The time of day only keeps the clock close to the present: no
//! server's clock needs to be right.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;

use crate::{SqlDialect, Tx};

/// The advisory lock of PostgreSQL that writers of records share until they end.
const WRITERS_LOCK: i64 = 0x7265_636f_7264;
/// The lock of those who raise the clock.
const RAISE_LOCK: i64 = 0x7265_636f_7265;
/// The stamps of unfinished long writes are of this year, which no reader asks for.
const UNFINISHED_MS: i64 = 253_370_764_800_000;

/// The records that a transaction stamps.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The stamp, once a record needed it.
    taken: Option<Timestamp>,
    /// Whether the records get their stamp when all of them are written.
    at_end: bool,
    /// The least time of the final stamp.
    since: Option<Timestamp>,
    /// The tables whose rows have the stamp of an unfinished write.
    tables: Vec<&'static str>,
}

impl Tx<'_> {
    /// The instant at which the records of this transaction change: not before `now`, and after whatever a poll has
    /// read. It is the same for all of them. Call it just before the first statement that writes a record.
    pub fn stamp(&mut self, now: Timestamp) -> Result<Timestamp> {
        if let Some(stamp) = self.stamps.taken {
            return Ok(stamp);
        }
        let stamp = if self.stamps.at_end {
            self.stamps.since = Some(now);
            Timestamp::from_milliseconds(UNFINISHED_MS + self.shard()?)
        } else {
            next(self, now)?
        };
        self.stamps.taken = Some(stamp);
        Ok(stamp)
    }

    /// [`Tx::stamp`] for the next rows of a table with the columns `date_last_modified` and `body`, which both contain the
    /// stamp as text.
    pub fn stamp_rows(&mut self, table: &'static str, now: Timestamp) -> Result<Timestamp> {
        if self.stamps.at_end && !self.stamps.tables.contains(&table) {
            self.stamps.tables.push(table);
        }
        self.stamp(now)
    }

    /// For a transaction that writes many records: on PostgreSQL they get their stamp when all are written, so that polls
    /// do not wait for it meanwhile. On SQLite polls wait for every write.
    pub fn stamp_at_end(&mut self) {
        self.stamps.at_end = self.dialect() == SqlDialect::Postgres;
    }

    /// Notes that the record of the kind vanishes or gets another id, or that the organization loses it.
    pub fn note_removed(
        &mut self,
        (kind, id): (&str, &str),
        org: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        let stamp = self.stamp(now)?.milliseconds();
        let sql = "INSERT INTO removed_records (kind, id, stamp, org) VALUES ($1, $2, $3, $4)";
        self.send(sql, &[kind.into(), id.into(), stamp.into(), org.into()])
    }

    /// Gives the records of a long write their final stamp; the last thing before the commit.
    pub(crate) fn settle_stamps(&mut self) -> Result<()> {
        let stamps = std::mem::take(&mut self.stamps);
        let (Some(unfinished), Some(since)) = (stamps.taken, stamps.since) else { return Ok(()) };
        let stamp = next(self, since)?;
        let (from, to) = (unfinished.to_string(), stamp.to_string());
        for table in stamps.tables {
            let sql = format!(
                "UPDATE {table} SET date_last_modified = $1, body = replace(body, $2, $1) \
                 WHERE date_last_modified = $2"
            );
            self.send(&sql, &[to.as_str().into(), from.as_str().into()])?;
        }
        let of_this = [stamp.milliseconds().into(), unfinished.milliseconds().into()];
        self.send("UPDATE removed_records SET stamp = $1 WHERE stamp = $2", &of_this)?;
        self.send(
            "UPDATE outbox SET at_ms = $1, data = replace(data, $2, $3) WHERE at_ms = $4",
            &[of_this[0], from.as_str().into(), to.as_str().into(), of_this[1]],
        )
    }
}

/// The stamp of a writer, which holds the lock from now on.
fn next(tx: &mut Tx<'_>, now: Timestamp) -> Result<Timestamp> {
    let sql = match tx.dialect() {
        SqlDialect::Sqlite => {
            "SELECT max($1, coalesce(max(last), 0) + 1) FROM record_clock".to_owned()
        }
        // The lock comes first: the branch is evaluated after the condition.
        SqlDialect::Postgres => format!(
            "SELECT CASE WHEN pg_advisory_xact_lock_shared({WRITERS_LOCK})::text IS NULL THEN 0 \
             ELSE greatest($1::bigint, {SEQUENCE_LAST} + 1) END"
        ),
    };
    milliseconds(tx, &sql, now)
}

const SEQUENCE_LAST: &str = "coalesce(pg_sequence_last_value('record_clock_last_seq'), 0)";

/// Raises the clock to `now` or further, and returns its new time.
pub(crate) fn raise(tx: &mut Tx<'_>, now: Timestamp) -> Result<Timestamp> {
    if tx.dialect() == SqlDialect::Postgres {
        let sql = format!(
            "SELECT CASE WHEN pg_advisory_xact_lock({RAISE_LOCK})::text IS NULL THEN 0 \
             ELSE setval('record_clock_last_seq', greatest($1::bigint, {SEQUENCE_LAST} + 1)) END"
        );
        return milliseconds(tx, &sql, now);
    }
    let time = next(tx, now)?;
    tx.execute("DELETE FROM record_clock", &[])?;
    tx.execute("INSERT INTO record_clock (last) VALUES ($1)", &[time.milliseconds().into()])?;
    Ok(time)
}

/// The transactions that hold the lock of writers: on PostgreSQL their names, on SQLite none, since there is one writer.
pub(crate) fn open_writers(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    if tx.dialect() == SqlDialect::Sqlite {
        return Ok(Vec::new());
    }
    let (high, low) = (WRITERS_LOCK >> 32, WRITERS_LOCK & 0xffff_ffff);
    let sql = format!(
        "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND granted \
         AND classid = {high} AND objid = {low} AND objsubid = 1 \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
    tx.all(&sql, &[], |row| row.string(0))
}

fn milliseconds(tx: &mut Tx<'_>, sql: &str, now: Timestamp) -> Result<Timestamp> {
    let time = tx.query_one(sql, &[now.milliseconds().into()], |row| row.int(0))?;
    Ok(Timestamp::from_milliseconds(time.unwrap_or_default()))
}
