//! The tests of a subject and grade, and which of them fits a student best.

use lyceum_bridge::enroll;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::grade::comparable;
use lyceum_store::Tx;

use crate::LessonType;
use crate::lesson_list::{ListedLesson, of_type};

/// The types of lessons that can be assigned, in order of preference.
const ASSIGNABLE: [LessonType; 3] =
    [LessonType::TestOut, LessonType::Placement, LessonType::UnitTest];

/// All tests that can be assigned, in the order of preference of their types.
pub(crate) fn assignable(tx: &mut Tx<'_>) -> Result<Vec<ListedLesson>> {
    let mut tests = Vec::new();
    for lesson_type in ASSIGNABLE {
        tests.extend(of_type(tx, lesson_type)?);
    }
    Ok(tests)
}

/// The tests of a subject and grade, in the order of preference of their types.
pub(crate) fn tests_of(tx: &mut Tx<'_>, subject: &str, grade: &str) -> Result<Vec<ListedLesson>> {
    let grade = comparable(grade);
    let mut tests = assignable(tx)?;
    tests.retain(|test| {
        test.subject.eq_ignore_ascii_case(subject)
            && test.grades.iter().any(|known| comparable(known) == grade)
    });
    Ok(tests)
}

/// The test that fits a student best: one with the wished title, then a test-out lesson of a course that the student
/// learns in, then the first.
pub(crate) fn best_fit<'t>(
    tx: &mut Tx<'_>,
    now: Timestamp,
    tests: &'t [ListedLesson],
    student: &str,
    test_name: Option<&str>,
) -> Result<Option<&'t ListedLesson>> {
    let courses = enroll::learned(tx, now, student)?;
    let mut ranked = Vec::new();
    for test in tests {
        let record = fields::of(&test.records.lesson)?;
        let is_named = test_name == Some(fields::text(&record, "title"));
        let is_test_out = test.lesson_type == Some(LessonType::TestOut);
        ranked.push(((!is_named, is_test_out && !courses.contains(&test.course)), test));
    }
    // The first of those with the same rank, so that the order of the types decides.
    Ok(ranked.into_iter().min_by_key(|(rank, _)| *rank).map(|(_, test)| test))
}

/// The problem of a subject and grade without a test.
pub(crate) fn no_test(subject: &str, grade: &str) -> Problem {
    let message = message!(
        "no test exists for the subject '{subject}' in grade {grade}; create one with createInternalTest"
    );
    Problem::new(ProblemKind::NotFound, message)
}
