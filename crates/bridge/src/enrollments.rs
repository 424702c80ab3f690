//! Enrollments as applications see them: with their course, goals, periods and school.

use std::collections::{HashMap, HashSet};

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::default_class;
use lyceum_roster::fields;
use lyceum_roster::kinds::{
    ACADEMIC_SESSION, ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, CLASS, COURSE, ORG, USER,
};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::enroll::at_school;
use crate::resolved_enrollments::{self, ResolvedEnrollment};
use crate::{goals, settle};

/// A user's enrollment in a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CourseEnrollment {
    /// Its sourcedId.
    pub id: String,
    /// `student`, `teacher`, …
    pub role: String,
    /// Its first day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_date: Option<String>,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Its metadata. Missing goals and metrics are those of the course.
    #[schemars(with = "goals::EnrollmentMetadata")]
    pub metadata: Object,
    /// The course.
    pub course: EnrolledCourse,
    /// The school.
    pub school: EnrollmentSchool,
    /// The terms of the class.
    pub periods: Vec<EnrollmentPeriod>,
    /// Whether the course has a lesson with which students test out.
    pub test_out_supported: bool,
    /// Whether this student may take it: it exists and has no graded result yet.
    pub test_out_eligible: bool,
}

/// A course in an enrollment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EnrolledCourse")]
pub struct EnrolledCourse {
    /// Its sourcedId.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its metadata; empty if it has none.
    pub metadata: Object,
    /// Its subjects.
    pub subjects: Vec<String>,
    /// Its grades, as stored.
    pub grades: Vec<String>,
    /// The application that teaches it, where the course's metadata name one as `primaryApp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_app: Option<PrimaryApp>,
}

/// The application that teaches a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PrimaryApp {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The school.
    pub domains: Vec<String>,
}

/// A school in an enrollment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EnrollmentSchool {
    /// Its sourcedId.
    pub id: String,
    /// Its name for people.
    pub name: String,
}

/// A term in an enrollment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnrollmentPeriod {
    /// The session's sourcedId.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Its first day.
    pub start_date: String,
    /// Its last day.
    pub end_date: String,
}

/// The current enrollments of a user in active courses, as far as they lie within the reach. `None` means that the user's enrollments must be settled first,
/// with [`settled_of_user`]. It needs about ten statements for any number of enrollments.
///
/// Errors: `NotFound`.
pub fn of_user(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    reach: &Reach,
) -> Result<Option<Vec<CourseEnrollment>>> {
    let person = fields::in_use_within(tx, &USER, user, reach)?;
    if !settle::due_enrollments(tx, now, std::slice::from_ref(&person))?.is_empty() {
        return Ok(None);
    }
    taught_within(tx, now, user, reach).map(Some)
}

/// Settles the user's enrollments, and returns them.
pub fn settled_of_user(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    reach: &Reach,
) -> Result<Vec<CourseEnrollment>> {
    let person = fields::in_use_within(tx, &USER, user, reach)?;
    let due = settle::due_enrollments(tx, now, &[person])?;
    settle::perform(tx, now, &due)?;
    taught_within(tx, now, user, reach)
}

fn taught_within(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user: &str,
    reach: &Reach,
) -> Result<Vec<CourseEnrollment>> {
    let enrollments = resolved_enrollments::within(tx, now, user, reach)?;
    let enrollments = resolved_enrollments::with_active_course(tx, enrollments)?;
    to_course_enrollments(tx, enrollments)
}

pub(crate) fn shown_one(
    tx: &mut Tx<'_>,
    enrollment: ResolvedEnrollment,
) -> Result<CourseEnrollment> {
    let mut shown = to_course_enrollments(tx, vec![enrollment])?;
    shown
        .pop()
        .ok_or_else(|| Problem::internal("the enrollment that was just written has no course"))
}

