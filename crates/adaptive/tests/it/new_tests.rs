//! Tests made in one request: every record of them is what the request says.

use lyceum_adaptive::LessonType;
use lyceum_adaptive::new_test::{self, ExternalTest, NewTest};
use lyceum_core::ProblemKind::{Conflict, NotFound};
use lyceum_core::{Result, body};
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, RESOURCE};
use lyceum_roster::repository;
use serde_json::{Value, json};

use crate::school::{School, one, paths, refused, shown};

const URL: &str = "https://qti.example/api/assessment-tests/sums";

/// A quiz of math with one test, with these members.
fn quiz(more: &Value) -> Value {
    let mut members = json!({ "courseId": "math", "lessonType": "quiz", "testType": "qti", "qti": { "url": URL } });
    members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    members
}

fn create(school: &School, test: Result<NewTest>) -> Result<Value> {
    let test = test?;
    school.write(|tx, context| new_test::create(tx, context.now, &test)).map(shown)
}

fn internal(school: &School, members: Value) -> Result<Value> {
    create(school, body::of(members).and_then(NewTest::internal))
}

fn external(school: &School, lesson_type: LessonType, members: Value) -> Result<Value> {
    let test = match lesson_type {
        LessonType::TestOut => body::of(members)
            .and_then(|test: ExternalTest<f64>| NewTest::external(test, lesson_type)),
        _ => body::of(members)
            .and_then(|test: ExternalTest<Option<f64>>| NewTest::external(test, lesson_type)),
    };
    create(school, test)
}

fn record(school: &School, kind: &'static RecordKind, id: &Value) -> Value {
    let found = school.db.read_blocking(|tx| repository::find(tx, kind, id.as_str().unwrap()));
    let found = found.unwrap().unwrap();
    let mut record: Value = serde_json::from_str(&found.body).unwrap();
    let extra: Option<Value> = found.extra.map(|extra| serde_json::from_str(&extra).unwrap());
    record
        .as_object_mut()
        .unwrap()
        .extend(extra.into_iter().flat_map(|extra| extra.as_object().unwrap().clone()));
    record
}

#[test]
fn a_test_is_created_with_all_of_its_records() {
    one(|school| {
        let more = json!({ "lessonTitle": "Sums", "unitTitle": "Numbers", "xp": 20, "grades": [3, "4"],
            "courseIdOnFail": "art", "resourceMetadata": { "language": "en" } });
        let created = internal(school, quiz(&more)).unwrap();
        assert_eq!(
            (
                &created["testType"],
                &created["lessonType"],
                &created["grades"],
                &created["courseIdOnFail"]
            ),
            (&json!("qti"), &json!("quiz"), &json!(["03", "4"]), &json!("art"))
        );
        let lesson = record(school, &COMPONENT_RESOURCE, &created["lessonId"]);
        assert_eq!(
            (&lesson["title"], &lesson["lessonType"], &lesson["sortOrder"]),
            (&json!("Sums"), &json!("quiz"), &json!(1))
        );
        assert_eq!(lesson["resource"]["sourcedId"], created["resourceId"]);
        let test = record(school, &RESOURCE, &created["resourceId"]);
        assert_eq!(test["vendorResourceId"], "sums");
        assert_eq!(
            test["metadata"],
            json!({ "language": "en", "lessonType": "quiz", "subject": "Math", "grades": ["03", "4"], "xp": 20,
                "courseIdOnFail": "art", "type": "qti", "subType": "qti-test", "url": URL })
        );
        // A second one behind it in the same component.
        let same = json!({ "courseComponentSourcedId": created["courseComponentId"] });
        let second = internal(school, quiz(&same)).unwrap();
        assert_eq!(second["courseComponentId"], created["courseComponentId"]);
        let lesson = record(school, &COMPONENT_RESOURCE, &second["lessonId"]);
        assert_eq!((&lesson["sortOrder"], &lesson["title"]), (&json!(2), &json!("Quiz")));
        let other = internal(school, quiz(&json!({}))).unwrap();
        assert_ne!(other["courseComponentId"], created["courseComponentId"]);
    });
}

#[test]
fn tests_that_are_used_in_turn_are_separate_resources() {
    one(|school| {
        let bank = json!({ "resources": [{ "url": URL, "title": "One" }, { "url": format!("{URL}-2/"), "metadata": { "form": "B" } }] });
        let created = internal(
            school,
            json!({ "courseId": "math", "lessonType": "unit-test",
            "testType": "assessment-bank", "assessmentBank": bank, "lessonTitle": "Unit" }),
        )
        .unwrap();
        let children = created["childResourceIds"].as_array().unwrap();
        assert_eq!(children.len(), 2);
        let main = record(school, &RESOURCE, &created["resourceId"]);
        assert_eq!(main["metadata"]["type"], "assessment-bank");
        assert_eq!(&main["metadata"]["resources"], &created["childResourceIds"]);
        let second = record(school, &RESOURCE, &children[1]);
        assert_eq!(
            (&second["title"], &second["vendorResourceId"], &second["metadata"]["form"]),
            (&json!("Unit 2"), &json!("sums-2"), &json!("B"))
        );
        assert_eq!(record(school, &RESOURCE, &children[0])["title"], "One");
    });
}

