//! Random bytes find no panic and no hang.

use lyceum_core::random::Stream;
use lyceum_qti::{
    Attempt, Content, Responses, View, candidate_view, check, explain, json, read, upgraded,
    variant,
};

use crate::kit::item_xml;
use crate::short::expression;

const OLD: &[u8] = br#"<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p2" identifier="o" title="t"><responseDeclaration identifier="RESPONSE" cardinality="multiple" baseType="pair"><correctResponse><value>A B</value></correctResponse><mapping defaultValue="1"><mapEntry mapKey="A B" mappedValue="2"/></mapping></responseDeclaration><itemBody><associateInteraction responseIdentifier="RESPONSE" shuffle="true" maxAssociations="2"><prompt>x</prompt><simpleAssociableChoice identifier="A" matchMax="1">a</simpleAssociableChoice></associateInteraction></itemBody><responseProcessing template="http://x/match_correct"/></assessmentItem>"#;

#[test]
fn random_documents_do_no_harm() {
    let rules: String = [
        "sum(1 2.5 $N)",
        "repeat[number-repeats=9](index[n=1](ordered(#a)))",
        "any-n[min=1 max=N](true)",
        "pattern-match[pattern=\\i\\c{2,3}]('abc')",
        "round-to[rounding-mode=significantFigures figures=3](1e9)",
        "integer-divide(-7 2)",
        "stats-operator[name=mean](multiple(1 2))",
        "inside[shape=poly coords=1,2,3,4,5,6](@1,2)",
        "random-integer[min=-9223372036854775807 max=9223372036854775807]",
        "lcm(6 4)",
        "map-response[identifier=N]",
    ]
    .iter()
    .map(|short| {
        format!(
            "<qti-set-outcome-value identifier=\"X\">{}</qti-set-outcome-value>",
            expression(short)
        )
    })
    .collect();
    let new = item_xml(&format!(
        "<qti-response-declaration identifier=\"N\" cardinality=\"single\" base-type=\"integer\"><qti-correct-response><qti-value>3</qti-value></qti-correct-response><qti-mapping><qti-map-entry map-key=\"3\" mapped-value=\"1\"/></qti-mapping></qti-response-declaration>\
         <qti-outcome-declaration identifier=\"X\" cardinality=\"single\" base-type=\"string\"/>\
         <qti-template-declaration identifier=\"T\" cardinality=\"single\" base-type=\"integer\"/>\
         <qti-template-processing><qti-set-template-value identifier=\"T\">{}</qti-set-template-value></qti-template-processing>\
         <qti-item-body><p id=\"a\">x &amp; &#65; <![CDATA[y]]><qti-text-entry-interaction response-identifier=\"N\" pattern-mask=\"[0-9]*\"/></p></qti-item-body>\
         <qti-response-processing>{rules}</qti-response-processing>",
        expression("random-integer[max=9]"),
    ));
    lyceum_testkit::fuzz::run("qti", &[new.as_bytes(), OLD], |bytes| {
        let xml = String::from_utf8_lossy(bytes);
        let Ok(reading) = read(&xml) else { return };
        let again = upgraded(&xml).unwrap();
        assert_eq!(again, upgraded(&again).unwrap(), "{xml}");
        let Content::Item(item) = reading.content else { return };
        let mut random = Stream::seeded(1);
        let variant = variant(&item, &mut random);
        let mut responses = Responses::default();
        for response in &item.responses {
            responses.set(&response.declaration.identifier, response.correct.clone());
        }
        let attempt = Attempt { variant: Some(&variant), ..Attempt::default() };
        let (outcomes, trace) = explain(&item, &responses, attempt, &mut random);
        assert!(trace.to_string().len() < 1_000_000);
        check(&item, &responses);
        let view = View { outcomes: Some(&outcomes), variant: Some(&variant) };
        let shown = candidate_view(&xml, view).unwrap();
        assert!(!shown.contains("<qti-correct-response"), "{shown}");
        json::item_json(&xml).unwrap();
    });
}
