//! Settles enrollments: it continues enrollments of an earlier school year in the current one, and enrolls users as
//! subject tracks say. This happens when a user's enrollments are read or changed, when a track or a user is written,
//! and periodically for all users (docs/decisions/019, docs/decisions/020).

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
use crate::places::{self, EnrollmentPlace};
use crate::repository;
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
    outlived: Vec<EnrollmentPlace>,
    /// Where tracks lead, and whether the student is already enrolled there.
    led: Vec<Led>,
    /// `(user, course, school, role)` of the enrollments of this school year.
    present: HashSet<(String, String, String, String)>,
}

struct Led {
    user: String,
    track: String,
    course: String,
    school: String,
    is_there: bool,
}

impl DueEnrollments {
    pub(crate) fn is_empty(&self) -> bool {
        self.outlived.is_empty() && self.led.is_empty()
    }
}

/// Whether something is due for a page of users, and the user after whom the next page begins.
pub fn look(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &SettledUsers,
    after: i64,
) -> Result<(bool, Option<i64>)> {
    let (users, next) = page(tx, who, after)?;
    Ok((!due_enrollments(tx, now, &users)?.is_empty(), next))
}

/// Settles the enrollments of a page of users.
pub fn settle(tx: &mut Tx<'_>, now: Timestamp, who: &SettledUsers, after: i64) -> Result<()> {
    let (users, _) = page(tx, who, after)?;
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
    let led = |user: &&Object| fields::is_in_use(user) && EnrollingStudent::of(user).learns;
    let students: Vec<Object> = records.iter().filter(led).cloned().collect();
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

fn page(tx: &mut Tx<'_>, who: &SettledUsers, after: i64) -> Result<(Vec<Object>, Option<i64>)> {
    let most = limits::SETTLE_PAGE_RECORDS;
    let stored = match who {
        SettledUsers::Everybody => roster::page(tx, &USER, after, most)?,
        SettledUsers::Grade(grade) => roster::linked(tx, &USER, "user.grades", grade, after, most)?,
    };
    let is_full = i64::try_from(stored.len()) == Ok(most);
    let next = stored.last().filter(|_| is_full).map(|user| user.seq);
    let users = stored.iter().map(fields::of).collect::<Result<_>>()?;
    Ok((users, next))
}

/// Finds what is due for the users, with two to six statements for any number of users.
pub(crate) fn due_enrollments(
    tx: &mut Tx<'_>,
    now: Timestamp,
    users: &[Object],
) -> Result<DueEnrollments> {
    let students: Vec<EnrollingStudent> = users.iter().map(EnrollingStudent::of).collect();
    let ids: Vec<&str> = students.iter().map(|student| student.id.as_str()).collect();
    let places = places::of_users(tx, now, &ids)?;
    let tracks = repository::tracks_of_grades(tx, students.iter().flat_map(|s| &s.grades))?;
    let this_year = SchoolYear::of(now);
    let (outlived, lasting): (Vec<EnrollmentPlace>, Vec<EnrollmentPlace>) =
        places.into_iter().partition(|place| place.year.is_some_and(|year| year < this_year));
    if tracks.is_empty() && outlived.is_empty() {
        return Ok(DueEnrollments::default());
    }
    let courses =
        tracks.iter().map(|track| &track.course).chain(outlived.iter().map(|p| &p.course));
    let courses = fields::of_all(tx, &COURSE, courses.map(String::as_str))?;
    let is_taught = |course: &str| {
        courses.get(course).is_some_and(|course| fields::text(course, "status") == "active")
    };
    let outlived: Vec<EnrollmentPlace> =
        outlived.into_iter().filter(|p| is_taught(&p.course)).collect();
    let led_before = repository::enrollments_led_by_tracks(tx, &ids)?;
    let attends: HashSet<(&str, &str)> = outlived
        .iter()
        .chain(&lasting)
        .filter(|place| place.role == "student")
        .map(|place| (place.user.as_str(), place.course.as_str()))
        .collect();
    let mut led = Vec::new();
    for student in students.iter().filter(|student| student.learns) {
        for track in leading(student, &tracks).filter(|track| is_taught(&track.course)) {
            let key = (student.id.clone(), track.id.clone(), track.course.clone());
            if !led_before.contains(&key) {
                let is_there = attends.contains(&(student.id.as_str(), track.course.as_str()));
                let (user, track, course) = key;
                led.push(Led { user, track, course, school: student.school.clone(), is_there });
            }
        }
    }
    let present = lasting.into_iter().map(|p| (p.user, p.course, p.school, p.role)).collect();
    Ok(DueEnrollments { outlived, led, present })
}

/// The tracks that apply to the student. For each subject and grade, it is the track of the student's first
/// organization that has one, otherwise the track for all organizations.
fn leading<'a>(student: &EnrollingStudent, tracks: &'a [Track]) -> impl Iterator<Item = &'a Track> {
    let rank = |track: &Track| match track.org.as_str() {
        "" => Some(usize::MAX),
        org => student.orgs.iter().position(|own| own == org),
    };
    let mut best: BTreeMap<(&str, &str), (usize, &Track)> = BTreeMap::new();
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
    let mut classes = DefaultClasses { now, made: HashMap::new() };
    let (mut ended, mut begun) = (Vec::new(), Vec::new());
    for place in &due.outlived {
        let key =
            (place.user.clone(), place.course.clone(), place.school.clone(), place.role.clone());
        if !due.present.contains(&key) {
            let Some(class) = classes.of(tx, &place.course, &place.school)? else { continue };
            begun.push(Record::from_server(&ENROLLMENT, &continued(place, &class, now), now)?);
        }
        ended.push(Record::from_server(&ENROLLMENT, &over(place), now)?);
    }
    let mut led_now = Vec::new();
    for led in &due.led {
        if !led.is_there {
            let Some(class) = classes.of(tx, &led.course, &led.school)? else { continue };
            begun.push(Record::from_server(&ENROLLMENT, &joining(led, &class, now), now)?);
        }
        led_now.push([&led.user, &led.track, &led.course]);
    }
    // Two tracks of a student may lead to the same course.
    let mut seen = HashSet::new();
    begun.retain(|enrollment| seen.insert(enrollment.sourced_id.clone()));
    roster::put_all(tx, &ENROLLMENT, &ended)?;
    // If the id exists, somebody ended that enrollment, and it stays ended.
    roster::create_all(tx, &ENROLLMENT, &begun)?;
    repository::note_led(tx, led_now.into_iter())
}

