//! Every expression: at least six cases each, NULL, wrong types and containers among them.

use std::collections::BTreeMap;

use lyceum_core::random::RandomStream;
use lyceum_qti::model::Item;
use lyceum_qti::{Responses, ScoringInput, explain};
use serde_json::json;

use crate::kit::item;
use crate::short::expression;

/// Variables that the cases use.
const VARIABLES: &str = r#"
    <qti-response-declaration identifier="R" cardinality="multiple" base-type="identifier">
      <qti-default-value><qti-value>D</qti-value></qti-default-value>
      <qti-correct-response><qti-value>A</qti-value><qti-value>B</qti-value></qti-correct-response>
      <qti-mapping default-value="-1" lower-bound="-2" upper-bound="4">
        <qti-map-entry map-key="A" mapped-value="3"/><qti-map-entry map-key="B" mapped-value="2"/>
      </qti-mapping>
    </qti-response-declaration>
    <qti-response-declaration identifier="T" cardinality="single" base-type="string">
      <qti-mapping>
        <qti-map-entry map-key="York" mapped-value="1" case-sensitive="true"/>
        <qti-map-entry map-key="york" mapped-value="0.5"/>
      </qti-mapping>
    </qti-response-declaration>
    <qti-response-declaration identifier="P" cardinality="multiple" base-type="point">
      <qti-area-mapping default-value="-1" upper-bound="5">
        <qti-area-map-entry shape="circle" coords="10,10,5" mapped-value="2"/>
        <qti-area-map-entry shape="rect" coords="20,20,30,30" mapped-value="4"/>
      </qti-area-mapping>
    </qti-response-declaration>
    <qti-response-declaration identifier="N" cardinality="single" base-type="integer">
      <qti-correct-response><qti-value>7</qti-value></qti-correct-response>
    </qti-response-declaration>
    <qti-response-declaration identifier="O" cardinality="ordered" base-type="integer"/>
    <qti-response-declaration identifier="REC" cardinality="record"/>
    <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
    <qti-outcome-declaration identifier="TWO" cardinality="single" base-type="integer">
      <qti-default-value><qti-value>2</qti-value></qti-default-value>
    </qti-outcome-declaration>
    <qti-outcome-declaration identifier="PATTERN" cardinality="single" base-type="string">
      <qti-default-value><qti-value>[a-c]+</qti-value></qti-default-value>
    </qti-outcome-declaration>
    <qti-outcome-declaration identifier="X" cardinality="single" base-type="string"/>"#;

/// Expressions without operands whose value is one thing in every item; those over a test are NULL.
const ALONE: [&str; 12] = [
    "base-value",
    "custom-operator",
    "math-constant",
    "null",
    "number-correct",
    "number-incorrect",
    "number-presented",
    "number-responded",
    "number-selected",
    "outcome-maximum",
    "outcome-minimum",
    "test-variables",
];

fn responses() -> serde_json::Value {
    json!({
        "R": ["A", "C", "A"], "T": "york", "P": ["12 12", "11 9", "25 25", "99 99"], "N": 3,
        "O": [5, 7, 9, 7], "REC": {"x": 4, "y": "why"},
    })
}

/// The value of an expression, as the trace tells it.
fn value(short: &str) -> String {
    let item: Item = item(&format!(
        "{VARIABLES}<qti-response-processing><qti-set-outcome-value identifier=\"X\">{}\
         </qti-set-outcome-value></qti-response-processing>",
        expression(short)
    ));
    let responses = Responses::from_json(&item, responses().as_object().unwrap()).unwrap();
    let (_, trace) =
        explain(&item, &responses, ScoringInput::default(), &mut RandomStream::seeded(7));
    trace.steps[1].result.clone()
}

fn cases() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = [
        include_str!("cases_logic.txt"),
        include_str!("cases_numbers.txt"),
        include_str!("cases_values.txt"),
    ];
    let all = lines.into_iter().flat_map(str::lines).filter(|line| !line.is_empty());
    all.filter(|line| !line.starts_with("//")).map(|line| {
        let (short, expected) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let name = short.split(['(', '[', ' ']).next().unwrap();
        (name, short, expected)
    })
}

