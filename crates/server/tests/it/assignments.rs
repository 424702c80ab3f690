//! Test assignments, tests at outside tools, results that clients write, over HTTP.

use lyceum_testserver::server::both;
use serde_json::json;

use crate::enrolling::{get, post};
use crate::lessons::{course, lesson, stored_question};

#[test]
fn an_external_test_is_assigned_imported_and_taken_once() {
    both(|server| {
        let client = server.client();
        course(&client);
        let eligible = "/adaptive/test-out/getTestOutEligibility/amy/Math";
        assert_eq!(get(&client, eligible)["eligible"], false);
        let elect = "/adaptive/test-out/makeExternalStudentTestOutAssignment";
        let wish = json!({"oneRosterSourcedId": "amy", "subject": "math"});
        post(&client, elect, &wish, 409);
        let body = json!({"courseId": "math", "toolProvider": "mastery-track", "grades": [3], "xp": 40,
            "launchUrl": "https://tool.example/run"});
        let created = post(&client, "/adaptive/createExternalTestOut", &body, 201);
        let at = json!({"student": "amy", "lesson": created["lessonId"]});
        assert_eq!(get(&client, eligible), json!({"eligible": true}));
        let elected = post(&client, elect, &wish, 200)["data"].clone();
        let id = elected["assignmentId"].as_str().unwrap();
        let read = get(&client, &format!("/adaptive/test-assignments/{id}"));
        assert_eq!(read["resourceSourcedId"], elected["resourceId"]);

        let path = "/adaptive/makeExternalTestAssignment";
        let assigned = post(&client, path, &at, 200);
        assert_eq!(assigned["testUrl"], "https://tool.example/run");
        let lesson = created["lessonId"].as_str().unwrap();
        let import =
            format!("/adaptive/importExternalTestAssignmentResults?student=amy&lesson={lesson}");
        assert_eq!(get(&client, &import)["finalized"], false);
        let body = json!({"studentId": "amy", "componentResourceId": lesson, "result": {
            "status": "active", "score": 95, "scoreDate": "2026-02-01", "scoreStatus": "fully graded"}});
        post(&client, "/adaptive/lessonPlans/updateStudentItemResponse", &body, 200);
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, &import)["finalized"], true);
        assert_eq!(get(&client, "/adaptive/testOut?student=amy&course=math")["finalized"], true);
        let progress = get(&client, "/adaptive/lessonPlans/getCourseProgress/math/student/amy");
        assert_eq!(progress["testOut"]["status"], "completed");
        post(&client, path, &at, 409);
        client.get("/adaptive/test-out/getTestOutEligibility/nobody/Math").expect(404);
        post(&client, elect, &json!({"oneRosterSourcedId": "nobody", "subject": "Math"}), 404);
        post(&client, elect, &json!({}), 422);
    });
}

#[test]
fn tests_are_assigned_listed_and_cancelled() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "unit-1", "unit-test", &["q"], 10.0);
        let path = "/adaptive/test-assignments";
        let csv = "student,subject,grade\namy,Math,3\nnobody,Math,3\nbob,math,03\n";
        let created = post(&client, &format!("{path}/import"), &json!({"csv": csv}), 200);
        assert_eq!((&created["success"], &created["errors"][0]["row"]), (&json!(false), &json!(2)));
        let never = json!({"student": "amy", "subject": "Math", "grade": 3, "expiresAt": "soon"});
        post(&client, path, &never, 422);
        post(&client, &format!("{path}/import"), &json!({}), 422);
        post(&client, &format!("{path}/bulk"), &json!({"items": []}), 422);
        post(&client, path, &json!({"student": "amy", "subject": "Math", "grade": 9}), 404);
        post(&client, path, &json!({"student": "amy"}), 422);
        let page = get(&client, &format!("{path}/admin?limit=1&offset=1&grade=3&subject=MATH"));
        assert_eq!(page["testAssignments"][0]["studentSourcedId"], "bob");
        assert_eq!(page["totalCount"], 2);
        for bad in ["limit=0", "offset=x", "status=lost", "student=", "student=nobody"] {
            let status = if bad == "student=nobody" { 404 } else { 422 };
            client.get(&format!("{path}/admin?{bad}")).expect(status);
        }
        client.get(path).expect(422);
        let id = created["results"][0]["assignmentId"].as_str().unwrap();
        client.put(&format!("{path}/{id}")).json(&json!({"testName": "x"})).expect(200);
        client.delete(&format!("{path}/{id}")).expect(204);
        let cancelled = get(&client, &format!("{path}?student=amy&status=cancelled"));
        assert_eq!(cancelled["testAssignments"][0]["sourcedId"], id);
        client.get(&format!("{path}/{id}")).expect(404);
        client.put(&format!("{path}/{id}")).json(&json!({"testName": "x"})).expect(404);
        client.delete(&format!("{path}/{id}")).expect(404);
    });
}

#[test]
fn results_that_clients_write_are_checked() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "one", "quiz", &["q"], 10.0);
        let path = "/adaptive/lessonPlans/updateStudentItemResponse";
        let result =
            json!({"status": "active", "scoreDate": "2026-02-01", "scoreStatus": "submitted"});
        let written = json!({"studentId": "amy", "componentResourceId": "one", "result": result});
        post(&client, path, &written, 200);
        let course = "/adaptive/lessonPlans/getCourseProgress/math/student/amy?lessonId=one";
        let items = get(&client, course)["lineItems"].clone();
        assert_eq!(items[0]["results"][0]["scoreStatus"], "submitted");

        let nowhere = json!({"studentId": "amy", "result": result});
        for (body, place) in [(json!({}), "studentId"), (nowhere, "componentResourceId")] {
            let response = post(&client, path, &body, 422);
            assert_eq!(response["imsx_error_details"][0]["path"], place, "{response}");
        }
        let unknown =
            json!({"studentId": "nobody", "componentResourceId": "one", "result": result});
        post(&client, path, &unknown, 404);
        client.get("/adaptive/lessonPlans/getCourseProgress/none/student/amy").expect(404);
        client.get("/adaptive/lessonPlans/getCourseProgress/math/student/nobody").expect(404);
        let at = json!({"student": "amy", "lesson": "one"});
        post(&client, "/adaptive/makeExternalTestAssignment", &at, 422);
        client.get("/adaptive/testOut?student=amy&course=none").expect(404);
        client.get("/adaptive/testOut?student=amy").expect(422);
    });
}
