//! Home: how many students, courses and enrollments there are.

use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_store::Tx;

use crate::collections::at;
use crate::query::{ListParameters, query};
use crate::render::RecordView;
use crate::repository;

/// The numbers of active records within the reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// The number of students.
    pub students: i64,
    /// The number of courses.
    pub courses: i64,
    /// The number of enrollments.
    pub enrollments: i64,
}

/// Counts the records.
pub fn counts(tx: &mut Tx<'_>, reach: &Reach) -> Result<RecordCounts> {
    Ok(RecordCounts {
        students: count(tx, "students", reach)?,
        courses: count(tx, "courses", reach)?,
        enrollments: count(tx, "enrollments", reach)?,
    })
}

fn count(tx: &mut Tx<'_>, path: &str, reach: &Reach) -> Result<i64> {
    let collection = at(path).expect("the roster has the collection");
    let first = ListParameters { limit: Some("1"), ..ListParameters::default() };
    let query = query(collection, None, reach.clone(), &first, tx.dialect())?;
    let view = RecordView { base_url: "", dialect: PayloadDialect::Platform, fields: None };
    let page = repository::list(tx, &query, &view)?;
    Ok(i64::try_from(page.total).unwrap_or(i64::MAX))
}
