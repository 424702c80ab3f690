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

/// Somebody who is in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The sourcedId.
    pub id: String,
    /// First and last name; empty where there is neither.
    pub name: String,
    /// The e-mail address; empty where there is none.
    pub email: String,
}

/// Active users with an active enrollment of that role in a class, by their names.
pub fn in_class(tx: &mut Tx<'_>, class: &str, role: &str) -> Result<Vec<Member>> {
    let sql = "SELECT DISTINCT u.sourced_id, u.given_name, u.family_name, u.email \
               FROM enrollments e JOIN users u ON u.sourced_id = e.user_id \
               WHERE e.class_id = $1 AND e.role = $2 AND e.status = 'active' \
               AND u.status = 'active' ORDER BY u.family_name, u.given_name, u.sourced_id";
    let mut found = Vec::new();
    tx.query(sql, &[class.into(), role.into()], |row| {
        let text = |column| row.opt_text(column).map(|text| text.unwrap_or_default().to_owned());
        let name = format!("{} {}", text(1)?, text(2)?).trim().to_owned();
        found.push(Member { id: text(0)?, name, email: text(3)? });
        Ok(true)
    })?;
    Ok(found)
}
