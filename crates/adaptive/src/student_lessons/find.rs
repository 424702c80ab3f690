//! The lesson that a student opens.

use lyceum_bridge::enroll;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE_COMPONENT};
use lyceum_store::Tx;

use super::LessonKind;
use super::courses::{self, StudentLesson};
use crate::LessonType;
use crate::lesson::LessonCourse;
use crate::lesson_context::LessonContext;
use crate::lesson_plans::{PlanItem, items_of_course, items_of_student};
use crate::repository::{lesson_plans, test_assignments};

/// A lesson of a student with its course.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLesson {
    /// The lesson.
    pub lesson: StudentLesson,
    /// The course.
    pub course: LessonCourse,
}

/// The lesson, if the student sees it in a course in which the student learns, or it is an assigned test.
///
/// Errors: `NotFound` for any other lesson, whether it exists or not.
pub fn find(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    id: &str,
) -> Result<FoundLesson> {
    let learned = enroll::learned(tx, context.now, student)?;
    let Some(course) = course_of(tx, id)? else {
        for course in learned {
            let plan = lesson_plans::of(tx, &course, student)?;
            let has_it = |item: &PlanItem| item.is_custom && item.id == id;
            if plan.is_some_and(|plan| plan.tree.0.iter().any(has_it)) {
                let items = items_of_student(tx, &course, student)?;
                return in_course(tx, student, &course, &items, id)?.ok_or_else(|| unknown(id));
            }
        }
        return Err(unknown(id));
    };
    let is_learned = learned.contains(&course);
    if is_learned {
        let items = items_of_student(tx, &course, student)?;
        if let Some(found) = in_course(tx, student, &course, &items, id)? {
            return Ok(found);
        }
    }
    if test_assignments::is_open(tx, context.now, student, id)? {
        let items = items_of_course(tx, &course)?;
        let found = in_course(tx, student, &course, &items, id)?;
        // Placement tests come before the enrollment; other tests need it.
        if let Some(found) = found.filter(|found| is_learned || is_placement(&found.lesson.kind)) {
            return Ok(found);
        }
    }
    Err(unknown(id))
}

/// The course of a component resource in use.
fn course_of(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>> {
    let links = fields::of_all(tx, &COMPONENT_RESOURCE, std::iter::once(id))?;
    let Some(link) = links.get(id).filter(|link| fields::is_in_use(link)) else { return Ok(None) };
    let component = fields::reference(link, "courseComponent");
    let components = fields::of_all(tx, &COURSE_COMPONENT, std::iter::once(component))?;
    let course = components.get(component).map(|found| fields::reference(found, "course"));
    Ok(course.map(str::to_owned))
}

fn in_course(
    tx: &mut Tx<'_>,
    student: &str,
    course: &str,
    items: &[PlanItem],
    id: &str,
) -> Result<Option<FoundLesson>> {
    let course = match courses::course(tx, student, course, items) {
        Err(problem) if problem.kind == ProblemKind::NotFound => return Ok(None),
        course => course?,
    };
    let lesson = course.lessons().find(|lesson| lesson.id == id).cloned();
    let course = LessonCourse { id: course.id, title: course.title };
    Ok(lesson.map(|lesson| FoundLesson { lesson, course }))
}

fn is_placement(kind: &LessonKind) -> bool {
    use LessonKind::{OutsideTest, Questions};
    matches!(kind, Questions(LessonType::Placement) | OutsideTest(LessonType::Placement, _))
}

fn unknown(lesson: &str) -> Problem {
    let message = message!("your courses have no lesson '{lesson}'");
    Problem::new(ProblemKind::NotFound, message)
}
