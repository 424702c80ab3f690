//! The record clock tells when a record changed, so that consumers who poll for changes miss none (docs/decisions/167).
//!
//! A writer takes a lock that others share, then reads the clock: that is the stamp of all records of its transaction. A
//! poll raises the clock, waits until the writers that had the lock then have ended, and reads what is stamped up to the
//! raised time. Writers that lock after that get later stamps. The time of day only keeps the clock close to the present: no
//! server's clock needs to be right.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;

use crate::{Sql, SqlDialect, Tx, columns, limits};

/// The advisory lock of PostgreSQL that writers of records share until they end.
const WRITERS_LOCK: i64 = 0x7265_636f_7264;
/// The lock of those who raise the clock.
const RAISE_LOCK: i64 = 0x7265_636f_7265;
/// The stamps of unfinished long writes are of this year, which no reader asks for.
const UNFINISHED_MS: i64 = 253_370_764_800_000;

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

/// The changes of one kind of records that a reader asks for, in the order of their stamps and numbers.
#[derive(Clone, Debug)]
pub struct ChangeRange {
    /// The stamp and the number behind which they begin.
    pub after: (Timestamp, i64),
    /// The last stamp.
    pub until: Timestamp,
    /// The most rows.
    pub limit: i64,
}

/// A record that changed.
#[derive(Clone, Debug)]
pub struct ChangedRow {
    /// When, as text.
    pub stamp: String,
    /// Its number in its table.
    pub number: i64,
    /// Its id.
    pub id: String,
}

columns!(ChangedRow { stamp: "stamp", number: "seq", id: "id" });

impl ChangeRange {
    /// The rows of a statement that ends within its conditions. It selects what a [`ChangedRow`] has from a table `t`,
    /// whose column `stamp` is an instant as text.
    pub fn rows(&self, tx: &mut Tx<'_>, mut sql: Sql, stamp: &str) -> Result<Vec<ChangedRow>> {
        let (after, number) = self.after;
        sql.push(&format!(" AND ({stamp}, t.seq) > (")).bind(after.to_string().as_str());
        sql.push(", ").bind(number).push(&format!(") AND {stamp} <= "));
        sql.bind(self.until.to_string().as_str());
        sql.push(&format!(" ORDER BY {stamp}, t.seq LIMIT ")).bind(self.limit);
        tx.rows(&sql.text, &sql.values())
    }
}

/// A record that vanished, or that an organization lost.
#[derive(Clone, Debug)]
pub struct RemovedRecord {
    /// When.
    pub stamp: Timestamp,
    /// The number of the note.
    pub number: i64,
    /// Its kind.
    pub kind: String,
    /// The id that it had.
    pub id: String,
}

/// The notes of the range. `condition` limits those of a table `r`.
pub fn removed(
    tx: &mut Tx<'_>,
    range: &ChangeRange,
    condition: impl FnOnce(&mut Sql) -> Result<()>,
) -> Result<Vec<RemovedRecord>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT r.stamp, r.seq, r.kind, r.id FROM removed_records r WHERE (r.stamp, r.seq) > (",
    );
    sql.bind(range.after.0.milliseconds()).push(", ").bind(range.after.1);
    sql.push(") AND r.stamp <= ").bind(range.until.milliseconds()).push(" AND r.kind <> '' AND ");
    condition(&mut sql)?;
    sql.push(" ORDER BY r.stamp, r.seq LIMIT ").bind(range.limit);
    tx.all(&sql.text, &sql.values(), |row| {
        Ok(RemovedRecord {
            stamp: Timestamp::from_milliseconds(row.int(0)?),
            number: row.int(1)?,
            kind: row.string(2)?,
            id: row.string(3)?,
        })
    })
}

/// The instant up to which notes are gone: readers who continue from before it must read everything again. `None` if no
/// note was ever dropped.
pub fn forgotten_until(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT max(stamp) FROM removed_records WHERE kind = ''";
    let found = tx.query_one(sql, &[], |row| row.opt_int(0))?.flatten();
    Ok(found.map(Timestamp::from_milliseconds))
}

/// Drops the notes from before the instant.
pub fn forget_removed(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    let limit = [before.milliseconds().into()];
    tx.send("DELETE FROM removed_records WHERE stamp < $1 AND kind <> ''", &limit)?;
    if forgotten_until(tx)?.is_none() {
        tx.send("INSERT INTO removed_records (kind, id, stamp) VALUES ('', '', 0)", &[])?;
    }
    tx.send("UPDATE removed_records SET stamp = $1 WHERE kind = '' AND stamp < $1", &limit)
}

/// Lets all readers begin again, because the database was restored and may lack what they have seen.
pub fn forget_past(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    let time = raise(tx, now)?;
    forget_removed(tx, time)
}

/// Finds out whether another PostgreSQL server has taken over the database since the last poll. It may lack the last
/// transactions, and the clock may be behind by what they took.
fn check_timeline(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    let sql = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), \
               (SELECT max(id) FROM removed_records WHERE kind = '')";
    let Some((now_on, before)) = tx.row::<(String, Option<String>)>(sql, &[])? else {
        return Ok(());
    };
    if before.as_ref() == Some(&now_on) {
        return Ok(());
    }
    match before.as_deref() {
        None | Some("") => forget_removed(tx, Timestamp::from_milliseconds(0))?,
        Some(_) => {
            let time = raised(tx, now.plus_seconds(limits::LOST_BY_STANDBY_MAX_S))?;
            forget_removed(tx, time)?;
        }
    }
    let sql = "UPDATE removed_records SET id = $1 WHERE kind = ''";
    tx.send(sql, &[now_on.as_str().into()])
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
             ELSE GREATEST($1::bigint, {SEQUENCE_LAST} + 1) END"
        ),
    };
    milliseconds(tx, &sql, now)
}

const SEQUENCE_LAST: &str = "coalesce(pg_sequence_last_value('record_clock_last_seq'), 0)";

/// Raises the clock to `now` or further, and returns its new time.
pub(crate) fn raise(tx: &mut Tx<'_>, now: Timestamp) -> Result<Timestamp> {
    if tx.dialect() == SqlDialect::Postgres {
        check_timeline(tx, now)?;
    }
    raised(tx, now)
}

fn raised(tx: &mut Tx<'_>, now: Timestamp) -> Result<Timestamp> {
    if tx.dialect() == SqlDialect::Postgres {
        let sql = format!(
            "SELECT CASE WHEN pg_advisory_xact_lock({RAISE_LOCK})::text IS NULL THEN 0 \
             ELSE setval('record_clock_last_seq', GREATEST($1::bigint, {SEQUENCE_LAST} + 1)) END"
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
