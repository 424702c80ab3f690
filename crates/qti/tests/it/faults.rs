//! Documents that are refused: where, why, and what to do.

use lyceum_qti::limits::{
    QTI_ATTRIBUTES_MAX_COUNT, QTI_DEPTH_MAX_LEVELS, QTI_DOCUMENT_MAX_BYTES, QTI_MAX_FAULTS,
    QTI_MAX_NODES,
};
use lyceum_qti::{Severity, read, read_for_author, read_item};

use crate::kit::item_xml;

const OPEN: &str = "<qti-assessment-item xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" \
                    identifier=\"i\" title=\"t\" time-dependent=\"false\">";

/// The first error as `line:column message; remedy`.
fn first(xml: &str) -> String {
    let faults = match read(xml) {
        Err(fault) => vec![fault],
        Ok(reading) => reading.faults.0,
    };
    let fault = faults.into_iter().find(|fault| fault.severity == Severity::Error);
    fault.map_or("accepted".to_owned(), |f| {
        format!("{}:{} {}; {}", f.place.line, f.place.column, f.message, f.remedy)
    })
}

#[test]
fn attributes_of_html_that_are_on_may_repeat_their_name() {
    for value in ["controls", "CONTROLS", "", "true", "0"] {
        let xml = item_xml(&format!(
            "<qti-item-body><p><video src='a.mp4'/></p><div><video src='a.mp4' controls='{value}' \
             loop='loop' muted='muted' autoplay='autoplay'><track src='b.vtt' default='default'/></video>\
             <details open='open'><summary>s</summary></details></div></qti-item-body>"
        ))
        .replace("<p><video src='a.mp4'/></p>", "");
        read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    }
    let message = first(&item_xml(
        "<qti-item-body><div><video src='a.mp4' controls='muted'/></div></qti-item-body>",
    ));
    assert!(message.contains("'muted' is not a value of 'controls'"), "{message}");
}

#[test]
fn addresses_that_run_scripts_are_refused() {
    for address in ["javascript:x()", " JavaScript:x()", "vbscript:x", "data:text/html,x"] {
        let message = first(&item_xml(&format!(
            "<qti-item-body><p><a href='{address}'>a</a></p></qti-item-body>"
        )));
        assert!(message.contains("is not a value of 'href'"), "{address}: {message}");
    }
    for address in
        ["https://a.example/", "a.html#b", "data:image/png;base64,AA", "mailto:a@b.example"]
    {
        let xml =
            item_xml(&format!("<qti-item-body><p><a href='{address}'>a</a></p></qti-item-body>"));
        read_item(&xml).unwrap_or_else(|faults| panic!("{faults}\n{xml}"));
    }
}

#[test]
fn a_correct_response_without_a_choice_is_refused() {
    let with = |key: &str, interaction: &str| {
        first(&item_xml(&format!(
            "<qti-response-declaration identifier='R' cardinality='multiple' base-type='identifier'>\n\
             <qti-correct-response><qti-value>{key}</qti-value></qti-correct-response>\
             </qti-response-declaration><qti-item-body>{interaction}</qti-item-body>"
        )))
    };
    let choice = |names: &[&str]| {
        let all: String =
            names.iter().map(|n| format!("<qti-simple-choice identifier='{n}'/>")).collect();
        format!(
            "<qti-choice-interaction response-identifier='R' max-choices='0'>{all}</qti-choice-interaction>"
        )
    };
    let message = with("Choice", &choice(&["Choise", "other"]));
    assert!(message.contains("the correct response of 'R' is 'Choice'"), "{message}");
    assert!(message.contains("did you mean 'Choise'?"), "{message}");
    assert_eq!(with("other", &choice(&["Choise", "other"])), "accepted");
    // Two interactions may fill one response.
    let two = choice(&["A"]) + &choice(&["B"]);
    assert_eq!(with("B", &two), "accepted");
    assert!(with("C", &two).contains("is 'C'"));
}

#[test]
fn an_unknown_template_is_reported() {
    let with = |processing: &str| {
        let reading = read(&item_xml(processing)).unwrap();
        assert!(!reading.faults.refuse());
        reading.faults.0.first().map_or("accepted".to_owned(), ToString::to_string)
    };
    let message = with("<qti-response-processing template='https://a.example/match_corect'/>");
    assert!(
        message.contains("'https://a.example/match_corect' is not a template of the standard"),
        "{message}"
    );
    assert!(message.contains("match_correct"), "{message}");
    assert_eq!(
        with(
            "<qti-response-processing template='https://a.example/own'><qti-exit-response/></qti-response-processing>"
        ),
        "accepted"
    );
}

#[test]
fn spaces_around_a_correct_response_are_reported() {
    let warned = |base_type: &str, key: &str| {
        let xml = item_xml(&format!(
            "<qti-response-declaration identifier='R' cardinality='single' base-type='{base_type}'>\
             <qti-correct-response><qti-value>{key}</qti-value></qti-correct-response>\
             <qti-mapping><qti-map-entry map-key='{key}' mapped-value='1'/></qti-mapping>\
             </qti-response-declaration>"
        ));
        let faults = read(&xml).unwrap().faults;
        assert!(!faults.refuse(), "{faults}");
        faults.0.iter().filter(|fault| fault.message.contains("white space around")).count()
    };
    assert_eq!(warned("string", " Paris"), 2);
    assert_eq!(warned("string", "Paris"), 0);
    assert_eq!(warned("string", "New York"), 0);
    assert_eq!(warned("identifier", " A "), 0);
}

