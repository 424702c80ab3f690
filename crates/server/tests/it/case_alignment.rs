//! The records that cover a standard, and the standards that a record covers.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::assessment::choice;
use crate::case::{get, item, store};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const RESOURCES: &str = "/ims/oneroster/resources/v1p2";
const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";

/// A course with one of everything that can be aligned.
fn school(client: &TestClient) {
    let post = |path: String, body: &Value| drop(client.post(&path).json(body).expect(201));
    post(
        format!("{ROSTERING}/orgs"),
        &json!({"org": {
        "sourcedId": "org", "name": "School", "type": "school"}}),
    );
    post(
        format!("{ROSTERING}/courses"),
        &json!({"course": {
        "sourcedId": "course", "title": "Fractions", "courseCode": "F", "org": {"sourcedId": "org"}}}),
    );
    post(
        format!("{ROSTERING}/courses/components"),
        &json!({"courseComponent": {
        "sourcedId": "unit", "title": "Unit", "course": {"sourcedId": "course"}, "sortOrder": 1}}),
    );
    post(
        format!("{RESOURCES}/resources"),
        &json!({"resource": {
        "sourcedId": "video", "title": "Video", "vendorResourceId": "v",
        "metadata": {"standards": [format!("urn:uuid:{}", item(3))]}}}),
    );
    post(
        format!("{ROSTERING}/courses/component-resources"),
        &json!({"componentResource": {
        "sourcedId": "lesson", "title": "Lesson", "sortOrder": 1, "courseComponent": {"sourcedId": "unit"},
        "resource": {"sourcedId": "video"}}}),
    );
    client
        .put(&format!("{GRADEBOOK}/assessmentLineItems/quiz"))
        .json(&json!({"assessmentLineItem": {"sourcedId": "quiz", "title": "Quiz", "learningObjectiveSet": [
            {"source": "case", "learningObjectiveIds": [item(2)]}]}}))
        .expect(201);
    let metadata =
        json!({"learningObjectiveSet": [{"source": "CASE", "learningObjectiveIds": [item(2)]}]});
    let question = json!({"xml": choice("question", "Question"), "metadata": metadata});
    post("/assessment-items".to_owned(), &question);
}

fn covers(client: &TestClient, number: u32, query: &str) -> Vec<String> {
    let path = format!("/CFItems/{}/coverage{query}", item(number));
    let response = get(client, &path);
    assert_eq!(response["complete"], true);
    let records = response["coverage"].as_array().unwrap();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    records
        .iter()
        .map(|one| format!("{} {} {}", text(one, "kind"), text(one, "id"), text(one, "source")))
        .collect()
}

#[test]
fn records_are_aligned_and_found_from_both_sides() {
    both(|server| {
        let client = server.client();
        store(&client);
        school(&client);
        let align = |kind: &str, id: &str, items: &[u32], status: u16| {
            let items: Vec<String> = items.iter().map(|number| item(*number)).collect();
            let path = format!("/ims/case/v1p1/alignments/{kind}/{id}");
            client.put(&path).json(&json!({ "items": items })).expect(status)
        };
        for (kind, id) in [
            ("course", "course"),
            ("courseComponent", "unit"),
            ("componentResource", "lesson"),
            ("resource", "video"),
            ("assessmentLineItem", "quiz"),
            ("assessmentItem", "question"),
            ("achievement", "urn:uuid:anything"),
        ] {
            let id = id.replace(':', "%3A");
            align(kind, &id, &[1], 200);
            let response = get(&client, &format!("/alignments/{kind}/{id}"));
            assert_eq!(response["items"][0]["humanCodingScheme"], "3.NF", "{kind}");
        }
        assert_eq!(covers(&client, 1, "").len(), 7);
        align("resource", "video", &[1, 2], 200);
        let mine = get(&client, "/alignments/resource/video");
        let sources: Vec<_> =
            mine["items"].as_array().unwrap().iter().map(|one| &one["source"]).collect();
        assert_eq!(sources, ["alignment", "alignment", "record"]);
        assert_eq!(
            covers(&client, 2, ""),
            [
                "resource video alignment",
                "assessmentLineItem quiz record",
                "assessmentItem question record"
            ]
        );
        assert_eq!(covers(&client, 2, "?said=false"), ["resource video alignment"]);
        assert_eq!(covers(&client, 3, ""), ["resource video record"]);
        let below = covers(&client, 1, "?children=true");
        assert_eq!(below.len(), 10, "{below:?}");
        server.restart();
        assert_eq!(covers(&client, 1, "?children=true"), below);

        align("resource", "nothing", &[1], 404);
        align("star", "x", &[1], 404);
        align("resource", "video", &[1, 99], 422);
        client
            .put("/ims/case/v1p1/alignments/resource/video")
            .json(&json!({"items": ["x"]}))
            .expect(422);
        assert_eq!(get(&client, "/alignments/resource/video"), mine, "a refusal changes nothing");
    });
}

