//! Values, and answers against the rules of their interactions.

use lyceum_qti::model::{InteractionDetails, InteractionKind as Kind, Item};
use lyceum_qti::value::{BaseType, Cardinality, Scalar, Value, from_json, parse, to_json};
use lyceum_qti::{Responses, check};
use serde_json::{Value as Json, json};

use crate::kit::item;

#[test]
fn values_are_read_as_their_base_types() {
    // Type, what is read and how it is written again, what is refused.
    let cases = [
        ("boolean", vec![("true", "true"), ("0", "false")], vec!["yes", ""]),
        (
            "integer",
            vec![("42", "42"), ("-07", "-7"), ("+3", "3")],
            vec!["4.2", "x", "99999999999999999999"],
        ),
        (
            "float",
            vec![("3.5", "3.5"), ("1e3", "1000"), ("-INF", "-INF")],
            vec!["NaN", "inf", "1,5"],
        ),
        ("string", vec![(" a b ", " a b ")], vec![]),
        ("identifier", vec![(" A ", "A")], vec!["A B", ""]),
        ("uri", vec![("https://a.example/b", "https://a.example/b")], vec![""]),
        ("pair", vec![("A B", "A B")], vec!["A", "A B C"]),
        ("directedPair", vec![("A  B", "A B")], vec!["A"]),
        ("point", vec![("10 -20", "10 -20")], vec!["10", "1.5 2", "1 2 3"]),
        (
            "duration",
            vec![("PT1H1M1.5S", "3661.5"), ("P1D", "86400"), ("90", "90")],
            vec!["1H", "PT", "P", "-5"],
        ),
        ("file", vec![("data:,x", "data:,x")], vec![""]),
    ];
    assert_eq!(cases.len(), BaseType::ALL.len());
    for (name, read, refused) in cases {
        let base_type = BaseType::from_name(name).unwrap();
        for (text, written) in read {
            assert_eq!(parse(base_type, text).unwrap().to_string(), written, "{name} {text}");
        }
        for text in refused {
            assert_eq!(parse(base_type, text), None, "{name} '{text}'");
        }
    }
}

#[test]
fn values_of_every_cardinality_are_read() {
    use Cardinality::{Multiple, Ordered, Record, Single};
    let read = |cardinality, base_type: &str, json: Json| {
        from_json(cardinality, BaseType::from_name(base_type), &json).map(|value| to_json(&value))
    };
    assert_eq!(read(Single, "integer", json!(3.0)), Ok(json!(3)));
    assert_eq!(read(Single, "integer", json!(["3"])), Ok(json!(3)));
    assert_eq!(read(Single, "string", json!("")), Ok(json!(null)));
    assert_eq!(read(Multiple, "identifier", json!("A")), Ok(json!(["A"])));
    assert_eq!(read(Multiple, "identifier", json!([])), Ok(json!(null)));
    assert_eq!(read(Ordered, "point", json!(["1 2", [3, 4]])), Ok(json!(["1 2", "3 4"])));
    assert_eq!(read(Record, "", json!({"a": 1, "b": null})), Ok(json!({"a": 1, "b": null})));
    for (cardinality, base_type, json) in [
        (Single, "integer", json!("x")),
        (Single, "integer", json!(1.5)),
        (Single, "identifier", json!(["A", "B"])),
        (Multiple, "pair", json!(["A"])),
        (Record, "", json!("x")),
        (Single, "boolean", json!({})),
    ] {
        assert!(read(cardinality, base_type, json.clone()).is_err(), "{json}");
    }
    let file = json!({"name": "a.png", "mediaType": "image/png", "data": "aGk="});
    assert_eq!(read(Single, "file", file.clone()), Ok(file));
}

/// An item with one interaction and its response.
fn with(shape: (&str, &str), body: &str) -> Item {
    let (cardinality, base_type) = shape;
    item(&format!(
        "<qti-response-declaration identifier=\"R\" cardinality=\"{cardinality}\" \
         base-type=\"{base_type}\"/><qti-item-body>{body}</qti-item-body>"
    ))
}

