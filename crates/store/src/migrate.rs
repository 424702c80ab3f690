//! Migrations: forward only, from every released state.

/// One step of the schema. Written in the common DDL (`TEXT`, `BIGINT`, `REAL`, `BLOB`,
/// `ROWID` for a store-numbered primary key); [`crate::dialect`] translates it.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its number, unique over all crates; applied in this order.
    pub version: i32,
    /// What it does, in `snake_case`.
    pub name: &'static str,
    /// The DDL.
    pub sql: &'static str,
}
