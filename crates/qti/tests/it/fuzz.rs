//! Random bytes find no panic, no hang and no memory without bound.

use lyceum_core::random::RandomStream;
use lyceum_qti::{
    CandidateSession, DocumentContent, Responses, ScoringInput, arranged, candidate_view, check,
    explain, json, needs_manual_scoring, read, relinked, score, summary, upgraded, variant,
};

use lyceum_qti::value::BaseType;
use serde_json::{Value as Json, json as value};

use crate::kit::{item, item_xml};
use crate::short::expression;

const OLD: &[u8] = br#"<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p2" identifier="o" title="t"><responseDeclaration identifier="RESPONSE" cardinality="multiple" baseType="pair"><correctResponse><value>A B</value></correctResponse><mapping defaultValue="1"><mapEntry mapKey="A B" mappedValue="2"/></mapping></responseDeclaration><itemBody><associateInteraction responseIdentifier="RESPONSE" shuffle="true" maxAssociations="2"><prompt>x</prompt><simpleAssociableChoice identifier="A" matchMax="1">a</simpleAssociableChoice></associateInteraction></itemBody><responseProcessing template="http://x/match_correct"/></assessmentItem>"#;

const TEST: &[u8] = br#"<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="t" title="t"><qti-test-part identifier="p" navigation-mode="linear" submission-mode="individual"><qti-assessment-section identifier="s" title="s" visible="true"><qti-item-session-control validate-responses="true"/><qti-selection select="2" with-replacement="true"/><qti-ordering shuffle="true"/><qti-assessment-item-ref identifier="a" href="a/qti.xml" required="true"/><qti-assessment-section identifier="i" title="i" visible="false" keep-together="false"><qti-assessment-item-ref identifier="b" href="b" fixed="true"/></qti-assessment-section></qti-assessment-section></qti-test-part></qti-assessment-test>"#;

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
    lyceum_testkit::fuzz::run("qti", &[new.as_bytes(), OLD, TEST], |bytes| {
        let xml = String::from_utf8_lossy(bytes);
        let Ok(reading) = read(&xml) else { return };
        let again = upgraded(&xml).unwrap();
        assert_eq!(again, upgraded(&again).unwrap(), "{xml}");
        assert_eq!(summary(&xml).unwrap().kind, reading.content.kind());
        let _ = (json::test_json(&xml), json::stimulus_json(&xml));
        let linked = relinked(&xml, |_| Some("<\"&'>".to_owned())).unwrap();
        let links = summary(&linked).unwrap().links;
        let addresses = links.iter().filter(|link| !link.href.is_empty());
        assert!(addresses.clone().all(|link| &*link.href == "<\"&'>"), "{xml}");
        if let DocumentContent::Test(test) = &reading.content {
            let items = test.item_refs().len();
            assert!(arranged(test, 3).iter().all(|place| *place < items));
            assert_eq!(test.validates().len(), items);
        }
        let DocumentContent::Item(item) = reading.content else { return };
        let mut random = RandomStream::seeded(1);
        let variant = variant(&item, &mut random);
        let mut responses = Responses::default();
        for response in &item.responses {
            responses.set(&response.declaration.identifier, response.correct.clone());
        }
        let attempt = ScoringInput { variant: Some(&variant), ..ScoringInput::default() };
        let (outcomes, trace) = explain(&item, &responses, attempt, &mut random);
        assert!(trace.to_string().len() < 1_000_000);
        check(&item, &responses);
        needs_manual_scoring(&item, &responses);
        let view = CandidateSession { outcomes: Some(&outcomes), variant: Some(&variant), seed: 7 };
        let shown = candidate_view(&xml, view).unwrap();
        assert!(!shown.contains("<qti-correct-response"), "{shown}");
        json::item_json(&xml).unwrap();
    });
}

