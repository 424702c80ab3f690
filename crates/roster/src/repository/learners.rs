//! Everybody who learns, in a few statements however many they are.

use std::collections::HashMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_store::{Sql, Tx, columns, dialect};

use super::classes::{ClassMember, is_member};
use super::reach::{self, RecordUse};
use super::walk::OrganizationWalk;
use crate::kinds::USER;
use crate::record::Record;

/// A user with the role of a student.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedStudent {
    /// The sourcedId.
    pub id: String,
    /// The first name.
    pub given_name: String,
    /// The last name.
    pub family_name: String,
    /// The e-mail address.
    pub email: String,
    /// The sourcedId of the primary organization; else that of one at which the user has a role.
    pub org: String,
    /// The first of the grades, as grades compare.
    pub grade: String,
}

impl ListedStudent {
    /// First and last name; the sourcedId if there is neither.
    pub fn name(&self) -> String {
        let name = format!("{} {}", self.given_name, self.family_name);
        if name.trim().is_empty() { self.id.clone() } else { name.trim().to_owned() }
    }
}

/// Every active user within the reach with the role of a student, in the order of their creation.
pub fn learners(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<ListedStudent>> {
    let mut grades = first_links(tx, "user.grades")?;
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!(
        "SELECT t.seq, t.sourced_id, t.given_name, t.family_name, t.email, t.primary_org_id \
         FROM roster_link r {} WHERE r.field = 'user.roles.role' AND r.value = 'student' \
         AND t.status = 'active' AND ",
        dialect::look_up(sql.dialect, "users", "t", "t.seq = r.owner")
    ));
    match OrganizationWalk::of(&USER, reach)? {
        Some(walk) => walk.within(&mut sql, None),
        None => reach::condition(&mut sql, (&USER, "t"), reach, RecordUse::See)?,
    }
    sql.push(" ORDER BY r.owner");
    let (mut learners, mut without_primary_org) = (Vec::new(), Vec::new());
    tx.query(&sql.text, &sql.values(), |row| {
        let seq = row.int(0)?;
        let text = |column| Ok(row.opt_text(column)?.unwrap_or_default().to_owned());
        let learner = ListedStudent {
            id: text(1)?,
            given_name: text(2)?,
            family_name: text(3)?,
            email: text(4)?,
            org: text(5)?,
            grade: grades.remove(&seq).unwrap_or_default(),
        };
        if learner.org.is_empty() {
            without_primary_org.push((learners.len(), seq));
        }
        learners.push(learner);
        Ok::<_, Problem>(true)
    })?;
    if !without_primary_org.is_empty() {
        let mut orgs = first_links(tx, "user.roles.org")?;
        for (at, seq) in without_primary_org {
            learners[at].org = orgs.remove(&seq).unwrap_or_default();
        }
    }
    Ok(learners)
}

/// The active user within the reach with this sourcedId and the role of a student. Errors: `NotFound`.
pub fn student(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<ClassMember> {
    let mut sql = Sql::new(tx.dialect());
    sql.push(
        "SELECT t.given_name, t.family_name, t.email FROM users t WHERE t.status = 'active' \
         AND EXISTS (SELECT 1 FROM roster_link r WHERE r.field = 'user.roles.role' \
         AND r.value = 'student' AND r.owner = t.seq) AND t.sourced_id = ",
    );
    sql.bind(id).push(" AND ");
    reach::condition(&mut sql, (&USER, "t"), reach, RecordUse::See)?;
    let found = tx.query_one(&sql.text, &sql.values(), |row| {
        let text = |column| row.opt_text(column).map(|text| text.unwrap_or_default().to_owned());
        let name = format!("{} {}", text(0)?, text(1)?).trim().to_owned();
        Ok(ClassMember { id: id.to_owned(), name, email: text(2)? })
    })?;
    found.ok_or_else(|| Problem::not_found("student", id))
}

/// The sourcedIds of the active users with this username, however it is spelled.
pub fn users_with_username(tx: &mut Tx<'_>, username: &str) -> Result<Vec<String>> {
    let sql = "SELECT sourced_id FROM users WHERE lower(username) = $1 AND status = 'active' \
               ORDER BY seq LIMIT 10";
    // Both stores change the case of ASCII letters only.
    tx.all(sql, &[username.to_ascii_lowercase().as_str().into()], |row| row.string(0))
}

/// The first active user with the username of each of these users, by the username in lower case.
pub(crate) fn first_users_with_usernames(
    tx: &mut Tx<'_>,
    users: &[Record],
) -> Result<HashMap<String, String>> {
    let usernames = users.iter().filter_map(|user| user.column("username"));
    let usernames: Vec<String> = usernames.map(str::to_ascii_lowercase).collect();
    if usernames.is_empty() {
        return Ok(HashMap::new());
    }
    let list = serde_json::to_string(&usernames).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT lower(t.username), t.sourced_id FROM users t WHERE {} AND t.status = 'active' \
         AND NOT EXISTS (SELECT 1 FROM users o WHERE lower(o.username) = lower(t.username) \
         AND o.status = 'active' AND o.seq < t.seq)",
        dialect::is_one_of(tx.dialect(), "lower(t.username)", "$1")
    );
    let mut found = HashMap::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        found.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
        Ok(true)
    })?;
    Ok(found)
}

/// Whether an active student has the e-mail address, which other users may share.
pub fn has_student_with_email(tx: &mut Tx<'_>, email: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM users t WHERE lower(t.email) = $1 AND t.status = 'active' \
               AND EXISTS (SELECT 1 FROM roster_link r WHERE r.field = 'user.roles.role' \
               AND r.value = 'student' AND r.owner = t.seq) LIMIT 1";
    let email = email.to_ascii_lowercase();
    Ok(tx.query_one(sql, &[email.as_str().into()], |_| Ok(()))?.is_some())
}

