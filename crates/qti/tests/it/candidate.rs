//! The view for candidates contains no secret.

use lyceum_core::random::RandomStream;
use lyceum_qti::model::{FeedbackKind, Item};
use lyceum_qti::value::Value;
use lyceum_qti::{
    CandidateSession, DocumentContent, Outcomes, Responses, ScoringInput, candidate_view, read,
    score,
};
use serde_json::json;

use crate::kit::{item, item_xml, scored};
use crate::standards::{documents, folder};

/// Elements that no view holds.
const SECRET: [&str; 14] = [
    "<qti-correct-response",
    "<qti-mapping",
    "<qti-map-entry",
    "<qti-area-map",
    "<qti-match-table",
    "<qti-interpolation-table",
    "<qti-response-processing",
    "<qti-response-condition",
    "<qti-template-processing",
    "<qti-set-",
    "<qti-correct ",
    "<!--",
    "normal-maximum",
    "interpretation",
];

#[test]
fn no_rendered_document_contains_its_answers() {
    let Some(folder) = folder("candidate views of all items") else { return };
    let (mut views, mut leaks) = (0, Vec::new());
    for file in documents(&folder) {
        let Ok(DocumentContent::Item(item)) = read(&file.xml).map(|reading| reading.content) else {
            continue;
        };
        for outcomes in [None, Some(answered_right(&item))] {
            let view =
                CandidateSession { outcomes: outcomes.as_ref(), ..CandidateSession::default() };
            let xml = candidate_view(&file.xml, view).unwrap();
            leaks.extend(
                leaks_of(&xml, &item, outcomes.as_ref()).map(|l| format!("{}: {l}", file.name)),
            );
            views += 1;
        }
    }
    println!("{views} views, {} leaks", leaks.len());
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(views > 400, "only {views} views");
}

fn answered_right(item: &Item) -> Outcomes {
    let mut responses = Responses::default();
    for response in &item.responses {
        responses.set(&response.declaration.identifier, response.correct.clone());
    }
    score(item, &responses, ScoringInput::default(), &mut RandomStream::seeded(1))
}

/// The secrets that a view reveals.
fn leaks_of(xml: &str, item: &Item, outcomes: Option<&Outcomes>) -> impl Iterator<Item = String> {
    let mut leaks: Vec<String> = SECRET
        .iter()
        .filter(|secret| xml.contains(**secret))
        .map(|secret| (*secret).to_owned())
        .collect();
    let DocumentContent::Item(view) = read(xml).unwrap().content else {
        panic!("a view is an item")
    };
    assert_eq!(view.interactions.len(), visible_interactions(item, &view), "{xml}");
    let secret = view
        .responses
        .iter()
        .any(|r| r.correct != Value::Null || r.mapping.is_some() || r.area_mapping.is_some());
    leaks.extend(secret.then(|| "a response declaration".to_owned()));
    leaks.extend(view.processing.is_some().then(|| "response processing".to_owned()));
    leaks.extend(
        view.rubrics
            .iter()
            .filter(|r| !r.views.iter().any(|v| &**v == "candidate"))
            .map(|rubric| format!("a rubric for {:?}", rubric.views)),
    );
    let before = scored_nothing(item);
    for feedback in &view.feedback {
        let shown = outcomes.unwrap_or(&before).shows(feedback);
        if !shown || (outcomes.is_none() && feedback.kind == FeedbackKind::Modal) {
            leaks.push(format!("the feedback {}", feedback.identifier));
        }
    }
    leaks.into_iter()
}

/// Interactions inside of hidden feedback or templates are hidden with it.
fn visible_interactions(item: &Item, view: &Item) -> usize {
    let hides = !item.feedback.is_empty() || !item.templates.is_empty();
    if hides { view.interactions.len() } else { item.interactions.len() }
}

fn scored_nothing(item: &Item) -> Outcomes {
    let without = Item { processing: None, ..item.clone() };
    score(&without, &Responses::default(), ScoringInput::default(), &mut RandomStream::seeded(1))
}