/// Completes the enrollments with the records that they refer to. It needs one statement for each kind of record.
fn to_course_enrollments(
    tx: &mut Tx<'_>,
    enrollments: Vec<ResolvedEnrollment>,
) -> Result<Vec<CourseEnrollment>> {
    let courses = fields::of_all(
        tx,
        &COURSE,
        enrollments.iter().map(|enrollment| enrollment.course.as_str()),
    )?;
    let schools =
        fields::of_all(tx, &ORG, enrollments.iter().map(|enrollment| enrollment.school.as_str()))?;
    let terms =
        enrollments.iter().flat_map(|enrollment| enrollment.terms.iter().map(String::as_str));
    let terms = fields::of_all(tx, &ACADEMIC_SESSION, terms)?;
    let test_outs = TestOuts::of(tx, &enrollments)?;
    let shown = enrollments.into_iter().filter_map(|enrollment| {
        let course = courses.get(&enrollment.course)?;
        let school = schools.get(&enrollment.school)?;
        Some(CourseEnrollment {
            begin_date: fields::opt_text(&enrollment.fields, "beginDate"),
            end_date: fields::opt_text(&enrollment.fields, "endDate"),
            metadata: goals::merge_with_course(
                fields::metadata(&enrollment.fields),
                &fields::metadata(course),
            ),
            course: course_of(course),
            school: EnrollmentSchool {
                id: enrollment.school.clone(),
                name: fields::text(school, "name").into(),
            },
            periods: enrollment.terms.iter().filter_map(|id| terms.get(id)).map(period).collect(),
            test_out_supported: test_outs.of_course.contains_key(&enrollment.course),
            test_out_eligible: test_outs.is_open(&enrollment),
            id: enrollment.id,
            role: enrollment.role,
        })
    });
    Ok(shown.collect())
}

fn course_of(course: &Object) -> EnrolledCourse {
    let metadata = fields::metadata(course);
    EnrolledCourse {
        id: fields::text(course, "sourcedId").into(),
        title: fields::text(course, "title").into(),
        subjects: fields::texts(course, "subjects"),
        grades: fields::texts(course, "grades"),
        primary_app: metadata.get("primaryApp").and_then(primary_app),
        metadata,
    }
}

/// Parses `primaryApp`, which is an application's id or an object with `id`, `name?` and `domains?`.
fn primary_app(named: &Value) -> Option<PrimaryApp> {
    let (id, name, domains) = match named {
        Value::String(id) => (id.clone(), None, Vec::new()),
        Value::Object(app) => (
            fields::opt_text(app, "id").or_else(|| fields::opt_text(app, "sourcedId"))?,
            fields::opt_text(app, "name"),
            fields::texts(app, "domains"),
        ),
        _ => return None,
    };
    Some(PrimaryApp { name: name.unwrap_or_else(|| id.clone()), id, domains })
}

fn period(session: &Object) -> EnrollmentPeriod {
    let text = |name: &str| fields::text(session, name).to_owned();
    EnrollmentPeriod {
        id: text("sourcedId"),
        title: text("title"),
        start_date: text("startDate"),
        end_date: text("endDate"),
    }
}

/// The test-out lessons of courses, and the students who have taken them.
struct TestOuts {
    of_course: HashMap<String, Vec<String>>,
    /// `(student, lesson)`
    graded: HashSet<(String, String)>,
}

impl TestOuts {
    fn of(tx: &mut Tx<'_>, enrollments: &[ResolvedEnrollment]) -> Result<Self> {
        let courses: HashSet<&str> =
            enrollments.iter().map(|enrollment| enrollment.course.as_str()).collect();
        let courses: Vec<&str> = courses.into_iter().collect();
        let lessons = repository::test_outs(tx, &courses)?;
        let mut of_course: HashMap<String, Vec<String>> = HashMap::new();
        for (course, lesson) in lessons {
            of_course.entry(course).or_default().push(lesson);
        }
        let graded = if of_course.is_empty() {
            HashSet::new()
        } else {
            graded(tx, of_course.values().flatten(), enrollments)?
        };
        Ok(Self { of_course, graded })
    }

