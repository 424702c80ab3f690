//! Test assignments, tests at outside tools, results that clients write, over HTTP.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{courses, get, post};
use crate::lessons::{course, lesson, stored_question};

fn outside(client: &TestClient, operation: &str, body: &Value) -> String {
    let created = post(client, &format!("/adaptive/{operation}"), body, 201);
    created["lessonId"].as_str().unwrap().to_owned()
}

fn test_out(client: &TestClient) -> String {
    let body = json!({"courseId": "math", "toolProvider": "mastery-track", "grades": [3], "xp": 40,
        "launchUrl": "https://tool.example/run", "vendorId": "v-1", "lessonTitle": "Test out"});
    outside(client, "createExternalTestOut", &body)
}

fn written(client: &TestClient, student: &str, lesson: &str, score: i32, metadata: &Value) {
    let body = json!({"studentId": student, "componentResourceId": lesson, "result": {
        "status": "active", "score": score, "scoreDate": "2026-02-01", "scoreStatus": "fully graded", "metadata": metadata}});
    post(client, "/adaptive/lessonPlans/updateStudentItemResponse", &body, 200);
}

fn import(client: &TestClient, student: &str, lesson: &str) -> Value {
    get(
        client,
        &format!("/adaptive/importExternalTestAssignmentResults?student={student}&lesson={lesson}"),
    )
}

#[test]
fn an_external_test_is_finished_with_the_result_of_the_gradebook() {
    both(|server| {
        let client = server.client();
        course(&client);
        let lesson = test_out(&client);
        let path = "/adaptive/makeExternalTestAssignment";
        let at = json!({"student": "amy", "lesson": lesson, "testId": "form-2"});
        let created = post(&client, path, &at, 200);
        assert_eq!(
            (&created["attempt"], &created["testId"], &created["testUrl"]),
            (&json!(1), &json!("form-2"), &json!("https://tool.example/run"))
        );
        assert_eq!(post(&client, path, &json!({"student": "amy", "lesson": lesson}), 200), created);
        assert_eq!(import(&client, "amy", &lesson)["finalized"], false);
        let progress = get(&client, "/adaptive/lessonPlans/getCourseProgress/math/student/amy");
        assert_eq!(progress["testOut"]["status"], "in_progress");
        assert_eq!(progress["testOut"]["assignmentId"], created["assignmentId"]);

        written(
            &client,
            "amy",
            &lesson,
            95,
            &json!({"attempt": 1, "correctQuestions": 19, "totalQuestions": 20}),
        );
        server.restart();
        let client = server.client();
        for _ in 0..2 {
            assert_eq!(import(&client, "amy", &lesson)["finalized"], true);
        }
        let attempts = get(&client, &format!("/adaptive/getAttempts?student=amy&lesson={lesson}"));
        let attempts = attempts["attempts"].as_array().unwrap().clone();
        assert_eq!(attempts.len(), 1);
        assert_eq!((&attempts[0]["score"], &attempts[0]["xp"]), (&json!(95.0), &json!(40.0)));
        let found = get(&client, "/adaptive/testOut?student=amy&course=math");
        assert_eq!(
            (&found["lessonId"], &found["finalized"], &found["attempt"]),
            (&json!(lesson), &json!(true), &json!(1))
        );
        let progress = get(&client, "/adaptive/lessonPlans/getCourseProgress/math/student/amy");
        assert_eq!(progress["testOut"]["status"], "completed");
        let mastered = get(&client, "/bridge/analytics/highestGradeMastered/amy/Math");
        assert_eq!(mastered["grades"]["testOutGrade"], "03", "{mastered}");
        let enrollment = get(&client, "/bridge/enrollments/user/amy")["data"][0].clone();
        assert_eq!(
            (&enrollment["testOutSupported"], &enrollment["testOutEligible"]),
            (&json!(true), &json!(false))
        );
        // It is taken once, unless it is reset.
        let at = json!({"student": "amy", "lesson": lesson});
        post(&client, path, &at, 409);
        post(&client, "/adaptive/createNewAttempt", &at, 409);
        post(&client, "/adaptive/resetAttempt", &at, 200);
        assert_eq!(post(&client, path, &at, 200)["attempt"], 1);
        assert_eq!(
            import(&client, "amy", &lesson)["finalized"],
            false,
            "the former result is gone"
        );
        // Progress that is set back forgets what was assigned.
        client.delete("/bridge/enrollments/resetProgress/amy/math").expect(200);
        let path = "/adaptive/importExternalTestAssignmentResults";
        client.get(&format!("{path}?student=amy&lesson={lesson}")).expect(404);
        let found = get(&client, "/adaptive/testOut?student=amy&course=math");
        assert_eq!((&found["finalized"], found.get("attempt")), (&json!(false), None));
    });
}

