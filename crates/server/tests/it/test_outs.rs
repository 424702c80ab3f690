//! Test-outs: a student takes one once, and passing it masters and skips the lessons that it covers.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, enrollments, get, post};
use crate::lessons::{at, course, facts, lesson, stored_question};

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

fn answer(client: &TestClient, lesson: &str, response: &str) {
    let body = json!({"student": "amy", "lesson": lesson, "question": "q", "response": response});
    client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
}

fn take(client: &TestClient, lesson: &str, response: &str) -> Value {
    answer(client, lesson, response);
    at(client, "finalStudentAssessmentResponse", lesson, 200)
}

/// The course `math` with the quizzes `one` and `two` in `unit`, a text and the quiz `three` in `unit-2`, and
/// the test-out `out` in `end`.
fn prepare(client: &TestClient, units: Option<Value>) {
    course(client);
    stored_question(client, "q");
    for (id, order) in [("unit-2", 2), ("end", 3)] {
        let component = json!({"courseComponent": {
            "sourcedId": id, "title": id, "course": {"sourcedId": "math"}, "sortOrder": order}});
        post(client, &format!("{ROSTERING}/courses/components"), &component, 201);
    }
    for id in ["one", "two", "three", "out"] {
        lesson(client, id, if id == "out" { "test-out" } else { "quiz" }, &["q"], 8.0);
    }
    let text = json!({"resource": {"sourcedId": "text", "title": "Text", "vendorResourceId": "x",
        "metadata": {"type": "text"}}});
    post(client, &format!("{RESOURCES}/resources"), &text, 201);
    let text = json!({"componentResource": {"sourcedId": "text", "title": "Text", "sortOrder": 2,
        "courseComponent": {"sourcedId": "unit-2"}, "resource": {"sourcedId": "text"}}});
    post(client, &format!("{ROSTERING}/courses/component-resources"), &text, 201);
    for (id, component) in [("three", "unit-2"), ("out", "end")] {
        let moved = json!({"componentResource": {"courseComponent": {"sourcedId": component}}});
        let path = format!("{ROSTERING}/courses/component-resources/{id}");
        client.patch(&path).json(&moved).expect(200);
    }
    if let Some(units) = units {
        let named = json!({"resource": {"metadata": {"units": units}}});
        client.patch(&format!("{RESOURCES}/resources/r-out")).json(&named).expect(200);
    }
}

fn plan(client: &TestClient, status: u16) -> String {
    let body = json!({"courseId": "math", "userId": "amy"});
    let created = post(client, "/adaptive/lessonPlans", &body, status);
    created["lessonPlanId"].as_str().unwrap().to_owned()
}

/// The lessons of each unit in Amy's plan.
fn seen(client: &TestClient) -> Value {
    let plan = get(client, "/adaptive/lessonPlans/math/amy");
    let units = plan["lessonPlan"]["subComponents"].as_array().unwrap().clone();
    let ids = |unit: &Value| {
        let lessons = unit["componentResources"].as_array().unwrap().iter();
        lessons.map(|lesson| lesson["sourcedId"].clone()).collect::<Vec<_>>()
    };
    units.iter().map(|unit| json!([unit["sourcedId"], ids(unit)])).collect()
}

fn done(client: &TestClient) -> Value {
    let path = "/adaptive/placement/getSubjectProgress?student=amy&subject=Math";
    let course = get(client, path)["progress"][0].clone();
    json!([course["completedLessons"], course["totalLessons"]])
}

fn test_out_status(client: &TestClient) -> Value {
    let path = "/adaptive/lessonPlans/getCourseProgress/math/student/amy";
    get(client, path)["testOut"]["status"].clone()
}

/// The lessons from which amy is exempt in the course's progress.
fn exempt(client: &TestClient) -> Vec<String> {
    let path = "/adaptive/lessonPlans/getCourseProgress/math/student/amy";
    let items = get(client, path)["lineItems"].as_array().unwrap().clone();
    let is_exempt = |item: &&Value| {
        let results = item["results"].as_array().unwrap().iter();
        results
            .filter(|result| result["status"] == "active")
            .any(|result| result["scoreStatus"] == "exempt")
    };
    let id = |item: &Value| item["courseComponentResourceSourcedId"].as_str().unwrap().to_owned();
    items.iter().filter(is_exempt).map(id).collect()
}

