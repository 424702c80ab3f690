//! Extra time of students, and the clocks of attempts.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::{Tx, columns};

/// More time for a student in all tests with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraTime {
    /// The time in percent of the limit: 150 for half as much time again.
    pub percent: i64,
    /// Minutes in addition.
    pub minutes: i64,
}

impl ExtraTime {
    /// The time of the test.
    pub const NONE: Self = Self { percent: 100, minutes: 0 };

    /// The time limit in milliseconds with the extra time.
    pub fn applied_to(self, limit_ms: i64) -> i64 {
        limit_ms * self.percent / 100 + self.minutes * 60_000
    }
}

columns!(ExtraTime { percent: "percent", minutes: "minutes" });

/// The extra time of a student; `None` if there is none.
pub(crate) fn find(tx: &mut Tx<'_>, student: &str) -> Result<Option<ExtraTime>> {
    let sql = format!("SELECT {} FROM extra_time WHERE student = $1", ExtraTime::COLUMNS);
    tx.row(&sql, &[student.into()])
}

/// Stores the extra time of a student.
pub(crate) fn put(tx: &mut Tx<'_>, student: &str, extra: ExtraTime) -> Result<()> {
    let sql = "INSERT INTO extra_time (student, percent, minutes) VALUES ($1, $2, $3) \
               ON CONFLICT (student) DO UPDATE SET percent = excluded.percent, minutes = excluded.minutes";
    tx.send(sql, &[student.into(), extra.percent.into(), extra.minutes.into()])
}

/// Removes the extra time of a student.
pub(crate) fn remove(tx: &mut Tx<'_>, student: &str) -> Result<()> {
    tx.send("DELETE FROM extra_time WHERE student = $1", &[student.into()])
}

/// Lets the time of an attempt run from this instant, unless it runs already.
pub(crate) fn start_clock(tx: &mut Tx<'_>, attempt: i64, now: Timestamp) -> Result<()> {
    let sql = "UPDATE lesson_attempt SET clock_ms = $1 WHERE id = $2 AND clock_ms IS NULL";
    tx.send(sql, &[now.milliseconds().into(), attempt.into()])
}
