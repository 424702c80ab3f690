//! Tests, sections, stimuli; older versions; what is written again.

use lyceum_qti::model::{Navigation, QtiVersion, SectionMember, Submission};
use lyceum_qti::{DocumentContent, read, read_item, read_stimulus, read_test, upgraded};
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{item_xml, scored};
use crate::standards::{documents, folder};

const TEST: &str = r#"<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="T" title="Test">
  <qti-outcome-declaration identifier="TOTAL" cardinality="single" base-type="float"/>
  <qti-time-limits max-time="600" allow-late-submission="true"/>
  <qti-test-part identifier="P1" navigation-mode="linear" submission-mode="simultaneous">
    <qti-item-session-control max-attempts="2" show-feedback="true"/>
    <qti-assessment-section identifier="S1" title="First" visible="true" keep-together="false">
      <qti-selection select="1" with-replacement="true"/><qti-ordering shuffle="true"/>
      <qti-rubric-block view="candidate"><qti-content-body>Read this</qti-content-body></qti-rubric-block>
      <qti-assessment-item-ref identifier="I1" href="i1.xml" category="a b" fixed="true">
        <qti-pre-condition><qti-gt><qti-variable identifier="TOTAL"/><qti-base-value base-type="float">1</qti-base-value></qti-gt></qti-pre-condition>
        <qti-branch-rule target="EXIT_SECTION"><qti-null/></qti-branch-rule>
        <qti-variable-mapping source-identifier="SCORE" target-identifier="POINTS"/>
        <qti-weight identifier="W" value="2.5"/>
        <qti-template-default template-identifier="X"><qti-base-value base-type="integer">1</qti-base-value></qti-template-default>
      </qti-assessment-item-ref>
      <qti-assessment-section identifier="S2" title="Inner" visible="false"><qti-assessment-item-ref identifier="I2" href="i2.xml"/></qti-assessment-section>
      <qti-assessment-section-ref identifier="S3" href="s3.xml"/>
    </qti-assessment-section>
    <qti-test-feedback access="atEnd" outcome-identifier="TOTAL" identifier="done" show-hide="show"><qti-content-body><p>Done</p></qti-content-body></qti-test-feedback>
  </qti-test-part>
  <qti-outcome-processing><qti-set-outcome-value identifier="TOTAL"><qti-sum><qti-test-variables variable-identifier="SCORE" weight-identifier="W" include-category="a"/></qti-sum></qti-set-outcome-value></qti-outcome-processing>
</qti-assessment-test>"#;

