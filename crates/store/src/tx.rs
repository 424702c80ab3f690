//! A transaction.

use lyceum_core::{Problem, Result};

use crate::options::WriteIsolation;
use crate::pending::{CountDeltas, Stamps, WantedTopics};
use crate::postgres::PostgresSession;
use crate::row::RowCells;
use crate::signals::{Signal, SignalSet};
use crate::slow::timed;
use crate::sqlite::statements as sqlite;
use crate::{FromRow, Row, SqlDialect, StatementsSee, Value, dialect, problem};

/// A transaction on either store.
///
/// A closure must return after an error of one of its statements. A transaction in which a statement
/// failed is never committed, on either store.
pub struct Tx<'a> {
    session: TxConnection<'a>,
    deltas: CountDeltas,
    signals: SignalSet,
    failed: bool,
    isolation: WriteIsolation,
    /// The stamp of its records.
    pub(crate) stamps: Stamps,
    /// The topics of the outbox that are wanted, once they were read.
    pub(crate) wanted_topics: Option<WantedTopics>,
}

/// The connection below a transaction.
pub(crate) enum TxConnection<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a mut PostgresSession),
}

impl<'a> Tx<'a> {
    pub(crate) fn new(session: TxConnection<'a>) -> Self {
        Self {
            session,
            deltas: CountDeltas::default(),
            signals: SignalSet::default(),
            failed: false,
            isolation: WriteIsolation::Serializable,
            stamps: Stamps::default(),
            wanted_topics: None,
        }
    }

    /// A write on PostgreSQL. On SQLite all writes are serializable.
    pub(crate) fn writing(session: TxConnection<'a>, isolation: WriteIsolation) -> Self {
        Self { isolation, ..Self::new(session) }
    }

    /// The changes of counts so far; they leave the transaction.
    pub(crate) fn take_deltas(&mut self) -> CountDeltas {
        std::mem::take(&mut self.deltas)
    }

    /// The signals to deliver after the commit.
    pub(crate) fn signals(&self) -> SignalSet {
        self.signals
    }

    /// The closure's result. Errors: it continued after a failed statement.
    pub(crate) fn settle<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Ok(_) if self.failed => {
                Err(Problem::internal("a closure answered Ok although a statement had failed"))
            }
            result => result,
        }
    }

    /// Writes the final stamps of records and the changes of counts; the last thing before the commit.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.settle_stamps()?;
        let deltas = self.take_deltas();
        if deltas.is_empty() {
            return Ok(());
        }
        let shard = self.shard()?;
        self.write_counts(deltas, shard)
    }
}

