//! Subject tracks and the enrollments that they made.

use std::collections::{BTreeSet, HashMap, HashSet};

use lyceum_core::{Problem, Result};
use lyceum_store::{Tx, Value, columns, dialect};

/// A track as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Its id.
    pub id: String,
    /// Its subject, as sent.
    pub subject: String,
    /// Its grade, as sent.
    pub grade: String,
    /// Its subject in small letters: what is compared.
    pub subject_value: String,
    /// Its grade, as grades compare.
    pub grade_value: String,
    /// The organization for whose students, and those of the organizations below it, it holds; empty, for all.
    pub org: String,
    /// The course to which it leads.
    pub course: String,
}

columns!(Track {
    id: "id",
    subject: "subject",
    grade: "grade",
    subject_value: "subject_value",
    grade_value: "grade_value",
    org: "org_id",
    course: "course_id",
});

const COLUMNS: &str = Track::COLUMNS;

/// All tracks.
pub(crate) fn tracks(tx: &mut Tx<'_>) -> Result<Vec<Track>> {
    tx.rows(&format!("SELECT {COLUMNS} FROM subject_track"), &[])
}

/// The tracks of these grades, in the form in which grades are compared.
pub(crate) fn tracks_of_grades<'a>(
    tx: &mut Tx<'_>,
    grades: impl Iterator<Item = &'a String>,
) -> Result<Vec<Track>> {
    let grades: HashSet<&String> = grades.collect();
    if grades.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM subject_track WHERE {} ORDER BY id",
        dialect::is_one_of(tx.dialect(), "grade_value", "$1")
    );
    let list = serde_json::to_string(&grades).map_err(Problem::internal)?;
    tx.rows(&sql, &[list.as_str().into()])
}

/// How many levels each of the organizations lies below each of the roots that is above it, or the same: by root and
/// organization.
pub(crate) fn levels_below(
    tx: &mut Tx<'_>,
    roots: &BTreeSet<&str>,
    orgs: &BTreeSet<&str>,
) -> Result<HashMap<(String, String), i64>> {
    if roots.is_empty() {
        return Ok(HashMap::new());
    }
    let depth =
        |org: &str| format!("(SELECT COUNT(*) FROM roster_org_below d WHERE d.org = {org})");
    let sql = format!(
        "SELECT b.root, b.org, {} - {} FROM roster_org_below b WHERE {} AND {}",
        depth("b.org"),
        depth("b.root"),
        dialect::is_one_of(tx.dialect(), "b.root", "$1"),
        dialect::is_one_of(tx.dialect(), "b.org", "$2")
    );
    let [roots, orgs] =
        [roots, orgs].map(|ids| serde_json::to_string(ids).map_err(Problem::internal));
    let found = tx.all(&sql, &[roots?.as_str().into(), orgs?.as_str().into()], |row| {
        Ok(((row.string(0)?, row.string(1)?), row.int(2)?))
    })?;
    Ok(found.into_iter().collect())
}

/// Stores a track, and replaces a track with the same id.
pub(crate) fn put_track(tx: &mut Tx<'_>, track: &Track) -> Result<()> {
    let Track { id, subject, grade, subject_value, grade_value, org, course } = track;
    let values = [id, subject, grade, subject_value, grade_value, org, course];
    let sql = format!(
        "INSERT INTO subject_track ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, grade = excluded.grade, \
         course_id = excluded.course_id"
    );
    tx.send(&sql, &values.map(Into::into))?;
    Ok(())
}

/// Deletes a track and the record of the users that it enrolled.
pub(crate) fn delete_track(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.send("DELETE FROM subject_track_led WHERE track_id = $1", &[id.into()])?;
    tx.send("DELETE FROM subject_track WHERE id = $1", &[id.into()])
}

/// The courses in which tracks enrolled these users: `(user, track, course)`.
pub(crate) fn enrolled_by_tracks(
    tx: &mut Tx<'_>,
    users: &[&str],
) -> Result<HashSet<(String, String, String)>> {
    let sql = format!(
        "SELECT user_id, track_id, course_id FROM subject_track_led WHERE {}",
        dialect::is_one_of(tx.dialect(), "user_id", "$1")
    );
    let list = serde_json::to_string(users).map_err(Problem::internal)?;
    let mut enrolled = HashSet::new();
    tx.query(&sql, &[list.as_str().into()], |row| {
        enrolled.insert((
            row.text(0)?.to_owned(),
            row.text(1)?.to_owned(),
            row.text(2)?.to_owned(),
        ));
        Ok(true)
    })?;
    Ok(enrolled)
}

/// Records the courses in which tracks enrolled users: `[user, track, course]`.
pub(crate) fn note_enrolled_by_tracks<'a>(
    tx: &mut Tx<'_>,
    rows: impl Iterator<Item = [&'a String; 3]>,
) -> Result<()> {
    let values: Vec<Value<'_>> = rows.flatten().map(Value::from).collect();
    if !values.is_empty() {
        let columns = ["user_id", "track_id", "course_id"];
        tx.send_rows("subject_track_led", &columns, &values, "ON CONFLICT DO NOTHING")?;
    }
    Ok(())
}
