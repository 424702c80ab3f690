//! Health and request ids.

use lyceum_api::limits;
use lyceum_store::{SqlDialect, StoreLocation};
use lyceum_testserver::server::both_as;
use serde_json::Value;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::probe;

#[test]
fn health_and_readiness_are_public() {
    both_as(&probe::setup(), |server| {
        for path in ["/health", "/ready"] {
            let body: Value = server.anonymous().get(path).expect(200).json();
            assert_eq!(body["status"], "ok");
            let timestamp = body["timestamp"].as_str().unwrap();
            timestamp.parse::<lyceum_core::time::Timestamp>().unwrap();
        }
    });
}

#[test]
fn a_valid_request_id_is_returned_and_others_are_replaced() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let id = |sent: &str| {
            let reply = client.get("/nothing").header("x-request-id", sent).expect(404);
            reply.header("x-request-id").to_owned()
        };
        assert_eq!(id("4f9a2c01"), "4f9a2c01");
        assert_eq!(id("a.B-9_:z"), "a.B-9_:z");
        for strange in ["", "two words", "quote\"", &"x".repeat(129)] {
            let own = id(strange);
            assert_ne!(own, strange);
            assert_eq!(own.len(), 16, "{own}");
        }
        let own = || client.get("/health").expect(200).header("x-request-id").to_owned();
        assert_ne!(own(), own());
    });
}

/// Another write takes longer than `/ready` waits.
#[test]
fn ready_waits_for_a_write_for_a_limited_time_and_ignores_an_import() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let (is_held, held) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let release = release; // ends with this, however it ends
            let db = server.db().clone();
            scope.spawn(move || {
                let other = db.write_blocking(|tx| {
                    if tx.dialect() == SqlDialect::Postgres {
                        tx.execute("LOCK TABLE refinery_schema_history IN EXCLUSIVE MODE", &[])?;
                    }
                    is_held.send(()).unwrap();
                    let _ = released.recv();
                    Ok(())
                });
                other.unwrap();
            });
            held.recv().unwrap();
            let begun = Instant::now();
            client.get("/ready").expect(200);
            assert!(begun.elapsed() >= Duration::from_millis(limits::READY_WAIT_MS));
            client.get("/ready").expect(200);
            let most = Duration::from_millis(limits::READY_WAIT_MS + 1000);
            assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
            client.get("/health").expect(200);
            release.send(()).unwrap();
        });
    });
}

#[test]
fn ready_reports_failing_writes_and_their_recovery() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let (is_missing, is_there) = match server.target().clone() {
            StoreLocation::Sqlite(path) => {
                let aside = path.with_extension("aside");
                let (from, to) = (path.clone(), aside.clone());
                let hide: Box<dyn Fn()> = Box::new(move || std::fs::rename(&from, &to).unwrap());
                let show: Box<dyn Fn()> = Box::new(move || std::fs::rename(&aside, &path).unwrap());
                (hide, show)
            }
            StoreLocation::Postgres(_) => {
                let rename = |from: &'static str, to: &'static str| -> Box<dyn Fn()> {
                    let db = server.db().clone();
                    let sql = format!("ALTER TABLE {from} RENAME TO {to}");
                    Box::new(move || {
                        db.write_blocking(|tx| tx.execute(&sql, &[])).unwrap();
                    })
                };
                let (here, aside) = ("refinery_schema_history", "aside");
                (rename(here, aside), rename(aside, here))
            }
        };
        is_missing();
        client.get("/ready").expect(503);
        client.get("/health").expect(200);
        is_there();
        let deadline = Instant::now() + Duration::from_secs(10);
        while client.get("/ready").send().status != 200 {
            assert!(Instant::now() < deadline, "it does not come back");
            thread::sleep(Duration::from_millis(50));
        }
    });
}
