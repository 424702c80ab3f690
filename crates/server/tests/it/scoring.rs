//! What answers count in lessons: by their share, and not before a person has scored what only a person can.

use lyceum_adaptive::today;
use lyceum_bridge::today::Moment;
use lyceum_bridge::zone::Zone;
use lyceum_core::Reach;
use lyceum_events::facts::Measure;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::enrolling::{get, post};
use crate::lessons::{agree, at, course, facts, lesson, progress, stored_question};

const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";
const ITEM: &str = r#"xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0""#;

/// An item of two choices, each of which is worth half.
fn halves(client: &TestClient, name: &str) {
    let xml = format!(
        r#"<qti-assessment-item {ITEM} identifier="{name}" title="{name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="multiple" base-type="identifier"><qti-correct-response><qti-value>A</qti-value><qti-value>B</qti-value></qti-correct-response>
    <qti-mapping default-value="0"><qti-map-entry map-key="A" mapped-value="1"/><qti-map-entry map-key="B" mapped-value="1"/></qti-mapping></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="2"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice><qti-simple-choice identifier="C">c</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/map_response.xml"/>
</qti-assessment-item>"#
    );
    client.post("/assessment-items").json(&json!({"format": "xml", "xml": xml})).expect(201);
}

/// An essay.
pub(crate) fn essay(client: &TestClient, name: &str) {
    let xml = format!(
        r#"<qti-assessment-item {ITEM} identifier="{name}" title="{name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" external-scored="human" normal-maximum="1"/>
  <qti-item-body><qti-extended-text-interaction response-identifier="RESPONSE"/></qti-item-body>
</qti-assessment-item>"#
    );
    client.post("/assessment-items").json(&json!({"format": "xml", "xml": xml})).expect(201);
}

fn answer(client: &TestClient, lesson: &str, question: &str, response: &Value) -> Value {
    let body = json!({
        "student": "amy", "lesson": lesson, "question": question, "responses": {"RESPONSE": response},
    });
    client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200).json()
}

fn finish(client: &TestClient, lesson: &str) -> Value {
    at(client, "finalStudentAssessmentResponse", lesson, 200)
}

/// A lesson of one item that needs two choices, in a test whose session control is the given one.
fn lesson_of_two_choices(client: &TestClient, id: &str, control: &str) {
    let test = format!(
        r#"<qti-assessment-test {ITEM} identifier="t-{id}" title="T"><qti-test-part identifier="p" navigation-mode="nonlinear" submission-mode="simultaneous">{control}<qti-assessment-section identifier="s" title="S" visible="true"><qti-assessment-item-ref identifier="two" href="two"/></qti-assessment-section></qti-test-part></qti-assessment-test>"#
    );
    client.post("/assessment-tests").json(&json!({"format": "xml", "xml": test})).expect(201);
    let resource = json!({"resource": {"sourcedId": format!("r-{id}"), "title": id,
        "vendorResourceId": format!("t-{id}"), "metadata": {"type": "qti", "xp": 5}}});
    post(client, "/ims/oneroster/resources/v1p2/resources", &resource, 201);
    let lesson = json!({"componentResource": {"sourcedId": id, "title": id, "sortOrder": 1,
        "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": format!("r-{id}")},
        "lessonType": "quiz"}});
    post(client, "/ims/oneroster/rostering/v1p2/courses/component-resources", &lesson, 201);
}

#[test]
fn an_answer_that_breaks_a_rule_is_refused_if_the_session_control_validates() {
    both(|server| {
        let client = server.client();
        course(&client);
        let xml = format!(
            r#"<qti-assessment-item {ITEM} identifier="two" title="Two" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="multiple" base-type="identifier"><qti-correct-response><qti-value>A</qti-value><qti-value>B</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" min-choices="2" max-choices="2"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#
        );
        client.post("/assessment-items").json(&json!({"format": "xml", "xml": xml})).expect(201);
        let control = r#"<qti-item-session-control validate-responses="true"/>"#;
        lesson_of_two_choices(&client, "free", "");
        lesson_of_two_choices(&client, "strict", control);
        answer(&client, "free", "two", &json!(["A"]));
        assert_eq!(finish(&client, "free")["correctQuestions"], 0);
        let one = json!({"student": "amy", "lesson": "strict", "question": "two",
            "responses": {"RESPONSE": ["A"]}});
        let refused: Value =
            client.put("/adaptive/updateStudentQuestionResponse").json(&one).expect(422).json();
        assert!(refused.to_string().contains("RESPONSE"), "{refused}");
        answer(&client, "strict", "two", &json!(["A", "B"]));
        assert_eq!(finish(&client, "strict")["correctQuestions"], 1);
    });
}

