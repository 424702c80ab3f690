//! Placement over HTTP: tests of rising grades, where they lead, and setting them back.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{courses, get, post};
use crate::lessons::{course, stored_question};
use crate::qti_structure::test;

/// A placement test of a question for each grade; answers their lessons.
fn tests(client: &TestClient, grades: &[i32]) -> Vec<String> {
    stored_question(client, "pq");
    test(client, "pt", &["pq"]);
    let created = grades.iter().map(|grade| {
        let body = json!({"courseId": "math", "lessonType": "placement", "testType": "qti", "grades": [grade],
            "lessonTitle": format!("Grade {grade}"), "courseIdOnFail": "art",
            "qti": {"url": "https://content.example.org/assessment-tests/pt"}});
        let created = post(client, "/adaptive/createInternalTest", &body, 201);
        created["lessonId"].as_str().unwrap().to_owned()
    });
    created.collect()
}

fn take(client: &TestClient, lesson: &str, answer: &str) {
    let at = format!("student=bob&lesson={lesson}");
    let progress = get(client, &format!("/adaptive/getAssessmentProgress?{at}"));
    let question = &progress["questions"][0]["id"];
    let body = json!({"student": "bob", "lesson": lesson, "question": question, "responses": {"RESPONSE": answer}});
    client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
    let body = json!({"student": "bob", "lesson": lesson});
    post(client, "/adaptive/finalStudentAssessmentResponse", &body, 200);
}

fn call(client: &TestClient, operation: &str) -> Value {
    get(client, &format!("/powerpath/placement/{operation}?student=bob&subject=math"))
}

#[test]
fn passed_placement_tests_lead_to_higher_grades_until_one_is_failed() {
    both(|server| {
        let client = server.client();
        course(&client);
        // Made in another order than that of the grades.
        let created = tests(&client, &[5, -1, 3]);
        let (highest, lowest, middle) = (&created[0], &created[1], &created[2]);
        let next = call(&client, "getNextPlacementTest");
        assert_eq!(
            next,
            json!({"exhaustedTests": false, "gradeLevel": "-1", "lesson": lowest, "onboarded": false, "availableTests": 3})
        );
        assert_eq!(call(&client, "getCurrentLevel")["gradeLevel"], "-1");
        take(&client, lowest, "A");
        assert_eq!(call(&client, "getNextPlacementTest")["lesson"], json!(middle));
        assert_eq!(
            call(&client, "getCurrentLevel"),
            json!({"gradeLevel": "-1", "onboarded": false, "availableTests": 3})
        );
        take(&client, middle, "A");
        assert_eq!(call(&client, "getNextPlacementTest")["gradeLevel"], "5");
        assert_eq!(courses(&client, "bob"), Vec::<String>::new());
        let mastered = get(&client, "/bridge/analytics/highestGradeMastered/bob/Math");
        assert_eq!(mastered["grades"]["placementGrade"], "03", "{mastered}");

        // Not passed: placement is over, and leads to a course.
        take(&client, highest, "B");
        server.restart();
        let client = server.client();
        let next = call(&client, "getNextPlacementTest");
        assert_eq!(
            next,
            json!({"exhaustedTests": false, "gradeLevel": null, "onboarded": true, "availableTests": 3})
        );
        assert_eq!(call(&client, "getCurrentLevel")["gradeLevel"], "5");
        assert_eq!(courses(&client, "bob"), ["art"]);
        let all = call(&client, "getAllPlacementTests")["placementTests"].clone();
        let scores: Vec<_> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|test| test["assessment_results"][0]["score"].as_f64())
            .collect();
        assert_eq!(scores, [Some(100.0), Some(100.0), Some(0.0)]);
        assert_eq!(all[0]["component_resources"]["sourcedId"], json!(lowest));
        assert_eq!(all[0]["resources"]["metadata"], all[0]["resources_metadata"]);

        let body = json!({"student": "bob", "subject": "Math"});
        let reset = post(&client, "/adaptive/placement/resetUserPlacement", &body, 200);
        assert_eq!(
            reset,
            json!({"success": true, "placementResultsDeleted": 3, "onboardingReset": true})
        );
        assert_eq!(call(&client, "getNextPlacementTest")["lesson"], json!(lowest));
        let attempts = get(&client, &format!("/adaptive/getAttempts?student=bob&lesson={lowest}"));
        assert_eq!(attempts["attempts"], json!([]));

        // All passed.
        for lesson in [lowest, middle, highest] {
            take(&client, lesson, "A");
        }
        let next = call(&client, "getNextPlacementTest");
        assert_eq!(next["exhaustedTests"], true);
        assert_eq!(next["onboarded"], true);
        assert_eq!(next.get("lesson"), None);
        let response = get(&client, "/adaptive/placement/bob")["placements"].clone();
        assert_eq!(response[0]["subject"], "Math");
        assert_eq!(response[0]["currentLevel"], "5");
    });
}

