//! The flow of a strict consumer of OneRoster 1.2: Basic credentials with scopes, the standard's
//! payloads and nothing else, every answer held against the official schemas.

use serde_json::{Value, json};

use crate::http::Http;
use crate::official::Answers;
use crate::served::{Served, Store, on_both_stores};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";
const SCOPE: &str = "https://purl.imsglobal.org/spec/or/v1p2/scope/";

on_both_stores!(a_strict_standard_client_grades_a_class, a_token_has_access_only_within_its_scopes,);

/// A client of the standard dialect that holds every answer against the documents.
struct Consumer {
    http: Http,
    answers: Answers,
}

impl Consumer {
    fn sign_in(served: &Served, scopes: &[&str]) -> Self {
        let scopes: Vec<_> = scopes.iter().map(|scope| format!("{SCOPE}{scope}")).collect();
        let key = served.client("standard", &[]);
        let http = Http::sign_in(&served.base, &key, Some(&scopes.join(" ")));
        Self { http, answers: Answers::new() }
    }

    /// Sends a request and checks its answer; its status and body (`null` where that is empty).
    fn send(&self, method: &str, address: &str, body: Option<Value>) -> (u16, Value) {
        let answer = self.http.send(method, address, body);
        self.answers.hold(method, address, answer.status, &answer.body);
        (answer.status, answer.json())
    }

    fn get(&self, address: &str) -> Value {
        let (status, body) = self.send("get", address, None);
        assert_eq!(status, 200, "{address}: {body}");
        body
    }

    /// The ids of a list, sorted.
    fn ids(&self, address: &str, key: &str) -> Vec<String> {
        let body = self.get(address);
        let records = body[key].as_array().unwrap_or_else(|| panic!("no {key} in {body}"));
        let mut ids: Vec<_> = records.iter().map(id_of).collect();
        ids.sort();
        ids
    }
}

fn id_of(record: &Value) -> String {
    record["sourcedId"].as_str().unwrap().to_owned()
}

fn reference(id: &str) -> Value {
    json!({ "sourcedId": id })
}

/// A reference as the standard wants it sent.
fn full(served: &Served, path: &str, kind: &str, id: &str) -> Value {
    json!({ "href": format!("{}{path}/{id}", served.base), "sourcedId": id, "type": kind })
}

/// A school with a class of two students, written through the platform's dialect.
fn seed(served: &Served) {
    let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
    let post = |path: &str, body: Value| {
        let answer = http.send("post", path, Some(body));
        assert_eq!(answer.status, 201, "{path}: {}", answer.body);
    };
    let session = |id: &str, kind: &str, parent: Value| {
        let record = json!({ "sourcedId": id, "title": id, "type": kind, "startDate": "2025-08-01",
            "endDate": "2026-06-30", "schoolYear": "2026", "parent": parent });
        post(&format!("{ROSTERING}/academicSessions"), json!({ "academicSession": record }));
    };
    let user = |id: &str, role: &str| {
        let record = json!({ "sourcedId": id, "enabledUser": "true", "givenName": id, "familyName": "Fjord",
            "email": format!("{id}@fjord.example"),
            "roles": [{ "roleType": "primary", "role": role, "org": reference("school") }] });
        post(&format!("{ROSTERING}/users"), json!({ "user": record }));
    };
    let enroll = |user: &str, role: &str| {
        let record = json!({ "sourcedId": format!("{user}-in-class"), "user": reference(user),
            "class": reference("class"), "school": reference("school"), "role": role });
        post(&format!("{ROSTERING}/enrollments"), json!({ "enrollment": record }));
    };
    let school =
        json!({ "sourcedId": "school", "name": "Fjord", "type": "school", "identifier": "1" });
    post(&format!("{ROSTERING}/orgs"), json!({ "org": school }));
    session("year", "schoolYear", Value::Null);
    session("term", "term", reference("year"));
    session("period", "gradingPeriod", reference("term"));
    let course = json!({ "sourcedId": "course", "title": "Rivers", "courseCode": "R", "org": reference("school") });
    post(&format!("{ROSTERING}/courses"), json!({ "course": course }));
    let class = json!({ "sourcedId": "class", "title": "Rivers A", "course": reference("course"),
        "school": reference("school"), "terms": [reference("term")] });
    post(&format!("{ROSTERING}/classes"), json!({ "class": class }));
    for (id, role) in [("ada", "teacher"), ("bo", "teacher"), ("cy", "student"), ("di", "student")]
    {
        user(id, role);
    }
    for (id, role) in [("ada", "teacher"), ("cy", "student"), ("di", "student")] {
        enroll(id, role);
    }
    let category = json!({ "sourcedId": "homework", "title": "Homework", "weight": 0.5 });
    post(&format!("{GRADEBOOK}/categories"), json!({ "category": category }));
    let line = json!({ "sourcedId": "first", "title": "First", "class": reference("class"),
        "school": reference("school"), "category": reference("homework"),
        "assignDate": "2025-09-01T08:00:00Z", "dueDate": "2025-09-08T08:00:00Z" });
    post(&format!("{GRADEBOOK}/lineItems"), json!({ "lineItem": line }));
}

