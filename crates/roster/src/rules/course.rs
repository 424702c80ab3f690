//! Rules of courses.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;
use serde_json::Value;

use super::{is_missing, reference};
use crate::record::Object;

/// Reads `orgSourcedId`, by which an earlier client of the platform names the organization.
#[expect(clippy::unnecessary_wraps, reason = "every rule of a kind has this form")]
pub(crate) fn read_org_of_earlier_clients(
    _: &mut Tx<'_>,
    course: &mut Object,
    _: Timestamp,
) -> Result<()> {
    if let Some(Value::String(org)) = course.get("orgSourcedId")
        && is_missing(course, "org")
    {
        let org = reference(org);
        course.insert("org".into(), org);
    }
    Ok(())
}
