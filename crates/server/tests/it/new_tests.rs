//! Tests made in one request: every record of them is read back as what it is.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::enrolling::{ROSTERING, get, post, schools};

const RESOURCES: &str = "/ims/oneroster/resources/v1p2";
const URL: &str = "https://qti.example/api/assessment-tests/sums";

fn internal(client: &TestClient, more: &Value) -> Value {
    let mut body =
        json!({"courseId": "math", "lessonType": "quiz", "testType": "qti", "qti": {"url": URL}});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    post(client, "/powerpath/createInternalTest", &body, 201)
}

fn resource(client: &TestClient, id: &Value) -> Value {
    get(client, &format!("{RESOURCES}/resources/{}", id.as_str().unwrap()))["resource"].clone()
}

fn lesson(client: &TestClient, created: &Value) -> Value {
    let id = created["lessonId"].as_str().unwrap();
    let path = format!("{ROSTERING}/courses/component-resources/{id}");
    get(client, &path)["componentResource"].clone()
}

#[test]
fn a_test_is_created_with_all_of_its_records() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let more = json!({"lessonTitle": "Sums", "unitTitle": "Numbers", "xp": 20, "grades": [3, "4"],
            "courseIdOnFail": "art", "resourceMetadata": {"language": "en"}});
        let created = internal(&client, &more);
        assert_eq!(created["testType"], "qti");
        assert_eq!(created["lessonType"], "quiz");
        assert_eq!(created["grades"], json!(["03", "4"]));
        assert_eq!(created["courseIdOnFail"], "art");
        let shown = lesson(&client, &created);
        assert_eq!(
            (&shown["title"], &shown["lessonType"], &shown["sortOrder"]),
            (&json!("Sums"), &json!("quiz"), &json!(1))
        );
        assert_eq!(shown["resource"]["sourcedId"], created["resourceId"]);
        let test = resource(&client, &created["resourceId"]);
        assert_eq!(test["vendorResourceId"], "sums");
        assert_eq!(
            test["metadata"],
            json!({"language": "en", "lessonType": "quiz", "subject": "Math", "grades": ["03", "4"], "xp": 20,
                "courseIdOnFail": "art", "type": "qti", "subType": "qti-test", "url": URL})
        );
        // A second one behind it in the same component.
        let second =
            internal(&client, &json!({"courseComponentSourcedId": created["courseComponentId"]}));
        assert_eq!(second["courseComponentId"], created["courseComponentId"]);
        assert_eq!(lesson(&client, &second)["sortOrder"], 2);
        assert_eq!(lesson(&client, &second)["title"], "Quiz");
        let other = internal(&client, &json!({}));
        assert_ne!(other["courseComponentId"], created["courseComponentId"]);

        // The syllabus shows them in their order, also after a restart.
        server.restart();
        let client = server.client();
        let syllabus = get(&client, "/powerpath/syllabus/math?status=active")["syllabus"].clone();
        let units = syllabus["subComponents"].as_array().unwrap();
        let titles: Vec<_> = units.iter().map(|unit| unit["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["Numbers", "Quiz"]);
        let lessons = units[0]["componentResources"].as_array().unwrap();
        assert_eq!(lessons[0]["resource"]["metadata"]["xp"], 20);
        assert_eq!(lessons[1]["sourcedId"], second["lessonId"]);
    });
}

#[test]
fn tests_that_are_used_in_turn_are_separate_resources() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let bank = json!({"resources": [{"url": URL, "title": "One"}, {"url": format!("{URL}-2/"), "metadata": {"form": "B"}}]});
        let body = json!({"courseId": "math", "lessonType": "unit-test", "testType": "assessment-bank",
            "assessmentBank": bank, "lessonTitle": "Unit"});
        let created = post(&client, "/powerpath/createInternalTest", &body, 201);
        let children = created["childResourceIds"].as_array().unwrap();
        assert_eq!(children.len(), 2);
        let main = resource(&client, &created["resourceId"]);
        assert_eq!(main["metadata"]["type"], "assessment-bank");
        assert_eq!(&main["metadata"]["resources"], &created["childResourceIds"]);
        let second = resource(&client, &children[1]);
        assert_eq!(
            (&second["title"], &second["vendorResourceId"]),
            (&json!("Unit 2"), &json!("sums-2"))
        );
        assert_eq!(second["metadata"]["form"], "B");
        assert_eq!(resource(&client, &children[0])["title"], "One");
    });
}

