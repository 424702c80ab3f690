//! Changes of a test as text keep everything that they do not name.

use lyceum_core::ProblemKind;
use lyceum_core::random::RandomStream;
use lyceum_qti::edit::{add, order, remove, replace};
use lyceum_qti::json::{member_json, members_json, test_json};
use lyceum_qti::{read_test, upgraded};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::standards::{File, documents, folder};

const NAMESPACE: &str = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0";

fn object(json: Json) -> Map<String, Json> {
    let Json::Object(object) = json else { panic!("{json}") };
    object
}

/// A test with what JSON cannot say: comments, rules, rubrics, an inner section, odd spaces.
const RICH: &str = r#"<?xml version="1.0"?>
<!-- a test -->
<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0"
    identifier='t' title = 'T &amp; "t"' >
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-test-part identifier="p1" navigation-mode="linear" submission-mode="individual">
    <qti-branch-rule target="p2"><qti-base-value base-type="boolean">true</qti-base-value></qti-branch-rule>
    <qti-assessment-section identifier="s1" title="One" visible="1">
      <qti-ordering shuffle="true"/>
      <qti-rubric-block use="instructions" view="candidate"><qti-content-body><p>Read &lt;this&gt;</p></qti-content-body></qti-rubric-block>
      <!-- first -->
      <qti-assessment-item-ref identifier="q1" href="q1" category="easy"><qti-weight identifier="w" value="2"/></qti-assessment-item-ref>
      <!-- second -->
      <qti-assessment-item-ref identifier="q2" href="q2" required="true" />
      <qti-assessment-section identifier="inner" title="Inner" visible="false">
        <qti-assessment-item-ref identifier="q3" href="q3"/> <qti-assessment-item-ref identifier="q4" href="q4"/>
      </qti-assessment-section>
    </qti-assessment-section>
    <qti-assessment-section identifier="s2" title="Two" visible="true"/>
  </qti-test-part>
  <qti-test-part identifier="p2" navigation-mode="nonlinear" submission-mode="simultaneous">
    <qti-assessment-section identifier="s3" title="Three" visible="true"></qti-assessment-section>
  </qti-test-part>
  <qti-outcome-processing><qti-set-outcome-value identifier="SCORE"><qti-variable identifier="q4.SCORE"/></qti-set-outcome-value></qti-outcome-processing>
</qti-assessment-test>
"#;

fn names(xml: &str, at: &[&str]) -> Vec<String> {
    let listed = members_json(&read_test(xml).unwrap(), at).unwrap();
    listed.iter().map(|one| one["identifier"].as_str().unwrap().to_owned()).collect()
}

fn item(name: &str) -> Map<String, Json> {
    object(json!({"identifier": name, "href": format!("items/{name}")}))
}

#[test]
fn added_elements_follow_the_order_of_the_schema() {
    for (sequence, expected) in [
        (json!(null), ["q1", "q2", "q3", "q4", "new"]),
        (json!(1), ["new", "q1", "q2", "q3", "q4"]),
        (json!(2), ["q1", "new", "q2", "q3", "q4"]),
        (json!(4), ["q1", "q2", "new", "q3", "q4"]),
        (json!(99), ["q1", "q2", "q3", "q4", "new"]),
    ] {
        let mut new = item("new");
        new.insert("sequence".into(), sequence);
        let added = add(RICH, &["p1", "s1"], &new).unwrap();
        assert_eq!(names(&added.xml, &["p1", "s1"]), expected);
        assert_eq!(remove(&added.xml, &["p1", "s1", "new"]).unwrap().xml, RICH);
    }
    let section = object(
        json!({"identifier": "s4", "title": "<Four>", "visible": true, "sequence": 3, "qti-assessment-item-ref": [{"identifier": "q9", "href": "q9"}]}),
    );
    let added = add(RICH, &["p1"], &section).unwrap();
    assert_eq!(names(&added.xml, &["p1"]), ["s1", "s2", "s4"]);
    assert_eq!(member_json(&added.test, &["p1", "s4"]).unwrap()["title"], "<Four>");
    assert!(added.xml.contains("\n    <qti-assessment-section identifier=\"s4\""), "{}", added.xml);
    assert_eq!(remove(&added.xml, &["p1", "s4"]).unwrap().xml, RICH);
    let part = object(
        json!({"identifier": "p3", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [section]}),
    );
    let added = add(RICH, &[], &part).unwrap();
    assert_eq!(names(&added.xml, &[]), ["p1", "p2", "p3"]);
    assert_eq!(names(&added.xml, &["p3", "s4"]), ["q9"]);
    assert_eq!(remove(&added.xml, &["p3"]).unwrap().xml, RICH);
    let into_empty = add(RICH, &["p1", "s2"], &item("new")).unwrap();
    assert_eq!(names(&into_empty.xml, &["p1", "s2"]), ["new"]);
    let emptied = remove(&into_empty.xml, &["p1", "s2", "new"]).unwrap();
    assert_eq!(
        emptied.xml,
        RICH.replace("visible=\"true\"/>", "visible=\"true\"></qti-assessment-section>")
    );
}

