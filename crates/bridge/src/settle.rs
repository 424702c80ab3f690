//! Settles enrollments: it continues enrollments of an earlier school year in the current one, and enrolls users as
//! subject tracks say. This happens when a user's enrollments are read or changed, when a track or a user is written,
//! and periodically for all users.
//!
//! An enrollment by course lasts until somebody ends it, so an active one in a default class continues in that of the
//! next year. The former record stays in its class with the last day of its year, because class lists of former years
//! are evidence. Ids follow from class, user and role, so this may run twice or on several servers at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Result};
use lyceum_roster::default_class::{self, SchoolYear};
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COURSE, ENROLLMENT, USER};
use lyceum_roster::membership;
use lyceum_roster::record::{Object, Record};
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde_json::json;

use crate::enroll;
use crate::limits;
use crate::repository;
use crate::resolved_enrollments::{self, ResolvedEnrollment};
use crate::student::EnrollingStudent;
use crate::tracks::Track;

/// The users whose enrollments are settled.
#[derive(Clone, Debug)]
pub enum SettledUsers {
    /// Every user.
    Everybody,
    /// The users in a grade, given in its comparable form ([`lyceum_roster::grade::comparable`]).
    Grade(String),
}

/// The enrollments that are due for some users.
#[derive(Default)]
pub(crate) struct DueEnrollments {
    /// Enrollments in default classes of earlier school years.
    of_past_years: Vec<ResolvedEnrollment>,
    /// Enrollments in the courses to which tracks lead.
    by_tracks: Vec<TrackEnrollment>,
    /// `(user, course, school, role)` of the enrollments of this school year.
    present: HashSet<(String, String, String, String)>,
}

/// An enrollment of a student in the course of a track.
struct TrackEnrollment {
    user: String,
    track: String,
    course: String,
    school: String,
    /// Whether the student is already enrolled in the course.
    is_enrolled: bool,
}

impl DueEnrollments {
    pub(crate) fn is_empty(&self) -> bool {
        self.of_past_years.is_empty() && self.by_tracks.is_empty()
    }
}

/// Whether something is due for a page of users, and the user after whom the next page begins.
pub fn find_due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    users: &SettledUsers,
    after: i64,
) -> Result<(bool, Option<i64>)> {
    let (users, next) = page(tx, users, after)?;
    Ok((!due_enrollments(tx, now, &users)?.is_empty(), next))
}

/// Settles the enrollments of a page of users.
pub fn settle(tx: &mut Tx<'_>, now: Timestamp, users: &SettledUsers, after: i64) -> Result<()> {
    let (users, _) = page(tx, users, after)?;
    let due = due_enrollments(tx, now, &users)?;
    perform(tx, now, &due)
}

/// Enrolls users whose records were just written as tracks say. This needs one statement if there is no track in their
/// grades, and none for users who are not students. Records of other kinds are ignored.
pub fn after_write(
    tx: &mut Tx<'_>,
    now: Timestamp,
    kind: &RecordKind,
    records: &[Object],
) -> Result<()> {
    if kind.one != USER.one {
        return Ok(());
    }
    let most = usize::try_from(limits::SETTLE_PAGE_RECORDS).unwrap_or(usize::MAX);
    let is_student = |user: &&Object| fields::is_in_use(user) && EnrollingStudent::of(user).learns;
    let students: Vec<Object> = records.iter().filter(is_student).cloned().collect();
    for students in students.chunks(most) {
        let grades: Vec<String> =
            students.iter().flat_map(|user| EnrollingStudent::of(user).grades).collect();
        if !repository::tracks_of_grades(tx, grades.iter())?.is_empty() {
            let due = due_enrollments(tx, now, students)?;
            perform(tx, now, &due)?;
        }
    }
    Ok(())
}

fn page(tx: &mut Tx<'_>, users: &SettledUsers, after: i64) -> Result<(Vec<Object>, Option<i64>)> {
    let most = limits::SETTLE_PAGE_RECORDS;
    let stored = match users {
        SettledUsers::Everybody => roster::page(tx, &USER, after, most)?,
        SettledUsers::Grade(grade) => roster::linked(tx, &USER, "user.grades", grade, after, most)?,
    };
    let is_full = i64::try_from(stored.len()) == Ok(most);
    let next = stored.last().filter(|_| is_full).map(|user| user.seq);
    let users = stored.iter().map(fields::of).collect::<Result<_>>()?;
    Ok((users, next))
}