/// An item that takes an answer of every base type, in single and in many.
fn every_type() -> lyceum_qti::model::Item {
    let declarations: String = BaseType::ALL
        .iter()
        .flat_map(|(name, _)| ["single", "multiple", "ordered"].map(|many| (many, *name)))
        .map(|(many, name)| {
            format!(
                "<qti-response-declaration identifier=\"{many}-{name}\" cardinality=\"{many}\" \
                 base-type=\"{name}\"/>"
            )
        })
        .collect();
    item(&format!(
        "{declarations}<qti-response-declaration identifier=\"record\" cardinality=\"record\"/>\
         <qti-outcome-declaration identifier=\"X\" cardinality=\"single\" base-type=\"string\"/>\
         <qti-item-body><p><qti-text-entry-interaction response-identifier=\"single-float\" \
          base=\"3\" string-identifier=\"single-string\" pattern-mask=\"[0-2.]*\"/></p>\
         <qti-slider-interaction response-identifier=\"single-integer\" lower-bound=\"0\" \
          upper-bound=\"9\" step=\"2\"/>\
         <qti-match-interaction response-identifier=\"multiple-directedPair\"><qti-simple-match-set>\
         <qti-simple-associable-choice identifier=\"a\" match-max=\"1\">a</qti-simple-associable-choice>\
         </qti-simple-match-set><qti-simple-match-set>\
         <qti-simple-associable-choice identifier=\"b\" match-max=\"0\">b</qti-simple-associable-choice>\
         </qti-simple-match-set></qti-match-interaction></qti-item-body>\
         <qti-response-processing><qti-set-outcome-value identifier=\"X\">{}\
         </qti-set-outcome-value></qti-response-processing>",
        expression("max($single-float sum($multiple-integer $ordered-float))"),
    ))
}

#[test]
fn random_responses_do_no_harm() {
    let item = every_type();
    let good = value!({
        "single-boolean": true, "multiple-integer": [1, "2", 3.0], "ordered-float": [0.5, "-INF"],
        "single-float": "-12.1", "single-integer": 9_007_199_254_740_993_i64,
        "single-point": [3, 4], "multiple-directedPair": ["a b", ["a", "b"]],
        "single-file": {"name": "a", "mediaType": "text/plain", "data": "data:,x"},
        "single-duration": "PT1H", "record": {"x": 1, "y": null, "z": "w"},
        "multiple-identifier": [], "single-uri": "https://a.example",
    });
    let tried = |json: &Json| {
        let Some(given) = json.as_object() else { return };
        let Ok(responses) = Responses::from_json(&item, given) else { return };
        check(&item, &responses);
        let outcomes =
            score(&item, &responses, ScoringInput::default(), &mut RandomStream::seeded(1));
        outcomes.to_json();
    };
    tried(&good);
    many_variants(&good, tried);
    let corpus = good.to_string();
    lyceum_testkit::fuzz::run("qti responses", &[corpus.as_bytes()], |bytes| {
        let _ = serde_json::from_slice(bytes).map(|json| tried(&json));
    });
}

#[test]
fn random_json_forms_do_no_harm() {
    let forms = [
        Json::Object(crate::json::choice()),
        value!({
            "identifier": "t1", "title": "Test", "timeLimit": 60, "maxAttempts": 2,
            "qti-test-part": [{"identifier": "P", "navigationMode": "linear", "submissionMode": "individual",
                "qti-assessment-section": [{"identifier": "S", "title": "One", "visible": true, "sequence": 1,
                    "qti-assessment-item-ref": [{"identifier": "I", "href": "i", "sequence": 2}]}]}],
            "qti-outcome-declaration": [{"identifier": "SCORE", "cardinality": "single", "baseType": "float", "defaultValue": {"value": 0.5}}],
        }),
        value!({
            "identifier": "s1", "title": "Text", "content": "<p>Read</p>", "label": "L", "language": "en",
            "stylesheet": {"href": "a.css", "type": "text/css"},
            "catalogInfo": [{"id": "c1", "support": "glossary-on-screen", "content": "a word"}],
        }),
    ];
    let tried = |json: &Json| {
        let Some(form) = json.as_object() else { return };
        for written in [json::item_xml, json::test_xml, json::stimulus_xml] {
            // What is written may be refused, at a place and with words.
            if let Ok(written) = written(form)
                && let Ok(reading) = read(&written.xml)
            {
                assert!(!reading.faults.0.iter().any(|fault| fault.message.is_empty()));
            }
        }
    };
    let corpus: Vec<String> = forms.iter().map(ToString::to_string).collect();
    for form in &forms {
        many_variants(form, tried);
    }
    let corpus: Vec<&[u8]> = corpus.iter().map(String::as_bytes).collect();
    lyceum_testkit::fuzz::run("qti json", &corpus, |bytes| {
        let _ = serde_json::from_slice(bytes).map(|json| tried(&json));
    });
}