#[test]
fn an_external_test_keeps_its_tool() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let body = json!({"courseId": "math", "toolProvider": "mastery-track", "grades": [4], "xp": 50.5,
            "launchUrl": "https://tool.example/t", "vendorId": "v-1", "description": "All of it"});
        let created = post(&client, "/powerpath/createExternalTestOut", &body, 201);
        assert_eq!(created["lessonType"], "test-out");
        assert_eq!(created["toolProvider"], "mastery-track");
        assert_eq!(created["launchUrl"], "https://tool.example/t");
        assert_eq!(created["vendorId"], "v-1");
        let shown = resource(&client, &created["resourceId"]);
        assert_eq!(shown["metadata"]["xp"], 50.5);
        assert_eq!(shown["metadata"]["toolProvider"], "mastery-track");
        assert_eq!(lesson(&client, &created)["lessonType"], "test-out");
        // A course has one test-out lesson.
        post(&client, "/powerpath/createExternalTestOut", &body, 409);
        let place = json!({"courseId": "math", "toolProvider": "edulastic", "grades": ["4"], "courseIdOnFail": "art"});
        let created = post(&client, "/powerpath/createExternalPlacementTest", &place, 201);
        assert_eq!(created["lessonType"], "placement");
        assert_eq!(created["courseIdOnFail"], "art");
        assert_eq!(resource(&client, &created["resourceId"])["metadata"]["subject"], "Math");
    });
}

#[test]
fn an_invalid_test_is_refused_with_the_path_of_each_error() {
    both(|server| {
        let client = server.client();
        schools(&client);
        let refused = |operation: &str, body: Value, places: &[&str]| {
            let response = post(&client, &format!("/adaptive/{operation}"), &body, 422);
            let details = response["imsx_error_details"].as_array().unwrap().iter();
            let paths: Vec<_> = details.map(|detail| detail["path"].as_str().unwrap()).collect();
            assert_eq!(paths, places, "{body}: {response}");
        };
        let internal = "createInternalTest";
        refused(internal, json!({}), &["courseId", "lessonType", "testType"]);
        let body = |more: Value| {
            let mut body = json!({"courseId": "math", "lessonType": "quiz", "testType": "qti", "qti": {"url": URL}});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        refused(internal, body(json!({"qti": {}})), &["qti.url"]);
        refused(internal, body(json!({"qti": {"title": 3}})), &["qti.url", "qti.title"]);
        refused(internal, body(json!({"qti": {"url": "file:///x"}})), &["qti.url"]);
        let bank = json!({"resources": [{"url": URL}]});
        refused(internal, body(json!({"assessmentBank": bank})), &["assessmentBank"]);
        refused(internal, body(json!({"testType": "assessment-bank"})), &["qti", "assessmentBank"]);
        let bank = json!({"testType": "assessment-bank", "qti": null, "assessmentBank": {"resources": [{"url": URL}, 3, {}]}});
        refused(
            internal,
            body(bank),
            &["assessmentBank.resources[1]", "assessmentBank.resources[2].url"],
        );
        refused(internal, body(json!({"xp": -1, "grades": [[]]})), &["xp", "grades[0]"]);
        refused(
            internal,
            body(json!({"courseComponentSourcedId": "none"})),
            &["courseComponentSourcedId"],
        );
        refused(internal, body(json!({"courseIdOnFail": "none"})), &["courseIdOnFail"]);
        let nothing = body(json!({"lessonType": "placement", "courseId": "art"}));
        refused(internal, nothing, &["grades", "resourceMetadata.subject"]);
        post(&client, "/adaptive/createInternalTest", &body(json!({"courseId": "none"})), 404);
        refused("createExternalTestOut", json!({}), &["courseId", "toolProvider", "xp", "grades"]);
        refused(
            "createExternalPlacementTest",
            json!({"courseId": "math", "grades": [3], "toolProvider": "pen"}),
            &["toolProvider"],
        );
        refused(
            "createExternalPlacementTest",
            json!({"courseId": "math", "grades": [3], "toolProvider": "edulastic", "launchUrl": "x", "lessonType": "quiz"}),
            &["lessonType", "launchUrl"],
        );
        // Nothing of it was made.
        assert_eq!(get(&client, "/adaptive/syllabus/math")["syllabus"]["subComponents"], json!([]));
        assert_eq!(get(&client, &format!("{RESOURCES}/resources"))["totalCount"], 0);
    });
}