#[test]
fn a_failed_external_placement_test_enrolls_unless_that_is_skipped() {
    both(|server| {
        let client = server.client();
        course(&client);
        let body = json!({"courseId": "math", "toolProvider": "edulastic", "grades": [3], "courseIdOnFail": "art"});
        let lesson = outside(&client, "createExternalPlacementTest", &body);
        for (student, skip, then) in [("amy", true, vec!["math"]), ("bob", false, vec!["art"])] {
            let at = json!({"student": student, "lesson": lesson, "skipCourseEnrollment": skip});
            post(&client, "/adaptive/makeExternalTestAssignment", &at, 200);
            written(&client, student, &lesson, 40, &json!({}));
            assert_eq!(import(&client, student, &lesson)["finalized"], true);
            assert_eq!(courses(&client, student), then);
        }
    });
}

#[test]
fn students_elect_to_test_out_in_their_own_courses() {
    both(|server| {
        let client = server.client();
        course(&client);
        let eligible = |student: &str| {
            get(&client, &format!("/adaptive/test-out/getTestOutEligibility/{student}/Math"))
        };
        assert_eq!(
            eligible("amy")["reason"],
            "no course of the subject 'Math' has a test-out lesson"
        );
        let path = "/adaptive/test-out/makeExternalStudentTestOutAssignment";
        let body = json!({"oneRosterSourcedId": "amy", "subject": "math"});
        post(&client, path, &body, 409);
        let lesson = test_out(&client);
        assert_eq!(eligible("amy"), json!({"eligible": true}));
        assert_eq!(eligible("bob")["eligible"], false);
        let created = post(&client, path, &body, 200)["data"].clone();
        assert_eq!(
            (&created["lessonId"], &created["courseId"], &created["attempt"]),
            (&json!(lesson), &json!("math"), &json!(1))
        );
        let id = created["assignmentId"].as_str().unwrap();
        let read = get(&client, &format!("/adaptive/test-assignments/{id}"));
        assert_eq!(
            (&read["studentSourcedId"], &read["assignmentStatus"]),
            (&json!("amy"), &json!("assigned"))
        );
        assert_eq!(read["resourceSourcedId"], created["resourceId"]);
        client.get("/adaptive/test-out/getTestOutEligibility/nobody/Math").expect(404);
        post(&client, path, &json!({"oneRosterSourcedId": "nobody", "subject": "Math"}), 404);
        post(&client, path, &json!({}), 422);
        let none = get(&client, "/adaptive/testOut?student=amy&course=art");
        assert_eq!(
            none,
            json!({"lessonType": "test-out", "lessonId": null, "finalized": false, "toolProvider": null})
        );
    });
}

#[test]
fn assignments_expire_and_are_cancelled() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "unit-1", "unit-test", &["q"], 10.0);
        let path = "/adaptive/test-assignments";
        let assigned = |expires: Value| {
            let wish =
                json!({"student": "amy", "subject": "Math", "grade": 3, "expiresAt": expires});
            let created = post(&client, path, &wish, 201);
            created["assignmentId"].as_str().unwrap().to_owned()
        };
        let [over, open, gone] =
            [json!("2020-01-01T00:00:00Z"), json!("2120-01-01T00:00:00Z"), json!(null)]
                .map(assigned);
        client.delete(&format!("{path}/{gone}")).expect(204);
        client.delete(&format!("{path}/{gone}")).expect(404);
        client.get(&format!("{path}/{gone}")).expect(404);
        client.put(&format!("{path}/{gone}")).json(&json!({"testName": "x"})).expect(404);
        let never = json!({"student": "amy", "subject": "Math", "grade": 3, "expiresAt": "soon"});
        post(&client, path, &never, 422);
        server.restart();
        let client = server.client();
        let ids = |status: &str| -> Vec<String> {
            let page = get(&client, &format!("{path}?student=amy{status}"));
            let all = page["testAssignments"].as_array().unwrap().iter();
            all.map(|one| one["sourcedId"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids(""), [over.clone(), open.clone()]);
        assert_eq!(ids("&status=expired"), std::slice::from_ref(&over));
        assert_eq!(ids("&status=assigned"), [open]);
        assert_eq!(ids("&status=cancelled"), [gone]);
        let response = get(&client, &format!("{path}/{over}"));
        assert_eq!(response["expiresAt"], "2020-01-01T00:00:00.000Z");
        // Done late it is done.
        let answer =
            json!({"student": "amy", "lesson": "unit-1", "question": "q", "response": "A"});
        client.put("/adaptive/updateStudentQuestionResponse").json(&answer).expect(200);
        assert_eq!(ids("&status=expired"), std::slice::from_ref(&over));
        let lesson = json!({"student": "amy", "lesson": "unit-1"});
        post(&client, "/adaptive/finalStudentAssessmentResponse", &lesson, 200);
        let response = get(&client, &format!("{path}/{over}"));
        assert_eq!(response["assignmentStatus"], "completed");
    });
}

