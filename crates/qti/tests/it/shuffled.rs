//! Choices, and the items of tests, in the order of a seed.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::random::RandomStream;
use lyceum_qti::{CandidateSession, arranged, candidate_view, read_item, read_test, variant};

use crate::kit::item_xml;

/// The identifiers of an element in the order in which a candidate sees them.
fn shown(xml: &str, element: &str, seed: u64) -> Vec<String> {
    let view =
        candidate_view(xml, CandidateSession { seed, ..CandidateSession::default() }).unwrap();
    identifiers(&view, element)
}

fn identifiers(xml: &str, element: &str) -> Vec<String> {
    let open = format!("<{element} identifier=\"");
    xml.split(&open).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// An item with one interaction.
fn with(shape: (&str, &str), correct: &[&str], interaction: &str) -> String {
    let values: String =
        correct.iter().map(|value| format!("<qti-value>{value}</qti-value>")).collect();
    let correct = match correct {
        [] => String::new(),
        _ => format!("<qti-correct-response>{values}</qti-correct-response>"),
    };
    let (cardinality, base_type) = shape;
    let xml = item_xml(&format!(
        "<qti-response-declaration identifier=\"R\" cardinality=\"{cardinality}\" \
         base-type=\"{base_type}\">{correct}</qti-response-declaration>\
         <qti-item-body>{interaction}</qti-item-body>"
    ));
    read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    xml
}

/// Elements with those identifiers.
fn choices(element: &str, more: &str, names: &[&str]) -> String {
    let one = |name: &&str| format!("<{element} identifier=\"{name}\" {more}>{name}</{element}>\n");
    names.iter().map(one).collect()
}

#[test]
fn every_interaction_that_shuffles_follows_the_seed() {
    let names = ["A", "B", "C", "D", "E"];
    let associable = |names| choices("qti-simple-associable-choice", "match-max=\"1\"", names);
    let open = |name: &str, more: &str| {
        format!("<qti-{name}-interaction response-identifier=\"R\" shuffle=\"true\" {more}>")
    };
    let inside = |name: &str, more: &str, inner: &str| {
        format!("{}{inner}</qti-{name}-interaction>", open(name, more))
    };
    let simple = choices("qti-simple-choice", "", &names);
    let cases = [
        (
            ("single", "identifier"),
            "qti-simple-choice",
            inside("choice", "", &format!("<qti-prompt>Which?</qti-prompt>\n{simple}")),
        ),
        (("ordered", "identifier"), "qti-simple-choice", inside("order", "", &simple)),
        (
            ("single", "identifier"),
            "qti-inline-choice",
            format!(
                "<p>{}</p>",
                inside("inline-choice", "", &choices("qti-inline-choice", "", &names))
            ),
        ),
        (
            ("multiple", "pair"),
            "qti-simple-associable-choice",
            inside("associate", "max-associations=\"0\"", &associable(&names)),
        ),
        (
            ("multiple", "directedPair"),
            "qti-gap-text",
            inside(
                "gap-match",
                "",
                &format!(
                    "{}<p>a <qti-gap identifier=\"G\"/></p>",
                    choices("qti-gap-text", "match-max=\"1\"", &names)
                ),
            ),
        ),
        (
            ("multiple", "directedPair"),
            "qti-simple-associable-choice",
            inside(
                "match",
                "max-associations=\"0\"",
                &format!(
                    "<qti-simple-match-set>{}</qti-simple-match-set>\
                     <qti-simple-match-set>{}</qti-simple-match-set>",
                    associable(&names),
                    associable(&["V", "W", "X", "Y", "Z"])
                ),
            ),
        ),
    ];
    for (shape, element, interaction) in cases {
        let xml = with(shape, &[], &interaction);
        let authored = identifiers(&xml, element);
        let orders: BTreeSet<Vec<String>> =
            (0..40).map(|seed| shown(&xml, element, seed)).collect();
        assert!(orders.len() > 10, "{interaction}: {orders:?}");
        for order in &orders {
            // Each set of a match keeps its own choices.
            for (order, authored) in order.chunks(5).zip(authored.chunks(5)) {
                let sorted: BTreeSet<&String> = order.iter().collect();
                assert_eq!(sorted, authored.iter().collect(), "{interaction}");
            }
        }
        assert_eq!(shown(&xml, element, 3), shown(&xml, element, 3), "{interaction}");
        let still = with(shape, &[], &interaction.replace("shuffle=\"true\"", "shuffle=\"false\""));
        assert_eq!(shown(&still, element, 3), authored, "{interaction}");
        // What is shown is a valid item with the same content in another order.
        let view =
            candidate_view(&xml, CandidateSession { seed: 3, ..CandidateSession::default() })
                .unwrap();
        read_item(&view).unwrap_or_else(|faults| panic!("{faults}\n{view}"));
        assert_eq!(view.contains("Which?"), xml.contains("Which?"));
    }
}

#[test]
fn fixed_choices_keep_their_places() {
    let inner = "<qti-simple-choice identifier=\"A\">a</qti-simple-choice>\
                 <qti-simple-choice identifier=\"B\" fixed=\"true\">b</qti-simple-choice>\
                 <qti-simple-choice identifier=\"C\">c</qti-simple-choice>\
                 <qti-simple-choice identifier=\"D\">d</qti-simple-choice>\
                 <qti-simple-choice identifier=\"none\" fixed=\"true\">none of these</qti-simple-choice>";
    let interaction = format!(
        "<qti-choice-interaction response-identifier=\"R\" shuffle=\"true\">{inner}</qti-choice-interaction>"
    );
    let xml = with(("single", "identifier"), &["A"], &interaction);
    let mut firsts = BTreeSet::new();
    for seed in 0..40 {
        let order = shown(&xml, "qti-simple-choice", seed);
        assert_eq!((&*order[1], &*order[4]), ("B", "none"), "{order:?}");
        firsts.insert(order[0].clone());
    }
    assert_eq!(firsts.len(), 3, "{firsts:?}");
}

#[test]
fn an_order_that_is_the_answer_is_never_shown() {
    let order = |names: &[&str], more: &str| {
        format!(
            "<qti-order-interaction response-identifier=\"R\" shuffle=\"true\" {more}>{}</qti-order-interaction>",
            choices("qti-simple-choice", "", names)
        )
    };
    // The declared answer; else the order in which the choices were written.
    for (names, correct, answer) in [
        (&["A", "B", "C"][..], &["A", "B", "C"][..], &["A", "B", "C"][..]),
        (&["A", "B", "C"], &["C", "A", "B"], &["C", "A", "B"]),
        (&["A", "B", "C"], &[], &["A", "B", "C"]),
        (&["A", "B"], &["A", "B"], &["A", "B"]),
        (&["A", "B", "C", "D"], &["B", "A"], &["B", "A"]),
    ] {
        let xml = with(("ordered", "identifier"), correct, &order(names, "max-choices=\"0\""));
        let mut counts = BTreeMap::new();
        for seed in 0..600 {
            let shown = shown(&xml, "qti-simple-choice", seed);
            assert!(!shown.iter().zip(answer).all(|(a, b)| a == b), "{shown:?} tells {answer:?}");
            *counts.entry(shown).or_insert(0) += 1;
        }
        // All others are shown, and none much more often than another.
        if names.len() == 3 {
            assert_eq!(counts.len(), 5, "{counts:?}");
            assert!(counts.values().all(|count| (80..=160).contains(count)), "{counts:?}");
        }
    }
}

#[test]
fn the_order_follows_the_variant_that_template_processing_makes() {
    let xml = item_xml(
        "<qti-response-declaration identifier=\"R\" cardinality=\"ordered\" base-type=\"identifier\"/>\
         <qti-template-declaration identifier=\"T\" cardinality=\"single\" base-type=\"identifier\"/>\
         <qti-template-processing>\
         <qti-set-template-value identifier=\"T\"><qti-base-value base-type=\"identifier\">few</qti-base-value></qti-set-template-value>\
         <qti-set-correct-response identifier=\"R\"><qti-ordered><qti-base-value base-type=\"identifier\">B</qti-base-value><qti-base-value base-type=\"identifier\">A</qti-base-value></qti-ordered></qti-set-correct-response>\
         </qti-template-processing>\
         <qti-item-body><qti-order-interaction response-identifier=\"R\" shuffle=\"true\">\
         <qti-simple-choice identifier=\"A\">a</qti-simple-choice>\
         <qti-simple-choice identifier=\"C\" template-identifier=\"T\" show-hide=\"hide\">c</qti-simple-choice>\
         <qti-simple-choice identifier=\"B\">b</qti-simple-choice>\
         </qti-order-interaction></qti-item-body>",
    );
    // C is identified by another value of T, so that it is never hidden; then by this one.
    for (xml, wanted) in
        [(xml.replace("identifier=\"C\" template", "identifier=\"few\" template"), 2)]
    {
        let item = read_item(&xml).unwrap();
        let variant = variant(&item, &mut RandomStream::seeded(1));
        for seed in 0..40 {
            let view =
                CandidateSession { variant: Some(&variant), seed, ..CandidateSession::default() };
            let shown = identifiers(&candidate_view(&xml, view).unwrap(), "qti-simple-choice");
            assert_eq!(shown.len(), wanted, "{shown:?}");
            assert_eq!(shown, ["A", "B"], "the answer of this variant is B, A");
        }
    }
}

/// A test of one part around its sections.
fn test(sections: &str) -> lyceum_qti::model::Test {
    let xml = format!(
        "<qti-assessment-test xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" identifier=\"t\" title=\"t\">\
         <qti-test-part identifier=\"p\" navigation-mode=\"linear\" submission-mode=\"individual\">{sections}\
         </qti-test-part></qti-assessment-test>"
    );
    read_test(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"))
}

fn section(name: &str, more: &str, inner: &str) -> String {
    format!(
        "<qti-assessment-section identifier=\"{name}\" title=\"{name}\" {more}>{inner}</qti-assessment-section>"
    )
}

fn refs(names: &[&str]) -> String {
    let one = |name: &&str| {
        let (name, more) = name.split_once(' ').unwrap_or((name, ""));
        format!("<qti-assessment-item-ref identifier=\"{name}\" href=\"{name}.xml\" {more}/>")
    };
    names.iter().map(one).collect()
}

/// The orders that candidates meet under many seeds.
fn met(test: &lyceum_qti::model::Test) -> Vec<Vec<String>> {
    let refs = test.item_refs();
    (0..200)
        .map(|seed| {
            arranged(test, seed).iter().map(|at| refs[*at].2.identifier.to_string()).collect()
        })
        .collect()
}

const SHUFFLE: &str = "<qti-ordering shuffle=\"true\"/>";

#[test]
fn without_selection_and_ordering_a_test_keeps_its_written_order() {
    let inner = section("i", "visible=\"true\"", &refs(&["B", "C"]));
    let sections = section("s", "visible=\"true\"", &(refs(&["A"]) + &inner + &refs(&["D"])))
        + &section("t", "visible=\"true\"", &refs(&["E"]));
    for met in met(&test(&sections)) {
        assert_eq!(met, ["A", "B", "C", "D", "E"]);
    }
}

#[test]
fn a_selection_has_the_wanted_number_and_all_required_items() {
    let inner = "<qti-selection select=\"3\"/>".to_owned()
        + &refs(&["A", "B required=\"true\"", "C", "D", "E"]);
    let mut seen = BTreeSet::new();
    for met in met(&test(&section("s", "visible=\"true\"", &inner))) {
        assert_eq!(met.len(), 3, "{met:?}");
        assert!(met.contains(&"B".to_owned()), "{met:?}");
        assert!(met.is_sorted(), "they stay in the order of the text: {met:?}");
        seen.insert(met);
    }
    assert_eq!(seen.len(), 6, "two of four beside the required one");
}

#[test]
fn a_selection_with_replacement_may_select_an_item_twice() {
    let inner = "<qti-selection select=\"4\" with-replacement=\"true\"/>".to_owned()
        + &refs(&["A", "B required=\"true\""]);
    let all = met(&test(&section("s", "visible=\"true\"", &inner)));
    assert!(all.iter().all(|met| met.len() == 4 && met.contains(&"B".to_owned())), "{all:?}");
    assert!(all.contains(&vec!["A".into(), "A".into(), "A".into(), "B".into()]), "{all:?}");
}

#[test]
fn a_shuffled_section_keeps_fixed_items_and_kept_together_sections() {
    let together = section("i", "visible=\"true\"", &refs(&["X", "Y"]));
    let inner = SHUFFLE.to_owned() + &refs(&["A", "B fixed=\"true\"", "C"]) + &together;
    let mut seen = BTreeSet::new();
    for met in met(&test(&section("s", "visible=\"true\"", &inner))) {
        let place = |name: &str| met.iter().position(|met| met == name).unwrap();
        assert_eq!(place("X") + 1, place("Y"), "{met:?}");
        // The second of the four members, whatever is before it.
        assert_eq!(place("B"), if place("X") == 0 { 2 } else { 1 }, "{met:?}");
        seen.insert(met);
    }
    assert_eq!(seen.len(), 6);
}

#[test]
fn an_invisible_section_is_mixed_with_its_siblings_unless_kept_together() {
    let mixed = |keep: &str| {
        let more = format!("visible=\"false\" keep-together=\"{keep}\"");
        let inner =
            SHUFFLE.to_owned() + &refs(&["A", "B"]) + &section("i", &more, &refs(&["X", "Y"]));
        let all = met(&test(&section("s", "visible=\"true\"", &inner)));
        all.into_iter().collect::<BTreeSet<_>>()
    };
    assert_eq!(mixed("true").len(), 6);
    assert_eq!(mixed("false").len(), 24);
}

#[test]
fn the_innermost_control_decides_whether_answers_are_validated() {
    let control =
        |value: &str| format!("<qti-item-session-control validate-responses=\"{value}\"/>");
    let item = |name: &str, inner: &str| {
        format!(
            "<qti-assessment-item-ref identifier=\"{name}\" href=\"{name}\">{inner}</qti-assessment-item-ref>"
        )
    };
    let inner = control("false") + &item("C", "") + &item("D", &control("true"));
    let strict = control("true")
        + &item("A", "")
        + &item("B", "<qti-item-session-control max-attempts=\"1\"/>")
        + &section("i", "visible=\"true\"", &inner);
    let sections = section("s", "visible=\"true\"", &strict)
        + &section("t", "visible=\"true\"", &refs(&["E"]));
    assert_eq!(test(&sections).validates(), [true, true, false, true, false]);
}

#[test]
fn the_number_of_repeated_sections_is_limited() {
    let many = "<qti-selection select=\"4000000000\" with-replacement=\"true\"/>";
    let sections = (0..6).fold(refs(&["A"]), |inner, depth| {
        section(&format!("s{depth}"), "visible=\"true\"", &(many.to_owned() + &inner))
    });
    let count = arranged(&test(&sections), 1).len();
    assert!(count <= lyceum_qti::limits::QTI_MAX_NODES, "{count}");
}
