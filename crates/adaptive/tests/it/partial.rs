//! Answers count by their share, and not before a person has scored the part that only a person can score.

use lyceum_core::ProblemKind::{Conflict, Invalid};
use lyceum_testkit::records;
use serde_json::{Value, json};

use crate::school::{School, both, one, refused};

const TWO: &str = r#"<qti-response-declaration identifier="RESPONSE" cardinality="multiple" base-type="identifier"><qti-correct-response><qti-value>A</qti-value><qti-value>B</qti-value></qti-correct-response>"#;
const SCORE: &str =
    r#"<qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>"#;

fn choices_of(range: &str, template: &str) -> String {
    format!(
        r#"<qti-item-body><qti-choice-interaction response-identifier="RESPONSE" {range}><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice><qti-simple-choice identifier="C">c</qti-simple-choice></qti-choice-interaction></qti-item-body><qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/{template}.xml"/>"#
    )
}

/// An item of two choices, each of which is worth half.
fn halves(school: &School, name: &str) {
    let mapping = r#"<qti-mapping default-value="0"><qti-map-entry map-key="A" mapped-value="1"/><qti-map-entry map-key="B" mapped-value="1"/></qti-mapping></qti-response-declaration>"#;
    let body = choices_of(r#"max-choices="2""#, "map_response");
    school.item(name, &format!("{TWO}{mapping}{SCORE}"), &body);
}

fn essay(school: &School) {
    let declarations = r#"<qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/><qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" external-scored="human" normal-maximum="1"/>"#;
    let body = r#"<qti-item-body><qti-extended-text-interaction response-identifier="RESPONSE"/></qti-item-body>"#;
    school.item("essay", declarations, body);
}

#[test]
fn an_answer_that_breaks_a_rule_is_refused_if_the_session_control_validates() {
    one(|school| {
        let amy = school.amy();
        let body = choices_of(r#"min-choices="2" max-choices="2""#, "match_correct");
        school.item("two", &format!("{TWO}</qti-response-declaration>{SCORE}"), &body);
        let control = r#"<qti-item-session-control validate-responses="true"/>"#;
        for (id, control) in [("free", ""), ("strict", control)] {
            school.test_with(&format!("t-{id}"), control, &["two"]);
            school.lesson_of(
                id,
                Some("quiz"),
                &format!("t-{id}"),
                json!({ "type": "qti", "xp": 5 }),
            );
        }
        amy.answer("free", "two", json!(["A"]));
        assert_eq!(amy.finish("free").unwrap()["correctQuestions"], 0);
        refused(amy.try_answer("strict", "two", json!(["A"])), Invalid, "RESPONSE");
        amy.answer("strict", "two", json!(["A", "B"]));
        assert_eq!(amy.finish("strict").unwrap()["correctQuestions"], 1);
    });
}

#[test]
fn partial_credit_counts_by_its_share() {
    one(|school| {
        let amy = school.amy();
        halves(school, "half");
        halves(school, "none");
        school.lesson("quiz", "quiz", &["q1", "half"], 8.0);
        amy.answer("quiz", "q1", "A");
        amy.answer("quiz", "half", json!(["A"]));
        let done = amy.finish("quiz").unwrap();
        assert_eq!((&done["score"], &done["accuracy"]), (&json!(75.0), &json!(75.0)), "{done}");
        assert_eq!((&done["correctQuestions"], &done["totalQuestions"]), (&json!(1), &json!(2)));
        let half = amy.progress("quiz")["questions"][1].clone();
        assert_eq!(half["correct"], false);
        assert_eq!(amy.result(&half["resultId"])["score"], 0.5);
        // 80 % is a gate: 0.5 + 1 + 1 of 3 are above it, and earn all XP.
        school.lesson("better", "quiz", &["q1", "half", "q2"], 8.0);
        amy.answer("better", "half", json!(["B"]));
        let done = amy.take("better", &[("q1", "A"), ("q2", "A")]);
        assert_eq!((&done["score"], &done["xp"]), (&json!(83.33), &json!(8.0)), "{done}");
        amy.has_earned(8.0);
        // By steps: right would be 14 up from 0, wrong 1 down; half of each is 6.5, rounded to 7.
        school.lesson("steps", "powerpath-100", &["half", "none"], 8.0);
        let reply = amy.answer("steps", &amy.asked("steps"), json!(["A"]));
        assert_eq!((&reply["powerpathScore"], &reply["accuracy"]), (&json!(7.0), &json!(50.0)));
        assert_eq!(reply["correctQuestions"], 0);
    });
}

#[test]
fn an_essay_waits_for_a_person_and_does_not_count_as_wrong() {
    both(|school| {
        let amy = school.amy();
        essay(school);
        school.lesson("quiz", "quiz", &["q1", "essay"], 8.0);
        let done = amy.take("quiz", &[("q1", "A"), ("essay", "Once upon a time")]);
        assert_eq!(
            (&done["score"], &done["pendingQuestions"]),
            (&json!(100.0), &json!(1)),
            "{done}"
        );
        assert_eq!((&done["xp"], &done["totalQuestions"]), (&Value::Null, &json!(2)));
        assert_eq!(amy.finish("quiz").unwrap(), done);
        assert_eq!(amy.attempts("quiz")[0]["scoreStatus"], "partially graded");
        amy.has_earned(0.0);
        school.restart();
        let waiting = amy.progress("quiz");
        assert_eq!(waiting["pendingQuestions"], 1);
        let waits = &waiting["questions"][1];
        assert!(waits.get("correct").is_none() && waits["result"]["needsManualScoring"] == true);
        let result = amy.result(&waits["resultId"]);
        assert_eq!((&result["scoreStatus"], result.get("score")), (&json!("submitted"), None));
        refused(amy.begin("quiz"), Conflict, ""); // it would strand this attempt
        // A person writes the score into the gradebook; the next finalise takes it over.
        let scored = json!({
            "score": 0.5, "scoreStatus": "fully graded", "comment": "Tell us how it ends.",
        });
        let id = waits["resultId"].as_str().unwrap();
        records::patch(&school.db, "assessmentResults", id, &scored).unwrap();
        let done = amy.finish("quiz").unwrap();
        assert_eq!((&done["score"], done.get("pendingQuestions")), (&json!(75.0), None), "{done}");
        assert_eq!((&done["xp"], &done["correctQuestions"]), (&json!(0.0), &json!(1)));
        assert_eq!(amy.finish("quiz").unwrap(), done);
        let kept = amy.result(&waits["resultId"]);
        assert_eq!((&kept["score"], &kept["comment"]), (&json!(0.5), &scored["comment"]), "{kept}");
        assert_eq!(amy.attempts("quiz")[0]["scoreStatus"], "fully graded");
        assert_eq!(amy.facts()[1], 2.0, "facts tell of it when all is scored");
    });
}

#[test]
fn in_a_lesson_by_steps_an_essay_leaves_the_score() {
    one(|school| {
        let amy = school.amy();
        essay(school);
        school.lesson("steps", "powerpath-100", &["q1", "essay"], 8.0);
        if amy.asked("steps") == "q1" {
            amy.answer("steps", "q1", "A");
        }
        let served = amy.next("steps").unwrap();
        let reply = amy.answer("steps", served["question"]["id"].as_str().unwrap(), "The end");
        assert_eq!(reply["powerpathScore"], served["score"]);
        assert_eq!(reply["responseResult"]["needsManualScoring"], true);
    });
}

#[test]
fn the_log_of_a_quiz_has_the_score_after_each_answer() {
    one(|school| {
        let amy = school.amy();
        halves(school, "half");
        school.lesson("quiz", "quiz", &["q1", "q2", "half"], 8.0);
        amy.answer("quiz", "q1", "A");
        amy.answer("quiz", "q2", "B");
        amy.answer("quiz", "half", json!(["A"]));
        amy.answer("quiz", "q2", "A");
        let log = amy.log("quiz", 1);
        let points: Vec<&Value> = log.iter().map(|entry| &entry["answered"]["points"]).collect();
        assert_eq!(points, [100, 50, 50, 83]);
    });
}