#[test]
fn rows_are_assigned_each_by_itself() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "unit-1", "unit-test", &["q"], 10.0);
        let path = "/adaptive/test-assignments";
        let csv = "student,subject,grade,testName\namy,Math,3,First\nnobody,Math,3,\nbob,math,03\nbob,Math,9,\nbob,,3,\n";
        let created = post(&client, &format!("{path}/import"), &json!({"csv": csv}), 200);
        assert_eq!(created["success"], false);
        assert_eq!(created["results"].as_array().unwrap().len(), 2, "{created}");
        let errors: Vec<_> = created["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["row"].clone())
            .collect();
        assert_eq!(errors, [2, 4, 5]);
        assert!(
            created["errors"][2]["message"].as_str().unwrap().starts_with("subject: "),
            "{created}"
        );
        let elsewhere = json!({"spreadsheetUrl": "https://sheets.example/x", "sheet": "One"});
        let response = post(&client, &format!("{path}/import"), &elsewhere, 200);
        assert_eq!((&response["success"], &response["results"]), (&json!(false), &json!([])));
        post(&client, &format!("{path}/import"), &json!({}), 422);
        post(&client, &format!("{path}/bulk"), &json!({"items": []}), 422);
        post(&client, path, &json!({"student": "amy", "subject": "Math", "grade": 9}), 404);
        post(&client, path, &json!({"student": "amy"}), 422);
        server.restart();
        let client = server.client();
        let page = get(&client, &format!("{path}/admin?limit=1&offset=1&grade=3&subject=MATH"));
        assert_eq!(page["testAssignments"][0]["studentSourcedId"], "bob");
        assert_eq!(
            (&page["totalCount"], &page["pageCount"], &page["pageNumber"]),
            (&json!(2), &json!(2), &json!(2))
        );
        assert_eq!(get(&client, &format!("{path}/admin?status=completed"))["totalCount"], 0);
        for bad in ["limit=0", "offset=x", "status=lost", "student=", "student=nobody"] {
            let status = if bad == "student=nobody" { 404 } else { 422 };
            client.get(&format!("{path}/admin?{bad}")).expect(status);
        }
        client.get(path).expect(422);
        client.get(&format!("{path}/none")).expect(404);
        client.put(&format!("{path}/none")).json(&json!({"testName": "x"})).expect(404);
        client.delete(&format!("{path}/none")).expect(404);
    });
}

#[test]
fn results_that_clients_write_are_shown_in_the_course() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "one", "quiz", &["q"], 10.0);
        written(&client, "amy", "one", 60, &json!({}));
        written(&client, "amy", "one", 80, &json!({}));
        written(&client, "amy", "one", 90, &json!({"attempt": 2}));
        let path = "/adaptive/lessonPlans/updateStudentItemResponse";
        let result =
            json!({"status": "active", "scoreDate": "2026-02-01", "scoreStatus": "submitted"});
        post(
            &client,
            path,
            &json!({"studentId": "amy", "componentId": "unit", "result": result}),
            200,
        );
        let line_items = |query: &str| {
            let read = get(
                &client,
                &format!("/adaptive/lessonPlans/getCourseProgress/math/student/amy{query}"),
            );
            read["lineItems"].as_array().unwrap().clone()
        };
        let items = line_items("");
        assert_eq!(
            (&items[0]["type"], &items[0]["courseComponentSourcedId"]),
            (&json!("component"), &json!("unit"))
        );
        assert_eq!(items[0]["results"][0]["scoreStatus"], "submitted");
        assert_eq!(items[1]["courseComponentResourceSourcedId"], "one");
        let scores: Vec<_> = items[1]["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["score"].as_f64().unwrap())
            .collect();
        assert_eq!(scores, [80.0, 90.0]);
        assert_eq!(line_items("?lessonId=one").len(), 1);

        for (body, status, place) in [
            (json!({}), 422, Some("studentId")),
            (json!({"studentId": "amy", "result": result}), 422, Some("componentResourceId")),
            (
                json!({"studentId": "amy", "componentResourceId": "one", "result": {"scoreStatus": "submitted"}}),
                422,
                Some("result.scoreDate"),
            ),
            (
                json!({"studentId": "nobody", "componentResourceId": "one", "result": result}),
                404,
                None,
            ),
            (
                json!({"studentId": "amy", "componentResourceId": "none", "result": result}),
                404,
                None,
            ),
        ] {
            let response = post(&client, path, &body, status);
            if let Some(place) = place {
                assert_eq!(response["imsx_error_details"][0]["path"], place, "{response}");
            }
        }
        client.get("/adaptive/lessonPlans/getCourseProgress/none/student/amy").expect(404);
        client.get("/adaptive/lessonPlans/getCourseProgress/math/student/nobody").expect(404);
        let at = json!({"student": "amy", "lesson": "one"});
        post(&client, "/adaptive/makeExternalTestAssignment", &at, 422);
        client.get("/adaptive/testOut?student=amy&course=none").expect(404);
        client.get("/adaptive/testOut?student=amy").expect(422);
    });
}
