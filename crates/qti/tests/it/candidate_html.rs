//! The HTML for browsers of students: it is safe whatever the item contains, and shows what the item asks.

use lyceum_core::random::RandomStream;
use lyceum_qti::{
    CandidateSession, DocumentContent, Responses, ScoringInput, candidate_html, candidate_view,
    read, score, stimulus_html,
};

use crate::kit::item_xml;
use crate::standards::{documents, folder};

/// The start of an element in HTML that was written with escaped texts.
pub(crate) struct Tag<'h> {
    name: &'h str,
    pub(crate) attributes: Vec<(&'h str, &'h str)>,
}

/// The tags of a text. Panics where the text has a `<` that begins no plain tag: elements and attributes could hide there.
pub(crate) fn tags(html: &str) -> Vec<Tag<'_>> {
    // Names of drawings have capital letters.
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let mut tags = Vec::new();
    for part in html.split('<').skip(1) {
        let (inside, _) = part.split_once('>').unwrap_or_else(|| panic!("<{part} has no end"));
        let mut pieces = inside.split('"');
        let first = pieces.next().unwrap_or_default();
        let name = first.split(' ').next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            assert!(is_name(name) && inside.len() == name.len() + 1, "<{inside}>");
            continue;
        }
        assert!(is_name(name), "<{inside}>");
        let mut attributes = Vec::new();
        let mut before = &first[name.len()..];
        loop {
            let mut words: Vec<&str> = before.split(' ').filter(|word| !word.is_empty()).collect();
            let valued = words.last().and_then(|last| last.strip_suffix('='));
            if let Some(valued) = valued {
                words.pop();
                assert!(is_name(valued), "<{inside}>");
                attributes.push((valued, pieces.next().unwrap_or_else(|| panic!("<{inside}>"))));
            }
            for word in words {
                assert!(is_name(word), "<{inside}>");
                attributes.push((word, ""));
            }
            match pieces.next() {
                Some(next) => before = next,
                None => break,
            }
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

/// Elements that would run, load, leave the item or change how a browser reads what follows.
const UNSAFE: [&str; 27] = [
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "link",
    "meta",
    "base",
    "form",
    "input",
    "button",
    "textarea",
    "select",
    "option",
    "template",
    "foreignobject",
    "image",
    "animate",
    "set",
    "noscript",
    "plaintext",
    "xmp",
    "annotation-xml",
    "feimage",
    "maction",
    "frame",
    "portal",
];

fn assert_safe(html: &str) {
    for Tag { name, attributes } in tags(html) {
        assert!(!UNSAFE.contains(&name.to_ascii_lowercase().as_str()), "<{name}> in {html}");
        for (attribute, value) in attributes {
            let refers = value.to_ascii_lowercase().contains("url(");
            let draws =
                ["fill", "stroke", "d", "mask", "clip-path", "marker-end"].contains(&attribute);
            assert!(!refers || !draws || value.starts_with("url(#qti-"), "{attribute}={value}");
            let is_free = attribute.starts_with("on")
                || [
                    "style",
                    "srcdoc",
                    "action",
                    "formaction",
                    "srcset",
                    "xlink",
                    "name",
                    "is",
                    "slot",
                ]
                .contains(&attribute);
            let is_catalog = name == "qti-catalog" && attribute == "name";
            assert!(!is_free || is_catalog, "{attribute} of <{name}> in {html}");
            let value = value.trim().to_ascii_lowercase();
            match attribute {
                "src" | "poster" => {
                    let is_own = value.starts_with("/files/");
                    let is_data = ["data:image/", "data:audio/", "data:video/"]
                        .iter()
                        .any(|p| value.starts_with(p));
                    assert!(is_own || is_data, "{attribute}={value} of <{name}>");
                }
                "href" if name == "qti-file-href" => assert!(
                    value.starts_with("/files/")
                        || value.starts_with("data:audio/")
                        || value.starts_with("data:video/")
                        || value.starts_with("data:image/")
                ),
                "href" => {
                    assert!(value.starts_with("https://") || value.starts_with("#qti-"), "{value}");
                }
                "id" => assert!(value.starts_with("qti-") || value.is_empty(), "{value}"),
                "class" => {
                    assert!(value.split(' ').all(|class| class.starts_with("qti-")), "{value}");
                }
                _ => {}
            }
        }
    }
}

/// The address of files that the server has: those below `files`.
pub(crate) fn stored(file: &str) -> Option<String> {
    let name = file.strip_prefix("files/")?;
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
        .then(|| format!("/files/{name}"))
}

fn html(parts: &str) -> String {
    let html = candidate_html(&item_xml(parts), CandidateSession::default(), &stored).unwrap();
    assert_safe(&html);
    html
}

pub(crate) fn body(inside: &str) -> String {
    html(&format!("<qti-item-body>{inside}</qti-item-body>"))
}

/// HTML with ids that begin with `qti-`, without the part that each document has of its own.
pub(crate) fn short_ids(html: &str) -> String {
    let mut parts = html.split("qti-");
    let mut short = parts.next().unwrap().to_owned();
    for part in parts {
        let is_own = part.as_bytes().get(8) == Some(&b'-')
            && part.bytes().take(8).all(|byte| byte.is_ascii_hexdigit());
        short.extend(["qti-", if is_own { &part[9..] } else { part }]);
    }
    short
}

#[test]
fn custom_interactions_show_what_they_contain_without_its_scripts() {
    let html = body(
        "<qti-custom-interaction response-identifier='R'><p>Count the legs.</p>\
         <object data='https://example.org/legs.html' type='text/html'>Legs</object></qti-custom-interaction>",
    );
    assert!(html.contains("<p>Count the legs.</p>"), "{html}");
    assert!(!html.contains("legs.html\" type"), "{html}");
}

#[test]
fn every_item_of_the_standard_is_rendered_safely_without_its_answers() {
    let Some(folder) = folder("HTML of all items") else { return };
    let (mut items, mut stimuli, mut leaks) = (0, 0, Vec::new());
    for file in documents(&folder) {
        let item = match read(&file.xml).map(|reading| reading.content) {
            Ok(DocumentContent::Item(item)) => item,
            Ok(DocumentContent::Stimulus(_)) => {
                assert_safe(&stimulus_html(&file.xml, &stored).unwrap());
                stimuli += 1;
                continue;
            }
            _ => continue,
        };
        let mut responses = Responses::default();
        for response in &item.responses {
            responses.set(&response.declaration.identifier, response.correct.clone());
        }
        let right = score(&item, &responses, ScoringInput::default(), &mut RandomStream::seeded(1));
        for outcomes in [None, Some(&right)] {
            let view = CandidateSession { outcomes, ..CandidateSession::default() };
            let html = candidate_html(&file.xml, view, &stored).unwrap();
            assert_safe(&html);
            let xml = candidate_view(&file.xml, view).unwrap();
            let shown = |text: &str| text.matches("-interaction ").count();
            assert_eq!(shown(&html), shown(&xml), "{}: {html}", file.name);
            // A value that the view does not contain does not come back.
            let values = item.responses.iter().flat_map(|response| {
                let mapped = response.mapping.iter().flat_map(|mapping| mapping.entries.iter());
                let correct = response.correct.scalars().iter().map(ToString::to_string);
                correct.chain(mapped.map(|entry| entry.key.to_string())).collect::<Vec<_>>()
            });
            let found = values.filter(|value| {
                html.matches(value.as_str()).count() > xml.matches(value.as_str()).count()
            });
            leaks.extend(
                found
                    .filter(|value| value.len() > 3)
                    .map(|value| format!("{}: {value}", file.name)),
            );
            items += 1;
        }
    }
    println!("{items} renderings of items, {stimuli} stimuli, {} leaks", leaks.len());
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(items > 400, "only {items} renderings");
}

#[test]
fn nothing_that_runs_or_loads_gets_into_the_html() {
    for (inside, expected) in [
        ("<p>a<script>alert(1)</script>b</p>", "<p>ab</p>"),
        (
            "<p onclick=\"alert(1)\" style=\"color:red\" class=\"card qti-italic\">a</p>",
            "<p class=\"qti-italic\">a</p>",
        ),
        ("<p><a href=\"javascript:alert(1)\">a</a></p>", "<p><span>a</span></p>"),
        (
            "<p><a href=\" https://example.org/?a&amp;b\">a</a></p>",
            "<p><a href=\"https://example.org/?a&amp;b\" target=\"_blank\" rel=\"noopener noreferrer\">a</a></p>",
        ),
        (
            "<p id=\"main\"><a href=\"#main\">a</a></p>",
            "<p id=\"qti-main\"><a href=\"#qti-main\">a</a></p>",
        ),
        (
            "<p><img src=\"https://example.org/a.png\" alt=\"a cat\"/></p>",
            "<p><span class=\"qti-missing-file\">a cat <a href=\"https://example.org/a.png\" target=\"_blank\" rel=\"noopener noreferrer\">Open the picture</a></span></p>",
        ),
        (
            "<p><img src=\"data:text/html,x\" alt=\"&lt;b&gt;\"/></p>",
            "<p><span class=\"qti-missing-file\">&lt;b&gt;</span></p>",
        ),
        (
            "<p><img src=\"files/a.png\" alt=\"\" width=\"20\"/></p>",
            "<p><img src=\"/files/a.png\" alt=\"\" width=\"20\"></p>",
        ),
        (
            "<object type=\"image/png\" data=\"files/a.png\">a cat</object>",
            "<img src=\"/files/a.png\" alt=\"a cat\">",
        ),
        ("<object type=\"text/html\" data=\"files/a.html\"><p>a</p></object>", "<p>a</p>"),
        (
            "<video src=\"files/a.mp4\" autoplay=\"autoplay\" onplay=\"x\"/>",
            "<video controls preload=\"metadata\"><source src=\"/files/a.mp4\"></video>",
        ),
        (
            "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"x\" viewBox=\"0 0 9 9\"><a href=\"https://example.org\"><path d=\"M0 0\"/></a><script>x</script><foreignObject><p>b</p></foreignObject><image href=\"https://example.org/a.png\"/></svg><p>a</p>",
            "<svg viewBox=\"0 0 9 9\"></svg><p>a</p>",
        ),
        (
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\"><title>A red wheel</title><defs><linearGradient id=\"g\"><stop offset=\"0\" style=\"stop-color: red; behavior: url(x)\"/></linearGradient></defs><circle id=\"c\" r=\"4\" fill=\"url(#g)\" stroke=\"url(https://example.org/#g)\" onclick=\"x\"/><use href=\"#c\" x=\"9\"/><use href=\"b.svg#c\"/><text>a &lt; b<tspan>c</tspan></text></svg>",
            "<svg role=\"img\" width=\"90\"><title>A red wheel</title><defs><linearGradient id=\"qti-1-g\"><stop offset=\"0\" stop-color=\"red\"></stop></linearGradient></defs><circle r=\"4\" fill=\"url(#qti-1-g)\" id=\"qti-1-c\"></circle><use x=\"9\" href=\"#qti-1-c\"></use><text>a &lt; b<tspan>c</tspan></text></svg>",
        ),
        (
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><g id=\"a\"><use href=\"#b\"/></g><g id=\"b\"><use href=\"#a\"/></g></svg>",
            "<svg><g id=\"qti-1-a\"></g><g id=\"qti-1-b\"></g></svg>",
        ),
        (
            "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" href=\"x\" display=\"block\"><mtext>a<p xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\">b</p></mtext><annotation-xml><mi>c</mi></annotation-xml><mfenced><mi>x</mi><mn>2</mn></mfenced></math>",
            "<math display=\"block\"><mtext>a</mtext><mrow><mo>(</mo><mi>x</mi><mo>,</mo><mn>2</mn><mo>)</mo></mrow></math>",
        ),
        (
            "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><maction><mi>x</mi><mi>y</mi></maction><maction><p xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\">b</p></maction><mfenced><p xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\">b</p><mi>z</mi></mfenced></math>",
            "<math><mi>x</mi><mrow><mo>(</mo><mi>z</mi><mo>)</mo></mrow></math>",
        ),
        (
            "<h1>a</h1><table><tr><td align=\"center\" rowspan=\"2\">b</td></tr></table>",
            "<h2>a</h2><table><tr><td rowspan=\"2\" class=\"qti-align-center\">b</td></tr></table>",
        ),
    ] {
        let html = short_ids(&body(inside));
        assert_eq!(
            html,
            format!("<div class=\"qti-item\"><qti-item-body>{expected}</qti-item-body></div>"),
            "{inside}"
        );
    }
}

#[test]
fn a_stimulus_shows_nothing_that_depends_on_answers_variants_or_readers() {
    let dependent = ["feedback-block", "feedback-inline", "template-block", "template-inline"].map(
        |name| {
            let kind = name.split('-').next().unwrap();
            let variable = if kind == "feedback" { "outcome" } else { "template" };
            format!("<div><qti-{name} {variable}-identifier=\"V\" identifier=\"a\" show-hide=\"hide\">secret</qti-{name}></div>")
        },
    );
    let xml = format!(
        "<qti-assessment-stimulus xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" identifier=\"s\" title=\"s\"><qti-stimulus-body><p>text</p>{}<qti-rubric-block view=\"scorer\" use=\"scoring\"><qti-content-body><p>secret</p></qti-content-body></qti-rubric-block></qti-stimulus-body></qti-assessment-stimulus>",
        dependent.concat()
    );
    assert_eq!(
        stimulus_html(&xml, &stored).unwrap(),
        format!(
            "<div class=\"qti-item\"><qti-stimulus-body><p>text</p>{}</qti-stimulus-body></div>",
            "<div></div>".repeat(4)
        )
    );
}

#[test]
fn interactions_keep_what_a_browser_needs_and_nothing_more() {
    let html = html(
        r#"<qti-response-declaration identifier="R" cardinality="multiple" base-type="identifier"><qti-correct-response><qti-value>B</qti-value></qti-correct-response></qti-response-declaration>
        <qti-item-body xml:lang="de"><qti-choice-interaction response-identifier="R" max-choices="2" shuffle="true" data-max-selections-message="Zwei" data-other="x" class="qti-labels-decimal">
        <qti-prompt>Welche?</qti-prompt><qti-simple-choice identifier="A" fixed="true" template-identifier="T">a</qti-simple-choice><qti-simple-choice identifier="B">b <span data-catalog-idref="g">c</span></qti-simple-choice></qti-choice-interaction></qti-item-body>
        <qti-catalog-info><qti-catalog id="g"><qti-card support="glossary-on-screen"><qti-card-entry xml:lang="de" default="true"><qti-html-content><p>d</p></qti-html-content></qti-card-entry></qti-card></qti-catalog></qti-catalog-info>"#,
    );
    for part in [
        "<qti-item-body lang=\"de\">",
        "<qti-choice-interaction response-identifier=\"R\" max-choices=\"2\" cardinality=\"multiple\" base-type=\"identifier\" class=\"qti-labels-decimal\" data-max-selections-message=\"Zwei\">",
        "<qti-simple-choice identifier=\"B\">b <span data-catalog-idref=\"g\">c</span></qti-simple-choice>",
        "<qti-catalog-info hidden><qti-catalog name=\"g\"><qti-card support=\"glossary-on-screen\"><qti-card-entry default=\"true\" lang=\"de\"><qti-html-content><p>d</p>",
    ] {
        assert!(html.contains(part), "{part} not in {html}");
    }
    assert!(
        !html.contains("qti-value") && !html.contains("fixed") && !html.contains("data-other"),
        "{html}"
    );
}

const NAMES: [&str; 34] = [
    "p",
    "a",
    "img",
    "object",
    "video",
    "source",
    "td",
    "details",
    "template",
    "script",
    "style",
    "iframe",
    "SCRIPT",
    "qti-prompt",
    "qti-simple-choice",
    "qti-choice-interaction",
    "x-interaction",
    "qti-card",
    "qti-file-href",
    "qti-hotspot-choice",
    "m:math",
    "m:mtext",
    "m:annotation-xml",
    "s:svg",
    "s:svg",
    "s:path",
    "s:text",
    "s:title",
    "s:use",
    "s:image",
    "s:a",
    "s:style",
    "s:animate",
    "s:foreignObject",
];
const ATTRIBUTES: [&str; 24] = [
    "href",
    "src",
    "data",
    "type",
    "alt",
    "style",
    "onclick",
    "onerror",
    "id",
    "class",
    "title",
    "identifier",
    "lang",
    "dir",
    "aria-label",
    "aria-describedby",
    "data-catalog-idref",
    "data-x",
    "width",
    "poster",
    "coords",
    "xml:lang",
    "fill",
    "d",
];
const VALUES: [&str; 18] = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "data:text/html,&lt;script>",
    "data:image/svg+xml,&lt;svg/onload=x>",
    "https://example.org/",
    "//example.org/x",
    "files/a.png",
    "image/png",
    "video/mp4",
    "&quot;&gt;&lt;script&gt;",
    "&#10;x",
    "main qti-italic",
    "'&lt;!--",
    "a",
    "#a",
    "url(#a)",
    "url(https://example.org/x)",
    "fill:URL(//example.org);stroke:red",
];

