//! Lesson plans over HTTP: a student's copy of a course, and the log that changes it.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post, schools, user};

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

/// The course `math` with two units: `u1` holds the lessons `a` and `b` and the part `u1p`, `u2`
/// holds `c`. The resource `extra` is in no course.
fn course(client: &TestClient) {
    schools(client);
    user(client, "ann", "student", &["03"], "s");
    user(client, "bob", "student", &["03"], "s");
    for resource in ["a", "b", "c", "extra"] {
        let resource = json!({"resource": {
            "sourcedId": format!("r-{resource}"), "title": format!("Text {resource}"),
            "vendorResourceId": resource, "metadata": {"type": "text"}}});
        post(client, &format!("{RESOURCES}/resources"), &resource, 201);
    }
    for (id, parent, order) in [("u1", None, 1), ("u1p", Some("u1"), 1), ("u2", None, 2)] {
        component(client, id, parent, order);
    }
    for (id, component, order) in [("a", "u1", 1), ("b", "u1", 2), ("c", "u2", 1)] {
        let link = json!({"componentResource": {
            "sourcedId": id, "title": format!("Lesson {id}"), "sortOrder": order,
            "courseComponent": {"sourcedId": component}, "resource": {"sourcedId": format!("r-{id}")}}});
        post(client, &format!("{ROSTERING}/courses/component-resources"), &link, 201);
    }
}

fn component(client: &TestClient, id: &str, parent: Option<&str>, order: i32) {
    let mut body = json!({"courseComponent": {
        "sourcedId": id, "title": format!("Unit {id}"), "sortOrder": order,
        "course": {"sourcedId": "math"}}});
    if let Some(parent) = parent {
        body["courseComponent"]["parent"] = json!({"sourcedId": parent});
    }
    post(client, &format!("{ROSTERING}/courses/components"), &body, 201);
}

fn plan(client: &TestClient, user: &str, status: u16) -> String {
    let body = json!({"courseId": "math", "userId": user});
    let created = post(client, "/powerpath/lessonPlans/", &body, status);
    created["lessonPlanId"].as_str().unwrap().to_owned()
}

#[test]
fn a_plan_is_created_changed_read_and_removed() {
    both(|server| {
        let client = server.client();
        course(&client);
        let mine = plan(&client, "ann", 201);
        assert_eq!(plan(&client, "ann", 200), mine);
        let payload = json!({"target": {"type": "resource", "id": "b"}, "value": true});
        let body = json!({"operation": {"type": "set-skipped", "payload": payload}, "reason": "for the test"});
        let path = format!("/adaptive/lessonPlans/{mine}/operations");
        assert_eq!(post(&client, &path, &body, 201)["success"], true);
        let synced: Value = client.post(&format!("{path}/sync")).expect(200).json();
        assert_eq!((&synced["success"], &synced["operationCount"]), (&json!(true), &json!(1)));

        server.restart();
        let client = server.client();
        let seen = get(&client, "/powerpath/lessonPlans/math/ann")["lessonPlan"].clone();
        let lessons = seen["subComponents"][0]["componentResources"].as_array().unwrap();
        assert_eq!((lessons.len(), &lessons[0]["title"]), (1, &json!("Lesson a")), "{seen}");
        let tree = format!("/adaptive/lessonPlans/tree/{mine}");
        assert_eq!(get(&client, &tree)["lessonPlan"], seen);
        let structure =
            get(&client, &format!("{tree}/structure"))["lessonPlan"]["structure"].clone();
        assert_eq!(structure[0]["componentResources"][1]["skipped"], true, "{structure}");
        let log = get(&client, &path)["operations"].clone();
        assert_eq!((&log[0]["payload"], &log[0]["reason"]), (&payload, &json!("for the test")));
        let again: Value =
            client.post(&format!("/adaptive/lessonPlans/{mine}/recreate")).expect(200).json();
        assert_eq!(again["operationCount"], 1);
        let theirs = plan(&client, "bob", 201);
        component(&client, "u3", None, 3);
        let sync: Value = client.post("/adaptive/lessonPlans/course/math/sync").expect(200).json();
        let affected = sync["lessonPlansAffected"].as_array().unwrap();
        assert!(affected.contains(&json!(theirs)), "{sync}");
        client.delete("/adaptive/lessonPlans/math/deleteAll").expect(204);
        client.get(&tree).expect(404);
    });
}

#[test]
fn invalid_lesson_plan_requests_are_refused() {
    both(|server| {
        let client = server.client();
        course(&client);
        let refused = |path: &str, body: Value, places: &[&str]| {
            let response = post(&client, path, &body, 422);
            let details = response["imsx_error_details"].as_array().unwrap().iter();
            let paths: Vec<_> = details.map(|detail| detail["path"].as_str().unwrap()).collect();
            assert_eq!(paths, places, "{body}: {response}");
        };
        refused("/adaptive/lessonPlans", json!({}), &["courseId", "userId"]);
        refused(
            "/adaptive/lessonPlans",
            json!({"courseId": 3, "userId": ""}),
            &["courseId", "userId"],
        );
        for body in [
            json!({"courseId": "none", "userId": "ann"}),
            json!({"courseId": "math", "userId": "x"}),
        ] {
            post(&client, "/adaptive/lessonPlans", &body, 404);
        }
        let class = get(&client, "/bridge/enrollments/defaultClass/art")["data"]["id"].clone();
        let body = json!({"courseId": "math", "userId": "ann", "classId": class});
        refused("/adaptive/lessonPlans", body, &["classId"]);
        client.get("/adaptive/lessonPlans/math/ann").expect(404);
        client.get("/adaptive/lessonPlans/tree/none/structure").expect(404);
        client.post("/adaptive/lessonPlans/none/operations/sync").expect(404);
        client.post("/adaptive/lessonPlans/none/recreate").expect(404);
        client.post("/adaptive/lessonPlans/course/none/sync").expect(404);
        client.delete("/adaptive/lessonPlans/none/deleteAll").expect(404);

        let path = format!("/adaptive/lessonPlans/{}/operations", plan(&client, "ann", 201));
        refused(&path, json!({}), &["operation"]);
        let empty = json!({"operation": {"type": "set-skipped", "payload": {}}});
        let places = ["operation.payload.target", "operation.payload.value"];
        refused(&path, empty, &places);
        let payload = json!({"target": {"type": "component", "id": "u1"}});
        let whole = json!({"operation": {"type": "move-item-to-end", "payload": payload}});
        post(&client, "/adaptive/lessonPlans/none/operations", &whole, 404);
    });
}