#[test]
fn expressions_have_the_values_of_the_standard() {
    let mut wrong = Vec::new();
    for (_, short, expected) in cases() {
        let actual = value(short);
        let about = |text: &str| text.parse::<f64>().ok();
        let near = about(&actual).zip(about(expected)).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
        let float = actual.contains(['.', 'I']) == expected.contains(['.', 'I']);
        if actual != expected && !(near && float) {
            wrong.push(format!("{short} = {actual}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The findings of the cases of one expression.
#[derive(Clone, Copy, Default)]
struct Shown {
    cases: usize,
    null: bool,
    /// NULL although no operand is.
    wrong_type: bool,
    container: bool,
}

/// Marks of containers: operators that make some, and variables that hold some.
const CONTAINERS: [&str; 9] =
    ["(multiple(", " multiple(", "ordered(", "$R", "$O", "=R]", "=O]", "=P]", "=REC]"];

/// No type is wrong for these.
const ANY_TYPE: [&str; 2] = ["is-null", "match"];

#[test]
fn every_expression_has_six_cases_with_null_among_them() {
    let mut counts: BTreeMap<&str, Shown> = BTreeMap::new();
    for (name, short, expected) in cases() {
        let shown = counts.entry(name).or_default();
        let operands = &short[name.len()..];
        shown.cases += 1;
        shown.null |= short.contains("null") || expected == "NULL";
        shown.wrong_type |= expected == "NULL" && !operands.contains("null");
        shown.container |= CONTAINERS.iter().any(|mark| operands.contains(mark));
    }
    let missing: Vec<_> = lyceum_qti::features::EXPRESSIONS
        .iter()
        .map(|name| name.trim_start_matches("qti-"))
        .filter(|name| {
            let shown = counts.get(name).copied().unwrap_or_default();
            match ALONE.contains(name) {
                true => shown.cases == 0 && *name != "base-value",
                false => {
                    let typed = shown.wrong_type || ANY_TYPE.contains(name);
                    shown.cases < 6 || !shown.null || !typed || !shown.container
                }
            }
        })
        .collect();
    assert!(missing.is_empty(), "too few cases: {missing:?}");
    println!("{} expressions, {} cases", counts.len(), cases().count());
}

#[test]
fn random_values_stay_within_their_bounds_and_replay() {
    for short in [
        "random-integer[min=-3 max=9 step=4]",
        "random-integer[min=0 max=9223372036854775807]",
        "random-float[min=1.5 max=2.5]",
    ] {
        assert_eq!(value(short), value(short));
    }
    let item = item(&format!(
        "<qti-outcome-declaration identifier=\"X\" cardinality=\"single\" base-type=\"integer\"/>\
         <qti-outcome-declaration identifier=\"F\" cardinality=\"single\" base-type=\"float\"/>\
         <qti-outcome-declaration identifier=\"C\" cardinality=\"single\" base-type=\"identifier\"/>\
         <qti-response-processing><qti-set-outcome-value identifier=\"X\">{}\
         </qti-set-outcome-value><qti-set-outcome-value identifier=\"F\">{}\
         </qti-set-outcome-value><qti-set-outcome-value identifier=\"C\">{}\
         </qti-set-outcome-value></qti-response-processing>",
        expression("random-integer[min=-3 max=9 step=4]"),
        expression("random-float[min=1.5 max=2.5]"),
        expression("random(multiple(#A #B #C))"),
    ));
    let mut drawn = BTreeMap::new();
    let mut random = RandomStream::seeded(3);
    for _ in 0..500 {
        let outcomes =
            lyceum_qti::score(&item, &Responses::default(), ScoringInput::default(), &mut random);
        let json = outcomes.to_json();
        *drawn.entry(json["X"].to_string()).or_insert(0) += 1;
        *drawn.entry(json["C"].to_string()).or_insert(0) += 1;
        assert!((1.5..2.5).contains(&json["F"].as_f64().unwrap()));
    }
    let expected = ["\"A\"", "\"B\"", "\"C\"", "-3", "1", "5", "9"];
    assert_eq!(drawn.keys().collect::<Vec<_>>(), expected);
    assert!(drawn.values().all(|count| *count > 80), "{drawn:?}");
}
