//! The members of classes, in one statement for any number of members.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::text::folded;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, columns, dialect};

use super::reach::{self, RecordUse};
use super::targets::depend_on;
use super::walk::OrganizationWalk;
use crate::kinds::{CLASS, USER};
use crate::membership;

/// The numbers of people in a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// The number of people who learn.
    pub students: i64,
    /// The number of people who teach.
    pub teachers: i64,
}

/// Appends the condition that the enrollment `alias` makes its user a member of the class now: it is active, has begun and
/// has not ended ([`membership::EnrollmentDays::is_current`]).
pub(super) fn is_member(sql: &mut Sql, alias: &str, now: Timestamp) {
    let today = sql.placeholder(membership::day(now).as_str());
    sql.push(&format!(
        "({alias}.status = 'active' AND COALESCE({alias}.begin_date <= {today}, TRUE) \
         AND COALESCE({alias}.end_date >= {today}, TRUE))"
    ));
}

/// The columns of a class that lists show; texts that a class does not have are empty.
#[derive(Debug)]
pub struct ActiveClass {
    /// The sourcedId.
    pub id: String,
    /// Its name.
    pub title: String,
    /// Its short code.
    pub code: String,
    /// The sourcedId of its course.
    pub course: String,
    /// The sourcedId of its school.
    pub school: String,
}

columns!(ActiveClass {
    id: "t.sourced_id",
    title: "COALESCE(t.title, '')",
    code: "COALESCE(t.class_code, '')",
    course: "COALESCE(t.course_id, '')",
    school: "COALESCE(t.school_id, '')",
});

/// The active classes within the reach, in the order of their sourcedIds.
pub fn active_classes(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<ActiveClass>> {
    let mut sql = Sql::new(tx.dialect());
    // Reading the JSON of thousands of classes would take most of the time of a list.
    sql.push(&format!(
        "SELECT {} FROM classes t WHERE t.status = 'active' AND ",
        ActiveClass::COLUMNS
    ));
    match OrganizationWalk::of(&CLASS, reach)? {
        Some(walk) => walk.within(&mut sql, None),
        None => reach::condition(&mut sql, (&CLASS, "t"), reach, RecordUse::See)?,
    }
    sql.push(" ORDER BY t.sourced_id");
    tx.rows(&sql.text, &sql.values())
}

/// The numbers of active users within the reach who are members of each of the classes that has any, by its sourcedId.
pub fn class_sizes(
    tx: &mut Tx<'_>,
    now: Timestamp,
    classes: &[&str],
    reach: &Reach,
) -> Result<HashMap<String, MemberCounts>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT e.class_id, e.role, COUNT(DISTINCT e.user_id) FROM enrollments e \
         JOIN users u ON u.sourced_id = e.user_id \
         WHERE u.status = 'active' AND e.role IN ('student', 'teacher') AND ",
    );
    is_member(&mut sql, "e", now);
    let ids = serde_json::to_string(classes).map_err(Problem::internal)?;
    let placeholder = sql.placeholder(ids.as_str());
    sql.push(" AND ").push(&dialect::is_one_of(tx.dialect(), "e.class_id", &placeholder));
    sql.push(" AND ");
    reach::condition(&mut sql, (&USER, "u"), reach, RecordUse::See)?;
    sql.push(" GROUP BY e.class_id, e.role");
    let mut sizes: HashMap<String, MemberCounts> = HashMap::new();
    tx.query(&sql.text, &sql.values(), |row| {
        let members = sizes.entry(row.text(0)?.to_owned()).or_default();
        match row.text(1)? {
            "student" => members.students = row.int(2)?,
            _ => members.teachers = row.int(2)?,
        }
        Ok(true)
    })?;
    Ok(sizes)
}

