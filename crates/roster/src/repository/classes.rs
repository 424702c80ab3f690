//! Who is in which class, in a statement however many they are.

use std::collections::HashMap;

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value, dialect};

/// The numbers of people in a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// Those who learn.
    pub students: i64,
    /// Those who teach.
    pub teachers: i64,
}

/// The numbers of active users with active enrollments in each of the classes that has any, or in each of all
/// classes, by its sourcedId.
pub fn class_sizes(
    tx: &mut Tx<'_>,
    classes: Option<&[&str]>,
) -> Result<HashMap<String, MemberCounts>> {
    let mut sql = "SELECT e.class_id, e.role, COUNT(DISTINCT e.user_id) FROM enrollments e \
                   JOIN users u ON u.sourced_id = e.user_id WHERE e.status = 'active' \
                   AND u.status = 'active' AND e.role IN ('student', 'teacher')"
        .to_owned();
    let ids = classes.map(serde_json::to_string).transpose().map_err(Problem::internal)?;
    if ids.is_some() {
        sql += " AND ";
        sql += &dialect::is_one_of(tx.dialect(), "e.class_id", "$1");
    }
    sql += " GROUP BY e.class_id, e.role";
    let mut sizes: HashMap<String, MemberCounts> = HashMap::new();
    tx.query(&sql, &ids.iter().map(Value::from).collect::<Vec<_>>(), |row| {
        let members = sizes.entry(row.text(0)?.to_owned()).or_default();
        match row.text(1)? {
            "student" => members.students = row.int(2)?,
            _ => members.teachers = row.int(2)?,
        }
        Ok(true)
    })?;
    Ok(sizes)
}

/// How many active classes each course has that has any, by its sourcedId.
pub fn class_counts(tx: &mut Tx<'_>) -> Result<HashMap<String, i64>> {
    let sql = "SELECT course_id, COUNT(*) FROM classes \
               WHERE status = 'active' AND course_id IS NOT NULL GROUP BY course_id";
    let counts = tx.all(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    Ok(counts.into_iter().collect())
}

/// Somebody who is in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassMember {
    /// The sourcedId.
    pub id: String,
    /// First and last name; empty if both are missing.
    pub name: String,
    /// The e-mail address; empty if it is missing.
    pub email: String,
}

/// Active users with an active enrollment of that role in a class, by their names.
pub fn in_class(tx: &mut Tx<'_>, class: &str, role: &str) -> Result<Vec<ClassMember>> {
    let sql = "SELECT DISTINCT u.sourced_id, u.given_name, u.family_name, u.email \
               FROM enrollments e JOIN users u ON u.sourced_id = e.user_id \
               WHERE e.class_id = $1 AND e.role = $2 AND e.status = 'active' \
               AND u.status = 'active' ORDER BY u.family_name, u.given_name, u.sourced_id";
    let mut found = Vec::new();
    tx.query(sql, &[class.into(), role.into()], |row| {
        let text = |column| row.opt_text(column).map(|text| text.unwrap_or_default().to_owned());
        let name = format!("{} {}", text(1)?, text(2)?).trim().to_owned();
        found.push(ClassMember { id: text(0)?, name, email: text(3)? });
        Ok(true)
    })?;
    Ok(found)
}