#[test]
fn several_alignments_are_stored_together_or_not_at_all() {
    both(|server| {
        let client = server.client();
        store(&client);
        school(&client);
        let one = |kind: &str, id: &str, number: u32| json!({"kind": kind, "id": id, "item": item(number)});
        let post = |list: Value, status: u16| -> Value {
            let body = json!({ "alignments": list });
            client.post("/ims/case/v1p1/alignments").json(&body).expect(status).json()
        };
        let refused = post(
            json!([one("course", "course", 1), one("course", "none", 1), one("x", "y", 9)]),
            422,
        );
        let paths: Vec<_> = refused["imsx_error_details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|at| &at["path"])
            .collect();
        assert_eq!(paths, ["alignments[1].id", "alignments[2].item", "alignments[2].kind"]);
        let list = json!([
            one("course", "course", 1),
            one("resource", "video", 1),
            one("course", "course", 1)
        ]);
        assert_eq!(post(list.clone(), 200), json!({ "sent": 3, "added": 2 }));
        assert_eq!(post(list, 200)["added"], 0);
        let all = get(&client, "/alignments");
        assert_eq!(all["alignments"].as_array().unwrap().len(), 2);
        assert_eq!(
            get(&client, "/alignments?kind=course")["alignments"].as_array().unwrap().len(),
            1
        );
        let reply =
            client.get(&format!("/ims/case/v1p1/alignments?item={}&limit=1", item(1))).expect(200);
        assert_eq!(reply.header("x-total-count"), "2");
        client.delete(&format!("/ims/case/v1p1/alignments/course/course/{}", item(1))).expect(204);
        client.delete("/ims/case/v1p1/alignments/resource/video").expect(204);
        assert_eq!(get(&client, "/alignments")["alignments"], json!([]));
    });
}

#[test]
fn removed_standards_are_left_out() {
    both(|server| {
        let client = server.client();
        store(&client);
        school(&client);
        let path = "/ims/case/v1p1/alignments/resource/video";
        client.put(path).json(&json!({ "items": [item(1), item(2)] })).expect(200);
        client.delete(&format!("/ims/case/v1p1/CFItems/{}", item(2))).expect(204);
        let response = get(&client, "/alignments/resource/video");
        assert_eq!(response["items"].as_array().unwrap().len(), 2, "one aligned, one said");
        client.get(&format!("/ims/case/v1p1/CFItems/{}/coverage", item(2))).expect(404);
        client.delete(&format!("{RESOURCES}/resources/video")).expect(204);
        assert!(covers(&client, 1, "").is_empty());
        client.get(path).expect(404);
        // An item that comes back is covered as before.
        client
            .put(&format!("/ims/case/v1p1/CFPackages/{}", crate::case::FRAMEWORK))
            .json(&crate::case::package())
            .expect(200);
        assert_eq!(get(&client, "/alignments")["alignments"].as_array().unwrap().len(), 2);
        client
            .delete(&format!("/ims/case/v1p1/CFDocuments/{}", crate::case::FRAMEWORK))
            .expect(204);
        client.get(&format!("/ims/case/v1p1/CFItems/{}/coverage", item(1))).expect(404);
        client.delete(path).expect(204);
    });
}