/// The default classes of this school year. Each is found or created once; `None` if it cannot be created.
struct DefaultClasses {
    now: Timestamp,
    made: HashMap<(String, String), Option<String>>,
}

impl DefaultClasses {
    /// Finds or creates a class. If that fails, its students wait, and other students are not affected.
    fn of(&mut self, tx: &mut Tx<'_>, course: &str, school: &str) -> Result<Option<String>> {
        let key = (course.to_owned(), school.to_owned());
        if let Some(class) = self.made.get(&key) {
            return Ok(class.clone());
        }
        let class = match default_class::find_or_make(tx, self.now, course, Some(school)) {
            Err(problem)
                if matches!(problem.kind, ProblemKind::Conflict | ProblemKind::Invalid) =>
            {
                tracing::warn!(course, school, %problem, "cannot create the default class; its students are enrolled later");
                None
            }
            made => Some(made?),
        };
        self.made.insert(key, class.clone());
        Ok(class)
    }
}

/// The enrollment as it stays in the class of the past school year. If it would have begun later, it is deleted.
fn over(place: &EnrollmentPlace) -> Object {
    let mut fields = place.fields.clone();
    let last_day =
        place.year.expect("only enrollments of a past school year are continued").last_day();
    if *fields::text(&fields, "beginDate") > *last_day {
        fields.insert("status".into(), "tobedeleted".into());
    } else {
        fields.insert("endDate".into(), last_day.into());
    }
    fields
}

/// The enrollment as it continues in the class of this school year. Role and metadata stay, and so do dates in the
/// future.
fn continued(place: &EnrollmentPlace, class: &str, now: Timestamp) -> Object {
    let mut fields = place.fields.clone();
    fields.insert("sourcedId".into(), enroll::id(class, &place.user, &place.role).into());
    fields.insert("class".into(), json!({ "sourcedId": class }));
    let first_day = SchoolYear::of(now).first_day();
    if *fields::text(&fields, "beginDate") < *first_day {
        fields.insert("beginDate".into(), first_day.into());
    }
    fields
}

fn joining(led: &Led, class: &str, now: Timestamp) -> Object {
    let fields = json!({
        "sourcedId": enroll::id(class, &led.user, "student"),
        "user": { "sourcedId": led.user },
        "class": { "sourcedId": class },
        "school": { "sourcedId": led.school },
        "course": { "sourcedId": led.course },
        "role": "student",
        "beginDate": membership::day(now),
    });
    match fields {
        serde_json::Value::Object(fields) => fields,
        _ => unreachable!("json! with braces makes an object"),
    }
}
