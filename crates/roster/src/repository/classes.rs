//! Who is in which class, in a statement however many they are.

use std::collections::HashMap;

use lyceum_core::Result;
use lyceum_store::Tx;

/// How many people are in a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Those who learn.
    pub students: i64,
    /// Those who teach.
    pub teachers: i64,
}

/// The numbers of active users with active enrollments in each class that has any, by its sourcedId.
pub fn class_sizes(tx: &mut Tx<'_>) -> Result<HashMap<String, Members>> {
    let sql = "SELECT e.class_id, e.role, COUNT(DISTINCT e.user_id) FROM enrollments e \
               JOIN users u ON u.sourced_id = e.user_id WHERE e.status = 'active' \
               AND u.status = 'active' AND e.role IN ('student', 'teacher') \
               GROUP BY e.class_id, e.role";
    let mut sizes: HashMap<String, Members> = HashMap::new();
    tx.query(sql, &[], |row| {
        let members = sizes.entry(row.text(0)?.to_owned()).or_default();
        match row.text(1)? {
            "student" => members.students = row.int(2)?,
            _ => members.teachers = row.int(2)?,
        }
        Ok(true)
    })?;
    Ok(sizes)
}

/// Active users with an active enrollment of that role in a class: sourcedId, first and last name, by
/// their names.
pub fn in_class(tx: &mut Tx<'_>, class: &str, role: &str) -> Result<Vec<(String, String, String)>> {
    let sql = "SELECT DISTINCT u.sourced_id, u.given_name, u.family_name FROM enrollments e \
               JOIN users u ON u.sourced_id = e.user_id WHERE e.class_id = $1 AND e.role = $2 \
               AND e.status = 'active' AND u.status = 'active' \
               ORDER BY u.family_name, u.given_name, u.sourced_id";
    let mut found = Vec::new();
    tx.query(sql, &[class.into(), role.into()], |row| {
        let name = |column| {
            Ok::<_, lyceum_core::Problem>(row.opt_text(column)?.unwrap_or_default().to_owned())
        };
        found.push((row.text(0)?.to_owned(), name(1)?, name(2)?));
        Ok(true)
    })?;
    Ok(found)
}
