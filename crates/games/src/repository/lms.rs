//! Games' courses, and players' activities in them.

use lyceum_core::Result;
use lyceum_roster::kind::RecordKind;
use lyceum_store::{Tx, Value, columns};
use schemars::JsonSchema;
use serde::Serialize;

use super::levels::Xp;

/// A course that a game teaches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaughtCourse {
    /// The course's sourcedId.
    pub course_id: String,
    /// The subject, such as `Math`.
    pub subject: String,
    /// The grade in OneRoster's form.
    pub grade: String,
    /// Its title.
    pub title: String,
    /// Its code.
    pub course_code: String,
    /// Total XP.
    pub total_xp: Xp,
    /// Units to master; 0 if they are not counted.
    pub masterable_units: Xp,
}

columns!(TaughtCourse {
    course_id: "course_id",
    subject: "subject",
    grade: "grade",
    title: "title",
    course_code: "course_code",
    total_xp: "total_xp",
    masterable_units: "masterable_units",
});

/// The courses of a game and their organization; `None` if it has none.
pub(crate) fn courses(tx: &mut Tx<'_>, game: &str) -> Result<Option<(String, Vec<TaughtCourse>)>> {
    let columns = TaughtCourse::COLUMNS;
    let sql =
        format!("SELECT {columns}, org_id FROM lms_courses WHERE game_id = $1 ORDER BY number");
    let rows: Vec<(TaughtCourse, String)> = tx.rows(&sql, &[game.into()])?;
    let (courses, orgs): (Vec<TaughtCourse>, Vec<String>) = rows.into_iter().unzip();
    Ok(orgs.into_iter().next().map(|org| (org, courses)))
}

/// Replaces the courses of a game.
pub(crate) fn set_courses(
    tx: &mut Tx<'_>,
    game: &str,
    org: &str,
    courses: &[TaughtCourse],
) -> Result<()> {
    delete_courses(tx, game)?;
    let values: Vec<Value<'_>> = (0..)
        .zip(courses)
        .flat_map(|(number, course)| {
            [
                game.into(),
                Value::Int(number),
                (&course.course_id).into(),
                org.into(),
                (&course.subject).into(),
                (&course.grade).into(),
                (&course.title).into(),
                (&course.course_code).into(),
                course.total_xp.0.into(),
                course.masterable_units.0.into(),
            ]
        })
        .collect();
    let columns = [
        "game_id",
        "number",
        "course_id",
        "org_id",
        "subject",
        "grade",
        "title",
        "course_code",
        "total_xp",
        "masterable_units",
    ];
    tx.send_rows("lms_courses", &columns, &values, "")
}

pub(crate) fn delete_courses(tx: &mut Tx<'_>, game: &str) -> Result<()> {
    tx.send("DELETE FROM lms_courses WHERE game_id = $1", &[game.into()])
}

/// The platform name of this server's own roster.
pub(crate) const HERE: &str = "";

/// The game whose setup created the record in a platform's roster.
pub(crate) fn creator(
    tx: &mut Tx<'_>,
    platform: &str,
    kind: &RecordKind,
    id: &str,
) -> Result<Option<String>> {
    tx.row(
        "SELECT game_id FROM lms_records WHERE platform = $1 AND kind = $2 AND sourced_id = $3",
        &[platform.into(), kind.one.into(), id.into()],
    )
}

/// Records that the setup of the game created the record. Replaces an entry of a purged record.
pub(crate) fn note_creator(
    tx: &mut Tx<'_>,
    platform: &str,
    kind: &RecordKind,
    id: &str,
    game: &str,
) -> Result<()> {
    tx.send(
        "INSERT INTO lms_records (platform, kind, sourced_id, game_id) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (platform, kind, sourced_id) DO UPDATE SET game_id = excluded.game_id",
        &[platform.into(), kind.one.into(), id.into(), game.into()],
    )
}

/// Forgets who created records of the kind that are no longer in this server's roster.
pub(crate) fn forget_purged(tx: &mut Tx<'_>, kind: &RecordKind) -> Result<()> {
    let sql = format!(
        "DELETE FROM lms_records WHERE platform = $1 AND kind = $2 AND NOT EXISTS \
         (SELECT 1 FROM {} t WHERE t.sourced_id = lms_records.sourced_id)",
        kind.table
    );
    tx.send(&sql, &[HERE.into(), kind.one.into()])
}

/// How often a player has finished an activity, and the reported active time of the current attempt.
pub(crate) fn activity_progress(
    tx: &mut Tx<'_>,
    user: &str,
    course: &str,
    activity: &str,
) -> Result<(i64, i64)> {
    let found = tx.row(
        "SELECT attempts, told_ms FROM lms_activities \
         WHERE user_id = $1 AND course_id = $2 AND activity = $3",
        &[user.into(), course.into(), activity.into()],
    )?;
    Ok(found.unwrap_or_default())
}

/// Records that the player has finished an activity.
pub(crate) fn ended(tx: &mut Tx<'_>, user: &str, course: &str, activity: &str) -> Result<()> {
    tx.send(
        "INSERT INTO lms_activities (user_id, course_id, activity, attempts, told_ms) \
         VALUES ($1, $2, $3, 1, 0) ON CONFLICT (user_id, course_id, activity) DO UPDATE \
         SET attempts = lms_activities.attempts + 1, told_ms = 0",
        &[user.into(), course.into(), activity.into()],
    )
}

/// Adds reported active time to the current attempt.
pub(crate) fn add_active_time(
    tx: &mut Tx<'_>,
    user: &str,
    course: &str,
    activity: &str,
    active_ms: i64,
) -> Result<()> {
    tx.send(
        "INSERT INTO lms_activities (user_id, course_id, activity, attempts, told_ms) \
         VALUES ($1, $2, $3, 0, $4) ON CONFLICT (user_id, course_id, activity) DO UPDATE \
         SET told_ms = lms_activities.told_ms + excluded.told_ms",
        &[user.into(), course.into(), activity.into(), active_ms.into()],
    )
}

/// Adds mastered units of the course.
pub(crate) fn master(tx: &mut Tx<'_>, user: &str, course: &str, units: Xp) -> Result<()> {
    tx.send(
        "INSERT INTO lms_mastery (user_id, course_id, units) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, course_id) DO UPDATE \
         SET units = lms_mastery.units + excluded.units",
        &[user.into(), course.into(), units.0.into()],
    )
}

/// All units that the player has mastered in the course.
pub(crate) fn mastered(tx: &mut Tx<'_>, user: &str, course: &str) -> Result<Xp> {
    let units = tx.row(
        "SELECT units FROM lms_mastery WHERE user_id = $1 AND course_id = $2",
        &[user.into(), course.into()],
    )?;
    Ok(units.unwrap_or_default())
}