const PARTS: &str = r#"
    <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
      <qti-default-value><qti-value>A</qti-value></qti-default-value>
      <qti-correct-response><qti-value>B</qti-value></qti-correct-response>
      <qti-mapping default-value="0"><qti-map-entry map-key="B" mapped-value="2"/></qti-mapping>
    </qti-response-declaration>
    <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" normal-maximum="2"/>
    <qti-outcome-declaration identifier="FEEDBACK" cardinality="single" base-type="identifier" interpretation="B is right"/>
    <qti-outcome-declaration identifier="SOLUTION" cardinality="single" base-type="string">
      <qti-default-value><qti-value>it is B, of course</qti-value></qti-default-value>
    </qti-outcome-declaration>
    <qti-item-body>
      <!-- B is right -->
      <qti-rubric-block use="scoring" view="scorer author"><qti-content-body><p>2 points for B</p></qti-content-body></qti-rubric-block>
      <qti-rubric-block use="instructions" view="scorer candidate"><qti-content-body><p>Choose one</p></qti-content-body></qti-rubric-block>
      <qti-choice-interaction response-identifier="RESPONSE">
        <qti-simple-choice identifier="A">one <qti-feedback-inline outcome-identifier="FEEDBACK" identifier="wrong">no</qti-feedback-inline></qti-simple-choice>
        <qti-simple-choice identifier="B">two <qti-feedback-inline outcome-identifier="FEEDBACK" identifier="right">yes</qti-feedback-inline></qti-simple-choice>
      </qti-choice-interaction>
      <qti-feedback-block outcome-identifier="FEEDBACK" identifier="right" show-hide="hide"><qti-content-body><p>Not yet</p></qti-content-body></qti-feedback-block>
    </qti-item-body>
    <qti-response-processing>
      <qti-response-condition>
        <qti-response-if>
          <qti-match><qti-variable identifier="RESPONSE"/><qti-correct identifier="RESPONSE"/></qti-match>
          <qti-set-outcome-value identifier="SCORE"><qti-map-response identifier="RESPONSE"/></qti-set-outcome-value>
          <qti-set-outcome-value identifier="FEEDBACK"><qti-base-value base-type="identifier">right</qti-base-value></qti-set-outcome-value>
        </qti-response-if>
        <qti-response-else>
          <qti-set-outcome-value identifier="FEEDBACK"><qti-base-value base-type="identifier">wrong</qti-base-value></qti-set-outcome-value>
        </qti-response-else>
      </qti-response-condition>
    </qti-response-processing>
    <qti-modal-feedback outcome-identifier="FEEDBACK" identifier="right" show-hide="show"><qti-content-body><p>Well done</p></qti-content-body></qti-modal-feedback>"#;

#[test]
fn answers_are_hidden_before_the_student_answers() {
    let xml = candidate_view(&item_xml(PARTS), CandidateSession::default()).unwrap();
    for secret in ["2 points", "B is right", "of course", ">no<", ">yes<", "Well done", "right is"]
    {
        assert!(!xml.contains(secret), "{secret} in {xml}");
    }
    for shown in ["Choose one", "Not yet", "one ", "two ", "qti-choice-interaction"] {
        assert!(xml.contains(shown), "{shown} not in {xml}");
    }
}

#[test]
fn after_an_answer_its_feedback_is_shown_and_no_other() {
    let item = item(PARTS);
    for (answer, shown, hidden) in [
        ("A", [">no<", "Not yet"], [">yes<", "Well done"]),
        ("B", [">yes<", "Well done"], [">no<", "Not yet"]),
    ] {
        let outcomes = scored(&item, &json!({ "RESPONSE": answer }));
        let view = CandidateSession { outcomes: Some(&outcomes), ..CandidateSession::default() };
        let xml = candidate_view(&item_xml(PARTS), view).unwrap();
        assert!(shown.iter().all(|text| xml.contains(text)), "{answer}: {xml}");
        assert!(!hidden.iter().any(|text| xml.contains(text)), "{answer}: {xml}");
        // A player needs the outcome that decides, and learns no other.
        assert!(xml.contains("<qti-value>right</qti-value>") == (answer == "B"), "{xml}");
        assert!(!xml.contains("of course"), "{xml}");
    }
}

#[test]
fn template_variables_hide_and_show() {
    let parts = r#"
    <qti-template-declaration identifier="T" cardinality="single" base-type="identifier"><qti-default-value><qti-value>b</qti-value></qti-default-value></qti-template-declaration>
    <qti-template-declaration identifier="KEY" cardinality="single" base-type="string"><qti-default-value><qti-value>the key</qti-value></qti-default-value></qti-template-declaration>
    <qti-template-processing><qti-set-template-value identifier="T"><qti-base-value base-type="identifier">a</qti-base-value></qti-set-template-value></qti-template-processing>
    <qti-item-body><p>
      <qti-template-inline template-identifier="T" identifier="a">first</qti-template-inline>
      <qti-template-inline template-identifier="T" identifier="b">second</qti-template-inline>
      <qti-template-inline template-identifier="T" identifier="a" show-hide="hide">third</qti-template-inline>
    </p></qti-item-body>"#;
    let variant = lyceum_qti::variant(&item(parts), &mut RandomStream::seeded(1));
    let before = candidate_view(&item_xml(parts), CandidateSession::default()).unwrap();
    let after = candidate_view(
        &item_xml(parts),
        CandidateSession { variant: Some(&variant), ..CandidateSession::default() },
    )
    .unwrap();
    for (xml, shown) in [(before, [false, true, true]), (after, [true, false, false])] {
        let contained = ["first", "second", "third"].map(|word| xml.contains(word));
        assert_eq!(contained, shown, "{xml}");
        assert!(!xml.contains("the key"), "{xml}");
    }
}
