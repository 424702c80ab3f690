//! Rules, templates, tables, traces.

use lyceum_core::random::RandomStream;
use lyceum_qti::model::Item;
use lyceum_qti::value::Value;
use lyceum_qti::{Responses, ScoringInput, explain, score, variant};
use serde_json::{Value as Json, json};

use crate::kit::{item, item_xml, scored};
use crate::short::expression;

fn set(outcome: &str, short: &str) -> String {
    let value = expression(short);
    format!("<qti-set-outcome-value identifier=\"{outcome}\">{value}</qti-set-outcome-value>")
}

const DECLARED: &str = "<qti-response-declaration identifier=\"N\" cardinality=\"single\" base-type=\"integer\"/>\
    <qti-outcome-declaration identifier=\"A\" cardinality=\"single\" base-type=\"integer\"/>\
    <qti-outcome-declaration identifier=\"B\" cardinality=\"single\" base-type=\"integer\"/>";

#[test]
fn every_response_rule_works() {
    let condition =
        |branches: &str| format!("<qti-response-condition>{branches}</qti-response-condition>");
    let branch = |name: &str, when: &str, then: &str| {
        format!("<qti-response-{name}>{}{then}</qti-response-{name}>", expression(when))
    };
    let inner = condition(&branch("if", "equal($N 1)", &set("B", "11")));
    let rules = condition(&format!(
        "{}{}{}<qti-response-else>{}</qti-response-else>",
        branch("if", "lt($N 2)", &format!("{}{inner}", set("A", "1"))),
        branch(
            "else-if",
            "equal($N 2)",
            &format!("{}<qti-exit-response/>{}", set("A", "2"), set("A", "9"))
        ),
        branch("else-if", "equal($N 3)", &set("A", "3")),
        set("A", "4"),
    ));
    let after = format!(
        "<qti-response-processing-fragment>{}</qti-response-processing-fragment>",
        set("B", "sum($B 1)")
    );
    let item = item(&format!(
        "{DECLARED}<qti-response-processing>{rules}{after}</qti-response-processing>"
    ));
    for (n, a, b) in [(0, 1, 1), (1, 1, 12), (2, 2, 0), (3, 3, 1), (7, 4, 1)] {
        assert_eq!(scored(&item, &json!({ "N": n })).to_json(), json!({"A": a, "B": b}), "{n}");
    }
    // NULL in a condition counts as false.
    assert_eq!(scored(&item, &json!({})).to_json(), json!({"A": 4, "B": 1}));
}

#[test]
fn tables_are_looked_up() {
    let item = item(
        "<qti-response-declaration identifier=\"N\" cardinality=\"single\" base-type=\"float\"/>\
         <qti-outcome-declaration identifier=\"M\" cardinality=\"single\" base-type=\"identifier\">\
           <qti-match-table default-value=\"none\"><qti-match-table-entry source-value=\"1\" target-value=\"one\"/>\
           <qti-match-table-entry source-value=\"2\" target-value=\"two\"/></qti-match-table></qti-outcome-declaration>\
         <qti-outcome-declaration identifier=\"I\" cardinality=\"single\" base-type=\"string\">\
           <qti-interpolation-table default-value=\"F\"><qti-interpolation-table-entry source-value=\"90\" target-value=\"A\"/>\
           <qti-interpolation-table-entry source-value=\"50\" include-boundary=\"false\" target-value=\"B\"/>\
           </qti-interpolation-table></qti-outcome-declaration>\
         <qti-response-processing>\
         <qti-lookup-outcome-value identifier=\"M\"><qti-variable identifier=\"N\"/></qti-lookup-outcome-value>\
         <qti-lookup-outcome-value identifier=\"I\"><qti-variable identifier=\"N\"/></qti-lookup-outcome-value>\
         </qti-response-processing>",
    );
    for (n, m, i) in [
        (json!(1), "one", "F"),
        (json!(2), "two", "F"),
        (json!(50), "none", "F"),
        (json!(50.5), "none", "B"),
        (json!(90), "none", "A"),
        (json!(null), "none", "F"),
    ] {
        assert_eq!(scored(&item, &json!({ "N": n })).to_json(), json!({"M": m, "I": i}), "{n}");
    }
}

