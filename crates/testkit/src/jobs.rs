//! Time that passes for jobs. Their leases and pauses end by the clock of the database, which no test can set.

use lyceum_core::time::Timestamp;
use lyceum_store::Db;

/// Moves the due time of all waiting jobs back by some seconds, as if that time had passed.
pub fn pass_seconds(db: &Db, seconds: i64) {
    let passed = db.write_blocking(|tx| {
        let sql = "SELECT id, due FROM jobs WHERE state = 'waiting'";
        let jobs: Vec<(i64, String)> = tx.rows(sql, &[])?;
        for (id, due) in jobs {
            let due: Timestamp = due.parse().expect("the time of a job");
            let due = due.plus_seconds(-seconds).to_string();
            tx.send("UPDATE jobs SET due = $1 WHERE id = $2", &[(&due).into(), id.into()])?;
        }
        Ok(())
    });
    passed.expect("the jobs are stored");
}
