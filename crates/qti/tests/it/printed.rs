//! Values printed into a learner's view.

use lyceum_qti::{CandidateSession, candidate_view};

use crate::kit::item_xml;

/// The text that a learner reads if a value of a type is printed with some attributes.
fn printed(declared: &str, values: &[&str], attributes: &str) -> String {
    let values: String =
        values.iter().map(|value| format!("<qti-value>{value}</qti-value>")).collect();
    let default = match values.is_empty() {
        true => values,
        false => format!("<qti-default-value>{values}</qti-default-value>"),
    };
    let xml = item_xml(&format!(
        "<qti-template-declaration identifier=\"B\" cardinality=\"single\" base-type=\"integer\">\
         <qti-default-value><qti-value>2</qti-value></qti-default-value></qti-template-declaration>\
         <qti-template-declaration identifier=\"V\" {declared}>{default}</qti-template-declaration>\
         <qti-item-body><p>[<qti-printed-variable identifier=\"V\" {attributes}/>]</p>\
         </qti-item-body>"
    ));
    let view = candidate_view(&xml, CandidateSession::default()).unwrap();
    let (_, text) = view.split_once("<p>[").unwrap();
    text.split_once("]</p>").unwrap().0.to_owned()
}

const INTEGER: &str = "cardinality=\"single\" base-type=\"integer\"";
const FLOAT: &str = "cardinality=\"single\" base-type=\"float\"";

#[test]
fn numbers_are_printed_in_their_formats() {
    for (declared, value, attributes, expected) in [
        (FLOAT, "2.5", "", "2.5"),
        (FLOAT, "2", "format=\"%.1f\"", "2.0"),
        (FLOAT, "-2.346", "format=\"%.2f\"", "-2.35"),
        (FLOAT, "12345.678", "format=\"%e\"", "1.234568e+04"),
        (FLOAT, "0.00012", "format=\"%.1E\"", "1.2E-04"),
        (FLOAT, "12345.678", "format=\"%.2e\" power-form=\"true\"", "1.23 × 10<sup>4</sup>"),
        (FLOAT, "0.5", "format=\"%g\"", "0.5"),
        (FLOAT, "100000", "format=\"%g\"", "100000"),
        (FLOAT, "1234567", "format=\"%g\"", "1.23457e+06"),
        (FLOAT, "0.00001", "format=\"%g\"", "1e-05"),
        (FLOAT, "1.5", "format=\"%.3r\"", "1.50"),
        (FLOAT, "0", "format=\"%g\"", "0"),
        (FLOAT, "2.5", "format=\"%d\"", "2.5"),
        (FLOAT, "INF", "format=\"%.1f\"", "INF"),
        (FLOAT, "3.14159", "format=\"%8.2f\"", "    3.14"),
        (FLOAT, "3.14159", "format=\"%-8.2f\"", "3.14    "),
        (FLOAT, "-3.14159", "format=\"%08.2f\"", "-0003.14"),
        (FLOAT, "40", "format=\"%.0f%% of all\"", "40% of all"),
        (FLOAT, "1.5", "format=\"nonsense\"", "1.5"),
        (FLOAT, "1.5", "format=\"%\"", "1.5"),
        (FLOAT, "1.5", "format=\"%101f\"", "1.5"),
        (FLOAT, "1.5", "format=\"%.99999999999999999999f\"", "1.5"),
        (INTEGER, "42", "", "42"),
        (INTEGER, "42", "format=\"%05d\"", "00042"),
        (INTEGER, "42", "format=\"%+i\"", "+42"),
        (INTEGER, "5", "format=\"%i\" base=\"2\"", "101"),
        (INTEGER, "5", "format=\"%i\" base=\"B\"", "101"),
        (INTEGER, "-5", "base=\"2\"", "-101"),
        (INTEGER, "5", "base=\"1\"", "5"),
        (INTEGER, "255", "format=\"%x\"", "ff"),
        (INTEGER, "255", "format=\"%#X\"", "0XFF"),
        (INTEGER, "8", "format=\"%o\"", "10"),
        (INTEGER, "8", "format=\"%.2f\"", "8.00"),
        (INTEGER, "-9223372036854775808", "base=\"16\"", "-8000000000000000"),
    ] {
        assert_eq!(printed(declared, &[value], attributes), expected, "{value} {attributes}");
    }
}

#[test]
fn other_values_are_printed_too() {
    let attributes = |cardinality: &str, base_type: &str| {
        format!("cardinality=\"{cardinality}\" base-type=\"{base_type}\"")
    };
    let all = ["1", "2", "3"];
    assert_eq!(printed(&attributes("single", "string"), &[], ""), "", "NULL is nothing");
    assert_eq!(printed(&attributes("single", "string"), &["a &lt; b"], ""), "a &lt; b");
    assert_eq!(printed(&attributes("ordered", "integer"), &all, ""), "1;2;3");
    assert_eq!(printed(&attributes("ordered", "integer"), &all, "index=\"B\""), "2");
    assert_eq!(printed(&attributes("ordered", "integer"), &all, "index=\"4\""), "");
    assert_eq!(
        printed(&attributes("multiple", "float"), &all, "delimiter=\" &amp; \""),
        "1 &amp; 2 &amp; 3"
    );
    assert_eq!(printed(&attributes("single", "duration"), &["PT1M"], "format=\"%.1f\""), "60.0");
    // A reader opens these with a control.
    let address = printed(&attributes("single", "uri"), &["https://a.example"], "");
    assert!(address.starts_with("<qti-printed-variable"), "{address}");
}

#[test]
fn recursive_printing_ends() {
    let long = "x".repeat(100_000);
    let print = "<qti-printed-variable identifier=\"V\"/>".repeat(2000);
    let xml = item_xml(&format!(
        "<qti-outcome-declaration identifier=\"V\" cardinality=\"single\" base-type=\"string\">\
         <qti-default-value><qti-value>{long}</qti-value></qti-default-value>\
         </qti-outcome-declaration><qti-item-body><p>{print}</p></qti-item-body>"
    ));
    let view = candidate_view(&xml, CandidateSession::default()).unwrap();
    assert!(view.len() < 6_000_000, "{}", view.len());
}
