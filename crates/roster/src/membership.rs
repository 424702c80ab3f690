//! On which days an enrollment counts. A user is a member of a class from the first day of the enrollment to the last one,
//! both included. [`crate::repository`] has the same rule as a condition of statements.
//!
//! Days are those of UTC. The reach of a teacher and the routes that change enrollments use all active enrollments: a
//! teacher still reads the work of former students.

use std::borrow::Cow;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use serde::Deserialize;

use crate::fields;
use crate::record::Object;

/// The first and the last day of an enrollment. Without a first day it has always been valid; without a last day it
/// does not end.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnrollmentDays<'a> {
    #[serde(borrow)]
    begin_date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    end_date: Option<Cow<'a, str>>,
}

impl<'a> EnrollmentDays<'a> {
    /// The days of a record.
    pub fn of(enrollment: &'a Object) -> Self {
        let day = |name| Some(fields::text(enrollment, name)).filter(|day| !day.is_empty());
        Self {
            begin_date: day("beginDate").map(Cow::Borrowed),
            end_date: day("endDate").map(Cow::Borrowed),
        }
    }

    /// The days of a record's JSON text, without parsing its other members.
    pub fn of_text(text: &'a str) -> Result<Self> {
        serde_json::from_str(text).map_err(Problem::internal)
    }

    /// Whether the enrollment ended before the day.
    pub fn has_ended(&self, today: &str) -> bool {
        self.end_date.as_deref().is_some_and(|end| end < today)
    }

    /// Whether the enrollment has begun by the day and has not ended before it.
    pub fn is_current(&self, today: &str) -> bool {
        self.begin_date.as_deref().is_none_or(|begin| begin <= today) && !self.has_ended(today)
    }
}

/// The day of an instant for enrollments, in UTC, such as `2026-01-15`.
pub fn day(now: Timestamp) -> String {
    now.date().to_string()
}
