//! Everything that the two stores say differently, in one file.

/// Which store speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, embedded.
    Sqlite,
    /// PostgreSQL, or a database that speaks its protocol and SQL.
    Postgres,
}