#[test]
fn errors_name_their_place_and_fix() {
    // The document, where, a part of the message, a part of the remedy.
    let cases = [
        ("", "1:1", "no element", "qti-assessment-item"),
        ("<a>\n<b></a>", "2:4", "</a> closes the element 'b'", "</b>"),
        ("<a>\n  <b>", "2:3", "'b' is never closed", "</b>"),
        ("<a/>\n<b/>", "2:1", "second root", "one document"),
        ("<a/>\n text", "2:2", "outside the root", "remove"),
        ("<a>\né &nbsp;</a>", "2:3", "'&nbsp;' is unknown", "&#number;"),
        ("<a>1 & 2</a>", "1:6", "ampersand", "&amp;"),
        ("<a b='1' b='2'/>", "1:10", "'b' appears twice", "keep one"),
        ("<a b=1/>", "1:4", "is not quoted", "b=\"…\""),
        ("<a b/>", "1:4", "no value", "b=\"…\""),
        ("<a b='<'/>", "1:4", "'<'", "&lt;"),
        ("<a b='1'c='2'/>", "1:9", "no space before", "space"),
        ("<p:a/>", "1:1", "prefix 'p'", "xmlns:p"),
        ("<a>\u{1}</a>", "1:4", "does not allow", "remove"),
        (
            "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
            "1:1",
            "DOCTYPE",
            "remove",
        ),
        ("<!DOCTYPE html><a/>", "1:1", "DOCTYPE", "remove"),
        ("<html/>", "1:1", "root element is 'html'", "qti-assessment-item"),
    ];
    for (xml, place, what, remedy) in cases {
        let message = first(xml);
        assert!(message.starts_with(&format!("{place} ")), "{xml}: {message}");
        assert!(message.contains(what) && message.contains(remedy), "{xml}: {message}");
    }
    let inside = [
        ("\n<qti-item-bdy/>", "2:1", "no element 'qti-item-bdy'", "did you mean 'qti-item-body'?"),
        ("\n<qti-item-body>\n text<p/></qti-item-body>", "3:2", "text directly", "<p>"),
        ("\n<qti-item-body><p style='x'/></qti-item-body>", "2:19", "'style'", "stylesheet"),
        (
            "\n<qti-item-body><p clas='x'/></qti-item-body>",
            "2:19",
            "'clas'",
            "did you mean 'class'?",
        ),
        ("\n<qti-item-body><li/></qti-item-body>", "2:16", "'li' is not allowed", "allowed"),
        ("\n<qti-item-body/>", "2:1", "'qti-item-body' has no", "add"),
        (
            "\n<qti-item-body><p id='a'/><p id='a'/></qti-item-body>",
            "2:30",
            "appears twice",
            "its own",
        ),
        (
            "\n<qti-item-body><p data-catalog-idref='a'/></qti-item-body>",
            "2:19",
            "no element with the id 'a'",
            "name the id",
        ),
        (
            "<qti-outcome-declaration identifier='S' cardinality='one' base-type='float'/>",
            ":",
            "'one' is not a value of 'cardinality'",
            "single, multiple, ordered, record",
        ),
        (
            "<qti-outcome-declaration identifier='S' cardinality='single'/>",
            ":",
            "'S' has no base-type",
            "only a record has none",
        ),
        (
            "<qti-outcome-declaration identifier='S' cardinality='single' base-type='float'>\n\
             <qti-default-value><qti-value>one</qti-value></qti-default-value>\
             </qti-outcome-declaration>",
            "2:20",
            "'one' is not of the type 'float'",
            "a number",
        ),
        (
            "<qti-item-body><qti-choice-interaction response-identifier='RESPONS'>\
             <qti-simple-choice identifier='A'/></qti-choice-interaction></qti-item-body>",
            ":",
            "no response variable 'RESPONS'",
            "qti-response-declaration",
        ),
        (
            "<qti-response-processing>\n<qti-set-outcome-value identifier='duration'>\
             <qti-variable identifier='SCORE'/></qti-set-outcome-value></qti-response-processing>",
            "2:",
            "no variable 'SCORE'",
            "declare the variable",
        ),
        (
            "<qti-outcome-declaration identifier='S' cardinality='single' base-type='boolean'/>\
             <qti-response-processing><qti-set-outcome-value identifier='S'>\n\
             <qti-pattern-match pattern='a('><qti-null/></qti-pattern-match>\
             </qti-set-outcome-value></qti-response-processing>",
            "2:1",
            "not a pattern",
            "XML Schema",
        ),
    ];
    for (parts, place, what, remedy) in inside {
        let message = first(&item_xml(parts));
        assert!(message.contains(place), "{parts}: {message}");
        assert!(message.contains(what) && message.contains(remedy), "{parts}: {message}");
    }
}

