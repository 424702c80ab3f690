//! Reads of one statement run without a transaction, because a statement sees one snapshot by itself.
//!
//! Nobody declares which reads these are. A closure that asks for a second statement does not get it: it runs again in
//! a transaction. From then on, closures of its type run in a transaction at once. The type only decides where to begin,
//! so closures of one type may differ in their number of statements.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use lyceum_core::Result;
use rusqlite::Connection;

use crate::tx::{Tx, TxConnection};

/// The types of read closures that ran more than one statement.
#[derive(Default)]
pub(crate) struct LongerReads(RwLock<HashSet<TypeId>>);

impl LongerReads {
    /// Runs a read on SQLite if it does not need a transaction. Otherwise returns none, and what the closure did so far
    /// does not count.
    pub(crate) fn read_without_transaction<T, F>(
        &self,
        connection: &Connection,
        work: &mut F,
    ) -> Option<Result<T>>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T> + 'static,
    {
        let closure = TypeId::of::<F>();
        if self.contains(closure) {
            return None;
        }
        let mut tx = Tx::of_one_statement(TxConnection::Sqlite(connection));
        let result = work(&mut tx);
        if tx.needs_transaction() {
            self.add(closure);
            return None;
        }
        Some(result)
    }

    pub(crate) fn contains(&self, closure: TypeId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&closure)
    }

    pub(crate) fn add(&self, closure: TypeId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(closure);
    }
}