fn templated(address: &str, outcomes: &str) -> Item {
    item(&format!(
        "<qti-response-declaration identifier=\"RESPONSE\" cardinality=\"single\" base-type=\"identifier\">\
         <qti-correct-response><qti-value>A</qti-value></qti-correct-response>\
         <qti-mapping><qti-map-entry map-key=\"A\" mapped-value=\"3\"/><qti-map-entry map-key=\"B\" mapped-value=\"1\"/></qti-mapping>\
         </qti-response-declaration>\
         <qti-outcome-declaration identifier=\"SCORE\" cardinality=\"single\" base-type=\"float\"/>{outcomes}\
         <qti-response-processing template=\"{address}\"/>"
    ))
}

#[test]
fn templates_score_by_the_last_segment_of_their_address() {
    let maximum = "<qti-outcome-declaration identifier=\"MAXSCORE\" cardinality=\"single\" base-type=\"float\">\
                   <qti-default-value><qti-value>3</qti-value></qti-default-value></qti-outcome-declaration>";
    let word = |name: &str| {
        format!(
            "{maximum}<qti-outcome-declaration identifier=\"{name}\" cardinality=\"single\" base-type=\"identifier\"/>"
        )
    };
    let v3 = "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates";
    let v2 = "http://www.imsglobal.org/question/qti_v2p2/rptemplates";
    // Name, outcomes, SCORE for A, B and nothing.
    let cases = [
        ("match_correct", String::new(), [1.0, 0.0, 0.0]),
        ("map_response", String::new(), [3.0, 1.0, 0.0]),
        ("CC2_match", String::new(), [1.0, 0.0, 0.0]),
        ("CC2_match_basic", word("FEEDBACKBASIC"), [3.0, 0.0, 0.0]),
        ("CC2_map_response", word("FEEDBACK"), [3.0, 1.0, 0.0]),
    ];
    for (name, outcomes, scores) in cases {
        for address in [
            format!("{v3}/{name}.xml"),
            format!("{v3}/{name}"),
            format!("{v2}/{name}"),
            name.to_owned(),
        ] {
            let item = templated(&address, &outcomes);
            for (answer, expected) in [json!("A"), json!("B"), json!(null)].into_iter().zip(scores)
            {
                let scored = scored(&item, &json!({ "RESPONSE": answer }));
                assert_eq!(scored.score(), Some(expected), "{address} {answer}");
                let word = scored.get("FEEDBACK").or(scored.get("FEEDBACKBASIC"));
                let right = if expected == 3.0 { "correct" } else { "incorrect" };
                assert!(
                    word.is_none_or(|word| *word == Value::identifier(right)),
                    "{address} {answer}"
                );
            }
        }
    }
    let point = item(&format!(
        "<qti-response-declaration identifier=\"RESPONSE\" cardinality=\"single\" base-type=\"point\">\
         <qti-area-mapping><qti-area-map-entry shape=\"circle\" coords=\"5,5,2\" mapped-value=\"2\"/></qti-area-mapping>\
         </qti-response-declaration><qti-outcome-declaration identifier=\"SCORE\" cardinality=\"single\" base-type=\"float\"/>\
         <qti-response-processing template=\"{v2}/map_response_point\"/>"
    ));
    assert_eq!(scored(&point, &json!({"RESPONSE": "5 6"})).score(), Some(2.0));
    assert_eq!(scored(&point, &json!({"RESPONSE": "9 9"})).score(), Some(0.0));
}

#[test]
fn a_trace_explains_each_step() {
    let item = templated("match_correct", "");
    let responses = json!({"RESPONSE": "A"});
    let responses = Responses::from_json(&item, responses.as_object().unwrap()).unwrap();
    let (outcomes, trace) =
        explain(&item, &responses, ScoringInput::default(), &mut RandomStream::seeded(1));
    assert_eq!(outcomes.score(), Some(1.0));
    assert_eq!(
        trace.to_string(),
        "    0  response-condition → if\n\
         \x20   0    match → true\n\
         \x20   0      variable RESPONSE → A\n\
         \x20   0      correct RESPONSE → A\n\
         \x20   0    set-outcome-value → SCORE := 1.0\n\
         \x20   0      base-value → 1.0\n"
    );
}

