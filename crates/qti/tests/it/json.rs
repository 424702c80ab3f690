//! The JSON form, both ways.

use lyceum_qti::json::{item_json, item_xml, stimulus_json, stimulus_xml, test_json, test_xml};
use lyceum_qti::{read_item, read_stimulus, read_test};
use serde_json::{Map, Value as Json, json};

use crate::kit::scored;
use crate::standards::{documents, folder};

fn object(json: Json) -> Map<String, Json> {
    let Json::Object(object) = json else { panic!() };
    object
}

pub(crate) fn choice() -> Map<String, Json> {
    object(json!({
        "identifier": "q1", "title": "Seasons", "type": "choice",
        "preInteraction": "<p>Look &nbsp; here</p>",
        "interaction": {
            "type": "choice", "responseIdentifier": "RESPONSE", "shuffle": true, "maxChoices": 1,
            "questionStructure": {"prompt": "Is 3 < 4 & warm?", "choices": [
                {"identifier": "A", "content": "<b>winter</b>", "feedbackInline": "Cold"},
                {"identifier": "B", "content": "summer", "feedbackInline": "Right"}
            ]}
        },
        "responseDeclarations": [{"identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier", "correctResponse": {"value": ["B"]}}],
        "responseProcessing": {
            "templateType": "match_correct", "responseDeclarationIdentifier": "RESPONSE",
            "outcomeIdentifier": "FEEDBACK", "correctResponseIdentifier": "CORRECT", "incorrectResponseIdentifier": "INCORRECT",
            "inlineFeedback": {"outcomeIdentifier": "FEEDBACK-INLINE", "variableIdentifier": "RESPONSE"}
        },
        "modalFeedback": [{"outcomeIdentifier": "FEEDBACK", "identifier": "CORRECT", "showHide": "show", "content": "<p>Well done</p>", "title": "Yes"}],
        "rubrics": [{"use": "scoring", "view": "scorer", "body": "One point"}],
        "stimulus": {"identifier": "st1"},
    }))
}

#[test]
fn an_item_is_read_from_json_and_written_as_json() {
    let sent = choice();
    let xml = item_xml(&sent).unwrap().xml;
    let item = read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    let right = scored(&item, &json!({"RESPONSE": "B"}));
    assert_eq!(
        right.to_json(),
        json!({"SCORE": 1.0, "FEEDBACK": "CORRECT", "FEEDBACK-INLINE": ["B"]})
    );
    let shown: Vec<&str> = right.feedback(&item).iter().map(|f| &*f.content).collect();
    assert_eq!(shown, ["Right", "<p>Well done</p>"]);
    assert_eq!(scored(&item, &json!({"RESPONSE": "A"})).score(), Some(0.0));

    let output = item_json(&xml).unwrap();
    for name in ["identifier", "title", "type", "responseProcessing", "modalFeedback", "rubrics"] {
        assert_eq!(output[name], sent[name], "{name}");
    }
    assert_eq!(output["responseDeclarations"], sent["responseDeclarations"]);
    assert_eq!(output["stimulus"]["href"], "stimuli/st1");
    assert_eq!(output["feedbackInline"].as_array().unwrap().len(), 2);
    assert_eq!(output["content"]["qti-assessment-item"]["_attributes"]["title"], "Seasons");
    assert_eq!((&output["rawXml"], &output["qtiXml"]), (&json!(xml), &json!(xml)));
}

#[test]
fn each_type_of_item_that_clients_send_is_read_from_json() {
    let picture = json!({"data": "a.png", "type": "image/png", "width": 100, "height": "100"});
    let spots = json!([{"identifier": "H", "shape": "circle", "coords": "1,2,3", "content": ""}]);
    let two = json!([{"identifier": "A", "content": "a"}, {"identifier": "B", "content": "b"}]);
    let cases = [
        ("choice", json!({"choices": two})),
        ("text-entry", json!({"prompt": "Name it"})),
        ("extended-text", json!({"prompt": "Tell"})),
        ("inline-choice", json!({"choices": two})),
        (
            "match",
            json!({"sourceChoices": two, "targetChoices": [{"identifier": "X", "content": "x"}]}),
        ),
        ("order", json!({"choices": two})),
        ("associate", json!({"choices": two})),
        ("select-point", json!({"object": picture})),
        ("graphic-order", json!({"object": picture, "choices": spots})),
        ("graphic-associate", json!({"object": picture, "choices": spots})),
        ("graphic-gap-match", json!({"object": picture, "choices": two, "targetChoices": spots})),
        ("hotspot", json!({"object": picture, "choices": spots})),
        ("hottext", json!({"choices": two})),
        ("slider", json!({})),
        ("drawing", json!({"object": picture})),
        ("media", json!({"object": picture})),
        ("upload", json!({"prompt": "Send it"})),
    ];
    let graphic_gap = |name: &str| name == "graphic-gap-match";
    for (name, structure) in cases {
        let mut structure = structure;
        if graphic_gap(name) {
            structure["targetChoices"][0]["identifier"] = json!("T");
        }
        let mut attributes = json!({});
        if name == "slider" {
            attributes = json!({"lower-bound": 0, "upper-bound": 10});
        }
        let sent = object(json!({
            "identifier": "q", "title": "t", "type": name,
            "interaction": {"type": name, "responseIdentifier": "RESPONSE", "attributes": attributes, "questionStructure": structure},
        }));
        let xml = item_xml(&sent).unwrap().xml;
        let item = read_item(&xml).unwrap_or_else(|faults| panic!("{name}: {faults}\n{xml}"));
        assert_eq!(item.interactions[0].kind.name(), name);
        assert_eq!(item_json(&xml).unwrap()["type"], name);
    }
}