/// The course of each of the classes, deleted ones included.
pub(crate) fn courses_of_classes(
    tx: &mut Tx<'_>,
    classes: &BTreeSet<&str>,
) -> Result<HashMap<String, String>> {
    if !tx.is_serializable() {
        for class in classes {
            depend_on(tx, &CLASS, class)?;
        }
    }
    let ids = serde_json::to_string(classes).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT t.sourced_id, t.course_id FROM classes t WHERE t.course_id IS NOT NULL AND {}",
        dialect::is_one_of(tx.dialect(), "t.sourced_id", "$1")
    );
    let courses =
        tx.all(&sql, &[ids.as_str().into()], |row| Ok((row.string(0)?, row.string(1)?)))?;
    Ok(courses.into_iter().collect())
}

/// How many active classes within the reach each course has that has any, by its sourcedId.
pub fn class_counts(tx: &mut Tx<'_>, reach: &Reach) -> Result<HashMap<String, i64>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT t.course_id, COUNT(*) FROM classes t \
         WHERE t.status = 'active' AND t.course_id IS NOT NULL AND ",
    );
    reach::condition(&mut sql, (&CLASS, "t"), reach, RecordUse::See)?;
    sql.push(" GROUP BY t.course_id");
    let counts =
        tx.all(&sql.text, &sql.values(), |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
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

impl ClassMember {
    /// First and last name, or the sourcedId if both are missing.
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }
}

/// Active users within the reach who are members of a class in that role, by their names.
pub fn in_class(
    tx: &mut Tx<'_>,
    now: Timestamp,
    class: &str,
    role: &str,
    reach: &Reach,
) -> Result<Vec<ClassMember>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT DISTINCT u.sourced_id, u.given_name, u.family_name, u.email \
         FROM enrollments e JOIN users u ON u.sourced_id = e.user_id WHERE e.class_id = ",
    );
    sql.bind(class).push(" AND e.role = ").bind(role);
    sql.push(" AND u.status = 'active' AND ");
    is_member(&mut sql, "e", now);
    sql.push(" AND ");
    reach::condition(&mut sql, (&USER, "u"), reach, RecordUse::See)?;
    let mut found = Vec::new();
    tx.query(&sql.text, &sql.values(), |row| {
        let text = |column| row.opt_text(column).map(|text| text.unwrap_or_default().to_owned());
        let (given_name, family) = (text(1)?, text(2)?);
        let name = format!("{given_name} {family}").trim().to_owned();
        let order = (folded(&family), folded(&given_name));
        found.push((order, ClassMember { id: text(0)?, name, email: text(3)? }));
        Ok(true)
    })?;
    found.sort_by(|(a, one), (b, other)| (a, &one.id).cmp(&(b, &other.id)));
    Ok(found.into_iter().map(|(_, member)| member).collect())
}

/// The sourcedIds of the classes of which the user is a member in that role.
pub fn classes_of_member(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    role: &str,
) -> Result<Vec<String>> {
    let mut sql = Sql::new(tx.dialect());
    sql.push("SELECT DISTINCT e.class_id FROM enrollments e WHERE e.user_id = ").bind(user);
    sql.push(" AND e.role = ").bind(role).push(" AND ");
    is_member(&mut sql, "e", now);
    tx.rows(&sql.text, &sql.values())
}

/// The sourcedIds of the students who are members of each of the classes. One statement for all of them.
pub fn students_by_class(
    tx: &mut Tx<'_>,
    now: Timestamp,
    classes: &[&str],
) -> Result<HashMap<String, Vec<String>>> {
    let list = serde_json::to_string(classes).map_err(Problem::internal)?;
    let mut sql = Sql::new(tx.dialect());
    let placeholder = sql.placeholder(list.as_str());
    let is_one = dialect::is_one_of(sql.dialect, "e.class_id", &placeholder);
    sql.push("SELECT DISTINCT e.class_id, e.user_id FROM enrollments e WHERE ");
    sql.push(&is_one).push(" AND e.role = 'student' AND ");
    is_member(&mut sql, "e", now);
    let mut members: HashMap<String, Vec<String>> = HashMap::new();
    for (class, user) in tx.rows::<(String, String)>(&sql.text, &sql.values())? {
        members.entry(class).or_default().push(user);
    }
    Ok(members)
}
