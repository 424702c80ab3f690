//! Screenings, and how courses are shown.

use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{get, post, schools, user};

const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";

#[test]
fn a_screening_holds_its_tests_until_it_is_reset() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["03"], "s");
        assert_eq!(get(&client, "/powerpath/screening/session/ann")["session"], Value::Null);
        assert_eq!(get(&client, "/adaptive/screening/results/ann")["Math"], Value::Null);
        for subject in ["Math", "Reading", "Math"] {
            let body = json!({"userId": "ann", "subject": subject});
            let assigned = post(&client, "/adaptive/screening/tests/assign", &body, 200);
            assert_eq!(assigned["success"], true);
        }
        let item = json!({"assessmentLineItem": {"sourcedId": "map", "title": "MAP"}});
        client.put(&format!("{GRADEBOOK}/assessmentLineItems/map")).json(&item).expect(201);
        for (id, day, rit) in [("old", "2020-01-15", 180), ("new", "2090-01-15", 201)] {
            let result = json!({"assessmentResult": {
                "sourcedId": id, "assessmentLineItem": {"sourcedId": "map"},
                "student": {"sourcedId": "ann"}, "score": rit, "scoreDate": day,
                "scoreStatus": "fully graded",
                "metadata": {"source": "map", "subject": "math", "grade": "4"}}});
            client.put(&format!("{GRADEBOOK}/assessmentResults/{id}")).json(&result).expect(201);
        }
        server.restart();
        let client = server.client();
        let session = get(&client, "/adaptive/screening/session/ann")["session"].clone();
        let tests = session["tests"].as_array().unwrap();
        let found: Vec<_> = tests.iter().map(|test| (&test["subject"], &test["status"])).collect();
        assert_eq!(
            found,
            [(&json!("Math"), &json!("completed")), (&json!("Reading"), &json!("assigned"))]
        );
        let results = get(&client, "/adaptive/screening/results/ann");
        assert_eq!(results["Math"]["ritScore"], 201);
        assert_eq!(results["Math"]["grade"], "4");
        assert_eq!(results["Math"]["completedAt"], "2090-01-15");
        assert_eq!(results["Reading"], Value::Null);

        for reset in [true, false] {
            let body = json!({"userId": "ann"});
            let answer = post(&client, "/adaptive/screening/session/reset", &body, 200);
            assert_eq!(answer, json!({"success": true, "reset": reset}));
        }
        assert_eq!(get(&client, "/adaptive/screening/session/ann")["session"], Value::Null);
        assert_eq!(get(&client, "/adaptive/screening/results/ann")["Math"]["ritScore"], 201);
    });
}

#[test]
fn an_unknown_student_is_not_screened() {
    both(|server| {
        let client = server.client();
        client.get("/adaptive/screening/session/nobody").expect(404);
        client.get("/adaptive/screening/results/nobody").expect(404);
        for (path, body, status) in [
            ("session/reset", json!({"userId": "nobody"}), 404),
            ("session/reset", json!({}), 422),
            ("tests/assign", json!({"userId": "nobody", "subject": "Math"}), 404),
            ("tests/assign", json!({"userId": "nobody", "subject": "Music"}), 422),
        ] {
            post(&client, &format!("/adaptive/screening/{path}"), &body, status);
        }
    });
}

#[test]
fn a_course_has_the_render_config_that_was_set_last() {
    both(|server| {
        let client = server.client();
        schools(&client);
        client.get("/adaptive/render-config/math").expect(404);
        let put = |body: &Value, status| -> Value {
            client.put("/powerpath/render-config/").json(body).expect(status).json()
        };
        let mut body = json!({"courseIds": ["math", "art", "math"], "rendererId": "plain",
            "rendererUrl": "https://render.example/x", "suppressFeedback": true});
        assert_eq!(put(&body, 200), json!({"updated": ["math", "art"]}));
        body["courseIds"] = json!(["art"]);
        body["rendererVersion"] = "2".into();
        body["suppressCorrectResponse"] = true.into();
        put(&body, 200);
        server.restart();
        let client = server.client();
        assert_eq!(
            get(&client, "/adaptive/render-config/math"),
            json!({"courseId": "math", "rendererId": "plain", "rendererUrl": "https://render.example/x",
                "suppressFeedback": true, "suppressCorrectResponse": false})
        );
        let art = get(&client, "/adaptive/render-config/art");
        assert_eq!(
            (&art["rendererVersion"], &art["suppressCorrectResponse"]),
            (&json!("2"), &json!(true))
        );
        let gone: Value = client.delete("/adaptive/render-config/math").expect(200).json();
        assert_eq!(gone, json!({"deleted": "math"}));
        client.delete("/adaptive/render-config/math").expect(404);
        client.get("/adaptive/render-config/math").expect(404);
        get(&client, "/adaptive/render-config/art");

        // One unknown course, and nothing is set.
        body["courseIds"] = json!(["math", "none"]);
        let response: Value = client.put("/adaptive/render-config").json(&body).expect(422).json();
        assert_eq!(response["imsx_error_details"][0]["path"], "courseIds[1]");
        client.get("/adaptive/render-config/math").expect(404);
        for (name, value) in [
            ("courseIds", json!([])),
            ("courseIds", json!("math")),
            ("rendererId", Value::Null),
            ("rendererUrl", json!("ftp://x")),
            ("suppressFeedback", json!("yes")),
        ] {
            let mut body =
                json!({"courseIds": ["math"], "rendererId": "p", "rendererUrl": "http://x"});
            body[name] = value;
            let response: Value =
                client.put("/adaptive/render-config").json(&body).expect(422).json();
            assert_eq!(response["imsx_error_details"][0]["path"], name, "{response}");
        }
    });
}