/// The first member of that list, by the number of its owner.
fn first_links(tx: &mut Tx<'_>, field: &str) -> Result<HashMap<i64, String>> {
    let sql = "SELECT owner, value FROM roster_link WHERE field = $1";
    let mut found: HashMap<i64, String> = HashMap::new();
    // Nearly every list has one member, so the store would sort for nothing.
    tx.query(sql, &[field.into()], |row| {
        let (owner, value) = (row.int(0)?, row.text(1)?);
        match found.get_mut(&owner) {
            Some(first) if first.as_str() <= value => {}
            Some(first) => value.clone_into(first),
            None => drop(found.insert(owner, value.to_owned())),
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Hands every enrollment with which one of the students, or any student, is a member of a class now, and whose course is
/// in use, to `each`: the user, and the place of the course among the returned sourcedIds.
pub fn each_learning(
    tx: &mut Tx<'_>,
    now: Timestamp,
    students: Option<&[&str]>,
    mut each: impl FnMut(&str, usize),
) -> Result<Vec<String>> {
    let mut courses = CoursePlaces::default();
    let mut sql = Sql::new(tx.dialect());
    if students.is_some() {
        sql.push(
            "SELECT e.user_id, c.course_id FROM enrollments e \
             JOIN classes c ON c.sourced_id = e.class_id \
             JOIN courses k ON k.sourced_id = c.course_id AND k.status = 'active' WHERE ",
        );
        is_learning(&mut sql, now, students)?;
        tx.query(&sql.text, &sql.values(), |row| {
            each(row.text(0)?, courses.of(row.text(1)?));
            Ok(true)
        })?;
        return Ok(courses.ids);
    }
    // Looking up the class of every enrollment would cost more than reading all classes once.
    let of_classes = "SELECT c.sourced_id, c.course_id FROM classes c \
                      JOIN courses k ON k.sourced_id = c.course_id AND k.status = 'active'";
    let mut places_by_class: HashMap<String, usize> = HashMap::new();
    tx.query(of_classes, &[], |row| {
        places_by_class.insert(row.text(0)?.to_owned(), courses.of(row.text(1)?));
        Ok(true)
    })?;
    sql.push("SELECT e.user_id, e.class_id FROM enrollments e WHERE ");
    is_learning(&mut sql, now, None)?;
    tx.query(&sql.text, &sql.values(), |row| {
        let place = row.opt_text(1)?.and_then(|class| places_by_class.get(class));
        if let (Some(user), Some(place)) = (row.opt_text(0)?, place) {
            each(user, *place);
        }
        Ok(true)
    })?;
    Ok(courses.ids)
}

/// The sourcedIds of courses, each once, and the place of each.
#[derive(Default)]
struct CoursePlaces {
    ids: Vec<String>,
    places: HashMap<String, usize>,
}

impl CoursePlaces {
    fn of(&mut self, course: &str) -> usize {
        if let Some(place) = self.places.get(course) {
            return *place;
        }
        self.ids.push(course.to_owned());
        self.places.insert(course.to_owned(), self.ids.len() - 1);
        self.ids.len() - 1
    }
}

/// An enrollment that sets a daily goal of its own.
#[derive(Debug)]
pub struct OwnGoal {
    /// The sourcedId of the student.
    pub student: String,
    /// The sourcedId of the course.
    pub course: String,
    /// The canonical JSON of the enrollment.
    pub body: String,
}

columns!(OwnGoal { student: "e.user_id", course: "c.course_id", body: "e.body" });

/// The enrollments of [`each_learning`] that may set a daily goal of their own.
pub fn own_goals(
    tx: &mut Tx<'_>,
    now: Timestamp,
    students: Option<&[&str]>,
) -> Result<Vec<OwnGoal>> {
    let mut sql = Sql::new(tx.dialect());
    // An index has the enrollments with this text.
    sql.push(&format!(
        "SELECT {} FROM enrollments e JOIN classes c ON c.sourced_id = e.class_id \
         JOIN courses k ON k.sourced_id = c.course_id AND k.status = 'active' \
         WHERE e.body LIKE '%\"dailyXp\"%' AND ",
        OwnGoal::COLUMNS
    ));
    is_learning(&mut sql, now, students)?;
    tx.rows(&sql.text, &sql.values())
}

/// Appends the condition that the enrollment `e` makes one of the students, or any student, a member of a class now.
fn is_learning(sql: &mut Sql, now: Timestamp, students: Option<&[&str]>) -> Result<()> {
    sql.push("e.role = 'student' AND ");
    is_member(sql, "e", now);
    if let Some(students) = students {
        let ids = serde_json::to_string(students).map_err(Problem::internal)?;
        let placeholder = sql.placeholder(ids.as_str());
        let is_one = dialect::is_one_of(sql.dialect, "e.user_id", &placeholder);
        sql.push(" AND ").push(&is_one);
    }
    Ok(())
}

/// The sourcedIds of the active users with these e-mail addresses, which are in lower case; of several
/// with one, the one that was created first.
pub fn users_with_emails(tx: &mut Tx<'_>, emails: &[&str]) -> Result<HashMap<String, String>> {
    let list = serde_json::to_string(emails).map_err(Problem::internal)?;
    let sql = format!(
        "SELECT lower(t.email), t.sourced_id FROM users t WHERE {} AND t.status = 'active' \
         ORDER BY t.seq",
        dialect::is_one_of(tx.dialect(), "lower(t.email)", "$1")
    );
    let mut found = HashMap::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        let (email, id) = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
        found.entry(email).or_insert(id);
        Ok(true)
    })?;
    Ok(found)
}
