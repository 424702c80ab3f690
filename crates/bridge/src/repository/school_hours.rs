//! School hours of organizations.

use std::collections::BTreeSet;

use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, dialect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::SCHOOL_DAYS_OFF_MAX_COUNT;

/// When an organization has school.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchoolHours {
    /// The weekdays with school, from 1 (Monday) to 7 (Sunday).
    #[schemars(inner(range(min = 1, max = 7)))]
    pub weekdays: BTreeSet<i8>,
    /// The local time at which school begins, such as `08:00`.
    pub begins: String,
    /// The local time at which school ends, such as `16:00`.
    pub ends: String,
    /// The time zone, such as `America/New_York`.
    pub time_zone: String,
    /// Days without school, such as `2026-12-24`.
    #[schemars(length(max = SCHOOL_DAYS_OFF_MAX_COUNT))]
    #[serde(default)]
    pub days_off: BTreeSet<String>,
}

/// The school hours that apply to the organizations, each with the organization that sets them. The nearest one to an
/// organization comes last.
pub(crate) fn above(
    tx: &mut Tx<'_>,
    orgs: &BTreeSet<&str>,
) -> Result<Vec<(String, String, SchoolHours)>> {
    let list = serde_json::to_string(orgs).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT b.org, h.org, h.weekdays, h.begins, h.ends, h.time_zone, h.days_off \
         FROM school_hours h JOIN orgs o ON o.sourced_id = h.org AND o.status = 'active' \
         JOIN roster_org_below b ON b.root = h.org WHERE {} \
         ORDER BY (SELECT COUNT(*) FROM roster_org_below d WHERE d.org = h.org), h.org",
        dialect::is_one_of(tx.dialect(), "b.org", "$1")
    );
    tx.all(&sql, &[list.as_str().into()], |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned(), hours(row, 2)?))
    })
}

fn hours(row: &Row<'_>, at: usize) -> Result<SchoolHours> {
    let text = |column: usize| row.text(at + column).map(str::to_owned);
    let digits = text(0)?;
    Ok(SchoolHours {
        weekdays: digits.bytes().filter_map(|digit| i8::try_from(digit - b'0').ok()).collect(),
        begins: text(1)?,
        ends: text(2)?,
        time_zone: text(3)?,
        days_off: serde_json::from_str(row.text(at + 4)?).map_err(Problem::internal)?,
    })
}

/// Stores the hours of an organization.
pub(crate) fn put(tx: &mut Tx<'_>, org: &str, hours: &SchoolHours) -> Result<()> {
    let weekdays: String = hours.weekdays.iter().map(ToString::to_string).collect();
    let days_off = serde_json::to_string(&hours.days_off).map_err(Problem::internal)?;
    let sql = "INSERT INTO school_hours (org, weekdays, begins, ends, time_zone, days_off) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org) DO UPDATE SET \
               weekdays = excluded.weekdays, begins = excluded.begins, ends = excluded.ends, \
               time_zone = excluded.time_zone, days_off = excluded.days_off";
    let values =
        [org, weekdays.as_str(), &hours.begins, &hours.ends, &hours.time_zone, days_off.as_str()];
    tx.send(sql, &values.map(Into::into))
}

/// Deletes the hours of organizations that are no longer stored.
pub(crate) fn forget_purged(tx: &mut Tx<'_>) -> Result<()> {
    let sql = "DELETE FROM school_hours WHERE NOT EXISTS \
               (SELECT 1 FROM orgs o WHERE o.sourced_id = school_hours.org)";
    tx.send(sql, &[])
}

/// Deletes the hours of an organization; `false` if it has none.
pub(crate) fn delete(tx: &mut Tx<'_>, org: &str) -> Result<bool> {
    Ok(tx.execute("DELETE FROM school_hours WHERE org = $1", &[org.into()])? == 1)
}
