//! Test-outs: a student takes one once, and passing it masters and skips the lessons that it covers.

use lyceum_adaptive::course_progress;
use lyceum_adaptive::lesson_plans;
use lyceum_core::ProblemKind::Conflict;
use serde_json::{Value, json};

use crate::placement::subject_progress;
use crate::school::{ALL, School, Student, both, one, refused, request, shown, view};

/// The course `math` with the quizzes `one` and `two` in `unit`, the quiz `three` and a text in `unit-2`, and the
/// test-out `out` in `end`, which covers the units or, without any, the course.
fn prepare(school: &School, units: Option<Value>) {
    for (id, order) in [("unit-2", 2), ("end", 3)] {
        school.unit("math", id, None, order);
    }
    school.test_with("test", "", &["q1"]);
    let mut quiz = json!({ "type": "qti", "xp": 8, "subject": "Math", "grades": ["3"] });
    for (id, place) in [("one", ("unit", 1)), ("two", ("unit", 1)), ("three", ("unit-2", 1))] {
        school.place(id, place, Some("quiz"), ("test", &quiz));
    }
    school.place("text", ("unit-2", 2), None, ("x", &json!({ "type": "text" })));
    if let Some(units) = units {
        quiz["units"] = units;
    }
    school.place("out", ("end", 1), Some("test-out"), ("test", &quiz));
}

fn plan(school: &School) -> String {
    let new = request(json!({ "courseId": "math", "userId": "amy" }));
    school.write(|tx, context| lesson_plans::create(tx, context.now, &new, ALL)).unwrap().0
}

/// The lessons of each unit in Amy's plan.
fn seen(school: &School) -> Value {
    let text = school.write(|tx, _| {
        let plan = lesson_plans::of(tx, "math", "amy", ALL)?;
        lesson_plans::visible(tx, &plan, &view())
    });
    let plan: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let ids = |unit: &Value| {
        let lessons = unit["componentResources"].as_array().unwrap().iter();
        lessons.map(|lesson| lesson["sourcedId"].clone()).collect::<Vec<_>>()
    };
    let units = plan["subComponents"].as_array().unwrap().iter();
    units.map(|unit| json!([unit["sourcedId"], ids(unit)])).collect()
}

fn done(amy: Student<'_>) -> [Value; 2] {
    let course = subject_progress(amy)[0].clone();
    ["completedLessons", "totalLessons"].map(|name| course[name].clone())
}

/// The state of the test-out in the course's progress, and the lessons from which Amy is exempt.
fn progress(school: &School) -> (Value, Vec<String>) {
    let progress = school.write(|tx, context| {
        course_progress::of(tx, context.now, ("math", "amy"), None, &view(), ALL)
    });
    let progress = shown(progress.unwrap());
    let is_exempt = |item: &&Value| {
        let mut results = item["results"].as_array().unwrap().iter();
        results.any(|result| result["status"] == "active" && result["scoreStatus"] == "exempt")
    };
    let id = |item: &Value| item["courseComponentResourceSourcedId"].as_str().unwrap().to_owned();
    let exempt = progress["lineItems"].as_array().unwrap().iter().filter(is_exempt).map(id);
    (progress["testOut"]["status"].clone(), exempt.collect())
}

fn is_eligible(school: &School) -> Value {
    shown(&school.enrollments("amy")[0])["testOutEligible"].clone()
}

#[test]
fn passing_a_test_out_masters_and_skips_its_course_and_a_reset_takes_that_back() {
    both(|school| {
        let amy = school.amy();
        prepare(school, None);
        let plan = plan(school);
        let all =
            json!([["unit", ["one", "two"]], ["unit-2", ["three", "text"]], ["end", ["out"]]]);
        let rest = json!([["end", ["out"]]]);
        assert_eq!(seen(school), all);
        amy.take("one", &[("q1", "A")]);
        assert_eq!(done(amy), [1, 4]);
        assert_eq!(amy.take("out", &[("q1", "A")])["score"], 100.0);
        school.restart();
        assert_eq!((seen(school), done(amy)), (rest.clone(), [json!(4), json!(4)]));
        let lessons = ["one", "two", "three", "text"].map(str::to_owned).to_vec();
        assert_eq!(progress(school), (json!("completed"), lessons));
        // `one` was mastered before; the test-out, `two` and `three` are units that it masters.
        assert_eq!(amy.facts()[3], 4.0);
        // Mastering the lesson itself later does not count as another unit.
        amy.take("two", &[("q1", "A")]);
        assert_eq!(amy.facts()[3], 4.0);
        // A recreated plan skips the same lessons.
        school.write(|tx, _| lesson_plans::recreate(tx, &plan, ALL)).unwrap();
        assert_eq!(seen(school), rest);
        let structure = school.write(|tx, _| lesson_plans::structure(tx, &plan, &view(), ALL));
        let structure: Value = serde_json::from_str(&structure.unwrap()).unwrap();
        assert_eq!(structure["structure"][0]["skipped"], true, "{structure}");

        refused(amy.begin("out"), Conflict, "already taken");
        refused(amy.begin("out"), Conflict, "resetAttempt");
        amy.reset("out");
        assert_eq!((seen(school), done(amy)), (all, [json!(2), json!(4)]));
        assert_eq!(progress(school), (json!("in_progress"), Vec::new()));
        assert_eq!(is_eligible(school), true);
        amy.take("out", &[("q1", "A")]);
        assert_eq!(done(amy), [4, 4]);
        amy.reset_course("math");
        assert_eq!((done(amy), progress(school).1), ([json!(0), json!(4)], Vec::new()));
        amy.answer("out", "q1", "A");
    });
}

#[test]
fn a_failed_test_out_skips_nothing_and_needs_a_reset_to_be_repeated() {
    one(|school| {
        let amy = school.amy();
        prepare(school, None);
        plan(school);
        let before = seen(school);
        assert_eq!(amy.take("out", &[("q1", "B")])["score"], 0.0);
        assert_eq!((seen(school), done(amy)), (before, [json!(1), json!(4)]));
        assert_eq!(progress(school).0, "failed");
        assert_eq!(is_eligible(school), false);
        refused(amy.begin("out"), Conflict, "");
        refused(amy.try_answer("out", "q1", json!("A")), Conflict, "");
        amy.reset("out");
        amy.take("out", &[("q1", "A")]);
        assert_eq!(done(amy), [4, 4]);
    });
}

#[test]
fn a_test_out_of_units_skips_those_units() {
    one(|school| {
        prepare(school, Some(json!(["unit-2"])));
        plan(school);
        school.amy().take("out", &[("q1", "A")]);
        assert_eq!(seen(school), json!([["unit", ["one", "two"]], ["end", ["out"]]]));
        assert_eq!(progress(school).1, ["three", "text"]);
        assert_eq!(done(school.amy()), [2, 4]);
    });
}