#[test]
fn random_html_does_no_harm() {
    let corpus: [&[u8]; 5] = [
        b"<p>one<p>two<br>&nbsp;<b><i>x</b>y</i><table><tr><td>1<td>2</table>",
        b"<ul><li>a<li>b</ul><video src=a.mp4 controls><track src=b default></video>",
        b"<math><mi>x</mi><annotation-xml encoding='text/html'><p>y</annotation-xml></math>",
        b"<table><b><tr><td><a href='?a=1&b'>x</table><svg><desc><p>z</svg><!-- c --><![CDATA[d]]>",
        b"<qti-gap identifier='g'/><template><p>t</template><select><option>o<script>s</script>",
    ];
    lyceum_testkit::fuzz::run("qti html", &corpus, |bytes| {
        let html = String::from_utf8_lossy(bytes);
        let form = value!({"identifier": "s", "title": "t", "content": html});
        match json::stimulus_xml(form.as_object().unwrap()) {
            // What is taken is well-formed and runs nothing.
            Ok(json::WrittenXml { xml, .. }) => {
                let faults = match read(&xml) {
                    Ok(reading) => reading.faults.0,
                    Err(fault) => vec![fault],
                };
                // Ids are looked for in the whole document.
                let faults: Vec<_> =
                    faults.iter().filter(|f| !f.message.contains("with the id")).collect();
                assert!(faults.is_empty(), "{html}\n{xml}\n{faults:?}");
                // `<scriptx>` is an element of another name, which runs nothing.
                let runs = xml.split("<script").skip(1).any(|rest| {
                    !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.:".contains(c))
                });
                assert!(!runs, "{html}\n{xml}");
            }
            Err(problem) => {
                let lines = html.matches('\n').count() as u64 + 1;
                let places = problem.places.iter().map(|(line, _)| u64::from(*line));
                assert!(html.is_empty() || places.clone().count() > 0, "{html}: {problem}");
                assert!(places.clone().all(|line| line <= lines), "{html}: {problem}");
            }
        }
    });
}

/// Hands on variants of a value in which something is another thing.
fn many_variants(good: &Json, tried: impl Fn(&Json)) {
    let odd = [
        value!(null),
        value!(true),
        value!(-1),
        value!(1e308),
        value!(u64::MAX),
        value!(""),
        value!("\u{0}\u{ffff}"),
        value!("<p>&x;</q>"),
        value!("x".repeat(10_000)),
        value!([]),
        value!(vec![0; 3000]),
        value!({}),
        value!({"": [{}]}),
    ];
    let mut random = RandomStream::seeded(4);
    for _ in 0..if lyceum_testkit::full_size() { 100_000 } else { 2000 } {
        let mut json = good.clone();
        for _ in 0..=random.below(3) {
            let odd = random.pick(&odd).clone();
            *somewhere(&mut json, &mut random) = odd;
        }
        tried(&json);
    }
}

/// A place in a value, the root seldom.
fn somewhere<'j>(json: &'j mut Json, random: &mut RandomStream) -> &'j mut Json {
    let members = match json {
        _ if random.below(4) == 0 => 0,
        Json::Object(members) => members.len(),
        Json::Array(members) => members.len(),
        _ => 0,
    };
    if members == 0 {
        return json;
    }
    let at = usize::try_from(random.below(members as u64)).unwrap();
    let inner = match json {
        Json::Object(members) => members.values_mut().nth(at),
        Json::Array(members) => members.get_mut(at),
        _ => None,
    };
    somewhere(inner.unwrap(), random)
}
