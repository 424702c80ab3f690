//! Reading of answers: their response variable and their variant of the item.

use lyceum_assessment::{ItemAnswer, candidate, respond};
use lyceum_core::{ProblemKind, body};

/// Two response variables, of which the second is called like the usual one.
const TWO: &str = "<qti-response-declaration identifier='FIRST' cardinality='single' base-type='integer'>\
    <qti-correct-response><qti-value>1</qti-value></qti-correct-response></qti-response-declaration>\
    <qti-response-declaration identifier='RESPONSE' cardinality='single' base-type='integer'>\
    <qti-correct-response><qti-value>2</qti-value></qti-correct-response></qti-response-declaration>\
    <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float'/>\
    <qti-item-body><p><qti-text-entry-interaction response-identifier='FIRST'/>\
    <qti-text-entry-interaction response-identifier='RESPONSE'/></p></qti-item-body>\
    <qti-response-processing template='https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml'/>";

fn xml(parts: &str) -> String {
    format!(
        "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='i' \
         title='t' time-dependent='false'>{parts}</qti-assessment-item>"
    )
}

/// The score of an answer, or the path of the error in it.
fn score(parts: &str, answer: &str) -> Result<f64, String> {
    let item = lyceum_qti::read_item(&xml(parts)).unwrap();
    let answer = body::read::<ItemAnswer>(answer.as_bytes());
    let scored = answer.and_then(|answer| {
        let (responses, seed) = answer.for_item(&item)?;
        respond(&item, &responses, seed)
    });
    match scored {
        Ok(scored) => Ok(scored.score),
        Err(problem) => {
            assert_eq!(problem.kind, ProblemKind::Invalid);
            Err(problem.details[0].path.clone())
        }
    }
}

#[test]
fn an_answer_belongs_to_the_variable_that_it_names() {
    for (answer, expected) in [
        (r#"{"response": 2}"#, Ok(1.0)),
        (r#"{"response": 2, "identifier": "i"}"#, Ok(1.0)),
        (r#"{"response": 1, "identifier": "FIRST"}"#, Ok(0.0)),
        (r#"{"responses": {"FIRST": 1, "RESPONSE": 2}}"#, Ok(1.0)),
        (r#"{"responses": {"FIRST": 1}}"#, Ok(0.0)),
        (r#"{"responses": {}}"#, Err("responses")),
        (r#"{"response": 2, "identifier": "SECOND"}"#, Err("identifier")),
        (r#"{"response": 2, "identifier": 5}"#, Err("identifier")),
        (r#"{"response": "two"}"#, Err("response.RESPONSE")),
        (r#"{"responses": {"THIRD": 1}}"#, Err("response.THIRD")),
        (r#"{"response": {"FIRST": 1, "RESPONSE": 2}}"#, Ok(1.0)),
        (r#"{"response": null}"#, Ok(0.0)),
        (r#"{"responses": null}"#, Err("responses")),
        (r"{}", Err("response")),
    ] {
        assert_eq!(score(TWO, answer), expected.map_err(str::to_owned), "{answer}");
    }
}

/// The answer is the number that the template drew.
const DRAWN: &str = "<qti-response-declaration identifier='RESPONSE' cardinality='single' base-type='integer'/>\
    <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float'/>\
    <qti-template-declaration identifier='N' cardinality='single' base-type='integer'/>\
    <qti-template-processing><qti-set-template-value identifier='N'><qti-random-integer min='1' max='1000'/>\
    </qti-set-template-value><qti-set-correct-response identifier='RESPONSE'><qti-variable identifier='N'/>\
    </qti-set-correct-response></qti-template-processing>\
    <qti-item-body><p>Write <qti-printed-variable identifier='N'/> \
    <qti-text-entry-interaction response-identifier='RESPONSE'/></p></qti-item-body>\
    <qti-response-processing template='https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml'/>";

/// The number that a learner sees under a seed.
fn drawn(seed: u64) -> String {
    let shown = candidate(&xml(DRAWN), seed).unwrap();
    assert!(shown.varies);
    let text = shown.xml.split("Write ").nth(1).unwrap();
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.chars().take_while(char::is_ascii_digit).collect()
}

#[test]
fn the_seed_decides_which_variant_is_shown_and_scored() {
    let numbers: Vec<String> = (0..5).map(drawn).collect();
    assert!(numbers.iter().any(|number| *number != numbers[0]), "{numbers:?}");
    for (seed, number) in numbers.iter().enumerate() {
        let answer = format!(r#"{{"response": {number}, "seed": {seed}}}"#);
        assert_eq!(score(DRAWN, &answer), Ok(1.0), "{answer}");
    }
    // Without a seed, an answer is for the variant of seed 0.
    assert_eq!(score(DRAWN, &format!(r#"{{"response": {}}}"#, numbers[0])), Ok(1.0));
    for seed in ["-1", "1.5", "\"1\""] {
        let answer = format!(r#"{{"response": 1, "seed": {seed}}}"#);
        assert_eq!(score(DRAWN, &answer), Err("seed".to_owned()), "{answer}");
    }
    assert!(!candidate(&xml(TWO), 7).unwrap().varies);
}
