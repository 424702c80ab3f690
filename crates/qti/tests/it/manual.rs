//! Answers that a person scores.

use lyceum_qti::model::Item;
use lyceum_qti::{Responses, needs_manual_scoring, read_for_author};
use serde_json::{Value as Json, json};

use crate::kit::{item, item_xml};

fn needs(item: &Item, answer: &Json) -> bool {
    let json = json!({ "RESPONSE": answer });
    let responses = Responses::from_json(item, json.as_object().unwrap()).unwrap();
    needs_manual_scoring(item, &responses)
}

const SCORE: &str =
    "<qti-outcome-declaration identifier=\"SCORE\" cardinality=\"single\" base-type=\"float\"";
const ESSAY: &str = "<qti-item-body><qti-extended-text-interaction response-identifier=\"RESPONSE\"/></qti-item-body>";

fn essay(key: &str, score: &str, processing: &str) -> Item {
    item(&format!(
        "<qti-response-declaration identifier=\"RESPONSE\" cardinality=\"single\" base-type=\"string\">{key}</qti-response-declaration>\
         {SCORE} {score}/>{ESSAY}{processing}"
    ))
}

const TEMPLATE: &str = "<qti-response-processing template=\"https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml\"/>";
const KEY: &str = "<qti-correct-response><qti-value>yes</qti-value></qti-correct-response>";
const VARIABLE: &str = "<qti-variable identifier=\"RESPONSE\"/>";

/// Processing that sets SCORE to 1 if the condition is true.
fn rules(condition: &str) -> String {
    format!(
        "<qti-response-processing><qti-response-condition><qti-response-if>{condition}\
         <qti-set-outcome-value identifier=\"SCORE\"><qti-base-value base-type=\"float\">1</qti-base-value></qti-set-outcome-value>\
         </qti-response-if></qti-response-condition></qti-response-processing>"
    )
}

#[test]
fn an_essay_without_scoring_rules_needs_a_person() {
    let correct = "<qti-correct identifier=\"RESPONSE\"/>";
    let mapping = "<qti-mapping><qti-map-entry map-key=\"yes\" mapped-value=\"1\"/></qti-mapping>";
    let map = TEMPLATE.replace("match_correct", "map_response");
    let contains = format!(
        "<qti-string-match case-sensitive=\"false\">{VARIABLE}<qti-base-value base-type=\"string\">yes</qti-base-value></qti-string-match>"
    );
    for (pending, item) in [
        (true, essay("", "", "")),
        (true, essay("", "", TEMPLATE)),
        (true, essay("", "", &rules(&format!("<qti-match>{VARIABLE}{correct}</qti-match>")))),
        (
            true,
            essay(
                "",
                "",
                &rules(&format!("<qti-not><qti-is-null>{VARIABLE}</qti-is-null></qti-not>")),
            ),
        ),
        (true, essay(KEY, "external-scored=\"human\"", TEMPLATE)),
        (false, essay(KEY, "", TEMPLATE)),
        (false, essay(mapping, "", &map)),
        (false, essay("", "", &rules(&contains))),
    ] {
        assert_eq!(needs(&item, &json!("an essay")), pending, "{item:?}");
        assert!(!needs(&item, &json!(null)), "an empty answer needs nobody");
    }
}

#[test]
fn an_item_whose_rules_can_score_no_answer_needs_a_person_and_warns_its_author() {
    let blank = "<qti-item-body><p><qti-text-entry-interaction response-identifier=\"RESPONSE\"/></p></qti-item-body>";
    let text = |key: &str, score: &str, processing: &str| {
        format!(
            "<qti-response-declaration identifier=\"RESPONSE\" cardinality=\"single\" base-type=\"string\">{key}</qti-response-declaration>\
             {score}{blank}{processing}"
        )
    };
    let score = format!("{SCORE}/>");
    let map = TEMPLATE.replace("match_correct", "map_response");
    let custom = rules(&format!(
        "<qti-string-match case-sensitive=\"false\"><qti-custom-operator definition=\"x:Trim\">{VARIABLE}</qti-custom-operator>\
         <qti-correct identifier=\"RESPONSE\"/></qti-string-match>"
    ));
    let other = rules("<qti-is-null><qti-null/></qti-is-null>").replace("SCORE", "OTHER");
    let declared = format!("{score}{}/>", SCORE.replace("SCORE", "OTHER"));
    for (reason, parts) in [
        ("the item has no response processing", text(KEY, &score, "")),
        ("the item has no outcome SCORE", text(KEY, "", TEMPLATE)),
        ("no rule sets SCORE", text(KEY, &declared, &other)),
        ("the rules compare with the correct response of 'RESPONSE'", text("", &score, TEMPLATE)),
        ("the rules use the qti-mapping of 'RESPONSE'", text(KEY, &score, &map)),
        ("the custom operator 'x:Trim' of line 1", text(KEY, &score, &custom)),
    ] {
        let found = item(&parts);
        assert!(needs(&found, &json!("yes")), "{reason}");
        assert!(!needs(&found, &json!(null)), "an empty answer needs nobody");
        let warnings = read_for_author(&item_xml(&parts)).unwrap().faults.to_string();
        assert!(warnings.contains(reason), "{warnings}");
    }
    let known = text(KEY, &score, TEMPLATE);
    assert!(!needs(&item(&known), &json!("yes")));
    // Rules of templates may set the key.
    let number =
        "<qti-template-declaration identifier=\"N\" cardinality=\"single\" base-type=\"integer\"/>";
    let computed = "<qti-template-processing><qti-set-correct-response identifier=\"RESPONSE\"><qti-base-value base-type=\"string\">yes</qti-base-value>\
        </qti-set-correct-response></qti-template-processing>";
    let computed = text("", &format!("{score}{number}{computed}"), TEMPLATE);
    for fine in [&known, &computed] {
        assert!(!needs(&item(fine), &json!("yes")));
        assert_eq!(read_for_author(&item_xml(fine)).unwrap().faults.0, []);
    }
}
