//! `lyceum qti`

use serde_json::{Value, json};

use crate::transcript::Place;

/// An item with one choice; its rules are those of a template, or its own.
pub(crate) fn item(identifier: &str, processing: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{identifier}" title="Water" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="multiple" base-type="identifier">
    <qti-correct-response><qti-value>A</qti-value><qti-value>C</qti-value></qti-correct-response>
    <qti-mapping lower-bound="0" default-value="-2"><qti-map-entry map-key="A" mapped-value="1"/><qti-map-entry map-key="C" mapped-value="1.5"/></qti-mapping>
  </qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body>
    <qti-choice-interaction response-identifier="RESPONSE" max-choices="2">
      <qti-simple-choice identifier="A">Hydrogen</qti-simple-choice>
      <qti-simple-choice identifier="B">Helium</qti-simple-choice>
      <qti-simple-choice identifier="C">Oxygen</qti-simple-choice>
    </qti-choice-interaction>
  </qti-item-body>
  {processing}
</qti-assessment-item>
"#
    )
}

pub(crate) const MAPPED: &str = r#"<qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/map_response.xml"/>"#;

const RULES: &str = r#"<qti-response-processing>
    <qti-response-condition>
      <qti-response-if>
        <qti-match><qti-variable identifier="RESPONSE"/><qti-correct identifier="RESPONSE"/></qti-match>
        <qti-set-outcome-value identifier="SCORE"><qti-base-value base-type="float">3</qti-base-value></qti-set-outcome-value>
      </qti-response-if>
    </qti-response-condition>
  </qti-response-processing>"#;

/// A test whose section refers to these items, each with its address.
pub(crate) fn test(refs: &[(&str, &str)]) -> String {
    let refs: Vec<String> = refs
        .iter()
        .map(|(name, href)| {
            format!("      <qti-assessment-item-ref identifier=\"{name}\" href=\"{href}\"/>\n")
        })
        .collect();
    format!(
        r#"<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="exam" title="Exam">
  <qti-test-part identifier="part" navigation-mode="linear" submission-mode="individual">
    <qti-assessment-section identifier="section" title="Section" visible="true">
{}    </qti-assessment-section>
  </qti-test-part>
</qti-assessment-test>
"#,
        refs.concat()
    )
}

/// Writes files, in folders that are made.
pub(crate) fn write_all<T: AsRef<str>>(place: &Place, files: &[(&str, T)]) {
    for (name, text) in files {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
    }
}

fn folder(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    write_all(&place, files);
    place
}

#[test]
fn one_line_counts_the_valid_documents() {
    let place = folder(&[
        ("set/items/water.xml", &item("water", MAPPED)),
        ("set/exam.xml", &test(&[("first", "items/water.xml"), ("far", "https://a.example/i/1")])),
        ("set/imsmanifest.xml", "<manifest/>"),
        ("set/notes.txt", "no document"),
    ]);
    let stderr = "2 documents checked: 0 errors, 0 warnings\n".to_owned();
    assert_eq!(place.run("qti validate set"), (0, String::new(), stderr));
    let output = place.json("qti validate set --json");
    let expected =
        json!({"documents": 2, "skipped": 1, "not_checked": [], "errors": 0, "warnings": 0});
    assert_eq!(output, expected);
    let (code, stderr) = place.fails("qti validate nowhere");
    assert_eq!((code, stderr.lines().next()), (4, Some("error: there is no 'nowhere'")));
    let (code, stdout, _) = place.run("qti validate set/imsmanifest.xml");
    assert!(
        code == 1 && stdout.contains("which is not a QTI document"),
        "a file that is named is checked: {stdout}"
    );
}

#[test]
fn errors_are_printed_with_their_place_and_a_remedy() {
    let broken = item("water", MAPPED)
        .replace("qti-simple-choice identifier=\"B\"", "qti-simple-choise identifier=\"B\"")
        .replace("Helium</qti-simple-choice>", "Helium</qti-simple-choise>");
    let place = folder(&[("a.xml", &broken), ("b.xml", "<qti-assessment-item>\n  <p></q>")]);
    let (code, stdout, stderr) = place.run("qti validate a.xml b.xml");
    assert_eq!(code, 1);
    assert_eq!(
        stdout,
        "a.xml:11:7: error: QTI 3 has no element 'qti-simple-choise'\n \
         11 |       <qti-simple-choise identifier=\"B\">Helium</qti-simple-choise>\n    \
            |       ^ did you mean 'qti-simple-choice'?\n\
         b.xml:2:6: error: </q> closes the element 'p'\n \
         2 |   <p></q>\n   \
           |      ^ write </p> here, or close the inner element first\n"
    );
    assert_eq!(stderr, "error: 2 documents checked: 2 errors, 0 warnings\n");
    let (_, stdout, _) = place.run("qti validate a.xml b.xml --json");
    let lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["file"], &lines[0]["line"]), (&json!("a.xml"), &json!(11)));
    assert_eq!(lines[0]["remedy"], "did you mean 'qti-simple-choice'?");
    assert_eq!(lines[2]["errors"], 2);
}