/// The messages about an answer that breaks rules, as one text.
fn messages(item: &Item, answer: Json) -> String {
    let json = json!({ "R": answer });
    let responses = Responses::from_json(item, json.as_object().unwrap()).unwrap();
    check(item, &responses).iter().map(|fault| format!("{}; ", fault.message)).collect()
}

const CHOICES: &str = "<qti-simple-choice identifier='A'/><qti-simple-choice identifier='B'/>\
                       <qti-simple-choice identifier='C'/>";

#[test]
fn answers_are_checked_against_the_rules_of_their_interactions() {
    let choice = with(
        ("multiple", "identifier"),
        &format!(
            "<qti-choice-interaction response-identifier='R' min-choices='1' max-choices='2'>{CHOICES}</qti-choice-interaction>"
        ),
    );
    assert_eq!(messages(&choice, json!(["A", "B"])), "");
    assert_eq!(messages(&choice, json!(null)), "0 choices, but the minimum is 1; ");
    assert_eq!(messages(&choice, json!(["A", "B", "C"])), "3 choices, but the maximum is 2; ");
    assert_eq!(messages(&choice, json!(["A", "A"])), "'A' is chosen twice; ");
    assert_eq!(messages(&choice, json!(["Z"])), "'Z' is not a choice; ");

    let order = with(
        ("ordered", "identifier"),
        &format!(
            "<qti-order-interaction response-identifier='R'>{CHOICES}</qti-order-interaction>"
        ),
    );
    assert_eq!(messages(&order, json!(["C", "A", "B"])), "");
    assert_eq!(messages(&order, json!(null)), "");
    assert_eq!(messages(&order, json!(["C", "A"])), "2 choices, but the minimum is 3; ");

    let associate = with(
        ("multiple", "pair"),
        "<qti-associate-interaction response-identifier='R' max-associations='2'>\
         <qti-simple-associable-choice identifier='A' match-max='1'/>\
         <qti-simple-associable-choice identifier='B' match-max='2'/>\
         <qti-simple-associable-choice identifier='C' match-max='0' match-group='A'/>\
         </qti-associate-interaction>",
    );
    assert_eq!(messages(&associate, json!(["A B"])), "");
    assert_eq!(messages(&associate, json!(["B C"])), "'B' and 'C' must not be paired; ");
    assert_eq!(
        messages(&associate, json!(["A B", "B A"])),
        "'B' and 'A' are paired twice; 'A' is in 2 pairs, but the maximum is 1; "
    );
    assert_eq!(messages(&associate, json!(["A Z"])), "'Z' is not a choice; ");

    let matching = with(
        ("multiple", "directedPair"),
        "<qti-match-interaction response-identifier='R' max-associations='0'>\
         <qti-simple-match-set><qti-simple-associable-choice identifier='A' match-max='1' match-min='1'/></qti-simple-match-set>\
         <qti-simple-match-set><qti-simple-associable-choice identifier='X' match-max='1'/>\
         <qti-simple-associable-choice identifier='Y' match-max='1'/></qti-simple-match-set></qti-match-interaction>",
    );
    assert_eq!(messages(&matching, json!(["A X"])), "");
    assert_eq!(
        messages(&matching, json!(["X A"])),
        "'X' is not a choice; 'A' is in 0 pairs, but the minimum is 1; "
    );
    assert_eq!(
        messages(&matching, json!(["A X", "A Y"])),
        "'A' is in 2 pairs, but the maximum is 1; "
    );

    let gaps = with(
        ("multiple", "directedPair"),
        "<qti-gap-match-interaction response-identifier='R' max-associations='0'>\
         <qti-gap-text identifier='W' match-max='0'>w</qti-gap-text>\
         <p><qti-gap identifier='G1' required='true'/><qti-gap identifier='G2'/></p></qti-gap-match-interaction>",
    );
    assert_eq!(messages(&gaps, json!(["W G1", "W G2"])), "");
    assert_eq!(messages(&gaps, json!(["W G2"])), "'G1' is in 0 pairs, but the minimum is 1; ");

    let text = with(
        ("single", "string"),
        "<p><qti-text-entry-interaction response-identifier='R' pattern-mask='[0-9]{2,3}'/></p>",
    );
    assert_eq!(messages(&text, json!("123")), "");
    assert_eq!(messages(&text, json!(null)), "");
    assert_eq!(messages(&text, json!("1234")), "'1234' does not have the required form; ");

    let texts = with(
        ("multiple", "string"),
        "<qti-extended-text-interaction response-identifier='R' min-strings='1' max-strings='2'/>",
    );
    assert_eq!(messages(&texts, json!(["a"])), "");
    assert_eq!(messages(&texts, json!(["a", "b", "c"])), "3 texts, but the maximum is 2; ");
    assert_eq!(messages(&texts, json!(null)), "0 texts, but the minimum is 1; ");

    let slider = with(
        ("single", "integer"),
        "<qti-slider-interaction response-identifier='R' lower-bound='0' upper-bound='10' step='2'/>",
    );
    assert_eq!(messages(&slider, json!(4)), "");
    assert_eq!(messages(&slider, json!(11)), "11 is outside of the scale; ");
    assert_eq!(messages(&slider, json!(5)), "5 lies between two steps; ");

    let points = with(
        ("multiple", "point"),
        "<qti-select-point-interaction response-identifier='R' max-choices='1'>\
         <object data='a.png' type='image/png'/></qti-select-point-interaction>",
    );
    assert_eq!(messages(&points, json!(["1 2"])), "");
    assert_eq!(messages(&points, json!(["1 2", "3 4"])), "2 points, but the maximum is 1; ");

    let media = with(
        ("single", "integer"),
        "<qti-media-interaction response-identifier='R' autostart='false' min-plays='1' max-plays='2'>\
         <audio src='a.mp3'/></qti-media-interaction>",
    );
    assert_eq!(messages(&media, json!(2)), "");
    assert_eq!(
        messages(&media, json!(3)),
        "it was played 3 times, but may be played at most 2 times; "
    );

    let upload = with(
        ("single", "file"),
        "<qti-upload-interaction response-identifier='R' type='image/png text/plain'/>",
    );
    let file = |media: &str| json!({"name": "a", "mediaType": media, "data": "x"});
    assert_eq!(messages(&upload, file("image/png")), "");
    assert_eq!(messages(&upload, file("image/gif")), "a file of the type image/gif; ");

    let inline = with(
        ("single", "identifier"),
        "<p><qti-inline-choice-interaction response-identifier='R' required='true'>\
         <qti-inline-choice identifier='A'>a</qti-inline-choice></qti-inline-choice-interaction></p>",
    );
    assert_eq!(messages(&inline, json!("A")), "");
    assert_eq!(messages(&inline, json!(null)), "0 choices, but the minimum is 1; ");
}

