//! The words of items as plain text.

use lyceum_qti::item_words;
use serde_json::json;

const ITEM: &str = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="pairs" title="Pairs" time-dependent="false">
  <qti-response-declaration identifier="CHOICE" cardinality="multiple" base-type="identifier"/>
  <qti-response-declaration identifier="PAIRS" cardinality="multiple" base-type="directedPair"/>
  <qti-response-declaration identifier="TEXT" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body>
    <p>Look at the
      <b>cake</b>.</p>
    <p><svg xmlns="http://www.w3.org/2000/svg"><style>.a { fill: red }</style><metadata><about>a program</about></metadata>
      <defs><text>hidden</text></defs>drawn<g>in parts<text>a <tspan>slice</tspan></text></g></svg></p>
    <qti-choice-interaction response-identifier="CHOICE" max-choices="2">
      <qti-prompt>Which are halves?</qti-prompt>
      <qti-simple-choice identifier="A">one of <i>two</i></qti-simple-choice>
      <qti-simple-choice identifier="B">two of four</qti-simple-choice>
    </qti-choice-interaction>
    <qti-match-interaction response-identifier="PAIRS" max-associations="2">
      <qti-simple-match-set>
        <qti-simple-associable-choice identifier="half" match-max="1">1/2</qti-simple-associable-choice>
      </qti-simple-match-set>
      <qti-simple-match-set>
        <qti-simple-associable-choice identifier="fifty" match-max="1">50 %</qti-simple-associable-choice>
      </qti-simple-match-set>
    </qti-match-interaction>
    <p>Name it: <qti-text-entry-interaction response-identifier="TEXT"/></p>
    <qti-rubric-block view="scorer" use="instructions"><qti-content-body><p>Secret</p></qti-content-body></qti-rubric-block>
  </qti-item-body>
</qti-assessment-item>"#;

#[test]
fn questions_and_answers_are_plain_text() {
    let words = item_words(ITEM).unwrap();
    assert_eq!(words.question, "Look at the cake. a slice Name it: Which are halves?");
    let answer =
        |variable: &str, value| words.responses(json!({ variable: value }).as_object().unwrap());
    assert_eq!(answer("CHOICE", json!(["A", "B"])), "one of two, two of four");
    assert_eq!(answer("PAIRS", json!("half fifty")), "1/2 → 50 %");
    assert_eq!(answer("TEXT", json!("half")), "half", "a text is shown as it was written");
    assert_eq!(answer("TEXT", json!(null)), "–");
    let all = json!({ "CHOICE": ["B"], "PAIRS": ["half fifty"], "TEXT": "half" });
    assert_eq!(words.responses(all.as_object().unwrap()), "two of four; 1/2 → 50 %; half");
    assert!(item_words("<p").is_err());
}