#[test]
fn tests_are_read_with_their_structure() {
    let test = read_test(TEST).unwrap();
    let limits = test.time_limits.unwrap();
    assert_eq!((limits.max, limits.allow_late), (Some(600.0), true));
    let [part] = test.parts.as_slice() else { panic!() };
    assert_eq!((part.navigation, part.submission), (Navigation::Linear, Submission::Simultaneous));
    assert_eq!(part.control.unwrap().max_attempts, Some(2));
    assert_eq!(part.feedback.len(), 1);
    let [SectionMember::Section(section)] = part.sections.as_slice() else { panic!() };
    assert!(!section.keep_together && section.ordering.unwrap().shuffle);
    assert!(section.selection.unwrap().with_replacement);
    assert_eq!(section.rubrics[0].text, "Read this");
    let [SectionMember::Item(item), SectionMember::Section(inner), SectionMember::SectionRef(away)] =
        section.members.as_slice()
    else {
        panic!()
    };
    assert_eq!((&*item.weights[0].0, item.weights[0].1), ("W", 2.5));
    assert_eq!(item.categories.iter().map(|c| &**c).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(&*item.variable_mappings[0].target, "POINTS");
    assert_eq!((item.pre_conditions.len(), &*item.branch_rules[0].target), (1, "EXIT_SECTION"));
    assert_eq!(&*item.template_defaults[0].0, "X");
    assert!(item.fixed && !inner.visible);
    assert_eq!(&*away.href, "s3.xml");
    let refs: Vec<_> = test
        .item_refs()
        .iter()
        .map(|(p, s, i)| format!("{}/{}/{}", p.identifier, s.identifier, i.identifier))
        .collect();
    assert_eq!(refs, ["P1/S1/I1", "P1/S2/I2"]);
    assert_eq!(test.outcome_processing.len(), 1);

    let wrong = TEST
        .replace("EXIT_SECTION", "NOWHERE")
        .replace("\"I2\"", "\"I1\"")
        .replace("identifier=\"TOTAL\"><qti-sum", "identifier=\"SUM\"><qti-sum");
    let message = read_test(&wrong).unwrap_err().to_string();
    for part in ["'NOWHERE' to branch to", "identifier 'I1'", "no outcome variable 'SUM'"] {
        assert!(message.contains(part), "{message}");
    }

    let stimulus = read_stimulus(
        "<qti-assessment-stimulus xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='S' title='t' xml:lang='en'>\
         <qti-stylesheet href='a.css' type='text/css'/><qti-stimulus-body><p>Read &amp; think</p></qti-stimulus-body></qti-assessment-stimulus>",
    )
    .unwrap();
    assert_eq!(
        (stimulus.language.as_deref(), &*stimulus.content),
        (Some("en"), "<p>Read &amp; think</p>")
    );
    let section = "<qti-assessment-section xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='S' title='t' visible='true'/>";
    assert!(matches!(read(section).unwrap().content, DocumentContent::Section(_)));
    assert!(read_item(TEST).unwrap_err().to_string().contains("the document is a test"));
}

const OLD: &str = r#"<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b" identifier="old" title="Old" adaptive="false" timeDependent="false">
  <responseDeclaration identifier="RESPONSE" cardinality="single" baseType="string"><mapping defaultValue="0"><mapEntry mapKey="York" mappedValue="1"/></mapping></responseDeclaration>
  <outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>
  <outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
  <itemBody>
    <rubricBlock view="scorer"><p>One point</p></rubricBlock>
    <p>Name: <textEntryInteraction responseIdentifier="RESPONSE" expectedLength="5"/></p>
    <feedbackBlock outcomeIdentifier="FEEDBACK" identifier="ok" showHide="show">Yes <b>indeed</b></feedbackBlock>
  </itemBody>
  <responseProcessing template="http://www.imsglobal.org/question/qti_v2p1/rptemplates/map_response"/>
  <modalFeedback outcomeIdentifier="FEEDBACK" identifier="ok" showHide="show">Well done</modalFeedback>
</assessmentItem>"#;

#[test]
fn unsupported_parts_of_older_items_are_left_out_and_reported() {
    let xml = "<assessmentItem xmlns='http://www.imsglobal.org/xsd/imsqti_v2p2' \
         xmlns:h='http://www.imsglobal.org/xsd/imsqtiv2p2_html5_v1p0' \
         xmlns:apip='http://www.imsglobal.org/xsd/apip/apipv1p0/imsapip_qtiv1p0' \
         identifier='i' title='t' adaptive='false' timeDependent='false'>\
         <responseDeclaration identifier='R' cardinality='multiple' baseType='directedPair'/>\
         <itemBody>\n<h:article><p style='color:red' title='tip'>text</p></h:article>\
         <gapMatchInteraction responseIdentifier='R' shuffle='true'>\
         <gapText identifier='A' matchMax='1' fixed='true'>a</gapText>\
         <blockquote><p><gap identifier='G' fixed='true'/></p></blockquote></gapMatchInteraction></itemBody>\
         <apip:apipAccessibility><apip:companionMaterialsInfo/></apip:apipAccessibility>\
         </assessmentItem>";
    let reading = read(xml).unwrap();
    assert!(!reading.faults.refuse(), "{}", reading.faults);
    let found = reading.faults.to_string();
    for word in ["'style'", "'title'", "'fixed'", "HTML in QTI 2.2", "apipAccessibility"] {
        assert!(found.contains(word), "{word} in {found}");
    }
    assert!(reading.faults.0.iter().all(|fault| fault.severity == lyceum_qti::Severity::Warning));
    let style = reading.faults.0.iter().find(|fault| fault.message.contains("'style'")).unwrap();
    assert_eq!(style.place.line, 2, "{style}");
    let three = upgraded(xml).unwrap();
    for gone in ["apip:apip", "style=", "fixed=", "title='tip'", "<h:"] {
        assert!(!three.contains(gone), "{gone} in {three}");
    }
    assert!(three.contains("<article>") && read(&three).unwrap().faults.0.is_empty(), "{three}");
    // What a reader would miss is still refused.
    let lost = xml.replace("style='color:red'", "onclick='x()'");
    assert!(read(&lost).unwrap().faults.refuse());
}

#[test]
fn rewriting_references_changes_nothing_else() {
    let xml = "\u{feff}<?xml version='1.0'?><!-- x -->\n<qti-assessment-test \
               xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='t' title='t'>\
               <qti-assessment-item-ref identifier='a' href = \"items/i1/qti.xml\" />\
               <qti-assessment-item-ref href='b.xml' identifier='b'/></qti-assessment-test>";
    let found =
        lyceum_qti::relinked(xml, |link| (&*link.identifier == "a").then(|| "i\"1".to_owned()));
    let expected = xml.replace("href = \"items/i1/qti.xml\"", "href=\"i&quot;1\"");
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn older_versions_are_converted_to_qti_3() {
    let item = read_item(OLD).unwrap();
    assert_eq!(item.version, QtiVersion::V2p1);
    assert_eq!(scored(&item, &json!({"RESPONSE": "York"})).score(), Some(1.0));
    // In 2.1 the case of letters counts where nothing is said.
    assert_eq!(scored(&item, &json!({"RESPONSE": "york"})).score(), Some(0.0));
    assert_eq!(item.feedback[1].content, "Well done");

    let new = upgraded(OLD).unwrap();
    let again = read_item(&new).unwrap();
    assert_eq!(again.version, QtiVersion::V3p0);
    assert_eq!(scored(&again, &json!({"RESPONSE": "york"})).score(), Some(0.0));
    for part in [
        "xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\"",
        "<qti-content-body>Yes <b>indeed</b></qti-content-body>",
        "<qti-text-entry-interaction response-identifier=\"RESPONSE\" expected-length=\"5\"/>",
        "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/map_response.xml",
        "use=\"instructions\"",
    ] {
        assert!(new.contains(part), "{part} not in {new}");
    }
    assert!(!new.contains("schemaLocation"), "{new}");

    let two = OLD.replace("imsqti_v2p1", "imsqti_v2p2");
    let item = read_item(&two).unwrap();
    assert_eq!(scored(&item, &json!({"RESPONSE": "york"})).score(), Some(1.0));

    // Faults are told at their place in the text as it was sent.
    let wrong = OLD.replace("<p>Name", "<durationLT/>\n<p>Name");
    let fault = read_item(&wrong).unwrap_err().0.remove(0);
    assert_eq!((fault.place.line, fault.message.contains("qti-duration-lt")), (7, true), "{fault}");
}

#[test]
fn written_documents_are_read_back_unchanged() {
    let Some(folder) = folder("round trips of all documents") else { return };
    for file in documents(&folder) {
        let once = upgraded(&file.xml).unwrap();
        assert_eq!(once, upgraded(&once).unwrap(), "{}", file.name);
        let (before, after) = (read(&file.xml).unwrap(), read(&once).unwrap());
        assert_eq!(shape(&before.content), shape(&after.content), "{}", file.name);
        let sorted_messages = |faults: &lyceum_qti::Faults| {
            let mut sorted_messages: Vec<_> =
                faults.0.iter().map(|fault| fault.message.clone()).collect();
            sorted_messages.sort();
            sorted_messages
        };
        assert_eq!(
            sorted_messages(&before.faults),
            sorted_messages(&after.faults),
            "{}",
            file.name
        );
    }
}

/// Everything but the lines.
fn shape(content: &DocumentContent) -> String {
    let text = format!("{content:?}");
    let mut lines = text.split("line: ");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |all, rest| all + rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

proptest! {
    #[test]
    fn any_text_is_written_and_read_again(text in "\\PC{0,40}", title in "\\PC{1,40}") {
        let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace("]]>", "]]&gt;");
        let xml = item_xml(&format!("<qti-item-body><p>{}</p></qti-item-body>", escape(&text)))
            .replace("title=\"t\"", &format!("title=\"{}\"", escape(&title)));
        let once = upgraded(&xml).unwrap();
        prop_assert_eq!(upgraded(&once).unwrap(), once.clone());
        let (a, b) = (read_item(&xml).unwrap(), read_item(&once).unwrap());
        prop_assert_eq!(&a.title, &b.title);
        prop_assert_eq!(a.title.trim(), title.trim());
    }
}