#[test]
fn passing_a_test_out_masters_and_skips_its_course_and_a_reset_takes_that_back() {
    both(|server| {
        let client = server.client();
        prepare(&client, None);
        plan(&client, 201);
        let all =
            json!([["unit", ["one", "two"]], ["unit-2", ["three", "text"]], ["end", ["out"]]]);
        assert_eq!(seen(&client), all);
        take(&client, "one", "A");
        assert_eq!(done(&client), json!([1, 4]));
        let passed = take(&client, "out", "A");
        assert_eq!(passed["score"], 100.0);
        server.restart();
        let client = server.client();
        assert_eq!(seen(&client), json!([["end", ["out"]]]));
        assert_eq!(done(&client), json!([4, 4]));
        assert_eq!(exempt(&client), ["one", "two", "three", "text"]);
        assert_eq!(test_out_status(&client), "completed");
        // `one` was mastered before; the test-out, `two` and `three` are units that it masters.
        assert_eq!(json!(facts(&client)[3]), json!(4.0));
        // Mastering the lesson itself later does not count as another unit.
        take(&client, "two", "A");
        assert_eq!(json!(facts(&client)[3]), json!(4.0));
        // A recreated plan skips the same lessons.
        client.post(&format!("/adaptive/lessonPlans/{}/recreate", plan(&client, 200))).expect(200);
        assert_eq!(seen(&client), json!([["end", ["out"]]]));
        let structure =
            get(&client, &format!("/adaptive/lessonPlans/tree/{}/structure", plan(&client, 200)));
        assert_eq!(structure["lessonPlan"]["structure"][0]["skipped"], true, "{structure}");

        let again = at(&client, "createNewAttempt", "out", 409);
        let description = again["imsx_description"].as_str().unwrap();
        assert!(
            description.contains("already taken") && description.contains("resetAttempt"),
            "{description}"
        );
        at(&client, "resetAttempt", "out", 200);
        assert_eq!((seen(&client), done(&client)), (all, json!([2, 4])));
        assert_eq!((exempt(&client).len(), test_out_status(&client)), (0, json!("in_progress")));
        assert_eq!(enrollments(&client, "amy")[0]["testOutEligible"], true);
        take(&client, "out", "A");
        assert_eq!(done(&client), json!([4, 4]));
        client.delete("/bridge/enrollments/resetProgress/amy/math").expect(200);
        assert_eq!((done(&client), exempt(&client).len()), (json!([0, 4]), 0));
        answer(&client, "out", "A");
    });
}

#[test]
fn a_failed_test_out_skips_nothing_and_needs_a_reset_to_be_repeated() {
    both(|server| {
        let client = server.client();
        prepare(&client, None);
        plan(&client, 201);
        let before = seen(&client);
        assert_eq!(take(&client, "out", "B")["score"], 0.0);
        assert_eq!((seen(&client), done(&client)), (before, json!([1, 4])));
        assert_eq!(test_out_status(&client), "failed");
        assert_eq!(enrollments(&client, "amy")[0]["testOutEligible"], false);
        at(&client, "createNewAttempt", "out", 409);
        let body = json!({"student": "amy", "lesson": "out", "question": "q", "response": "A"});
        client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(409);
        at(&client, "resetAttempt", "out", 200);
        take(&client, "out", "A");
        assert_eq!(done(&client), json!([4, 4]));
    });
}

#[test]
fn a_test_out_of_units_skips_those_units() {
    both(|server| {
        let client = server.client();
        prepare(&client, Some(json!(["unit-2"])));
        plan(&client, 201);
        take(&client, "out", "A");
        assert_eq!(seen(&client), json!([["unit", ["one", "two"]], ["end", ["out"]]]));
        assert_eq!(
            (exempt(&client), done(&client)),
            (vec!["three".into(), "text".into()], json!([2, 4]))
        );
    });
}
