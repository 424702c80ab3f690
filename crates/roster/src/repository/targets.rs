//! The questions of the rules about the records that others refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lyceum_core::{Problem, Result};
use lyceum_store::{Sql, SqlDialect, Tx, dialect};

use crate::kind::RecordKind;
use crate::kinds::{self, CLASS, ENROLLMENT, LINE_ITEM};

/// Ids by the name of their kind.
pub(crate) type IdsByKind<'a> = BTreeMap<&'static str, BTreeSet<&'a str>>;

/// The organizations among these that are no schools, with their types, and the other ids whose records are deleted;
/// one statement for all of them.
pub(crate) fn unfit(
    tx: &mut Tx<'_>,
    schools: &BTreeSet<&str>,
    in_use: &IdsByKind<'_>,
) -> Result<HashMap<(String, String), String>> {
    let mut sql = Sql::new(tx.dialect());
    if !schools.is_empty() {
        among(&mut sql, "school", "orgs", "t.type", schools)?.push(" AND t.type <> 'school'");
    }
    for (one, ids) in in_use.iter().filter(|(_, ids)| !ids.is_empty()) {
        let table = kinds::by_name(one).expect("rules name declared kinds").table;
        among(&mut sql, one, table, "t.status", ids)?.push(" AND t.status <> 'active'");
    }
    let mut found = HashMap::new();
    if sql.text.is_empty() {
        return Ok(found);
    }
    tx.query(&sql.text, &sql.values(), |row| {
        found.insert((row.string(0)?, row.string(1)?), row.string(2)?);
        Ok(true)
    })?;
    Ok(found)
}

fn among<'s>(
    sql: &'s mut Sql,
    what: &str,
    table: &str,
    shown: &str,
    ids: &BTreeSet<&str>,
) -> Result<&'s mut Sql> {
    if !sql.text.is_empty() {
        sql.push(" UNION ALL ");
    }
    sql.push(&format!("SELECT '{what}', t.sourced_id, {shown} FROM {table} t WHERE "));
    let list = serde_json::to_string(ids).map_err(Problem::internal)?;
    let placeholder = sql.placeholder(list.as_str());
    let is_among = dialect::is_one_of(sql.dialect, "t.sourced_id", &placeholder);
    Ok(sql.push(&is_among))
}

/// Makes the transaction depend on a record that a rule read, as if it had written it: of two
/// transactions that could break the rule together, one runs again. Requests are serializable without it;
/// imports are not (decision 089). SQLite runs one transaction after the other.
pub(crate) fn depend_on(tx: &mut Tx<'_>, kind: &RecordKind, sourced_id: &str) -> Result<()> {
    if tx.dialect() == SqlDialect::Sqlite {
        return Ok(());
    }
    // A transaction that depends on the record already does not write it again.
    let sql = format!(
        "UPDATE {} SET version = version WHERE sourced_id = $1 AND xmin <> pg_current_xact_id()::xid",
        kind.table
    );
    tx.send(&sql, &[sourced_id.into()])
}

/// A record that names the organization as its school: its kind and sourcedId.
pub(crate) fn of_school(tx: &mut Tx<'_>, org: &str) -> Result<Option<(&'static str, String)>> {
    for kind in [&CLASS, &ENROLLMENT, &LINE_ITEM] {
        let sql = format!("SELECT sourced_id FROM {} WHERE school_id = $1 LIMIT 1", kind.table);
        if let Some(id) = tx.query_one(&sql, &[org.into()], |row| row.string(0))? {
            return Ok(Some((kind.one, id)));
        }
    }
    Ok(None)
}

/// A component in use below the given one that belongs to another course.
pub(crate) fn child_of_another_course(
    tx: &mut Tx<'_>,
    component: &str,
    course: &str,
) -> Result<Option<String>> {
    let sql = "SELECT sourced_id FROM course_components \
               WHERE parent_id = $1 AND course_id <> $2 AND status = 'active' LIMIT 1";
    tx.query_one(sql, &[component.into(), course.into()], |row| row.string(0))
}