#[test]
fn paths_of_errors_lead_to_the_element() {
    let xml = item_xml("<qti-item-body><p/><p><b x='1'/></p></qti-item-body>");
    let faults = read_item(&xml).unwrap_err();
    assert_eq!(faults.0[0].path, "/qti-assessment-item/qti-item-body/p[2]/b/@x");
    let problem = lyceum_core::Problem::from(faults);
    assert_eq!(problem.kind, lyceum_core::ProblemKind::Malformed);
    assert!(problem.message.to_string().starts_with("line 1, column "), "{}", problem.message);
    assert_eq!(problem.details.len(), 1);
}

#[test]
fn documents_beyond_the_limits_are_refused() {
    let deep = |depth: usize| {
        let inner = depth - 3;
        item_xml(&format!(
            "<qti-item-body><div>{}x{}</div></qti-item-body>",
            "<div>".repeat(inner),
            "</div>".repeat(inner)
        ))
    };
    assert_eq!(first(&deep(QTI_DEPTH_MAX_LEVELS)), "accepted");
    assert!(first(&deep(QTI_DEPTH_MAX_LEVELS + 1)).contains("nested deeper than"));

    let long = |bytes: usize| {
        let rest = bytes - OPEN.len() - "</qti-assessment-item>".len();
        format!("{OPEN}{}</qti-assessment-item>", " ".repeat(rest))
    };
    assert_eq!(first(&long(QTI_DOCUMENT_MAX_BYTES)), "accepted");
    assert!(first(&long(QTI_DOCUMENT_MAX_BYTES + 1)).contains("bytes"));

    let many = |nodes: usize| {
        let inner = "<br/>".repeat(nodes - 3);
        item_xml(&format!("<qti-item-body><p>{inner}</p></qti-item-body>"))
    };
    assert_eq!(first(&many(QTI_MAX_NODES)), "accepted");
    assert!(first(&many(QTI_MAX_NODES + 1)).contains("more than"));

    let attributes = |count: usize| {
        let all: String = (0..count).map(|n| format!(" data-a{n}='1'")).collect();
        item_xml(&format!("<qti-item-body><p{all}/></qti-item-body>"))
    };
    assert_eq!(first(&attributes(QTI_ATTRIBUTES_MAX_COUNT)), "accepted");
    assert!(first(&attributes(QTI_ATTRIBUTES_MAX_COUNT + 1)).contains("attributes"));

    let wrong = item_xml(&format!("<qti-item-body>{}</qti-item-body>", "<li/>".repeat(500)));
    assert_eq!(read(&wrong).unwrap().faults.0.len(), QTI_MAX_FAULTS);
}

#[test]
fn white_space_references_and_sections_are_read_as_xml_defines_them() {
    let xml = format!(
        "\u{feff}<?xml version='1.0'?>\r\n<!-- a -->{}",
        item_xml(
            "<qti-item-body><p title='x'>a&lt;<![CDATA[<b>&amp;]]>&#233;&#x41;</p></qti-item-body>"
        )
        .replace("title=\"t\"", "title=\"a\n&quot;b&#10;\"")
        .replace(" title='x'", "")
    );
    let item = read_item(&xml).unwrap();
    assert_eq!(&*item.title, "a \"b");
    assert!(lyceum_qti::upgraded(&xml).unwrap().contains("<p>a&lt;&lt;b&gt;&amp;amp;éA</p>"));
}

#[test]
fn an_author_learns_what_students_do_not_see() {
    let svg = |inside: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>");
    let math = |inside: &str| {
        format!("<math xmlns=\"http://www.w3.org/1998/Math/MathML\">{inside}</math>")
    };
    for (inside, path, message) in [
        (svg("<animate/>"), "svg/animate", "get the element 'animate'"),
        (svg("<use href=\"https://a.example/b#c\"/>"), "svg/use", "get the element 'use'"),
        (math("<mglyph/>"), "math/mglyph", "get the element 'mglyph'"),
        (
            "<p><img src=\"https://a.example/b.png\" alt=\"b\"/></p>".into(),
            "p/img",
            "load no file from 'https://a.example/b.png'",
        ),
        (
            "<p><a href=\"http://a.example/\">b</a></p>".into(),
            "p/a",
            "show 'http://a.example/' as text, not as a link",
        ),
    ] {
        let xml = item_xml(&format!("<qti-item-body>{inside}</qti-item-body>"));
        let faults = read_for_author(&xml).unwrap().faults;
        let [fault] = &faults.0[..] else { panic!("{inside}: {faults}") };
        assert_eq!(fault.severity, Severity::Warning);
        assert!(fault.path.replace("[1]", "").ends_with(path), "{inside}: {}", fault.path);
        assert!(fault.message.contains(message), "{inside}: {fault}");
    }
    let shown = [
        svg("<rect fill=\"red\"/>"),
        math("<mi>x</mi>"),
        "<p><img src=\"a.png\" alt=\"\"/></p>".into(),
    ];
    let xml = item_xml(&format!("<qti-item-body>{}</qti-item-body>", shown.concat()));
    assert_eq!(read_for_author(&xml).unwrap().faults.0, []);
}