#[test]
fn responses_of_the_wrong_name_or_type_are_refused() {
    let item = with(("single", "integer"), "<p>x</p>");
    let refused = |json: Json| Responses::from_json(&item, json.as_object().unwrap()).unwrap_err();
    let faults = refused(json!({"r": 1, "R": "x"}));
    assert_eq!(faults[0].remedy, "did you mean 'R'?");
    assert_eq!(faults[1].message, "\"x\" is not of the type 'integer'");
    assert_eq!(faults.len(), 2);
    let long = vec![1; lyceum_qti::limits::QTI_CONTAINER_MAX_VALUES + 1];
    assert!(refused(json!({ "R": long }))[0].remedy.to_string().starts_with("send at most"));
}

#[test]
fn every_interaction_is_read_with_its_choices() {
    let picture = "<object data='a.png' type='image/png' width='9' height='9'/>";
    let hotspot = "<qti-hotspot-choice identifier='H' shape='circle' coords='1,2,3'/>";
    let place =
        "<qti-associable-hotspot identifier='H' match-max='1' shape='rect' coords='1,2,3,4'/>";
    let pair = "<qti-simple-associable-choice identifier='P' match-max='1'>p</qti-simple-associable-choice>";
    let gap = "<qti-gap-text identifier='G' match-max='1'>g</qti-gap-text>";
    let set = |inside: &str| format!("<qti-simple-match-set>{inside}</qti-simple-match-set>");
    let other = pair.replace("'P'", "'Q'");
    // Kind, more attributes, inside, choices, targets, whether it stands in a line.
    let cases: Vec<(&str, &str, String, usize, usize, bool)> = vec![
        ("associate", "", pair.into(), 1, 0, false),
        ("choice", "", CHOICES.into(), 3, 0, false),
        ("custom", "", "<x xmlns='urn:x'/>".into(), 0, 0, false),
        ("drawing", "", picture.into(), 0, 0, false),
        ("end-attempt", "title='t'", String::new(), 0, 0, true),
        ("extended-text", "expected-lines='3'", String::new(), 0, 0, false),
        ("gap-match", "", format!("{gap}<p><qti-gap identifier='T'/></p>"), 1, 1, false),
        ("graphic-associate", "", format!("{picture}{place}"), 1, 0, false),
        ("graphic-gap-match", "", format!("{picture}{gap}{place}"), 1, 1, false),
        ("graphic-order", "", format!("{picture}{hotspot}"), 1, 0, false),
        ("hotspot", "", format!("{picture}{hotspot}"), 1, 0, false),
        ("hottext", "", "<p>a <qti-hottext identifier='A'>b</qti-hottext></p>".into(), 1, 0, false),
        (
            "inline-choice",
            "",
            "<qti-inline-choice identifier='A'>b</qti-inline-choice>".into(),
            1,
            0,
            true,
        ),
        ("match", "", format!("{}{}", set(pair), set(&other)), 1, 1, false),
        ("media", "autostart='true'", "<video src='a.mp4'/>".into(), 0, 0, false),
        ("order", "", CHOICES.into(), 3, 0, false),
        (
            "portable-custom",
            "custom-interaction-type-identifier='urn:m' module='m'",
            "<qti-interaction-markup><div/></qti-interaction-markup>".into(),
            0,
            0,
            false,
        ),
        ("position-object", "", picture.into(), 0, 0, false),
        ("select-point", "", picture.into(), 0, 0, false),
        ("slider", "lower-bound='0' upper-bound='1'", String::new(), 0, 0, false),
        ("text-entry", "expected-length='5'", String::new(), 0, 0, true),
        ("upload", "", String::new(), 0, 0, false),
    ];
    assert_eq!(cases.len(), Kind::ALL.len());
    for ((name, more, inside, choices, targets, line), (own, kind)) in cases.iter().zip(Kind::ALL) {
        assert_eq!(name, own);
        let shape = BaseType::ALL
            .into_iter()
            .flat_map(|(base, base_type)| {
                Cardinality::ALL.map(|(c, cardinality)| ((c, base), cardinality, base_type))
            })
            .find(|(_, cardinality, base_type)| kind.takes(*cardinality, Some(*base_type)))
            .unwrap()
            .0;
        let mut body = format!(
            "<qti-{name}-interaction response-identifier='R' {more}>{inside}</qti-{name}-interaction>"
        );
        if *line {
            body = format!("<p>{body}</p>");
        }
        if *kind == Kind::PositionObject {
            body =
                format!("<qti-position-object-stage>{picture}{body}</qti-position-object-stage>");
        }
        let item = with(shape, &body);
        let [interaction] = item.interactions.as_slice() else { panic!("{name}") };
        assert_eq!(interaction.kind, *kind);
        assert_eq!(
            (interaction.choices.len(), interaction.targets.len()),
            (*choices, *targets),
            "{name}"
        );
        assert!(check(&item, &Responses::default()).is_empty(), "{name}: no answer is demanded");
    }
    let item = with(
        ("single", "float"),
        "<qti-slider-interaction response-identifier='R' lower-bound='1' upper-bound='9'/>",
    );
    assert!(matches!(
        item.interactions[0].details,
        InteractionDetails::Slider { lower: 1.0, upper: 9.0, step: 1.0 }
    ));
}