/// Finds what is due for the users, with two to seven statements for any number of users.
pub(crate) fn due_enrollments(
    tx: &mut Tx<'_>,
    now: Timestamp,
    users: &[Object],
) -> Result<DueEnrollments> {
    let students: Vec<EnrollingStudent> = users.iter().map(EnrollingStudent::of).collect();
    let ids: Vec<&str> = students.iter().map(|student| student.id.as_str()).collect();
    let enrollments = resolved_enrollments::of_users(tx, now, &ids)?;
    let tracks = repository::tracks_of_grades(tx, students.iter().flat_map(|s| &s.grades))?;
    let this_year = SchoolYear::of(now);
    let (of_past_years, lasting): (Vec<ResolvedEnrollment>, Vec<ResolvedEnrollment>) = enrollments
        .into_iter()
        .partition(|enrollment| enrollment.year.is_some_and(|year| year < this_year));
    if tracks.is_empty() && of_past_years.is_empty() {
        return Ok(DueEnrollments::default());
    }
    let courses =
        tracks.iter().map(|track| &track.course).chain(of_past_years.iter().map(|p| &p.course));
    let courses = fields::of_all(tx, &COURSE, courses.map(String::as_str))?;
    let is_taught = |course: &str| {
        courses.get(course).is_some_and(|course| fields::text(course, "status") == "active")
    };
    let of_past_years: Vec<ResolvedEnrollment> =
        of_past_years.into_iter().filter(|p| is_taught(&p.course)).collect();
    let enrolled_before = repository::enrolled_by_tracks(tx, &ids)?;
    let attends: HashSet<(&str, &str)> = of_past_years
        .iter()
        .chain(&lasting)
        .filter(|enrollment| enrollment.role == "student")
        .map(|enrollment| (enrollment.user.as_str(), enrollment.course.as_str()))
        .collect();
    let roots = tracks.iter().map(|track| track.org.as_str()).filter(|org| !org.is_empty());
    let orgs = students.iter().flat_map(|student| &student.orgs).map(String::as_str);
    let levels = repository::levels_below(tx, &roots.collect(), &orgs.collect())?;
    let mut by_tracks = Vec::new();
    for student in students.iter().filter(|student| student.learns) {
        for track in leading(student, &tracks, &levels).filter(|track| is_taught(&track.course)) {
            let key = (student.id.clone(), track.id.clone(), track.course.clone());
            if !enrolled_before.contains(&key) {
                let is_enrolled = attends.contains(&(student.id.as_str(), track.course.as_str()));
                let (user, track, course) = key;
                by_tracks.push(TrackEnrollment {
                    user,
                    track,
                    course,
                    school: student.school.clone(),
                    is_enrolled,
                });
            }
        }
    }
    let present = lasting.into_iter().map(|p| (p.user, p.course, p.school, p.role)).collect();
    Ok(DueEnrollments { of_past_years, by_tracks, present })
}

/// The tracks that apply to the student. For each subject and grade, it is the track of the nearest organization: of the
/// student's own ones in their order, then of those above them; otherwise the track for all organizations.
fn leading<'a>(
    student: &EnrollingStudent,
    tracks: &'a [Track],
    levels: &HashMap<(String, String), i64>,
) -> impl Iterator<Item = &'a Track> {
    let rank = |track: &Track| match track.org.as_str() {
        "" => Some((i64::MAX, 0)),
        org => {
            let level = |own: &String| levels.get(&(org.to_owned(), own.clone())).copied();
            let own = student.orgs.iter().enumerate();
            own.filter_map(|(place, own)| Some((level(own)?, place))).min()
        }
    };
    let mut best: BTreeMap<(&str, &str), (_, &Track)> = BTreeMap::new();
    for track in tracks.iter().filter(|track| student.grades.contains(&track.grade_value)) {
        let Some(rank) = rank(track) else { continue };
        let key = (track.subject_value.as_str(), track.grade_value.as_str());
        if best.get(&key).is_none_or(|(other, _)| rank < *other) {
            best.insert(key, (rank, track));
        }
    }
    best.into_values().map(|(_, track)| track)
}

