//! Answers that a person scores.

use lyceum_qti::model::Item;
use lyceum_qti::{Responses, needs_manual_scoring};
use serde_json::{Value as Json, json};

use crate::kit::item;

fn needs(item: &Item, answer: &Json) -> bool {
    let json = json!({ "R": answer });
    let responses = Responses::from_json(item, json.as_object().unwrap()).unwrap();
    needs_manual_scoring(item, &responses)
}

const SCORE: &str =
    "<qti-outcome-declaration identifier=\"SCORE\" cardinality=\"single\" base-type=\"float\"";
const ESSAY: &str =
    "<qti-item-body><qti-extended-text-interaction response-identifier=\"R\"/></qti-item-body>";

fn essay(key: &str, score: &str, processing: &str) -> Item {
    item(&format!(
        "<qti-response-declaration identifier=\"R\" cardinality=\"single\" base-type=\"string\">{key}</qti-response-declaration>\
         {SCORE} {score}/>{ESSAY}{processing}"
    ))
}

#[test]
fn an_essay_without_scoring_rules_needs_a_person() {
    let template = "<qti-response-processing template=\"https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml\"/>";
    let rules = |condition: &str| {
        format!(
            "<qti-response-processing><qti-response-condition><qti-response-if>{condition}\
             <qti-set-outcome-value identifier=\"SCORE\"><qti-base-value base-type=\"float\">1</qti-base-value></qti-set-outcome-value>\
             </qti-response-if></qti-response-condition></qti-response-processing>"
        )
    };
    let variable = "<qti-variable identifier=\"R\"/>";
    let correct = "<qti-correct identifier=\"R\"/>";
    let key = "<qti-correct-response><qti-value>yes</qti-value></qti-correct-response>";
    let mapping = "<qti-mapping><qti-map-entry map-key=\"yes\" mapped-value=\"1\"/></qti-mapping>";
    for (pending, item) in [
        (true, essay("", "", "")),
        (true, essay("", "", template)),
        (true, essay("", "", &rules(&format!("<qti-match>{variable}{correct}</qti-match>")))),
        (
            true,
            essay(
                "",
                "",
                &rules(&format!("<qti-not><qti-is-null>{variable}</qti-is-null></qti-not>")),
            ),
        ),
        (true, essay(key, "external-scored=\"human\"", template)),
        (false, essay(key, "", template)),
        (false, essay(mapping, "", template)),
        (
            false,
            essay(
                "",
                "",
                &rules(&format!(
                    "<qti-string-match case-sensitive=\"false\">{variable}<qti-base-value base-type=\"string\">yes</qti-base-value></qti-string-match>"
                )),
            ),
        ),
    ] {
        assert_eq!(needs(&item, &json!("an essay")), pending, "{item:?}");
        assert!(!needs(&item, &json!(null)), "an empty answer needs nobody");
    }
}