#[test]
fn empty_values_are_null() {
    assert!(Value::string("").is_null());
    assert!(Value::container(Cardinality::Multiple, vec![]).is_null());
    assert!(!Value::Single(Scalar::Integer(0)).is_null());
}

#[test]
fn numbers_are_typed_in_the_base_of_their_interaction() {
    let declared = |name: &str, cardinality: &str, base_type: &str| {
        format!(
            "<qti-response-declaration identifier=\"{name}\" cardinality=\"{cardinality}\" \
             base-type=\"{base_type}\"/>"
        )
    };
    let item = item(&format!(
        "{}{}{}{}<qti-item-body><p>\
         <qti-text-entry-interaction response-identifier=\"HEX\" base=\"16\" \
          pattern-mask=\"[a-f0-9]{{2}}\" string-identifier=\"TYPED\"/>\
         <qti-text-entry-interaction response-identifier=\"HALF\" base=\"2\"/></p>\
         <qti-extended-text-interaction response-identifier=\"MANY\" base=\"8\" max-strings=\"2\"/>\
         </qti-item-body>",
        declared("HEX", "single", "integer"),
        declared("TYPED", "single", "string"),
        declared("HALF", "single", "float"),
        declared("MANY", "multiple", "integer"),
    ));
    let read = |json: Json| Responses::from_json(&item, json.as_object().unwrap());
    let value = |json: Json, name: &str| to_json(read(json).unwrap().get(name).unwrap());
    assert_eq!(value(json!({"HEX": " ff"}), "HEX"), json!(255));
    assert_eq!(value(json!({"HEX": " ff"}), "TYPED"), json!(" ff"));
    assert_eq!(value(json!({"HEX": "ff", "TYPED": "FF"}), "TYPED"), json!("FF"));
    assert_eq!(value(json!({"HEX": 10}), "HEX"), json!(10), "a number of JSON is decimal");
    assert_eq!(value(json!({"HEX": ""}), "HEX"), json!(null));
    assert_eq!(value(json!({"HALF": "-1.1"}), "HALF"), json!(-1.5));
    assert_eq!(value(json!({"MANY": ["10", "7"]}), "MANY"), json!([8, 7]));
    for (wrong, base) in [
        (json!({"HEX": "xy"}), 16),
        (json!({"HALF": "2"}), 2),
        (json!({"HALF": "1.0.1"}), 2),
        (json!({"MANY": ["9"]}), 8),
    ] {
        let faults = read(wrong).unwrap_err();
        assert!(faults[0].message.contains(&format!("not a number of base {base}")), "{faults:?}");
    }
    // The pattern is of what was typed.
    let fault = |json: Json| check(&item, &read(json).unwrap()).len();
    assert_eq!((fault(json!({"HEX": "ff"})), fault(json!({"HEX": "f"}))), (0, 1));
}