/// Creates and changes the due enrollments.
pub(crate) fn perform(tx: &mut Tx<'_>, now: Timestamp, due: &DueEnrollments) -> Result<()> {
    let mut classes = DefaultClasses { now, class_ids: HashMap::new() };
    let (mut ended, mut new) = (Vec::new(), Vec::new());
    for enrollment in &due.of_past_years {
        let key = (
            enrollment.user.clone(),
            enrollment.course.clone(),
            enrollment.school.clone(),
            enrollment.role.clone(),
        );
        if !due.present.contains(&key) {
            let Some(class) = classes.of(tx, &enrollment.course, &enrollment.school)? else {
                continue;
            };
            new.push(Record::from_server(&ENROLLMENT, &continued(enrollment, &class, now), now)?);
        }
        ended.push(Record::from_server(&ENROLLMENT, &ended_last_year(enrollment), now)?);
    }
    let mut enrolled_now = Vec::new();
    for enrollment in &due.by_tracks {
        if !enrollment.is_enrolled {
            let Some(class) = classes.of(tx, &enrollment.course, &enrollment.school)? else {
                continue;
            };
            new.push(Record::from_server(
                &ENROLLMENT,
                &enrollment_of_today(enrollment, &class, now),
                now,
            )?);
        }
        enrolled_now.push([&enrollment.user, &enrollment.track, &enrollment.course]);
    }
    // Two tracks of a student may lead to the same course.
    let mut seen = HashSet::new();
    new.retain(|enrollment| seen.insert(enrollment.sourced_id.clone()));
    roster::put_all(tx, &ENROLLMENT, &ended)?;
    // If the id exists, somebody ended that enrollment, and it stays ended.
    roster::create_all(tx, &ENROLLMENT, &new)?;
    repository::note_enrolled_by_tracks(tx, enrolled_now.into_iter())
}

/// The default classes of this school year. Each is found or created once; `None` if it cannot be created.
struct DefaultClasses {
    now: Timestamp,
    class_ids: HashMap<(String, String), Option<String>>,
}

impl DefaultClasses {
    /// Finds or creates a class. If that fails, its students wait, and other students are not affected.
    fn of(&mut self, tx: &mut Tx<'_>, course: &str, school: &str) -> Result<Option<String>> {
        let key = (course.to_owned(), school.to_owned());
        if let Some(class) = self.class_ids.get(&key) {
            return Ok(class.clone());
        }
        let class = match default_class::find_or_make(tx, self.now, course, Some(school)) {
            Err(problem)
                if matches!(problem.kind, ProblemKind::Conflict | ProblemKind::Invalid) =>
            {
                tracing::warn!(course, school, %problem, "cannot create the default class; its students are enrolled later");
                None
            }
            id => Some(id?),
        };
        self.class_ids.insert(key, class.clone());
        Ok(class)
    }
}

/// The enrollment as it stays in the class of the past school year. If it would have begun later, it is deleted.
fn ended_last_year(enrollment: &ResolvedEnrollment) -> Object {
    let mut fields = enrollment.fields.clone();
    let last_day =
        enrollment.year.expect("only enrollments of a past school year are continued").last_day();
    if *fields::text(&fields, "beginDate") > *last_day {
        fields.insert("status".into(), "tobedeleted".into());
    } else {
        fields.insert("endDate".into(), last_day.into());
    }
    fields
}

/// The enrollment as it continues in the class of this school year. Role and metadata stay, and so do dates in the
/// future.
fn continued(enrollment: &ResolvedEnrollment, class: &str, now: Timestamp) -> Object {
    let mut fields = enrollment.fields.clone();
    fields.insert("sourcedId".into(), enroll::id(class, &enrollment.user, &enrollment.role).into());
    fields.insert("class".into(), json!({ "sourcedId": class }));
    let first_day = SchoolYear::of(now).first_day();
    if *fields::text(&fields, "beginDate") < *first_day {
        fields.insert("beginDate".into(), first_day.into());
    }
    fields
}

fn enrollment_of_today(enrollment: &TrackEnrollment, class: &str, now: Timestamp) -> Object {
    let fields = json!({
        "sourcedId": enroll::id(class, &enrollment.user, "student"),
        "user": { "sourcedId": enrollment.user },
        "class": { "sourcedId": class },
        "school": { "sourcedId": enrollment.school },
        "course": { "sourcedId": enrollment.course },
        "role": "student",
        "beginDate": membership::day(now),
    });
    match fields {
        serde_json::Value::Object(fields) => fields,
        _ => unreachable!("json! with braces makes an object"),
    }
}