impl Tx<'_> {
    /// For closures that know that they have several statements: begins the transaction of a
    /// [read](crate::Db::read) now. Otherwise, a read on PostgreSQL starts over in a transaction when it comes to its
    /// second statement. Other transactions have begun already.
    pub fn begin_snapshot(&mut self) -> Result<()> {
        match &mut self.session {
            TxConnection::Sqlite(_) => Ok(()),
            TxConnection::Postgres(session) => session.begin_snapshot(),
        }
    }

    /// The SQL dialect of the store.
    pub fn dialect(&self) -> SqlDialect {
        match self.session {
            TxConnection::Sqlite(_) => SqlDialect::Sqlite,
            TxConnection::Postgres(_) => SqlDialect::Postgres,
        }
    }

    /// Wakes the readers of this news on all servers, once the transaction is committed.
    pub fn signal(&mut self, signal: Signal) {
        self.signals.add(signal);
    }

    /// The connection to SQLite. Errors: `Invalid` on PostgreSQL.
    pub(crate) fn sqlite(&self) -> Result<&rusqlite::Connection> {
        match self.session {
            TxConnection::Sqlite(connection) => Ok(connection),
            TxConnection::Postgres(_) => Err(problem::needs_sqlite()),
        }
    }

    /// Whether each statement sees all that was committed before it. On SQLite nothing is committed meanwhile.
    pub(crate) fn sees_latest(&self) -> bool {
        self.dialect() == SqlDialect::Sqlite
            || self.isolation == WriteIsolation::Locks(StatementsSee::LatestCommits)
    }

    /// Whether what it read is still true when it is committed. Where it is not, as in a
    /// [write with locks](crate::Db::write_with_locks) or an import on PostgreSQL, a rule that must hold locks or writes
    /// what it reads.
    pub fn is_serializable(&self) -> bool {
        self.isolation == WriteIsolation::Serializable
    }

    /// A number that no other connection of any process has while this one lives: writers that add
    /// to rows of their own shard never run into each other. 0 on SQLite, which has one writer.
    pub(crate) fn shard(&mut self) -> Result<i64> {
        match &mut self.session {
            TxConnection::Sqlite(_) => Ok(0),
            TxConnection::Postgres(session) => session.shard(),
        }
    }

    /// Runs a query and hands its rows, one by one, to `each`; `Ok(false)` ends it early.
    /// Holds one row at a time in memory on SQLite, one network buffer on PostgreSQL; there a
    /// query that ends early is still computed, so say `LIMIT` where the number is known.
    pub fn query(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        self.hand_rows(sql, params, each)
    }

    fn hand_rows(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        mut each: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut refused = false; // by `each`, so the statement itself did not fail
        let mut each = |row: &Row<'_>| each(row).inspect_err(|_| refused = true);
        let result = timed(sql, || match &mut self.session {
            TxConnection::Sqlite(connection) => sqlite::query(connection, sql, params, &mut each),
            TxConnection::Postgres(session) => session.query(sql, params, &mut each),
        });
        self.failed |= result.is_err() && !refused;
        result
    }

    /// Reads every row of a query. The statement must limit their number.
    pub fn all<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        if let TxConnection::Postgres(session) = &mut self.session {
            let all = timed(sql, || session.all(sql, params));
            self.failed |= all.is_err();
            for row in &all? {
                rows.push(read(&Row(RowCells::Postgres(row)))?);
            }
            return Ok(rows);
        }
        self.hand_rows(sql, params, |row| {
            rows.push(read(row)?);
            Ok(true)
        })?;
        Ok(rows)
    }

    /// Reads every row of a query as a `T`. The statement must limit their number.
    pub fn rows<T: for<'r> FromRow<'r>>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
    ) -> Result<Vec<T>> {
        self.all(sql, params, |row| row.read())
    }

    /// Reads the first row of a query as a `T`, if there is a row.
    pub fn row<T: for<'r> FromRow<'r>>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
    ) -> Result<Option<T>> {
        self.query_one(sql, params, |row| row.read())
    }

    /// The first row of a query, if there is one.
    pub fn query_one<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut read = Some(read);
        let mut found = None;
        self.query(sql, params, |row| {
            if let Some(read) = read.take() {
                found = Some(read(row)?);
            }
            Ok(false)
        })?;
        Ok(found)
    }

    /// Runs a statement and answers the number of rows that it changed.
    pub fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        let result = timed(sql, || match &mut self.session {
            TxConnection::Sqlite(connection) => sqlite::execute(connection, sql, params),
            TxConnection::Postgres(session) => session.execute(sql, params),
        });
        self.failed |= result.is_err();
        result
    }

    /// [`execute`](Self::execute) without the number of rows. It does not wait for PostgreSQL, so a failure
    /// appears as one of a later statement or of the commit.
    pub fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<()> {
        let result = timed(sql, || match &mut self.session {
            TxConnection::Sqlite(connection) => sqlite::execute(connection, sql, params).map(drop),
            TxConnection::Postgres(session) => session.send(sql, params),
        });
        self.failed |= result.is_err();
        result
    }

    /// Inserts one row and answers the number that the store gave it, which the `ROWID` column of that
    /// name holds; `None` if the statement's own `ON CONFLICT DO NOTHING` left the row out.
    pub fn insert(&mut self, sql: &str, column: &str, params: &[Value<'_>]) -> Result<Option<i64>> {
        if let TxConnection::Sqlite(connection) = self.session {
            let result = timed(sql, || sqlite::insert(connection, sql, params));
            self.failed |= result.is_err();
            return result;
        }
        self.query_one(&format!("{sql} RETURNING {column}"), params, |row| row.int(0))
    }

    /// Inserts rows in bulk: `values` holds them row after row, `columns.len()` values each.
    /// `conflict` is the text behind the values, such as `ON CONFLICT DO NOTHING`, or empty.
    /// Answers the number of rows inserted or changed.
    pub fn insert_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<u64> {
        assert_whole_rows(table, columns, values);
        let result = timed(table, || match &mut self.session {
            TxConnection::Sqlite(connection) => {
                sqlite::insert_rows(connection, table, columns, values, conflict)
            }
            TxConnection::Postgres(session) => {
                session.insert_rows(table, columns, values, conflict)
            }
        });
        self.failed |= result.is_err();
        result
    }

    /// [`insert_rows`](Self::insert_rows) without the number of rows, like [`send`](Self::send).
    pub fn send_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        values: &[Value<'_>],
        conflict: &str,
    ) -> Result<()> {
        assert_whole_rows(table, columns, values);
        let result = timed(table, || match &mut self.session {
            TxConnection::Sqlite(connection) => {
                sqlite::insert_rows(connection, table, columns, values, conflict).map(drop)
            }
            TxConnection::Postgres(session) => session.send_rows(table, columns, values, conflict),
        });
        self.failed |= result.is_err();
        result
    }

    /// The next numbers of a table's `ROWID` column, in ascending order, for rows that are numbered
    /// before they are inserted. On PostgreSQL numbers of a transaction that fails stay unused.
    pub fn take_numbers(&mut self, table: &str, column: &str, count: usize) -> Result<Vec<i64>> {
        let sql = dialect::next_numbers(self.dialect(), table, column);
        let count = i64::try_from(count).map_err(Problem::internal)?;
        let mut numbers = Vec::new();
        self.query(&sql, &[count.into()], |row| {
            numbers.extend(row.int(0)?..=row.int(1)?);
            Ok(true)
        })?;
        Ok(numbers)
    }

    /// Updates rows in bulk: `values` holds, row after row, what `columns` are set to, then what
    /// `keys` must be for it. Answers the number of rows changed.
    pub fn update_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        keys: &[&str],
        values: &[Value<'_>],
    ) -> Result<u64> {
        let result = timed(table, || match &mut self.session {
            TxConnection::Sqlite(connection) => {
                sqlite::update_rows(connection, table, columns, keys, values)
            }
            TxConnection::Postgres(session) => session.update_rows(table, columns, keys, values),
        });
        self.failed |= result.is_err();
        result
    }

    /// Adds to a counter (see `tally.rs`): `(collection, seq)` gained `delta` live records.
    /// Deltas are summed in memory and written once, just before the commit.
    pub fn tally(&mut self, collection: &'static str, seq: i64, delta: i64) {
        self.deltas.add(collection, seq, delta);
    }

    /// Counts a record of a part of a collection, `COLLECTION@PART`, as [`Tx::tally`] does. Its [`Tx::tally_total`] and
    /// [`Tx::tally_blocks`] are known.
    pub fn tally_part(&mut self, name: String, seq: i64, delta: i64) {
        self.deltas.add_to_part(name, seq, delta);
    }
}

fn assert_whole_rows(table: &str, columns: &[&str], values: &[Value<'_>]) {
    assert!(
        !columns.is_empty() && values.len().is_multiple_of(columns.len()),
        "rows of {table} hold one value a column"
    );
}