#[test]
fn partial_credit_counts_by_its_share() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "whole");
        halves(&client, "half");
        halves(&client, "none");
        lesson(&client, "quiz", "quiz", &["whole", "half"], 8.0);
        answer(&client, "quiz", "whole", &json!("A"));
        answer(&client, "quiz", "half", &json!(["A"]));
        let done = finish(&client, "quiz");
        assert_eq!((&done["score"], &done["accuracy"]), (&json!(75.0), &json!(75.0)), "{done}");
        assert_eq!((&done["correctQuestions"], &done["totalQuestions"]), (&json!(1), &json!(2)));
        let response = progress(&client, "quiz");
        let half = response["questions"][1].clone();
        assert_eq!(half["correct"], false);
        let id = half["resultId"].as_str().unwrap();
        let result = get(&client, &format!("{GRADEBOOK}/assessmentResults/{id}"));
        assert_eq!(result["assessmentResult"]["score"], 0.5, "{result}");
        // 80 % is a gate: 0.5 + 1 + 1 of 3 are above it, and earn all XP.
        stored_question(&client, "more");
        lesson(&client, "better", "quiz", &["whole", "half", "more"], 8.0);
        for question in ["whole", "more"] {
            answer(&client, "better", question, &json!("A"));
        }
        answer(&client, "better", "half", &json!(["B"]));
        let done = finish(&client, "better");
        assert_eq!((&done["score"], &done["xp"]), (&json!(83.33), &json!(8.0)), "{done}");
        agree(&client, 8.0);
        // By steps: right would be 14 up from 0, wrong 1 down; half of each is 6.5, rounded to 7.
        lesson(&client, "steps", "powerpath-100", &["half", "none"], 8.0);
        let next = get(&client, "/adaptive/getNextQuestion?student=amy&lesson=steps");
        let response =
            answer(&client, "steps", next["question"]["id"].as_str().unwrap(), &json!(["A"]));
        assert_eq!(
            (&response["powerpathScore"], &response["accuracy"]),
            (&json!(7.0), &json!(50.0))
        );
        assert_eq!(response["correctQuestions"], 0);
    });
}

#[test]
fn an_essay_waits_for_a_person_and_does_not_count_as_wrong() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        essay(&client, "essay");
        lesson(&client, "quiz", "quiz", &["q", "essay"], 8.0);
        answer(&client, "quiz", "q", &json!("A"));
        answer(&client, "quiz", "essay", &json!("Once upon a time"));
        let done = finish(&client, "quiz");
        assert_eq!(
            (&done["score"], &done["pendingQuestions"]),
            (&json!(100.0), &json!(1)),
            "{done}"
        );
        assert_eq!((&done["xp"], &done["totalQuestions"]), (&Value::Null, &json!(2)));
        assert_eq!(finish(&client, "quiz"), done);
        let attempts = get(&client, "/adaptive/getAttempts?student=amy&lesson=quiz");
        assert_eq!(attempts["attempts"][0]["scoreStatus"], "partially graded");
        agree(&client, 0.0);
        server.restart();
        let client = server.client();
        let response = progress(&client, "quiz");
        assert_eq!(response["pendingQuestions"], 1);
        let waits = response["questions"][1].clone();
        assert!(
            waits.get("correct").is_none() && waits["result"]["needsManualScoring"] == true,
            "{waits}"
        );
        // A person writes the score into the gradebook; the next finalise takes it over.
        let id = waits["resultId"].as_str().unwrap();
        let path = format!("{GRADEBOOK}/assessmentResults/{id}");
        let mut result = get(&client, &path)["assessmentResult"].clone();
        assert_eq!((&result["scoreStatus"], result.get("score")), (&json!("submitted"), None));
        result["score"] = json!(0.5);
        result["scoreStatus"] = "fully graded".into();
        result["comment"] = "Tell us how it ends.".into();
        // The next attempt would strand this one.
        let next = json!({"student": "amy", "lesson": "quiz"});
        client.post("/adaptive/createNewAttempt").json(&next).expect(409);
        client.put(&path).json(&json!({ "assessmentResult": result })).send();
        let done = finish(&client, "quiz");
        assert_eq!((&done["score"], done.get("pendingQuestions")), (&json!(75.0), None), "{done}");
        assert_eq!((&done["xp"], &done["correctQuestions"]), (&json!(0.0), &json!(1)));
        assert_eq!(finish(&client, "quiz"), done);
        let kept = &get(&client, &path)["assessmentResult"];
        assert_eq!((&kept["score"], &kept["comment"]), (&json!(0.5), &result["comment"]), "{kept}");
        let attempts = get(&client, "/adaptive/getAttempts?student=amy&lesson=quiz");
        assert_eq!(attempts["attempts"][0]["scoreStatus"], "fully graded");
        assert_eq!(json!(facts(&client)[1]), json!(2.0), "facts tell of it when all is scored");
        // In a lesson that goes by steps the score stays.
        lesson(&client, "steps", "powerpath-100", &["q", "essay"], 8.0);
        loop {
            let question = get(&client, "/adaptive/getNextQuestion?student=amy&lesson=steps");
            if question["question"]["id"] == "essay" {
                let before = question["score"].clone();
                let response = answer(&client, "steps", "essay", &json!("The end"));
                assert_eq!(response["powerpathScore"], before);
                assert_eq!(response["responseResult"]["needsManualScoring"], true);
                break;
            }
            answer(&client, "steps", "q", &json!("A"));
        }
    });
}