#[test]
fn a_replacement_keeps_members_that_it_does_not_name() {
    let same = object(member_json(&read_test(RICH).unwrap(), &["p1"]).unwrap());
    assert_eq!(replace(RICH, &["p1"], &same).unwrap().xml, RICH);
    let title = object(json!({"identifier": "s1", "title": "'Neu' & \"alt\""}));
    let edited = replace(RICH, &["p1", "s1"], &title).unwrap();
    assert_eq!(edited.xml, RICH.replace("\"One\"", "\"'Neu' &amp; &quot;alt&quot;\""));

    let replacement = object(
        json!({"identifier": "s1", "sequence": 2, "fixed": true, "qti-assessment-item-ref": [
        {"identifier": "new", "href": "n"}, {"identifier": "q2", "href": "elsewhere/q2"}, {"identifier": "q1", "href": "q1"},
        {"identifier": "q3", "href": "q3"}, {"identifier": "q4", "href": "q4"}]}),
    );
    let refused = replace(RICH, &["p1", "s1"], &replacement).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Invalid);
    assert!(refused.message.contains("must stay in its section"), "{}", refused.message);
    let replacement = object(
        json!({"identifier": "s1", "sequence": 2, "fixed": true, "qti-assessment-item-ref": [
        {"identifier": "q2", "href": "elsewhere/q2"}, {"identifier": "q1", "href": "q1"},
        {"identifier": "q4", "href": "q4"}, {"identifier": "new", "href": "n"}]}),
    );
    let edited = replace(RICH, &["p1", "s1"], &replacement).unwrap();
    assert_eq!(names(&edited.xml, &["p1"]), ["s2", "s1"]);
    assert_eq!(names(&edited.xml, &["p1", "s1"]), ["q2", "q1", "q4", "new"]);
    for kept in [
        "<!-- first -->",
        "<!-- second -->",
        "qti-rubric-block",
        "<qti-ordering",
        "<qti-weight",
        "visible=\"1\"",
        "category=\"easy\"",
        "required=\"true\"",
        " fixed=\"true\"",
        "href=\"elsewhere/q2\"",
    ] {
        assert!(edited.xml.contains(kept), "{kept}: {}", edited.xml);
    }
}

#[test]
fn a_whole_test_takes_its_json_form() {
    let output = test_json(RICH).unwrap();
    assert_eq!(replace(RICH, &[], &output).unwrap().xml, RICH);
    let replacement = object(json!({
        "identifier": "t", "title": "New", "toolName": "lyceum", "timeLimit": 600, "maxAttempts": 3,
        "qti-outcome-declaration": [
            {"identifier": "SCORE", "cardinality": "single", "baseType": "float", "normalMaximum": 5, "defaultValue": {"value": 1}},
            {"identifier": "GRADE", "cardinality": "single", "baseType": "string", "defaultValue": {"value": "A"}}],
        "qti-test-part": [
            {"identifier": "p0", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [{"identifier": "s0", "title": "Zero", "visible": true, "sequence": 1}]},
            {"identifier": "p1", "navigationMode": "linear", "submissionMode": "individual"},
            {"identifier": "p2", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [{"identifier": "s3", "title": "Three", "visible": true, "sequence": 1}]}],
    }));
    let edited = replace(RICH, &[], &replacement).unwrap();
    let output = test_json(&edited.xml).unwrap();
    for name in ["title", "timeLimit", "maxAttempts"] {
        assert_eq!(output[name], replacement[name], "{name}");
    }
    assert_eq!(names(&edited.xml, &[]), ["p0", "p1", "p2"]);
    assert_eq!(output["qti-outcome-declaration"][0]["normalMaximum"], 5.0);
    assert_eq!(output["qti-outcome-declaration"][0]["defaultValue"]["value"], 1.0);
    assert_eq!(output["qti-outcome-declaration"][1]["defaultValue"]["value"], "A");
    for part in &edited.test.parts {
        assert_eq!(part.control.unwrap().max_attempts, Some(3), "{}", part.identifier);
    }
    assert_eq!(edited.test.parts[1].branch_rules.len(), 1);
    assert_eq!(names(&edited.xml, &["p1", "s1"]), ["q1", "q2", "q3", "q4"]);
    assert_eq!(replace(&edited.xml, &[], &replacement).unwrap().xml, edited.xml, "once is enough");
}

