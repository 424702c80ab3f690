//! HTML in the JSON forms of documents.

use lyceum_core::{Problem, ProblemKind};
use lyceum_qti::json::{item_xml, stimulus_xml};
use lyceum_qti::{read_item, read_stimulus};
use serde_json::{Value as Json, json};

fn object(json: &Json) -> serde_json::Map<String, Json> {
    json.as_object().unwrap().clone()
}

fn sent(content: &Json) -> Result<String, Problem> {
    let body = json!({"identifier": "s", "title": "t", "content": content});
    stimulus_xml(&object(&body)).map(|written| written.xml)
}

/// The content that a stimulus shows of HTML.
fn shown(html: &str) -> String {
    let xml = sent(&json!(html)).unwrap_or_else(|problem| panic!("{html}: {problem}"));
    let stimulus = read_stimulus(&xml).unwrap_or_else(|faults| panic!("{html}: {faults}\n{xml}"));
    let inner = stimulus.content.trim();
    let inner = inner.strip_prefix("<div").unwrap().split_once('>').map_or("", |(_, inner)| inner);
    inner.strip_suffix("</div>").unwrap_or(inner).to_owned()
}

#[test]
fn html_is_kept_as_markup() {
    for (html, xml) in [
        // Well-formed XML stays as it is.
        ("<p>The <em>sea</em> rises</p>", "<p>The <em>sea</em> rises</p>"),
        ("<img src='a.png' alt='A'/>", "<img src=\"a.png\" alt=\"A\"/>"),
        ("one line", "one line"),
        // HTML.
        ("one<br>two", "one<br/>two"),
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("a&nbsp;b &copy; &eacute;", "a\u{a0}b \u{a9} é"),
        ("3 < 4 & 5 > 2", "3 &lt; 4 &amp; 5 &gt; 2"),
        ("<P CLASS=big>Loud</P>", "<p class=\"big\">Loud</p>"),
        ("<ul><li>one<li>two</ul>", "<ul><li>one</li><li>two</li></ul>"),
        (
            "<table><tr><td>1<td>2</table>",
            "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        ),
        ("<b><i>both</b> one</i>", "<b><i>both</i></b><i> one</i>"),
        ("<video src=a.mp4 controls></video>", "<video src=\"a.mp4\" controls=\"true\"></video>"),
        (
            "<p>x<math><mi>x</mi></math><br></p>",
            "<p>x<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mi>x</mi></math><br/></p>",
        ),
        ("<!-- a note --><p>text<br></p>", "<p>text<br/></p>"),
        ("<!DOCTYPE html><html><body><p>page<br></body></html>", "<p>page<br/></p>"),
        (
            "<a href=\"https://a.example/?b=1&c=2\">link<br></a>",
            "<a href=\"https://a.example/?b=1&amp;c=2\">link<br/></a>",
        ),
    ] {
        let written = shown(html).replace("/>", "></>");
        let expected = xml.replace("/>", "></>");
        // Empty elements are written in one way or the other.
        let plain = |text: &str| text.replace("></video>", "></>");
        assert_eq!(plain(&written), plain(&expected), "{html}");
    }
}

#[test]
fn unsupported_html_is_refused_with_its_place() {
    for (html, place, what) in [
        ("<p>one<br>\n  <script>alert(1)</script>", (2, 3), "'script'"),
        ("<p>one<br>\n<p onclick='x()'>two", (2, 1), "'onclick'"),
        ("<p>a<br><a href=' java\nscript:alert(1)'>x</a>", (1, 9), "href"),
        ("<a href='javascript:alert(1)'>x</a>", (1, 4), "href"),
        ("<img src='data:text/html;base64,AA' alt=''>", (1, 1), "src"),
        ("<math><annotation-xml><script>x</script></annotation-xml></math><br>", (1, 23), "script"),
        ("one<br>\n<img src='a.png'>", (2, 1), "'alt'"),
        ("<p>é<br> <marquee>x</marquee>", (1, 10), "'marquee'"),
        ("one <br> a<b", (1, 11), "is never closed"),
        ("one<br><td>two</td>", (1, 8), "'td' is not allowed here"),
        ("one<br><![CDATA[x < y]]>", (1, 8), "CDATA"),
        ("a\u{1}b", (1, 2), "does not allow"),
        ("<p>a<br>&#1;", (1, 9), "does not allow"),
        ("<p>a<br><p data-x\"='1'>", (1, 9), "a name that XML does not allow"),
        (&"<div>".repeat(150), (1, 1), "deeper"),
    ] {
        let problem = sent(&json!(html)).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Malformed, "{html}: {problem}");
        assert!(problem.message.contains(what), "{html}: {problem}");
        assert!(problem.message.contains("content: "), "{html}: {problem}");
        assert_eq!(problem.details[0].path, "content", "{html}");
        if what != "deeper" {
            assert_eq!(problem.places[0], place, "{html}: {problem}");
        }
    }
}