#[test]
fn a_course_that_cannot_be_entered_leaves_the_result() {
    both(|server| {
        let client = server.client();
        course(&client);
        let created = tests(&client, &[3]);
        client.delete("/ims/oneroster/rostering/v1p2/courses/art").expect(204);
        take(&client, &created[0], "B");
        assert_eq!(call(&client, "getCurrentLevel")["onboarded"], true);
        let at = format!("student=bob&lesson={}", created[0]);
        let progress = get(&client, &format!("/adaptive/getAssessmentProgress?{at}"));
        assert_eq!(progress["enrollmentFailed"], true, "{progress}");
        let all = call(&client, "getAllPlacementTests")["placementTests"].clone();
        assert_eq!(all[0]["assessment_results"][0]["metadata"]["enrollmentFailed"], true, "{all}");
        assert_eq!(courses(&client, "bob"), Vec::<String>::new());
    });
}

#[test]
fn progress_in_a_subject_counts_lessons_and_xp() {
    both(|server| {
        let client = server.client();
        course(&client);
        let created = tests(&client, &[3]);
        take(&client, &created[0], "A");
        let progress = call(&client, "getSubjectProgress")["progress"].clone();
        assert_eq!(progress.as_array().unwrap().len(), 1);
        let math = &progress[0];
        assert_eq!(math["course"]["sourcedId"], "math");
        assert_eq!(math["inEnrolled"], false);
        assert_eq!((&math["totalLessons"], &math["completedLessons"]), (&json!(1), &json!(1)));
        assert_eq!(
            (&math["testOutLessonId"], &math["hasUsedTestOut"]),
            (&Value::Null, &json!(false))
        );
        let of_amy =
            get(&client, "/adaptive/placement/getSubjectProgress?student=amy&subject=Math");
        assert_eq!(of_amy["progress"][0]["inEnrolled"], true);
        assert_eq!(of_amy["progress"][0]["completedLessons"], 0);
    });
}

#[test]
fn unknown_students_and_subjects_have_no_placement() {
    both(|server| {
        let client = server.client();
        course(&client);
        for operation in ["getNextPlacementTest", "getCurrentLevel", "getAllPlacementTests"] {
            let path = format!("/adaptive/placement/{operation}");
            let response: Value = client.get(&path).expect(422).json();
            let details = response["imsx_error_details"].as_array().unwrap();
            assert_eq!(
                (&details[0]["path"], &details[1]["path"]),
                (&json!("student"), &json!("subject"))
            );
            client.get(&format!("{path}?student=nobody&subject=Math")).expect(404);
            let none: Value =
                client.get(&format!("{path}?student=bob&subject=Math")).expect(404).json();
            let description = none["imsx_description"].as_str().unwrap();
            assert!(description.contains("no placement tests"), "{description}");
        }
        client
            .get("/adaptive/placement/getSubjectProgress?student=nobody&subject=Math")
            .expect(404);
        client.get("/adaptive/placement/nobody").expect(404);
        let body = json!({"student": "bob", "subject": "Math"});
        post(&client, "/adaptive/placement/resetUserPlacement", &body, 404);
    });
}