#[test]
fn a_refused_edit_names_the_reason() {
    let cases = [
        (
            remove(RICH, &["p1", "s1", "q4"]),
            ProblemKind::Conflict,
            "a qti-variable of the test refers to it",
        ),
        (remove(RICH, &["p1", "s1"]), ProblemKind::Conflict, "'q4' is in use"),
        (remove(RICH, &["p2"]), ProblemKind::Conflict, "a qti-branch-rule of 'p1'"),
        (remove(RICH, &["p2", "s3"]), ProblemKind::Conflict, "the only one in the part 'p2'"),
        (
            remove(RICH, &["p1", "s1", "q9"]),
            ProblemKind::NotFound,
            "there is no item 'q9' in the section 's1'",
        ),
        (
            remove(RICH, &["p2", "s1"]),
            ProblemKind::NotFound,
            "there is no section 's1' in the test part 'p2'",
        ),
        (
            remove(RICH, &["p9"]),
            ProblemKind::NotFound,
            "there is no test part 'p9' in the test 't'",
        ),
        (add(RICH, &["p2", "s3"], &item("q1")), ProblemKind::Conflict, "with the identifier 'q1'"),
        (add(RICH, &["p2", "s3"], &item("p1")), ProblemKind::Conflict, "with the identifier 'p1'"),
        (add(RICH, &["p2", "s3"], &item("9 q")), ProblemKind::Malformed, "9 q"),
        (add(RICH, &["p2", "s3"], &Map::new()), ProblemKind::Invalid, "identifier"),
        (
            replace(RICH, &["p1", "s1"], &item("q1")),
            ProblemKind::Invalid,
            "an identifier cannot be changed",
        ),
        (
            replace(
                RICH,
                &["p1", "s1"],
                &object(json!({"qti-assessment-item-ref": [item("a"), item("a")]})),
            ),
            ProblemKind::Invalid,
            "appears twice",
        ),
        (
            replace(RICH, &["p1", "s1"], &object(json!({"qti-assessment-item-ref": "q1"}))),
            ProblemKind::Invalid,
            "array",
        ),
        (
            replace(RICH, &["p1", "s1"], &object(json!({"qti-assessment-item-ref": []}))),
            ProblemKind::Conflict,
            "'q4' is in use",
        ),
        (
            order(RICH, &["p1", "s1"], &object(json!({"items": [item("q1"), item("q2")]}))),
            ProblemKind::Invalid,
            "q1, q2, q3, q4",
        ),
        (
            order(
                RICH,
                &["p1", "s1"],
                &object(json!({"items": [item("q3"), item("q2"), item("q1"), item("q4")]})),
            ),
            ProblemKind::Invalid,
            "must stay in its section",
        ),
    ];
    for (got, kind, text) in cases {
        let problem = got.expect_err(text);
        assert_eq!(
            (problem.kind, problem.message.contains(text)),
            (kind, true),
            "{}",
            problem.message
        );
    }
}

#[test]
fn the_published_tests_keep_their_bytes() {
    let Some(folder) = folder("the published tests are not changed") else { return };
    let mut seen = 0;
    for File { name: path, xml, .. } in documents(&folder) {
        let Ok(test) = read_test(&xml) else { continue };
        seen += 1;
        let output = test_json(&xml).unwrap();
        let whole =
            if xml.contains("imsqtiasi_v3p0") { xml.clone() } else { upgraded(&xml).unwrap() };
        // Sections that JSON repeats flattened cannot say where their items lie, and need not.
        assert_eq!(replace(&xml, &[], &output).unwrap().xml, whole, "{path:?}");
        for part in &test.parts {
            let section = object(
                json!({"identifier": "new_one", "title": "New", "visible": true, "sequence": 1}),
            );
            let added = add(&xml, &[&part.identifier], &section).unwrap();
            let back = remove(&added.xml, &[&part.identifier, "new_one"]).unwrap();
            assert_eq!(back.xml, whole, "{path:?}");
        }
    }
    assert!(seen > 5, "{seen}");
}