#[test]
fn a_stimulus_without_content_is_refused() {
    for body in [
        json!({"identifier": "s", "title": "t"}),
        json!({"identifier": "s", "title": "t", "content": null}),
        json!({"identifier": "s", "title": "t", "content": ["<p>x</p>"]}),
        json!({"identifier": "s", "title": "t", "content": {"p": "x"}}),
    ] {
        let problem = stimulus_xml(&object(&body)).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Invalid, "{body}");
        assert_eq!(problem.details[0].path, "content", "{body}");
    }
}

fn item() -> Json {
    json!({
        "identifier": "q", "title": "t", "type": "choice",
        "preInteraction": "Before<br>all",
        "postInteraction": "<p>After<p>all",
        "interaction": {
            "type": "choice", "responseIdentifier": "RESPONSE", "questionStructure": {
                "prompt": "Which&nbsp;one<br>is it?",
                "choices": [
                    {"identifier": "A", "content": "<p>Ada<p>Lovelace", "feedbackInline": "Yes<br>indeed"},
                    {"identifier": "B", "content": "5 < 6"},
                ],
            },
        },
        "rubrics": [{"use": "instructions", "view": "candidate", "body": "Read<br>on"}],
        "modalFeedback": [{"outcomeIdentifier": "F", "identifier": "A", "content": "Well<br>done"}],
        "feedbackBlock": [{"outcomeIdentifier": "F", "identifier": "A", "content": "<p>Well<br>done"}],
        "feedbackInline": [{"outcomeIdentifier": "F", "identifier": "A", "content": "Well<br>done"}],
    })
}

#[test]
fn html_is_kept_in_all_parts_of_a_question() {
    let xml = item_xml(&object(&item())).unwrap().xml;
    read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    assert!(!xml.contains("&lt;br") && !xml.contains("&lt;p") && !xml.contains("nbsp"), "{xml}");
    assert_eq!(xml.matches("<br/>").count(), 7, "{xml}");
    assert!(xml.contains("<p>Ada</p><p>Lovelace</p>") && xml.contains("5 &lt; 6"), "{xml}");
}

#[test]
fn html_in_a_question_is_refused_by_its_path() {
    let bad = json!("one<br>\n<script>");
    for path in [
        "/preInteraction",
        "/postInteraction",
        "/interaction/questionStructure/prompt",
        "/interaction/questionStructure/choices/1/content",
        "/interaction/questionStructure/choices/0/feedbackInline",
        "/rubrics/0/body",
        "/modalFeedback/0/content",
        "/feedbackBlock/0/content",
        "/feedbackInline/0/content",
    ] {
        let mut sent = item();
        *sent.pointer_mut(path).unwrap() = bad.clone();
        let problem = item_xml(&object(&sent)).unwrap_err();
        let dotted = path[1..].replace("/0", "[0]").replace("/1", "[1]").replace('/', ".");
        assert_eq!(problem.details[0].path, dotted, "{problem}");
        assert_eq!(problem.places[0], (2, 1), "{problem}");
        *sent.pointer_mut(path).unwrap() = json!(["not a text"]);
        assert_eq!(item_xml(&object(&sent)).unwrap_err().kind, ProblemKind::Invalid, "{path}");
    }
}