#[test]
fn template_rules_create_variants_of_an_item() {
    let template = |name: &str, short: &str| {
        format!(
            "<qti-set-template-value identifier=\"{name}\">{}</qti-set-template-value>",
            expression(short)
        )
    };
    let item = item(&format!(
        "<qti-response-declaration identifier=\"R\" cardinality=\"single\" base-type=\"integer\"/>\
         <qti-outcome-declaration identifier=\"SCORE\" cardinality=\"single\" base-type=\"float\"/>\
         <qti-outcome-declaration identifier=\"BONUS\" cardinality=\"single\" base-type=\"integer\"/>\
         <qti-template-declaration identifier=\"X\" cardinality=\"single\" base-type=\"integer\"/>\
         <qti-template-declaration identifier=\"SIZE\" cardinality=\"single\" base-type=\"identifier\"/>\
         <qti-template-processing>{}\
         <qti-template-constraint>{}</qti-template-constraint>\
         <qti-template-condition><qti-template-if>{}{}</qti-template-if><qti-template-else>{}</qti-template-else></qti-template-condition>\
         <qti-set-correct-response identifier=\"R\">{}</qti-set-correct-response>\
         <qti-set-default-value identifier=\"BONUS\">{}</qti-set-default-value>\
         <qti-exit-template/>{}</qti-template-processing>\
         <qti-response-processing>{}</qti-response-processing>",
        template("X", "random-integer[min=1 max=10]"),
        expression("gt($X 3)"),
        expression("gt($X 7)"),
        template("SIZE", "#large"),
        template("SIZE", "#small"),
        expression("product($X 2)"),
        expression("5"),
        template("X", "0"),
        set("SCORE", "integer-to-float(container-size(multiple(correct[identifier=R] $X)))"),
    ));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let one = variant(&item, &mut RandomStream::seeded(seed));
        assert_eq!(
            one,
            variant(&item, &mut RandomStream::seeded(seed)),
            "the same seed gives the same"
        );
        let x = one.get("X").unwrap().as_number().unwrap();
        assert!((4.0..=10.0).contains(&x), "{x}");
        assert_eq!(one.correct("R").unwrap().as_number(), Some(x * 2.0));
        let size = if x > 7.0 { "large" } else { "small" };
        assert_eq!(one.get("SIZE"), Some(&Value::identifier(size)));
        let attempt = ScoringInput { variant: Some(&one), ..ScoringInput::default() };
        let outcomes =
            score(&item, &Responses::default(), attempt, &mut RandomStream::seeded(1)).to_json();
        assert_eq!(outcomes, json!({"SCORE": 2.0, "BONUS": 5}));
        seen.insert(x.to_string());
    }
    assert_eq!(seen.len(), 7);
}

#[test]
fn only_adaptive_items_continue_with_their_former_outcomes() {
    let rules = set("A", "sum($A 1)");
    let parts = format!("{DECLARED}<qti-response-processing>{rules}</qti-response-processing>");
    for (adaptive, expected) in [(false, 1), (true, 2)] {
        let xml = item_xml(&parts).replace("title=", &format!("adaptive=\"{adaptive}\" title="));
        let item = lyceum_qti::read_item(&xml).unwrap();
        let first = scored(&item, &json!({}));
        let attempt = ScoringInput { number: 2, before: Some(&first), ..ScoringInput::default() };
        let second = score(&item, &Responses::default(), attempt, &mut RandomStream::seeded(1));
        assert_eq!(second.to_json()["A"], json!(expected));
        let status = second.to_json().get("completionStatus").cloned();
        assert_eq!(status, adaptive.then(|| Json::from("unknown")));
    }
}

#[test]
fn the_work_of_scoring_is_limited() {
    let mut short = "1".to_owned();
    for _ in 0..20 {
        short = format!("repeat[number-repeats=1000]({short})");
    }
    let item = item(&format!(
        "{DECLARED}<qti-response-processing>{}</qti-response-processing>",
        set("A", &format!("container-size({short})"))
    ));
    let began = std::time::Instant::now();
    scored(&item, &json!({}));
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}
