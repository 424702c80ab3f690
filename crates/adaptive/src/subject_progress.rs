//! A student's progress in the courses of a subject.

use std::collections::HashSet;

use lyceum_bridge::enroll;
use lyceum_core::json::number;
use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::COURSE;
use lyceum_roster::reach::keep_within;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, RecordUse};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::LessonType;
use crate::lesson;
use crate::lesson_list::{LessonResult, LessonResults, ListedLesson, of_courses, render_record};
use crate::limits;
use crate::placement::StudentAndSubject;

/// A student's progress in a course.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectCourseProgress {
    /// The course's record.
    #[schemars(with = "Map<String, Value>")]
    pub course: Value,
    /// Whether the student is enrolled in it.
    pub in_enrolled: bool,
    /// Whether the student has a graded result in its test-out lesson.
    pub has_used_test_out: bool,
    /// Its test-out lesson.
    pub test_out_lesson_id: Option<String>,
    /// The number of lessons in which the student has a graded result, or that a passed test-out skips.
    pub completed_lessons: usize,
    /// The number of lessons.
    pub total_lessons: usize,
    /// The XP of all of its lessons.
    #[schemars(with = "f64")]
    pub total_attainable_xp: Value,
    /// The XP of the best attempt of each lesson; multipliers may raise them above the attainable.
    #[schemars(with = "f64")]
    pub total_xp_earned: Value,
}

/// How far a student is in each course of a subject within the reach, in the order of their making. Errors: `NotFound`.
pub fn of(
    tx: &mut Tx<'_>,
    now: Timestamp,
    StudentAndSubject { student, subject }: &StudentAndSubject,
    view: &RecordView<'_>,
    reach: &Reach,
) -> Result<Vec<SubjectCourseProgress>> {
    lesson::student(tx, student, reach)?;
    let subject = subject.to_ascii_lowercase();
    let stored = repository::linked(
        tx,
        &COURSE,
        "course.subjects",
        &subject,
        0,
        limits::SUBJECT_COURSES_MAX_COUNT,
    )?;
    let mut courses = Vec::with_capacity(stored.len());
    for course in stored {
        courses.push((fields::text(&fields::of(&course)?, "sourcedId").to_owned(), course));
    }
    keep_within(tx, &COURSE, reach, RecordUse::See, &mut courses, |(id, _)| id)?;
    let known: Vec<&str> = courses.iter().map(|(id, _)| id.as_str()).collect();
    let lessons = of_courses(tx, &known)?;
    let lesson_ids: Vec<&str> = lessons.iter().map(|lesson| lesson.id.as_str()).collect();
    let marks = LessonResults::of(tx, student, &lesson_ids)?;
    let enrolled: HashSet<String> = enroll::learned(tx, now, student)?.into_iter().collect();
    let entries = courses.iter().map(|(id, course)| {
        let own: Vec<&ListedLesson> =
            lessons.iter().filter(|lesson| lesson.course == *id).collect();
        Ok(counted(render_record(course, view)?, enrolled.contains(id), &own, &marks))
    });
    entries.collect()
}

fn counted(
    course: Value,
    in_enrolled: bool,
    lessons: &[&ListedLesson],
    marks: &LessonResults,
) -> SubjectCourseProgress {
    let is_done = |lesson: &&&ListedLesson| marks.is_done(&lesson.id);
    let best = |lesson: &&ListedLesson| {
        let earned = marks.in_lesson(&lesson.id).iter().map(LessonResult::xp);
        earned.fold(0.0, f64::max)
    };
    let is_test_out = |lesson: &&&ListedLesson| lesson.lesson_type == Some(LessonType::TestOut);
    let test_out = lessons.iter().find(is_test_out);
    SubjectCourseProgress {
        course,
        in_enrolled,
        has_used_test_out: test_out.is_some_and(|lesson| is_done(&lesson)),
        test_out_lesson_id: test_out.map(|lesson| lesson.id.clone()),
        completed_lessons: lessons.iter().filter(is_done).count(),
        total_lessons: lessons.len(),
        total_attainable_xp: number(lessons.iter().map(|lesson| lesson.base_xp).sum()),
        total_xp_earned: number(lessons.iter().map(best).sum()),
    }
}
