//! Markup that common editors write and QTI 3 does not have.

use lyceum_core::Problem;
use lyceum_qti::json::{WrittenXml, stimulus_xml};
use lyceum_qti::{read_item, read_stimulus, tidied};
use serde_json::json;

use crate::kit::item_xml;

fn stimulus(html: &str) -> Result<WrittenXml, Problem> {
    let body = json!({"identifier": "s", "title": "t", "content": html});
    stimulus_xml(body.as_object().unwrap())
}

/// The content that a stimulus shows of HTML, and each warning with its path.
fn shown(html: &str) -> (String, Vec<String>) {
    let WrittenXml { xml, removed } =
        stimulus(html).unwrap_or_else(|problem| panic!("{html}: {problem}"));
    let stimulus = read_stimulus(&xml).unwrap_or_else(|faults| panic!("{html}: {faults}\n{xml}"));
    let inner = stimulus.content.trim().split_once('>').unwrap().1;
    let inner = inner.strip_suffix("</div>").unwrap().to_owned();
    let warnings = removed.0.into_iter().map(|fault| format!("{}: {}", fault.path, fault.message));
    (inner, warnings.collect())
}

#[test]
fn markup_of_editors_is_removed_and_named() {
    for (html, xml, warnings) in [
        ("<p><u>one</u></p>", "<p><span class=\"qti-underline\">one</span></p>", vec!["'u'"]),
        ("<p><s>one</s> two</p>", "<p>one two</p>", vec!["'s'"]),
        ("<p style=\"color:red\">one</p>", "<p>one</p>", vec!["'style' at 'p'"]),
        (
            "<p><a href=\"https://a.example\" target=\"_blank\" rel=\"noopener\">a</a></p>",
            "<p><a href=\"https://a.example\">a</a></p>",
            vec!["'target' at 'a'", "'rel' at 'a'"],
        ),
        ("<ol start=\"3\"><li>three</li></ol>", "<ol><li>three</li></ol>", vec!["'start' at 'ol'"]),
        ("<p>one<br><font size=2>x</font>", "<p>one<br/>x</p>", vec!["'font'"]),
        (
            "<iframe src=\"https://v.example/1?a=1&amp;b=2\" title=\"Tides\"></iframe>",
            "<a href=\"https://v.example/1?a=1&amp;b=2\">Tides</a>",
            vec!["'iframe'"],
        ),
        ("<p>one</p><iframe src='x'></iframe>", "<p>one</p>", vec!["'iframe'"]),
        (
            "<p><u id=\"a\" class=\"b\">1</u></p>",
            "<p><span class=\"qti-underline b\" id=\"a\">1</span></p>",
            vec!["'u'"],
        ),
        ("<p style='a'>1</p><p style='b'>2</p>", "<p>1</p><p>2</p>", vec!["removed (2 times)"]),
    ] {
        let (content, found) = shown(html);
        assert_eq!(content.replace("<br></br>", "<br/>"), xml, "{html}");
        assert_eq!(found.len(), warnings.len(), "{found:?}");
        for (found, warning) in found.iter().zip(warnings) {
            assert!(found.starts_with("content: ") && found.contains(warning), "{found}");
        }
    }
}

#[test]
fn scripts_and_misspelled_attributes_are_refused() {
    for html in [
        "<p style='color:red' onclick='x()'>one</p>",
        "<p><u onclick='x()'>one</u></p>",
        "<iframe src='https://a.example' onload='x()'></iframe>",
        "<p style='color:red'>one</p><script>x()</script>",
        "<p><a hreff='https://a.example' target='_blank'>a</a></p>",
    ] {
        stimulus(html).unwrap_err();
    }
}

#[test]
fn a_document_is_stored_without_what_qti_does_not_have() {
    let body = "<qti-item-body><p style=\"color:red\">one</p><iframe src=\"https://v.example\"/></qti-item-body>";
    let xml = item_xml(body);
    read_item(&xml).unwrap_err();
    let WrittenXml { xml: written, removed } = tidied(&xml).unwrap();
    let clean = "<qti-item-body><p>one</p><p><a href=\"https://v.example\">https://v.example</a></p></qti-item-body>";
    assert_eq!((written, removed.0.len()), (item_xml(clean), 2));
    assert!(tidied(&item_xml(clean)).is_none(), "nothing to remove");
}