/// The white space and comments between members, and the members of each section of each part.
#[derive(Clone, Debug)]
struct Shape {
    prefix: bool,
    gaps: Vec<String>,
    parts: Vec<Vec<usize>>,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let gap = prop_oneof![
        Just(String::new()),
        Just("\n  ".to_owned()),
        Just(" ".to_owned()),
        "<!-- [a-z<>&]{0,6} -->[ \n]{0,2}"
    ];
    let parts = prop::collection::vec(prop::collection::vec(0..5_usize, 1..4), 1..4);
    (any::<bool>(), prop::collection::vec(gap, 1..9), parts)
        .prop_map(|(prefix, gaps, parts)| Shape { prefix, gaps, parts })
}

impl Shape {
    fn xml(&self) -> String {
        let mut gaps = self.gaps.iter().cycle();
        let mut gap = || gaps.next().unwrap().clone();
        let (x, declared) = if self.prefix { ("q:", "xmlns:q") } else { ("", "xmlns") };
        let mut xml = format!(
            "<{x}qti-assessment-test {declared}=\"{NAMESPACE}\" identifier=\"t\" title=\"t\">"
        );
        let mut count = 0;
        for (p, sections) in self.parts.iter().enumerate() {
            xml += &format!(
                "{}<{x}qti-test-part identifier=\"p{p}\" navigation-mode='linear' submission-mode=\"individual\">",
                gap()
            );
            for (s, items) in sections.iter().enumerate() {
                xml += &format!(
                    "{}<{x}qti-assessment-section identifier=\"p{p}s{s}\" title=\"t\" visible=\"true\">{}",
                    gap(),
                    gap()
                );
                for _ in 0..*items {
                    count += 1;
                    xml += &format!(
                        "<{x}qti-assessment-item-ref  identifier=\"q{count}\" href='i{count}' required=\"true\" />{}",
                        gap()
                    );
                }
                xml += &format!("</{x}qti-assessment-section>");
            }
            xml += &format!("{}</{x}qti-test-part>", gap());
        }
        xml + &format!("{}</{x}qti-assessment-test>", gap())
    }
}

proptest! {
    #[test]
    fn adding_and_removing_gives_the_former_document(shape in shapes(), p in 0..9_usize, s in 0..9_usize, sequence in 0..7_u8) {
        let xml = shape.xml();
        let p = p % shape.parts.len();
        let s = s % shape.parts[p].len();
        let (part, section) = (format!("p{p}"), format!("p{p}s{s}"));
        let before = names(&xml, &[&part, &section]);
        let mut new = item("new");
        new.insert("sequence".into(), json!(sequence));
        let added = add(&xml, &[&part, &section], &new).unwrap();
        let mut expected = before.clone();
        let at = if sequence == 0 { before.len() } else { (usize::from(sequence) - 1).min(before.len()) };
        expected.insert(at, "new".into());
        prop_assert_eq!(names(&added.xml, &[&part, &section]), expected);
        prop_assert_eq!(&remove(&added.xml, &[&part, &section, "new"]).unwrap().xml, &xml);
        let output = test_json(&xml).unwrap();
        prop_assert_eq!(&replace(&xml, &[], &output).unwrap().xml, &xml);
    }

    #[test]
    fn restoring_the_former_order_restores_the_document(shape in shapes(), seed in any::<u64>()) {
        let xml = shape.xml();
        let part = "p0";
        let section = "p0s0";
        let before = names(&xml, &[part, section]);
        let mut shuffled = before.clone();
        let mut random = RandomStream::seeded(seed);
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
        }
        let items = |order: &[String]| object(json!({"items": order.iter().map(|name| json!({"identifier": name, "href": "any"})).collect::<Vec<_>>()}));
        let ordered = order(&xml, &[part, section], &items(&shuffled)).unwrap();
        prop_assert_eq!(&names(&ordered.xml, &[part, section]), &shuffled);
        let back = order(&ordered.xml, &[part, section], &items(&before)).unwrap();
        prop_assert_eq!(&back.xml, &xml);
        let json = object(json!({"qti-assessment-item-ref": shuffled.iter().map(|name| json!({"identifier": name})).collect::<Vec<_>>()}));
        prop_assert_eq!(&replace(&xml, &[part, section], &json).unwrap().xml, &ordered.xml);
    }
}
