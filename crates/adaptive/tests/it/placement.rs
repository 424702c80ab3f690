//! Placement: tests of rising grades, where they lead, setting them back, and progress in a subject.

use lyceum_adaptive::new_test::{self, NewTest};
use lyceum_adaptive::placement::{self, StudentAndSubject};
use lyceum_adaptive::subject_progress;
use lyceum_bridge::analytics::highest_grade_mastered;
use lyceum_core::ProblemKind::NotFound;
use lyceum_core::Result;
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};

use crate::school::{ALL, School, Student, both, one, refused, request, shown, view};

/// A placement test of a question for each grade; answers their lessons.
fn tests(school: &School, grades: &[i32]) -> Vec<String> {
    school.test_with("pt", "", &["q1"]);
    let create = |grade: &i32| {
        let test = NewTest::internal(request(json!({
            "courseId": "math", "lessonType": "placement", "testType": "qti", "grades": [grade],
            "courseIdOnFail": "art", "qti": { "url": "https://c.example/assessment-tests/pt" },
        })));
        let created = school.write(|tx, context| new_test::create(tx, context.now, &test?));
        shown(created.unwrap())["lessonId"].as_str().unwrap().to_owned()
    };
    grades.iter().map(create).collect()
}

fn about(student: Student<'_>, subject: &str) -> StudentAndSubject {
    request(json!({ "student": student.id, "subject": subject }))
}

fn read<T: Serialize>(
    student: Student<'_>,
    work: impl Fn(&mut Tx<'_>, &StudentAndSubject) -> Result<T>,
) -> Value {
    let about = about(student, "math");
    shown(student.school.write(|tx, _| work(tx, &about)).unwrap())
}

fn next(student: Student<'_>) -> Value {
    read(student, |tx, about| placement::next(tx, about, ALL))
}

fn level(student: Student<'_>) -> Value {
    read(student, |tx, about| placement::level(tx, about, ALL))
}

fn all(student: Student<'_>) -> Value {
    read(student, |tx, about| placement::all(tx, about, &view(), ALL))
}

pub(crate) fn subject_progress(student: Student<'_>) -> Value {
    let now = student.school.now();
    read(student, |tx, about| subject_progress::of(tx, now, about, &view(), ALL))
}

#[test]
fn passed_placement_tests_lead_to_higher_grades_until_one_is_failed() {
    both(|school| {
        let bob = school.bob();
        // Made in another order than that of the grades.
        let [highest, lowest, middle] = tests(school, &[5, -1, 3]).try_into().unwrap();
        assert_eq!(
            next(bob),
            json!({ "exhaustedTests": false, "gradeLevel": "-1", "lesson": lowest, "onboarded": false, "availableTests": 3 })
        );
        assert_eq!(level(bob)["gradeLevel"], "-1");
        bob.take(&lowest, &[("q1", "A")]);
        assert_eq!(next(bob)["lesson"], json!(middle));
        assert_eq!(
            level(bob),
            json!({ "gradeLevel": "-1", "onboarded": false, "availableTests": 3 })
        );
        bob.take(&middle, &[("q1", "A")]);
        assert_eq!(next(bob)["gradeLevel"], "5");
        assert_eq!(school.courses("bob"), [] as [&str; 0]);
        let mastered = school.write(|tx, _| highest_grade_mastered(tx, "bob", "Math", ALL));
        assert_eq!(shown(mastered.unwrap())["grades"]["placementGrade"], "03");

        // Not passed: placement is over, and leads to a course.
        bob.take(&highest, &[("q1", "B")]);
        school.restart();
        assert_eq!(
            next(bob),
            json!({ "exhaustedTests": false, "gradeLevel": null, "onboarded": true, "availableTests": 3 })
        );
        assert_eq!(level(bob)["gradeLevel"], "5");
        assert_eq!(school.courses("bob"), ["art"]);
        let taken = all(bob);
        let score = |test: &Value| test["assessment_results"][0]["score"].as_f64();
        let scores: Vec<_> = taken.as_array().unwrap().iter().map(score).collect();
        assert_eq!(scores, [Some(100.0), Some(100.0), Some(0.0)]);
        assert_eq!(taken[0]["component_resources"]["sourcedId"], json!(lowest));
        assert_eq!(taken[0]["resources"]["metadata"], taken[0]["resources_metadata"]);

        let math = about(bob, "Math");
        let reset = school.write(|tx, context| placement::reset(tx, context.now, &math, ALL));
        assert_eq!(
            shown(reset.unwrap()),
            json!({ "success": true, "placementResultsDeleted": 3, "onboardingReset": true })
        );
        assert_eq!(next(bob)["lesson"], json!(lowest));
        assert_eq!(bob.attempts(&lowest), [] as [Value; 0]);

        // All passed.
        for lesson in [&lowest, &middle, &highest] {
            bob.take(lesson, &[("q1", "A")]);
        }
        let end = next(bob);
        assert_eq!((&end["exhaustedTests"], &end["onboarded"]), (&json!(true), &json!(true)));
        assert_eq!(end.get("lesson"), None);
        let placements = school.write(|tx, _| placement::of_student(tx, "bob", ALL)).unwrap();
        let first = shown(placements)["placements"][0].clone();
        assert_eq!((&first["subject"], &first["currentLevel"]), (&json!("Math"), &json!("5")));
    });
}

#[test]
fn a_course_that_cannot_be_entered_leaves_the_result() {
    one(|school| {
        let bob = school.bob();
        let lesson = tests(school, &[3]).remove(0);
        school.delete("courses", "art");
        bob.take(&lesson, &[("q1", "B")]);
        assert_eq!(level(bob)["onboarded"], true);
        assert_eq!(bob.progress(&lesson)["enrollmentFailed"], true);
        assert_eq!(all(bob)[0]["assessment_results"][0]["metadata"]["enrollmentFailed"], true);
        assert_eq!(school.courses("bob"), [] as [&str; 0]);
    });
}

#[test]
fn progress_in_a_subject_counts_lessons_and_xp() {
    one(|school| {
        let lesson = tests(school, &[3]).remove(0);
        school.bob().take(&lesson, &[("q1", "A")]);
        let progress = subject_progress(school.bob());
        assert_eq!(progress.as_array().unwrap().len(), 1);
        let math = &progress[0];
        assert_eq!(
            (&math["course"]["sourcedId"], &math["inEnrolled"]),
            (&json!("math"), &json!(false))
        );
        assert_eq!((&math["totalLessons"], &math["completedLessons"]), (&json!(1), &json!(1)));
        assert_eq!(
            (&math["testOutLessonId"], &math["hasUsedTestOut"]),
            (&Value::Null, &json!(false))
        );
        let of_amy = &subject_progress(school.amy())[0];
        assert_eq!((&of_amy["inEnrolled"], &of_amy["completedLessons"]), (&json!(true), &json!(0)));
    });
}

#[test]
fn a_subject_without_placement_tests_has_no_placement() {
    one(|school| {
        let math = about(school.bob(), "Math");
        let none = "no placement tests";
        refused(school.write(|tx, _| placement::next(tx, &math, ALL)), NotFound, none);
        refused(school.write(|tx, _| placement::level(tx, &math, ALL)), NotFound, none);
        refused(school.write(|tx, _| placement::all(tx, &math, &view(), ALL)), NotFound, none);
        refused(school.write(|tx, now| placement::reset(tx, now.now, &math, ALL)), NotFound, none);
    });
}
