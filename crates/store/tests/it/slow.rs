//! The log of slow statements.

use std::fs::read_to_string;
use std::sync::Arc;

use lyceum_core::TRACE_TARGET;
use lyceum_store::{Db, log_slow_statements};
use lyceum_testkit::both_stores;
use tempfile::NamedTempFile;
use tracing::Level;

/// Counts for some milliseconds. The condition makes the value a part of the statement.
const SLOW: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) \
                    SELECT COUNT(*) FROM n WHERE $1 <> ''";

#[test]
fn a_slow_statement_is_logged_without_its_values() {
    both_stores(&[], |target| {
        let db = Db::open(target, &[]).unwrap();
        let log = NamedTempFile::new().unwrap();
        let writer = Arc::new(log.reopen().unwrap());
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer);
        let subscriber = subscriber.with_max_level(Level::TRACE).finish();
        let count = || db.read_blocking(|tx| tx.row::<i64>(SLOW, &["Ann Example".into()]));
        tracing::subscriber::with_default(subscriber, || {
            log_slow_statements(60_000);
            assert_eq!(count().unwrap(), Some(300_000));
            assert_eq!(read_to_string(log.path()).unwrap(), "");
            log_slow_statements(2);
            count().unwrap();
            // The log names the span, in which a collector of traces finds the event.
            let request = tracing::trace_span!(target: TRACE_TARGET, "request");
            request.in_scope(count).unwrap();
        });
        let log = read_to_string(log.path()).unwrap();
        assert!(log.contains("a statement was slow ms="), "{log}");
        assert!(log.contains("SELECT COUNT(*) FROM n WHERE $1"), "{log}");
        assert!(!log.contains("Ann Example"), "{log}");
        let slow: Vec<&str> = log.lines().filter(|line| line.contains("was slow")).collect();
        assert!(!slow[0].contains("transaction"), "{log}");
        assert!(slow[1].contains("request:transaction{"), "{log}");
        assert!(slow[1].contains(r#"db.operation.name="read""#), "{log}");
    });
}