#[test]
fn an_external_test_keeps_its_tool_and_a_course_has_one_test_out() {
    one(|school| {
        let out = json!({ "courseId": "math", "toolProvider": "mastery-track", "grades": [4], "xp": 50.5,
            "launchUrl": "https://tool.example/t", "vendorId": "v-1", "description": "All of it" });
        let created = external(school, LessonType::TestOut, out.clone()).unwrap();
        for (name, value) in [
            ("lessonType", "test-out"),
            ("toolProvider", "mastery-track"),
            ("launchUrl", "https://tool.example/t"),
            ("vendorId", "v-1"),
        ] {
            assert_eq!(created[name], value, "{name}");
        }
        let metadata = record(school, &RESOURCE, &created["resourceId"])["metadata"].clone();
        assert_eq!(
            (&metadata["xp"], &metadata["toolProvider"]),
            (&json!(50.5), &json!("mastery-track"))
        );
        assert_eq!(
            record(school, &COMPONENT_RESOURCE, &created["lessonId"])["lessonType"],
            "test-out"
        );
        refused(external(school, LessonType::TestOut, out), Conflict, "");
        let place = json!({ "courseId": "math", "toolProvider": "edulastic", "grades": ["4"], "courseIdOnFail": "art" });
        let created = external(school, LessonType::Placement, place).unwrap();
        assert_eq!(
            (&created["lessonType"], &created["courseIdOnFail"]),
            (&json!("placement"), &json!("art"))
        );
        assert_eq!(
            record(school, &RESOURCE, &created["resourceId"])["metadata"]["subject"],
            "Math"
        );
    });
}

#[test]
fn an_invalid_test_is_refused_with_the_path_of_each_error() {
    one(|school| {
        let bare = json!({ "sourcedId": "bare", "title": "Without subject and grades", "courseCode": "B" });
        school.record("courses", bare);
        let before = counts(school);
        let bank = |resources: Value| json!({ "resources": resources });
        for (members, places) in [
            (json!({}), vec!["courseId", "lessonType", "testType"]),
            (quiz(&json!({ "qti": {} })), vec!["qti.url"]),
            (quiz(&json!({ "qti": { "title": 3 } })), vec!["qti.url", "qti.title"]),
            (quiz(&json!({ "qti": { "url": "file:///x" } })), vec!["qti.url"]),
            (
                quiz(&json!({ "assessmentBank": bank(json!([{ "url": URL }])) })),
                vec!["assessmentBank"],
            ),
            (quiz(&json!({ "testType": "assessment-bank" })), vec!["qti", "assessmentBank"]),
            (
                quiz(&json!({ "testType": "assessment-bank", "qti": null,
                    "assessmentBank": bank(json!([{ "url": URL }, 3, {}])) })),
                vec!["assessmentBank.resources[1]", "assessmentBank.resources[2].url"],
            ),
            (quiz(&json!({ "xp": -1, "grades": [[]] })), vec!["xp", "grades[0]"]),
            (
                quiz(&json!({ "courseComponentSourcedId": "none" })),
                vec!["courseComponentSourcedId"],
            ),
            (quiz(&json!({ "courseIdOnFail": "none" })), vec!["courseIdOnFail"]),
            (
                quiz(&json!({ "lessonType": "placement", "courseId": "bare" })),
                vec!["grades", "resourceMetadata.subject"],
            ),
        ] {
            let problem = internal(school, members.clone()).unwrap_err();
            assert_eq!(paths(&problem), places, "{members}");
        }
        refused(internal(school, quiz(&json!({ "courseId": "none" }))), NotFound, "");
        let edulastic = json!({ "courseId": "math", "grades": [3], "toolProvider": "edulastic", "launchUrl": "x", "lessonType": "quiz" });
        for (lesson_type, members, places) in [
            (LessonType::TestOut, json!({}), vec!["courseId", "toolProvider", "xp", "grades"]),
            (
                LessonType::Placement,
                json!({ "courseId": "math", "grades": [3], "toolProvider": "pen" }),
                vec!["toolProvider"],
            ),
            (LessonType::Placement, edulastic, vec!["lessonType", "launchUrl"]),
        ] {
            let problem = external(school, lesson_type, members.clone()).unwrap_err();
            assert_eq!(paths(&problem), places, "{members}");
        }
        assert_eq!(counts(school), before, "nothing of them was made");
    });
}

/// The numbers of resources and of units.
fn counts(school: &School) -> [i64; 2] {
    ["resources", "course_components"].map(|table| {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        school.db.read_blocking(|tx| tx.row(&sql, &[])).unwrap().unwrap()
    })
}
