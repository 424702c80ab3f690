//! Tests made in one request: the syllabus shows them, and a refusal has the paths of the errors.

use lyceum_testserver::server::both;
use serde_json::json;

use crate::enrolling::{get, post, schools};

#[test]
fn a_new_test_is_in_the_syllabus() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let url = "https://qti.example/api/assessment-tests/sums";
        let mut body = json!({"courseId": "math", "lessonType": "quiz", "testType": "qti",
            "qti": {"url": url}, "unitTitle": "Numbers", "xp": 20});
        let created = post(&client, "/powerpath/createInternalTest", &body, 201);
        body["courseComponentSourcedId"] = created["courseComponentId"].clone();
        let second = post(&client, "/adaptive/createInternalTest", &body, 201);
        let outside =
            json!({"courseId": "math", "toolProvider": "edulastic", "grades": [4], "xp": 50.5});
        post(&client, "/powerpath/createExternalTestOut", &outside, 201);
        post(&client, "/powerpath/createExternalTestOut", &outside, 409);
        post(&client, "/powerpath/createExternalPlacementTest", &outside, 201);
        body["courseId"] = "none".into();
        post(&client, "/adaptive/createInternalTest", &body, 404);
        let refused = post(&client, "/adaptive/createInternalTest", &json!({}), 422);
        let details = refused["imsx_error_details"].as_array().unwrap().iter();
        let paths: Vec<_> = details.map(|detail| detail["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["courseId", "lessonType", "testType"]);

        server.restart();
        let client = server.client();
        let syllabus = get(&client, "/powerpath/syllabus/math?status=active")["syllabus"].clone();
        let unit = &syllabus["subComponents"][0];
        assert_eq!(unit["title"], "Numbers");
        let lessons = unit["componentResources"].as_array().unwrap();
        assert_eq!(lessons[0]["resource"]["metadata"]["xp"], 20);
        assert_eq!(lessons[1]["sourcedId"], second["lessonId"]);
    });
}
