//! Time limits of tests (QTI 3.0, `qti-time-limits`), and the extra time of students.
//!
//! A limit applies to lessons that show all questions. It is that of the test when the attempt began; extra time is what
//! the student has now, so that a guide can give more during a test. The server decides with its own clock.
//!
//! No job ends a test: it would score tests of students who lost their connection a minute earlier. An answer more
//! than 15 s late is refused, because waiting answers would let students work without a limit.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_qti::model::{Test, TimeLimits};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::Attempt;
use crate::limits::{EXTRA_TIME_MAX_MINUTES, EXTRA_TIME_MAX_PERCENT, LATE_ANSWER_MAX_MS};
use crate::repository::time_limit as repository;

pub use crate::repository::time_limit::ExtraTime;

/// The time limit of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestTimeLimit {
    /// The time in milliseconds.
    pub ms: i64,
    /// Whether answers that come later count.
    pub allows_late: bool,
}

impl TestTimeLimit {
    /// The limit of a test, or of its only part.
    pub(crate) fn of(test: &Test) -> Option<Self> {
        let of_part = match test.parts.as_slice() {
            [part] => part.time_limits,
            _ => None,
        };
        let TimeLimits { max, allow_late, .. } = test.time_limits.or(of_part)?;
        #[expect(clippy::cast_possible_truncation, reason = "it is limited")]
        let ms = (max?.clamp(0.0, SECONDS_MAX) * 1000.0) as i64;
        Some(Self { ms, allows_late: allow_late })
    }
}

/// A time limit of more than a year is as good as none.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;

/// The extra time that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtraTimeInput {
    /// The factor of the time limit, such as 1.5; 1 for no more time.
    #[schemars(range(min = 1, max = 10))]
    pub factor: f64,
    /// Minutes in addition.
    #[serde(default)]
    #[schemars(range(min = 0, max = EXTRA_TIME_MAX_MINUTES))]
    pub minutes: i64,
}

impl ExtraTimeInput {
    /// Errors: `Invalid` for less time than the limit, and for more than the largest factor or number of minutes.
    fn checked(self) -> Result<ExtraTime> {
        let Self { factor, minutes } = self;
        #[expect(clippy::cast_precision_loss, reason = "it is small")]
        let most = EXTRA_TIME_MAX_PERCENT as f64 / 100.0;
        if !(1.0..=most).contains(&factor) {
            let rule = message!("must be a number from 1 to {most}: got {factor}");
            return Err(Problem::invalid("factor", rule));
        }
        if !(0..=EXTRA_TIME_MAX_MINUTES).contains(&minutes) {
            let rule = message!("must be from 0 to {EXTRA_TIME_MAX_MINUTES}: got {minutes}");
            return Err(Problem::invalid("minutes", rule));
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is limited")]
        let percent = (factor * 100.0).round() as i64;
        Ok(ExtraTime { percent, minutes })
    }
}

/// The extra time of a student; `None` if there is none.
pub fn extra_time(tx: &mut Tx<'_>, student: &str) -> Result<Option<ExtraTime>> {
    repository::find(tx, student)
}

/// Sets or removes the extra time of a student. Errors: `Invalid`.
pub(crate) fn set_extra_time(tx: &mut Tx<'_>, student: &str, input: ExtraTimeInput) -> Result<()> {
    match input.checked()? {
        ExtraTime::NONE => repository::remove(tx, student),
        extra => repository::put(tx, student, extra),
    }
}

/// The time of an attempt with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptTime {
    /// The whole time in milliseconds, with the student's extra time.
    pub ms: i64,
    /// When the time began to run; `None` until the student begins.
    pub began: Option<Timestamp>,
    /// Whether answers that come later count.
    pub allows_late: bool,
}

impl AttemptTime {
    /// The time of an attempt; `None` if it has no limit. Runs a statement only for an attempt with a limit.
    pub(crate) fn of(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<Option<Self>> {
        let Some(limit) = attempt.time_limit_ms else { return Ok(None) };
        let extra = extra_time(tx, &attempt.student)?.unwrap_or(ExtraTime::NONE);
        Ok(Some(Self {
            ms: extra.applied_to(limit),
            began: attempt.clock,
            allows_late: attempt.allows_late,
        }))
    }

    /// The milliseconds that are left; negative when the time is over.
    pub fn left_ms(&self, now: Timestamp) -> i64 {
        self.began.map_or(self.ms, |began| began.milliseconds() + self.ms - now.milliseconds())
    }

    /// Whether the time is over, so that questions without an answer no longer keep the student from finishing.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.left_ms(now) <= 0
    }

    /// Refuses an answer that comes too late. An answer may be on its way for [`LATE_ANSWER_MAX_MS`]. Errors: `Conflict`.
    pub(crate) fn admit(&self, now: Timestamp) -> Result<()> {
        if self.allows_late || self.left_ms(now) > -LATE_ANSWER_MAX_MS {
            return Ok(());
        }
        let message =
            "the time for this lesson is over; finish the attempt with the answers that it has";
        Err(Problem::new(ProblemKind::Conflict, message))
    }
}

/// Lets the time of an attempt run, unless it runs already or has no limit.
pub(crate) fn start_clock(tx: &mut Tx<'_>, attempt: &mut Attempt, now: Timestamp) -> Result<()> {
    if attempt.time_limit_ms.is_none() || attempt.clock.is_some() {
        return Ok(());
    }
    attempt.clock = Some(now);
    repository::start_clock(tx, attempt.id, now)
}
