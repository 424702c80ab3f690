//! Connections that are another one's in the next transaction.
//!
//! Prepared statements, settings of the session and the locks by which connections count belong to a
//! connection. A pooler that shares connections by the transaction mixes them up.

use std::time::Duration;

use lyceum_core::{Problem, ProblemKind, Result};
use tokio_postgres::SimpleQueryMessage;

use super::{Client, FailedStatement, PostgresAddress, reach};
use crate::limits::POSTGRES_READ_WAIT_MS;

/// Times that it is looked at: a pooler may happen to give the same connection twice.
const LOOKS: usize = 3;

/// Refuses an address behind which a pooler shares connections by the transaction.
pub(super) fn refuse(address: &PostgresAddress) -> Result<()> {
    let mut one = reach(address)?;
    // A server that gives no second connection now is found out about later.
    let Ok(mut other) = reach(address) else { return Ok(()) };
    let patience = Duration::from_millis(POSTGRES_READ_WAIT_MS);
    one.set_patience(Some(patience));
    other.set_patience(Some(patience));
    for _ in 0..LOOKS {
        let before = process(&mut one, "SELECT pg_backend_pid()")?;
        let beside = process(&mut other, "BEGIN; SELECT pg_backend_pid()")?;
        // Where all share one connection, the first would wait for the other.
        let is_shared = beside == before || process(&mut one, "SELECT pg_backend_pid()")? != before;
        process(&mut other, "ROLLBACK; SELECT pg_backend_pid()")?;
        if is_shared {
            return Err(Problem::new(
                ProblemKind::Invalid,
                "the address of the database leads to a pooler such as PgBouncer in transaction \
                 mode; set its pool_mode to 'session', or use the address of the database itself",
            ));
        }
    }
    Ok(())
}

/// The process that serves the connection now.
fn process(client: &mut Client, sql: &str) -> Result<String> {
    let answer = client.wait(sql, async |client| client.simple_query(sql).await);
    let pid = answer.map_err(FailedStatement::problem)?.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    pid.ok_or_else(|| Problem::internal("the database did not tell its process"))
}
