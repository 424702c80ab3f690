//! Placement over HTTP.

use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{get, post};
use crate::lessons::{course, lesson, stored_question};

#[test]
fn a_placement_is_read_and_reset() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "place", "placement", &["q"], 8.0);
        let call = |operation: &str| {
            get(&client, &format!("/powerpath/placement/{operation}?student=bob&subject=math"))
        };
        assert_eq!(call("getNextPlacementTest")["lesson"], "place");
        assert_eq!(call("getCurrentLevel")["gradeLevel"], "3");
        let tests = call("getAllPlacementTests")["placementTests"].clone();
        assert_eq!(tests[0]["component_resources"]["sourcedId"], "place");
        assert_eq!(call("getSubjectProgress")["progress"][0]["course"]["sourcedId"], "math");
        assert_eq!(get(&client, "/adaptive/placement/bob")["placements"][0]["subject"], "Math");
        let body = json!({"student": "bob", "subject": "Math"});
        let reset = post(&client, "/adaptive/placement/resetUserPlacement", &body, 200);
        assert_eq!(
            reset,
            json!({"success": true, "placementResultsDeleted": 0, "onboardingReset": false})
        );
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
