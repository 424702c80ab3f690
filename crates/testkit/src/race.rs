//! Two writes at the same moment.

use std::sync::{Arc, Barrier};

use lyceum_core::Result;
use lyceum_store::{Db, SqlDialect, Tx};
use tokio::runtime::Builder;

/// Runs two writes, neither of which sees what the other one changes: on PostgreSQL both have their
/// snapshot before either goes on. SQLite runs them one after the other. Answers both results.
pub fn at_once<A, B>(
    db: &Db,
    one: impl FnMut(&mut Tx<'_>) -> Result<A> + Send + 'static,
    other: impl FnMut(&mut Tx<'_>) -> Result<B> + Send + 'static,
) -> (Result<A>, Result<B>)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let start = Arc::new(Barrier::new(2));
    let (one, other) = (together(start.clone(), one), together(start, other));
    let runtime = Builder::new_current_thread().build().expect("a runtime starts");
    runtime.block_on(async { tokio::join!(db.write(one), db.write(other)) })
}

fn together<T>(
    start: Arc<Barrier>,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T>,
) -> impl FnMut(&mut Tx<'_>) -> Result<T> {
    let mut is_first_run = true;
    move |tx| {
        if std::mem::take(&mut is_first_run) && tx.dialect() == SqlDialect::Postgres {
            tx.query_one("SELECT 1", &[], |_| Ok(()))?; // takes the snapshot
            start.wait();
        }
        work(tx)
    }
}