#[test]
fn an_answer_that_breaks_a_rule_is_scored_and_marked() {
    let faults = |item: &Item, answer: Json| {
        let json = json!({ "R": answer });
        let responses = Responses::from_json(item, json.as_object().unwrap()).unwrap();
        let faults = check(item, &responses);
        assert!(!faults.is_empty(), "{json}");
        let all = |of: fn(&lyceum_qti::ResponseFault) -> bool| faults.iter().all(of);
        (all(|fault| fault.is_scored), all(|fault| fault.is_excess))
    };
    let choice = with(
        ("multiple", "identifier"),
        &format!(
            "<qti-choice-interaction response-identifier='R' min-choices='1' max-choices='2'>{CHOICES}</qti-choice-interaction>"
        ),
    );
    assert_eq!(faults(&choice, json!(null)), (true, false));
    assert_eq!(faults(&choice, json!(["A", "B", "C"])), (true, true));
    assert_eq!(faults(&choice, json!(["Z"])), (false, false));
    assert_eq!(faults(&choice, json!(["A", "A"])), (false, false));
    let associate = with(
        ("multiple", "pair"),
        "<qti-associate-interaction response-identifier='R' max-associations='1'>\
         <qti-simple-associable-choice identifier='A' match-max='0'/>\
         <qti-simple-associable-choice identifier='B' match-max='0'/>\
         <qti-simple-associable-choice identifier='C' match-max='0'/></qti-associate-interaction>",
    );
    assert_eq!(faults(&associate, json!(["A B", "B C"])), (true, true));
    assert_eq!(faults(&associate, json!(["A Z"])), (false, false));
    let text = with(
        ("single", "string"),
        "<p><qti-text-entry-interaction response-identifier='R' pattern-mask='[0-9]+'/></p>",
    );
    assert_eq!(faults(&text, json!("x")), (true, false));
}
