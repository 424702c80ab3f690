//! Where lessons are found, and what a deleted course leaves of them.

use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, courses, get, post, user};
use crate::lessons::{course, lesson, stored_question};

#[test]
fn operations_without_a_prefix_in_the_document_are_at_the_root() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "quiz", "quiz", &["q"], 8.0);
        lesson(&client, "place", "placement", &["q"], 8.0);
        let at = "student=amy&lesson=quiz";
        let read = |path: &str| get(&client, path);
        assert_eq!(
            read(&format!("/getAssessmentProgress?{at}")),
            read(&format!("/adaptive/getAssessmentProgress/?{at}"))
        );
        let next_test = "placement/getNextPlacementTest?student=amy&subject=Math";
        assert_eq!(read(&format!("/{next_test}"))["lesson"], "place");
        assert_eq!(read(&format!("/{next_test}")), read(&format!("/powerpath/{next_test}")));
        let given = json!({"student": "amy", "lesson": "quiz", "question": "q", "response": "A"});
        client.put("/adaptive/updateStudentQuestionResponse").json(&given).expect(200);
        let body = json!({"student": "amy", "lesson": "quiz"});
        let done = post(&client, "/finalStudentAssessmentResponse", &body, 200);
        assert_eq!((&done["finalized"], &done["score"]), (&json!(true), &json!(100.0)));
        let again = post(&client, "/adaptive/finalStudentAssessmentResponse", &body, 200);
        assert_eq!(again, done);
        // Problems are told as those of the adaptive layer.
        let refused = post(&client, "/finalStudentAssessmentResponse/", &json!({}), 422);
        assert!(refused["imsx_description"].is_string(), "{refused}");
    });
}

#[test]
fn a_default_class_names_its_org_in_the_platform_dialect() {
    both(|server| {
        let client = server.client();
        course(&client);
        let listed = get(&client, &format!("{ROSTERING}/classes"));
        let class = &listed["classes"][0];
        assert_eq!(class["org"]["sourcedId"], "s", "{class}");
        assert_eq!(class["org"]["sourcedId"], class["school"]["sourcedId"]);
        // So does one that was written with a school alone, as the standard has it.
        let term = class["terms"][0]["sourcedId"].clone();
        let written = json!({"class": {
            "sourcedId": "own", "title": "Own", "course": {"sourcedId": "math"},
            "school": {"sourcedId": "t"}, "terms": [{"sourcedId": term}],
        }});
        post(&client, &format!("{ROSTERING}/classes"), &written, 201);
        let own = get(&client, &format!("{ROSTERING}/classes/own"));
        assert_eq!(own["class"]["org"]["sourcedId"], "t", "{own}");
    });
}

#[test]
fn records_derived_from_a_deleted_course_are_hidden_until_it_is_restored() {
    both(|server| {
        let client = server.client();
        course(&client);
        user(&client, "tom", "teacher", &[], "s");
        stored_question(&client, "q");
        lesson(&client, "quiz", "quiz", &["q"], 8.0);
        lesson(&client, "place", "placement", &["q"], 8.0);
        get(&client, "/adaptive/getAssessmentProgress?student=amy&lesson=quiz");
        let body = json!({"courseId": "math", "userId": "amy"});
        let plan = post(&client, "/adaptive/lessonPlans", &body, 201)["lessonPlanId"].clone();
        let plan = plan.as_str().unwrap();
        let by_id = [
            "/adaptive/syllabus/math".to_owned(),
            "/adaptive/getAssessmentProgress?student=amy&lesson=quiz".into(),
            "/adaptive/getAttempts?student=amy&lesson=quiz".into(),
            "/adaptive/lessonPlans/math/amy".into(),
            format!("/adaptive/lessonPlans/tree/{plan}"),
            format!("/adaptive/lessonPlans/tree/{plan}/structure"),
            format!("/adaptive/lessonPlans/{plan}/operations"),
            "/adaptive/lessonPlans/getCourseProgress/math/student/amy".into(),
            "/adaptive/testOut?student=amy&course=math".into(),
            "/bridge/enrollments/defaultClass/math".into(),
        ];
        let before: Vec<Value> = by_id.iter().map(|path| get(&client, path)).collect();
        client.delete(&format!("{ROSTERING}/courses/math")).expect(204);
        for path in &by_id {
            let gone: Value = client.get(path).expect(404).json();
            let description = gone["imsx_description"].as_str().unwrap();
            assert!(
                description.contains("the course 'math' is deleted; to restore it"),
                "{path}: {description}"
            );
        }
        // Lists leave it out.
        assert_eq!(courses(&client, "amy"), Vec::<String>::new());
        let path = "/adaptive/placement/getSubjectProgress?student=amy&subject=Math";
        assert_eq!(get(&client, path)["progress"], json!([]));
        let path = "/adaptive/placement/getAllPlacementTests?student=amy&subject=Math";
        client.get(path).expect(404);
        assert_eq!(get(&client, "/adaptive/placement/amy")["placements"], json!([]));
        // Records stay readable by id with their status.
        assert_eq!(
            get(&client, &format!("{ROSTERING}/courses/math"))["course"]["status"],
            "tobedeleted"
        );
        let enrolled =
            get(&client, &format!("{ROSTERING}/enrollments?filter=user.sourcedId='amy'"));
        assert_eq!(enrolled["enrollments"][0]["status"], "active");
        // What the refusal says restores all of it.
        let active = json!({"course": {"status": "active"}});
        client.patch(&format!("{ROSTERING}/courses/math")).json(&active).expect(200);
        let changed = |value: &Value| value.to_string().contains("dateLastModified");
        for (path, before) in by_id.iter().zip(&before) {
            let after = get(&client, path);
            assert!(after == *before || changed(before), "{path}: {after}");
        }
        assert_eq!(courses(&client, "amy"), ["math"]);
    });
}
