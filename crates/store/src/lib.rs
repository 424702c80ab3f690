//! One transaction interface over SQLite (embedded) and PostgreSQL (scale-out).
//!
//! Domain code is synchronous over a [`Tx`]; only [`Db`] knows threads and futures. The same SQL
//! text runs on both stores: placeholders are `$1…$n` numbered in order of first use; what cannot
//! be said the same way on both is a function of [`dialect`].

mod db;
pub mod dialect;
pub mod migrate;
mod tx;
mod value;

pub use db::{Db, Target};
pub use dialect::Dialect;
pub use migrate::Migration;
pub use tx::{Row, Tx};
pub use value::Value;
