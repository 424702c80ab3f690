//! A course with one lesson that asks question by question, created through the API.

use anyhow::Result;
use serde_json::{Value, json};

use crate::client::Client;
use crate::lyceum::ROSTERING;
use crate::qti::item;

/// The sourcedId of the course.
pub(crate) const COURSE: &str = "bench-course";
/// The sourcedId of the lesson.
pub(crate) const LESSON: &str = "bench-lesson";
const DIFFICULTIES: [&str; 3] = ["easy", "medium", "hard"];

/// Creates a course of the school, and its lesson with so many questions.
pub(crate) fn create(client: &mut Client, school: &str, questions: usize) -> Result<()> {
    let mut post = |path: &str, body: Value| client.send("POST", path, &body);
    let course = json!({"sourcedId": COURSE, "title": "Fractions", "courseCode": "F",
        "subjects": ["Math"], "org": {"sourcedId": school}});
    post(&format!("{ROSTERING}/courses"), json!({ "course": course }))?;
    let unit = json!({"sourcedId": "bench-unit", "title": "Unit", "sortOrder": 1,
        "course": {"sourcedId": COURSE}});
    post(&format!("{ROSTERING}/courses/components"), json!({ "courseComponent": unit }))?;
    let mut members = Vec::new();
    for number in 0..questions {
        let id = format!("bench-question-{number}");
        let metadata = json!({ "difficulty": DIFFICULTIES[number % DIFFICULTIES.len()] });
        let body = json!({"format": "xml", "xml": item(&id), "metadata": metadata});
        post("/assessment-items", body)?;
        members.push(json!({"identifier": id, "href": format!("/assessment-items/{id}")}));
    }
    let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1,
        "qti-assessment-item-ref": members});
    let part = json!({"identifier": "part", "navigationMode": "linear",
        "submissionMode": "individual", "qti-assessment-section": [section]});
    let test = json!({"identifier": "bench-test", "title": "Test", "qti-test-part": [part]});
    post("/assessment-tests", test)?;
    let metadata =
        json!({"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": 10});
    let resource = json!({"sourcedId": "bench-resource", "title": "Questions",
        "vendorResourceId": "bench-test", "metadata": metadata});
    post("/ims/oneroster/resources/v1p2/resources", json!({ "resource": resource }))?;
    let lesson = json!({"sourcedId": LESSON, "title": "Lesson", "sortOrder": 1,
        "courseComponent": {"sourcedId": "bench-unit"},
        "resource": {"sourcedId": "bench-resource"}});
    let path = format!("{ROSTERING}/courses/component-resources");
    post(&path, json!({ "componentResource": lesson }))?;
    Ok(())
}