fn a_strict_standard_client_grades_a_class(store: Store) {
    let served = Served::start(store);
    seed(&served);
    let consumer = Consumer::sign_in(
        &served,
        &[
            "roster.readonly",
            "gradebook.readonly",
            "gradebook-core.readonly",
            "gradebook.createput",
            "gradebook.delete",
        ],
    );
    finds_the_class(&consumer);
    puts_a_line_item_and_a_result(&served, &consumer);
    deletes_and_syncs(&consumer);
}

/// From a teacher's e-mail address to the class, its students, categories and grading periods.
fn finds_the_class(consumer: &Consumer) {
    let filter = "email%3D%27ada%40fjord.example%27";
    let teachers = consumer.ids(&format!("{ROSTERING}/teachers?filter={filter}"), "users");
    assert_eq!(teachers, ["ada"]);
    let classes = consumer.ids(&format!("{ROSTERING}/teachers/ada/classes"), "classes");
    assert_eq!(classes, ["class"]);
    assert!(consumer.ids(&format!("{ROSTERING}/teachers/bo/classes"), "classes").is_empty());
    let students = consumer.ids(&format!("{ROSTERING}/classes/class/students"), "users");
    assert_eq!(students, ["cy", "di"]);
    let categories = consumer.ids(&format!("{GRADEBOOK}/classes/class/categories"), "categories");
    assert_eq!(categories, ["homework"]);
    let class = consumer.get(&format!("{ROSTERING}/classes/class"));
    let term = id_of(&class["class"]["terms"][0]);
    let periods = format!("{ROSTERING}/terms/{term}/gradingPeriods");
    assert_eq!(consumer.ids(&periods, "academicSessions"), ["period"]);
}