    fn is_open(&self, enrollment: &ResolvedEnrollment) -> bool {
        let used =
            |lesson: &String| self.graded.contains(&(enrollment.user.clone(), lesson.clone()));
        enrollment.role == "student"
            && self
                .of_course
                .get(&enrollment.course)
                .is_some_and(|lessons| !lessons.iter().any(used))
    }
}

/// The pairs of user and lesson with a fully graded result.
fn graded<'a>(
    tx: &mut Tx<'_>,
    lessons: impl Iterator<Item = &'a String>,
    enrollments: &[ResolvedEnrollment],
) -> Result<HashSet<(String, String)>> {
    let lessons: Vec<&str> = lessons.map(String::as_str).collect();
    let items = repository::referring_to(tx, &ASSESSMENT_LINE_ITEM, "componentResource", &lessons)?;
    let mut lesson_of = HashMap::new();
    for stored in &items {
        let item = fields::of(stored)?;
        let lesson = fields::reference(&item, "componentResource").to_owned();
        lesson_of.insert(fields::text(&item, "sourcedId").to_owned(), lesson);
    }
    if lesson_of.is_empty() {
        return Ok(HashSet::new());
    }
    let users: HashSet<&str> =
        enrollments.iter().map(|enrollment| enrollment.user.as_str()).collect();
    let users: Vec<&str> = users.into_iter().collect();
    let mut graded = HashSet::new();
    for stored in &repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &users)? {
        let result = fields::of(stored)?;
        let lesson = lesson_of.get(fields::reference(&result, "assessmentLineItem"));
        if let Some(lesson) =
            lesson.filter(|_| fields::text(&result, "scoreStatus") == "fully graded")
        {
            graded.insert((fields::reference(&result, "student").to_owned(), lesson.clone()));
        }
    }
    Ok(graded)
}

/// The default class of a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefaultClass {
    /// Its sourcedId.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_code: Option<String>,
    /// Codes of its subjects.
    pub subject_codes: Vec<String>,
    /// Its subjects.
    pub subjects: Vec<String>,
    /// Its grades, as stored.
    pub grades: Vec<String>,
    /// The sourcedIds of its terms.
    pub periods: Vec<String>,
    /// Its course: id, title, metadata.
    pub course: DefaultClassCourse,
}

/// The course of a default class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DefaultClassCourse {
    /// Its sourcedId.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its metadata; empty if it has none.
    pub metadata: Object,
}

/// The default class of a course in the current school year, at the school or otherwise at the course's organization.
/// It is created if it is missing.
///
/// Errors: `NotFound` for an unknown or deleted course or school, or if the class is not within the reach; `Invalid` if
/// no school is named and the course has no organization.
pub fn default_class(
    tx: &mut Tx<'_>,
    now: Timestamp,
    course: &str,
    school: Option<&str>,
    reach: &Reach,
) -> Result<DefaultClass> {
    let course_fields = fields::in_use_within(tx, &COURSE, course, reach)?;
    if let Some(school) = school {
        fields::in_use_within(tx, &ORG, school, reach)?;
    }
    let id = default_class::find_or_make(tx, now, course, school)
        .map_err(|problem| at_school(problem, school, None))?;
    // A class that was just made is withdrawn with the transaction if the caller has no access to its school.
    let class = fields::in_use_within(tx, &CLASS, &id, reach)?;
    Ok(DefaultClass {
        id,
        title: fields::text(&class, "title").into(),
        class_code: fields::opt_text(&class, "classCode"),
        subject_codes: fields::texts(&class, "subjectCodes"),
        subjects: fields::texts(&class, "subjects"),
        grades: fields::texts(&class, "grades"),
        periods: fields::references(&class, "terms").map(str::to_owned).collect(),
        course: DefaultClassCourse {
            id: course.into(),
            title: fields::text(&course_fields, "title").into(),
            metadata: fields::metadata(&course_fields),
        },
    })
}
