//! Screenings, and how courses are shown.

use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{get, post, schools, user};

#[test]
fn screenings_are_of_known_students_and_subjects() {
    both(|server| {
        let client = server.client();
        schools(&client);
        user(&client, "ann", "student", &["03"], "s");
        let body = json!({"userId": "ann", "subject": "Math"});
        post(&client, "/powerpath/screening/tests/assign", &body, 200);
        let session = get(&client, "/adaptive/screening/session/ann")["session"].clone();
        assert_eq!(session["tests"][0]["subject"], "Math");
        assert_eq!(get(&client, "/adaptive/screening/results/ann")["Math"], Value::Null);
        let reset = json!({"userId": "ann"});
        let reset = post(&client, "/adaptive/screening/session/reset", &reset, 200);
        assert_eq!(reset, json!({"success": true, "reset": true}));
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
fn the_render_config_of_courses_is_set_read_and_removed() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let mut body = json!({"courseIds": ["math", "art"], "rendererId": "plain",
            "rendererUrl": "https://render.example/x", "suppressFeedback": true});
        let set: Value = client.put("/powerpath/render-config/").json(&body).expect(200).json();
        assert_eq!(set, json!({"updated": ["math", "art"]}));
        assert_eq!(get(&client, "/adaptive/render-config/math")["rendererId"], "plain");
        let gone: Value = client.delete("/adaptive/render-config/math").expect(200).json();
        assert_eq!(gone, json!({"deleted": "math"}));
        client.get("/adaptive/render-config/math").expect(404);
        for (name, value) in [
            ("courseIds", json!([])),
            ("courseIds", json!("math")),
            ("rendererId", Value::Null),
            ("rendererUrl", json!("ftp://x")),
            ("suppressFeedback", json!("yes")),
        ] {
            let before = std::mem::replace(&mut body[name], value);
            let response: Value =
                client.put("/adaptive/render-config").json(&body).expect(422).json();
            assert_eq!(response["imsx_error_details"][0]["path"], name, "{response}");
            body[name] = before;
        }
    });
}