fn random_element(random: &mut RandomStream, depth: usize, out: &mut String) {
    let mut one =
        |names: &[&'static str]| names[usize::try_from(random.below(names.len() as u64)).unwrap()];
    let name = one(&NAMES);
    out.extend(["<", name]);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (attribute, value) = (one(&ATTRIBUTES), one(&VALUES));
        if !seen.contains(&attribute) {
            seen.push(attribute);
            out.extend([" ", attribute, "=\"", value, "\""]);
        }
    }
    out.push('>');
    for _ in 0..random.below(4) {
        match random.below(3) {
            0 => out.push_str("&lt;script>alert(1)&lt;/script>"),
            _ if depth < 6 => random_element(random, depth + 1, out),
            _ => {}
        }
    }
    out.extend(["</", name, ">"]);
}

#[test]
fn random_documents_give_safe_html() {
    let rounds = if lyceum_testkit::full_size() { 100_000 } else { 300 };
    for seed in 0..rounds {
        let mut random = RandomStream::seeded(seed);
        let mut inside = String::new();
        for _ in 0..4 {
            random_element(&mut random, 0, &mut inside);
        }
        let xml = item_xml(&format!(
            "<qti-item-body xmlns:m=\"http://www.w3.org/1998/Math/MathML\" xmlns:s=\"http://www.w3.org/2000/svg\">{inside}</qti-item-body>"
        ));
        assert_safe(&candidate_html(&xml, CandidateSession::default(), &stored).unwrap());
    }
}
