//! The records of a course's tree, each sort with one statement, however deep the tree is.

use lyceum_core::{Result, limits};
use lyceum_store::{Tx, Value};

use crate::record::Status;

/// A record as stored: its canonical JSON and its platform members.
pub type Texts = (String, Option<String>);

/// The components of a course, deleted ones included, in no order.
pub fn components(tx: &mut Tx<'_>, course: &str) -> Result<Vec<Texts>> {
    read(
        tx,
        "SELECT t.body, t.extra FROM course_components t WHERE t.course_id = $1 LIMIT $2",
        course,
        None,
    )
}

/// The component resources in the components of a course, in no order.
pub fn component_resources(tx: &mut Tx<'_>, course: &str, status: Status) -> Result<Vec<Texts>> {
    read(
        tx,
        "SELECT t.body, t.extra FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         WHERE c.course_id = $1 AND t.status = $2 LIMIT $3",
        course,
        Some(status),
    )
}

/// The resources to which [`component_resources`] refer, each once.
pub fn resources(tx: &mut Tx<'_>, course: &str, status: Status) -> Result<Vec<Texts>> {
    read(
        tx,
        "SELECT r.body, r.extra FROM resources r WHERE r.sourced_id IN (\
         SELECT t.resource_id FROM course_components c \
         JOIN component_resources t ON t.course_component_id = c.sourced_id \
         WHERE c.course_id = $1 AND t.status = $2) LIMIT $3",
        course,
        Some(status),
    )
}

/// One row more than a course may have, so that the caller sees that it has too many.
fn read(tx: &mut Tx<'_>, sql: &str, course: &str, status: Option<Status>) -> Result<Vec<Texts>> {
    let most = i64::try_from(limits::COURSE_MAX_NODES + 1).expect("the limit is small");
    let mut parameters: Vec<Value<'_>> = vec![course.into()];
    parameters.extend(status.map(|status| Value::from(status.as_str())));
    parameters.push(most.into());
    let mut rows = Vec::new();
    tx.query(sql, &parameters, |row| {
        rows.push((row.text(0)?.to_owned(), row.opt_text(1)?.map(str::to_owned)));
        Ok(true)
    })?;
    Ok(rows)
}