#[test]
fn mastered_units_are_the_same_in_gradebook_and_facts() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q");
        lesson(&client, "quiz", "quiz", &["q"], 8.0);
        let units = |client: &TestClient| -> f64 {
            let filter = "student.sourcedId%3D'amy'%20AND%20status%3D'active'";
            let path = format!("{GRADEBOOK}/assessmentResults?filter={filter}");
            let results = get(client, &path)["assessmentResults"].clone();
            let mastered_units = |result: &Value| result["metadata"]["masteredUnits"].as_f64();
            results.as_array().unwrap().iter().filter_map(mastered_units).sum()
        };
        for attempt in 1..=3 {
            answer(&client, "quiz", "q", &json!("A"));
            finish(&client, "quiz");
            assert_eq!((units(&client), facts(&client)[3]), (1.0, 1.0), "attempt {attempt}");
            at(&client, "createNewAttempt", "quiz", 201);
        }
        server.restart();
        assert_eq!(json!(units(&server.client())), json!(1.0));
    });
}

#[test]
fn the_log_of_a_quiz_has_the_score_after_each_answer() {
    both(|server| {
        let client = server.client();
        course(&client);
        for name in ["q1", "q2"] {
            stored_question(&client, name);
        }
        halves(&client, "half");
        lesson(&client, "quiz", "quiz", &["q1", "q2", "half"], 8.0);
        answer(&client, "quiz", "q1", &json!("A"));
        answer(&client, "quiz", "q2", &json!("B"));
        answer(&client, "quiz", "half", &json!(["A"]));
        answer(&client, "quiz", "q2", &json!("A"));
        let log = get(&client, "/adaptive/getAttemptLog?student=amy&lesson=quiz");
        let points = log["log"].as_array().unwrap().iter();
        let points: Vec<&Value> = points.map(|entry| &entry["answered"]["points"]).collect();
        assert_eq!(points, [100, 50, 50, 83]);
        assert_eq!(
            post(
                &client,
                "/adaptive/resetAttempt",
                &json!({"student": "amy", "lesson": "quiz"}),
                200
            )["success"],
            true
        );
    });
}

#[test]
fn today_counts_the_answers_of_unfinished_lessons() {
    both(|server| {
        let client = server.client();
        course(&client);
        for name in ["q1", "q2", "q3"] {
            stored_question(&client, name);
        }
        lesson(&client, "steps", "powerpath-100", &["q1", "q2", "q3"], 8.0);
        lesson(&client, "quiz", "quiz", &["q1", "q2"], 8.0);
        for response in ["A", "B"] {
            let next = get(&client, "/adaptive/getNextQuestion?student=amy&lesson=steps");
            answer(&client, "steps", next["question"]["id"].as_str().unwrap(), &json!(response));
        }
        for response in ["A", "B"] {
            answer(&client, "quiz", "q1", &json!(response));
        }
        server.restart();
        let counted = |server: &TestServer| {
            let now = server.setup().clock.now();
            let read = server.db().read_blocking(|tx| {
                let moment = Moment::usual(now, &Zone::UTC);
                let all = today::students(tx, &moment, &Reach::Everything)?;
                let (own, subjects) = today::student(tx, &moment, "amy")?;
                Ok((all, own.day, subjects))
            });
            let (all, own, subjects) = read.unwrap();
            let all = all.into_iter().find(|day| day.learner.id == "amy").unwrap();
            assert_eq!((all.sums.measures, all.last.is_some()), (own.sums.measures, true));
            let math = subjects.iter().find(|day| day.subject == "Math").unwrap();
            assert_eq!(math.sums.measures, own.sums.measures);
            let measured = |measure| own.sums.of(measure) / 1000;
            (measured(Measure::TotalQuestions), measured(Measure::CorrectQuestions))
        };
        assert_eq!(counted(server), (3, 1), "of the quiz the last answer to its question counts");
        // Complete, the event of the quiz counts it, once.
        let client = server.client();
        answer(&client, "quiz", "q2", &json!("A"));
        assert_eq!(counted(server), (4, 2));
        finish(&client, "quiz");
        assert_eq!(counted(server), (4, 2));
    });
}
