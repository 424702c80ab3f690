//! Lesson plans over HTTP: a student's copy of a course, and the log that changes it.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post, schools, user};

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

/// The course `math` with two units: `u1` holds the lessons `a` and `b` and the part `u1p`, `u2`
/// holds `c`. The resource `extra` is in no course.
pub(crate) fn course(client: &TestClient) {
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

/// The plan's items as one line: `u1(a b u1p())`, what is skipped behind a minus.
fn outline(client: &TestClient, plan: &str) -> String {
    let read = get(client, &format!("/adaptive/lessonPlans/tree/{plan}/structure"));
    let mut out = String::new();
    write(&read["lessonPlan"]["structure"], &mut out);
    out
}

fn write(nodes: &Value, out: &mut String) {
    for (n, node) in nodes.as_array().unwrap().iter().enumerate() {
        assert_eq!(node["order"], (n + 1).to_string(), "{node}");
        if !out.is_empty() && !out.ends_with('(') {
            out.push(' ');
        }
        if node["skipped"] == true {
            out.push('-');
        }
        out.push_str(node["itemId"].as_str().unwrap());
        if node["type"] == "component" {
            out.push('(');
            write(&node["componentResources"], out);
            write(&node["subComponents"], out);
            out.push(')');
        }
    }
}

fn ask(client: &TestClient, plan: &str, kind: &str, payload: &Value) {
    let body = json!({"operation": {"type": kind, "payload": payload}, "reason": "for the test"});
    let operation = post(client, &format!("/adaptive/lessonPlans/{plan}/operations"), &body, 201);
    assert_eq!(operation["success"], true);
}

fn sync(client: &TestClient, plan: &str) -> Value {
    client.post(&format!("/adaptive/lessonPlans/{plan}/operations/sync")).expect(200).json()
}

fn resource(id: &str) -> Value {
    json!({"type": "resource", "id": id})
}

fn part(id: &str) -> Value {
    json!({"type": "component", "id": id})
}

#[test]
fn a_plan_is_a_copy_that_operations_change() {
    both(|server| {
        let client = server.client();
        course(&client);
        let mine = plan(&client, "ann", 201);
        assert_eq!(plan(&client, "ann", 200), mine);
        let start = "u1(a b u1p()) u2(c)";
        assert_eq!(outline(&client, &mine), start);

        // What is asked is done by the next sync, once, each by itself.
        ask(&client, &mine, "set-skipped", &json!({"target": resource("b"), "value": true}));
        ask(
            &client,
            &mine,
            "move-item-before",
            &json!({"target": part("u2"), "reference_id": "u1"}),
        );
        ask(
            &client,
            &mine,
            "move-item-after",
            &json!({"target": resource("c"), "reference_id": "x"}),
        );
        assert_eq!(outline(&client, &mine), start);
        let synced = sync(&client, &mine);
        assert_eq!(synced["success"], false);
        assert_eq!(synced["operationCount"], 3);
        let results = synced["operationResults"].as_array().unwrap();
        assert_eq!(results[0], json!({"success": true}));
        assert_eq!(results[2]["errors"][0]["message"], "the plan has no resource 'x'");
        assert_eq!(outline(&client, &mine), "u2(c) u1(a -b u1p())");
        assert_eq!(sync(&client, &mine)["operationCount"], 0);

        for (kind, payload, outlined) in [
            ("move-item-to-end", json!({"target": part("u2")}), "u1(a -b u1p()) u2(c)"),
            ("move-item-to-start", json!({"target": resource("b")}), "u1(-b a u1p()) u2(c)"),
            ("move-item-to-start", json!({"target": part("u2")}), "u2(c) u1(-b a u1p())"),
            (
                "change-item-parent",
                json!({"target": resource("a"), "newParentId": "u2", "position": "start"}),
                "u2(a c) u1(-b u1p())",
            ),
            (
                "change-item-parent",
                json!({"target": part("u2"), "new_parent_id": "u1p"}),
                "u1(-b u1p(u2(a c)))",
            ),
            (
                "move-item-after",
                json!({"target": part("u2"), "referenceId": "u1"}),
                "u1(-b u1p()) u2(a c)",
            ),
            (
                "move-item-after",
                json!({"target": resource("c"), "reference_id": "b"}),
                "u1(-b c u1p()) u2(a)",
            ),
            (
                "add-custom-resource",
                json!({"resource_id": "r-extra", "parent_component_id": "u1"}),
                "u1(-b c r-extra u1p()) u2(a)",
            ),
            (
                "move-item-before",
                json!({"target": resource("r-extra"), "reference_id": "a"}),
                "u1(-b c u1p()) u2(r-extra a)",
            ),
            (
                "set-skipped",
                json!({"target": part("u1"), "value": true}),
                "-u1(-b c u1p()) u2(r-extra a)",
            ),
        ] {
            ask(&client, &mine, kind, &payload);
            let synced = sync(&client, &mine);
            assert_eq!(synced["success"], true, "{kind}: {synced}");
            assert_eq!(outline(&client, &mine), outlined, "{kind}");
        }

        // The student sees what is not skipped, with its records.
        let seen = get(&client, "/powerpath/lessonPlans/math/ann")["lessonPlan"].clone();
        assert_eq!(seen["course"]["title"], "Maths 3");
        assert_eq!(seen["userId"], "ann");
        let parts = seen["subComponents"].as_array().unwrap();
        assert_eq!(parts.len(), 1, "{seen}");
        assert_eq!(parts[0]["title"], "Unit u2");
        let shown = parts[0]["componentResources"].as_array().unwrap();
        assert_eq!(shown[0]["resource"]["title"], "Text extra");
        assert_eq!(shown[1]["resource"]["vendorResourceId"], "a");
        assert!(shown[1]["resource"]["sourcedId"] == "r-a" && shown[1]["title"] == "Lesson a");
        assert_eq!(get(&client, &format!("/adaptive/lessonPlans/tree/{mine}"))["lessonPlan"], seen);

        // Nothing of it depends on the running server, or on the other student.
        let theirs = plan(&client, "bob", 201);
        let log = get(&client, &format!("/adaptive/lessonPlans/{mine}/operations"));
        server.restart();
        let client = server.client();
        assert_eq!(get(&client, &format!("/adaptive/lessonPlans/{mine}/operations")), log);
        assert_eq!(log["operations"].as_array().unwrap().len(), 13);
        assert_eq!(log["operations"][12]["sequenceNumber"], 13);
        assert_eq!(
            log["operations"][0]["payload"],
            json!({"target": resource("b"), "value": true})
        );
        assert_eq!(log["operations"][0]["reason"], "for the test");
        assert_eq!(outline(&client, &mine), "-u1(-b c u1p()) u2(r-extra a)");
        assert_eq!(outline(&client, &theirs), start);
    });
}

#[test]
fn plans_follow_a_course_when_they_are_recreated() {
    both(|server| {
        let client = server.client();
        course(&client);
        let (ann, bob) = (plan(&client, "ann", 201), plan(&client, "bob", 201));
        ask(&client, &ann, "move-item-to-start", &json!({"target": part("u2")}));
        assert_eq!(sync(&client, &ann)["success"], true);
        component(&client, "u3", None, 3);
        client.delete(&format!("{ROSTERING}/courses/components/u2")).expect(204);
        assert_eq!(outline(&client, &ann), "u2(c) u1(a b u1p())");

        // The move of what the course no longer has is refused, and the log keeps it.
        let again: Value =
            client.post(&format!("/adaptive/lessonPlans/{ann}/recreate")).expect(200).json();
        assert_eq!(again["operationCount"], 1);
        assert_eq!(again["success"], false);
        assert_eq!(outline(&client, &ann), "u1(a b u1p()) u3()");

        let sync = || -> Value {
            client.post("/adaptive/lessonPlans/course/math/sync").expect(200).json()
        };
        assert_eq!(sync()["lessonPlansAffected"], json!([bob]));
        assert_eq!(outline(&client, &bob), "u1(a b u1p()) u3()");
        assert_eq!(sync()["lessonPlansAffected"], json!([]));

        client.delete("/adaptive/lessonPlans/math/deleteAll").expect(204);
        for path in [format!("tree/{ann}"), format!("{ann}/operations"), "math/bob".to_owned()] {
            client.get(&format!("/adaptive/lessonPlans/{path}")).expect(404);
        }
        assert_eq!(outline(&client, &plan(&client, "ann", 201)), "u1(a b u1p()) u3()");
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

        let mine = plan(&client, "ann", 201);
        let path = format!("/adaptive/lessonPlans/{mine}/operations");
        let operation =
            |kind: &str, payload: Value| json!({"operation": {"type": kind, "payload": payload}});
        for (body, places) in [
            (json!({}), vec!["operation"]),
            (json!({"operation": {}}), vec!["operation.type"]),
            (operation("turn", json!({})), vec!["operation.type"]),
            (
                operation("set-skipped", json!({})),
                vec!["operation.payload.target", "operation.payload.value"],
            ),
            (
                operation("set-skipped", json!({"target": {"type": "unit"}, "value": 1})),
                vec![
                    "operation.payload.target.type",
                    "operation.payload.target.id",
                    "operation.payload.value",
                ],
            ),
            (
                operation("move-item-after", json!({"target": part("u1")})),
                vec!["operation.payload.reference_id"],
            ),
            (
                operation(
                    "add-custom-resource",
                    json!({"resource_id": "x", "parent_component_id": "u1"}),
                ),
                vec!["operation.payload.resource_id"],
            ),
        ] {
            refused(&path, body, &places);
        }
        let whole = operation("move-item-to-end", json!({"target": part("u1")}));
        post(&client, "/adaptive/lessonPlans/none/operations", &whole, 404);
        // Nothing of it is in the log; what makes no sense in the tree is told by the sync.
        assert_eq!(get(&client, &path)["operations"], json!([]));
        for (kind, payload) in [
            ("change-item-parent", json!({"target": part("u1"), "new_parent_id": "u1p"})),
            ("move-item-before", json!({"target": part("u1"), "reference_id": "u1p"})),
            ("move-item-before", json!({"target": part("u1"), "reference_id": "a"})),
            ("move-item-before", json!({"target": part("u1"), "reference_id": "u1"})),
        ] {
            ask(&client, &mine, kind, &payload);
        }
        let synced = sync(&client, &mine);
        let failed = synced["operationResults"].as_array().unwrap().iter();
        assert!(
            failed.clone().all(|result| result["success"] == false) && failed.len() == 4,
            "{synced}"
        );
        assert_eq!(outline(&client, &mine), "u1(a b u1p()) u2(c)");
    });
}