#[test]
fn mappings_and_points_are_read_from_json() {
    let mut sent = choice();
    sent.remove("modalFeedback");
    sent["responseProcessing"] = json!({"templateType": "map_response"});
    sent["interaction"]["questionStructure"]["choices"] =
        json!([{"identifier": "A", "content": "a"}, {"identifier": "B", "content": "b"}]);
    let item = read_item(&item_xml(&sent).unwrap().xml).unwrap();
    assert_eq!(scored(&item, &json!({"RESPONSE": "B"})).score(), Some(1.0));
    sent["responseDeclarations"][0]["mapping"] =
        json!({"defaultValue": 0, "mapEntries": [{"mapKey": "A", "mappedValue": 2.5}]});
    let xml = item_xml(&sent).unwrap().xml;
    let item = read_item(&xml).unwrap();
    assert_eq!(scored(&item, &json!({"RESPONSE": "A"})).score(), Some(2.5));
    assert_eq!(item_json(&xml).unwrap()["responseProcessing"]["templateType"], "map_response");
}

#[test]
fn missing_members_are_reported_by_path() {
    let mut sent = choice();
    sent.remove("title");
    sent["interaction"]["type"] = json!("choose");
    sent["modalFeedback"][0].as_object_mut().unwrap().remove("identifier");
    let problem = item_xml(&sent).unwrap_err();
    let paths: Vec<&str> = problem.details.iter().map(|detail| &*detail.path).collect();
    assert_eq!(paths, ["title", "interaction.type", "modalFeedback[0].identifier"]);
}

#[test]
fn tests_and_stimuli_are_read_from_json_and_written_as_json() {
    let sent = object(json!({
        "identifier": "t1", "title": "Test", "timeLimit": 60, "maxAttempts": 2,
        "qti-test-part": [{"identifier": "P", "navigationMode": "linear", "submissionMode": "individual",
            "qti-assessment-section": [{"identifier": "S", "title": "One", "visible": true, "required": false, "fixed": true, "sequence": 1,
                "qti-assessment-item-ref": [{"identifier": "I2", "href": "i2", "sequence": 2}, {"identifier": "I1", "href": "i1", "sequence": 1}]}]}],
        "qti-outcome-declaration": [{"identifier": "SCORE", "cardinality": "single", "baseType": "float", "defaultValue": {"value": 0.5}}],
    }));
    let xml = test_xml(&sent).unwrap().xml;
    read_test(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    let output = test_json(&xml).unwrap();
    assert_eq!((&output["timeLimit"], &output["maxAttempts"]), (&json!(60), &json!(2)));
    let refs = &output["qti-test-part"][0]["qti-assessment-section"][0]["qti-assessment-item-ref"];
    assert_eq!(
        *refs,
        json!([{"identifier": "I1", "href": "i1", "sequence": 1}, {"identifier": "I2", "href": "i2", "sequence": 2}])
    );
    assert_eq!(output["qti-outcome-declaration"][0]["defaultValue"]["value"], 0.5);
    let problem = test_xml(&object(json!({"identifier": "t"}))).unwrap_err();
    assert_eq!(problem.details.len(), 2);

    let sent = object(json!({
        "identifier": "s1", "title": "Text", "content": "<p>Read</p>", "label": "L", "language": "en",
        "stylesheet": {"href": "a.css", "type": "text/css"},
        "catalogInfo": [{"id": "c1", "support": "glossary-on-screen", "content": "a word"}],
    }));
    let xml = stimulus_xml(&sent).unwrap().xml;
    read_stimulus(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    let output = stimulus_json(&xml).unwrap();
    for name in ["identifier", "title", "label", "language", "stylesheet", "catalogInfo"] {
        assert_eq!(output[name], sent[name], "{name}");
    }
}

#[test]
fn every_document_of_the_standard_has_a_json_form() {
    let Some(folder) = folder("the JSON form of all documents") else { return };
    let mut count = 0;
    for file in documents(&folder) {
        let json = item_json(&file.xml)
            .or_else(|_| test_json(&file.xml))
            .or_else(|_| stimulus_json(&file.xml));
        if let Ok(json) = json {
            assert!(
                ["identifier", "title", "content", "rawXml"].iter().all(|k| json.contains_key(*k))
            );
            count += 1;
        }
    }
    assert!(count > 250, "{count}");
}