#[test]
fn documents_are_checked_against_each_other() {
    let place = folder(&[
        ("set/a.xml", &item("water", MAPPED)),
        ("set/b.xml", &item("water", MAPPED)),
        (
            "set/exam.xml",
            &test(&[
                ("q1", "a.xml"),
                ("q2", "items/c.xml"),
                ("q3", "exam.xml"),
                ("q4", "../set/a%2Exml"),
                ("q5", "water"),
            ]),
        ),
    ]);
    let (code, stdout, stderr) = place.run("qti validate set");
    let faults: Vec<&str> = stdout.lines().filter(|line| line.starts_with("set/")).collect();
    assert_eq!(
        faults,
        [
            "set/b.xml:2:1: error: 'set/a.xml' has the same item identifier 'water'",
            "set/exam.xml:5:7: error: there is no item 'q2' at 'items/c.xml'",
            "set/exam.xml:6:7: error: 'exam.xml' is another kind of document than item: test",
        ]
    );
    assert_eq!((code, stderr.as_str()), (1, "error: 3 documents checked: 3 errors, 0 warnings\n"));
}

#[test]
fn unreadable_files_are_reported() {
    let place = folder(&[]);
    std::fs::write(place.path().join("latin.xml"), b"<p>\n caf\xe9</p>").unwrap();
    let large = std::fs::File::create(place.path().join("large.xml")).unwrap();
    large.set_len(5_000_000_000).unwrap();
    let (code, stdout, _) = place.run("qti validate .");
    assert_eq!(code, 1);
    assert!(stdout.contains("latin.xml:2:5: error: the text is not UTF-8"), "{stdout}");
    assert!(
        stdout.contains("large.xml:1:1: error: the document is too large: it has 5000000000 bytes"),
        "{stdout}"
    );
}

#[test]
fn responses_are_scored() {
    let place = folder(&[("water.xml", &item("water", MAPPED))]);
    assert_eq!(
        place.ok("qti score water.xml --response RESPONSE=A --response RESPONSE=C"),
        "outcome  value\nSCORE    2.5\n"
    );
    let (_, stdout, stderr) = place.run("qti score water.xml --response RESPONSE=D --json");
    let stdout: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(stdout["outcomes"], json!({"SCORE": 0.0}));
    assert_eq!(stderr, "warning: RESPONSE: 'D' is not a choice; choose one of A, B, C\n");
    let (code, stderr) = place.fails("qti score water.xml --response ANSWER=A");
    assert!(
        code == 1 && stderr.contains("the item has no response variable with this name"),
        "{stderr}"
    );
    assert_eq!(place.fails("qti score water.xml --response A").0, 2);
    assert_eq!(place.fails("qti score fire.xml").0, 1);
    place.write("one.json", "{\n  \"RESPONSE\": [\"C\"]\n}");
    assert_eq!(
        place.ok("qti score water.xml --responses one.json"),
        "outcome  value\nSCORE    1.5\n"
    );
    place.write("many.json", "{\"RESPONSE\":[\"A\"]}\n{\"RESPONSE\":{}}\n{\"RESPONSE\":null}\n");
    let (code, stdout, stderr) = place.run("qti score water.xml --responses many.json");
    assert_eq!(code, 1);
    assert_eq!(
        stdout,
        "1  SCORE=1.0\n2  rejected: RESPONSE: {} is not of the type 'identifier'; \
         send a value of the type 'identifier'\n3  SCORE=0.0\n"
    );
    assert!(stderr.starts_with("error: scored 2 responses, rejected 1\n"), "{stderr}");
    let (_, lines, _) = place.run("qti score water.xml --responses many.json --json");
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first, json!({"response": 1, "outcomes": {"SCORE": 1.0}, "faults": []}));
    place.write("bad.json", "[1]");
    let (code, stderr) = place.fails("qti score water.xml --responses bad.json");
    assert!(code == 1 && stderr.contains("expected a map at line 1"), "{stderr}");
}

#[test]
fn scoring_is_explained_step_by_step() {
    let place = folder(&[("water.xml", &item("water", RULES))]);
    assert_eq!(
        place.ok("qti explain water.xml --response RESPONSE=C --response RESPONSE=A"),
        "item 'water': Water\n\
         before\n       \
                RESPONSE = {C, A}\n\
         processing, by the rules of the item\n \
          line  step\n   \
            16  response-condition → if\n   \
            18    match → true\n   \
            18      variable RESPONSE → {C, A}\n   \
            18      correct RESPONSE → {A, C}\n   \
            19    set-outcome-value → SCORE := 3.0\n   \
            19      base-value → 3.0\n\
         after\n       \
                SCORE = 3.0\n"
    );
    let json = place.json("qti explain water.xml --response RESPONSE=B --json");
    assert_eq!(json["before"], json!({"RESPONSE": ["B"]}));
    assert_eq!(json["steps"][0]["result"], "else");
    assert_eq!(
        json["steps"][1],
        json!({
            "depth": 1, "line": 18, "name": "qti-match", "about": "", "result": "false",
        })
    );
    assert_eq!(json["outcomes"], json!({"SCORE": 0.0}));
}