/// PUT creates (201), then updates (200); a score above the maximum is kept as it is.
fn puts_a_line_item_and_a_result(served: &Served, consumer: &Consumer) {
    let reference = |path: &str, kind: &str, id: &str| full(served, path, kind, id);
    let mut line = json!({ "sourcedId": "essay", "status": "active",
        "dateLastModified": "2025-09-01T08:00:00.000Z", "title": "Essay",
        "assignDate": "2025-09-01T08:00:00.000Z", "dueDate": "2025-09-08T08:00:00.000Z",
        "class": reference(&format!("{ROSTERING}/classes"), "class", "class"),
        "school": reference(&format!("{ROSTERING}/orgs"), "org", "school"),
        "category": reference(&format!("{GRADEBOOK}/categories"), "category", "homework"),
        "gradingPeriod": reference(&format!("{ROSTERING}/academicSessions"), "academicSession", "period"),
        "resultValueMin": 0.0, "resultValueMax": 10.0 });
    let address = format!("{GRADEBOOK}/lineItems/essay");
    let put =
        |record: &Value| consumer.send("put", &address, Some(json!({ "lineItem": record }))).0;
    assert_eq!(put(&line), 201);
    line["title"] = json!("Longer essay");
    // The standard's own document lists no other success.
    assert_eq!(put(&line), 201);
    let kept = consumer.get(&address);
    assert_eq!(kept["lineItem"]["title"], "Longer essay");
    assert_eq!(kept["lineItem"]["category"], line["category"], "references come back in full");

    let result = json!({ "sourcedId": "grade", "status": "active",
        "dateLastModified": "2025-09-09T08:00:00.000Z",
        "lineItem": reference(&format!("{GRADEBOOK}/lineItems"), "lineItem", "essay"),
        "student": reference(&format!("{ROSTERING}/users"), "user", "cy"),
        "score": 12.5, "scoreStatus": "fully graded", "scoreDate": "2025-09-09" });
    let address = format!("{GRADEBOOK}/results/grade");
    let body = Some(json!({ "result": result }));
    assert_eq!(consumer.send("put", &address, body).0, 201);
    assert_eq!(consumer.get(&address)["result"]["score"], 12.5, "more than the maximum is kept");
    let of_line = format!("{GRADEBOOK}/classes/class/lineItems/essay/results");
    assert_eq!(consumer.ids(&of_line, "results"), ["grade"]);

    let elsewhere = json!({ "lineItem": { "title": "Nothing else" } });
    let (status, fault) =
        consumer.send("put", &format!("{GRADEBOOK}/lineItems/other"), Some(elsewhere));
    assert_eq!(status, 422, "{fault}");
}

/// DELETE takes a record out of lists; a single read and a delta still show it.
fn deletes_and_syncs(consumer: &Consumer) {
    for (path, key, id) in [("results", "result", "grade"), ("lineItems", "lineItem", "essay")] {
        let collection = format!("{GRADEBOOK}/{path}");
        let address = format!("{collection}/{id}");
        let before = consumer.get(&address)[key]["dateLastModified"].as_str().unwrap().to_owned();
        let (status, body) = consumer.send("delete", &address, None);
        assert_eq!((status, body), (204, Value::Null));
        assert!(!consumer.ids(&collection, path).contains(&id.to_owned()), "gone from {path}");
        assert_eq!(consumer.get(&address)[key]["status"], "tobedeleted");
        let since = before.replace(':', "%3A");
        let delta = format!("{collection}?filter=dateLastModified%3E%27{since}%27");
        assert_eq!(consumer.ids(&delta, path), [id], "the delta since {before}");
        let (status, _) = consumer.send("delete", &format!("{collection}/no-such-record"), None);
        assert_eq!(status, 404);
    }
    let left = consumer.ids(&format!("{GRADEBOOK}/classes/class/lineItems"), "lineItems");
    assert_eq!(left, ["first"]);
}

fn a_token_has_access_only_within_its_scopes(store: Store) {
    let served = Served::start(store);
    seed(&served);
    let reader = Consumer::sign_in(&served, &["roster-core.readonly"]);
    assert_eq!(reader.ids(&format!("{ROSTERING}/orgs"), "orgs"), ["school"]);
    for (method, closed) in [
        ("get", format!("{ROSTERING}/demographics")),
        ("get", format!("{ROSTERING}/classes/class/students")),
        ("get", format!("{GRADEBOOK}/lineItems")),
        ("delete", format!("{GRADEBOOK}/lineItems/first")),
    ] {
        let (status, body) = reader.send(method, &closed, None);
        assert_eq!(status, 403, "{method} {closed}: {body}");
    }
    let nobody = Consumer { http: Http::without_token(&served.base), answers: Answers::new() };
    assert_eq!(nobody.send("get", &format!("{ROSTERING}/orgs"), None).0, 401);
}
