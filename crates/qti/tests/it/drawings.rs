//! Drawings inside items, as HTML: their ids, their colours and how much they repeat.

use lyceum_qti::{CandidateSession, candidate_html};

use crate::candidate_html::{body, short_ids, stored, tags};
use crate::kit::item_xml;

/// The body of an item with a drawing, as HTML with short ids.
fn drawing(inside: &str) -> String {
    short_ids(&body(&format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>")))
}

#[test]
fn drawings_on_one_page_do_not_take_each_others_ids() {
    let drawn = "<svg xmlns=\"http://www.w3.org/2000/svg\"><g id=\"a\"/><use href=\"#a\"/></svg>";
    let html_of = |identifier: &str| {
        let parts = format!("<qti-item-body>{drawn}{drawn}</qti-item-body>");
        let xml =
            item_xml(&parts).replacen("identifier=\"", &format!("identifier=\"{identifier}"), 1);
        candidate_html(&xml, CandidateSession::default(), &stored).unwrap()
    };
    let html = html_of("one") + &html_of("two");
    let values = |name: &str| {
        let all = tags(&html).into_iter().flat_map(|tag| tag.attributes);
        let named = all.filter(|(own, _)| *own == name);
        named.map(|(_, value)| value.trim_start_matches('#').to_owned()).collect::<Vec<_>>()
    };
    let ids = values("id");
    assert_eq!(ids, values("href"), "each repeats the own part");
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 4, "{html}");
}

#[test]
fn a_style_of_a_drawing_counts_more_than_an_attribute() {
    for (inside, expected) in [
        ("<rect fill=\"red\" style=\"fill: blue !important\"/>", "<rect fill=\"blue\"></rect>"),
        ("<rect style=\"fill: red; fill: blue\"/>", "<rect fill=\"blue\"></rect>"),
        (
            "<rect fill=\"red\" style=\"fill: url(https://a.example/b)\"/>",
            "<rect fill=\"red\"></rect>",
        ),
        ("<rect fill=\"rgb(0 0 0 / 50%)\"/>", "<rect fill=\"rgb(0 0 0 / 50%)\"></rect>"),
        (
            "<text style=\"font-family: 'Varela', sans-serif\">a</text>",
            "<text font-family=\"'Varela', sans-serif\">a</text>",
        ),
        (
            "<linearGradient id=\"image-src\"/><rect fill=\"url(#image-src)\"/>",
            "<linearGradient id=\"qti-1-image-src\"></linearGradient><rect fill=\"url(#qti-1-image-src)\"></rect>",
        ),
        ("<rect fill=\"image(a.png)\" stroke=\"red var(--a)\" d=\"src( b )\"/>", "<rect></rect>"),
    ] {
        let html = drawing(inside);
        assert!(html.contains(&format!("<svg>{expected}</svg>")), "{inside}: {html}");
    }
}

#[test]
fn a_drawing_repeats_at_most_ten_thousand_elements() {
    let most = lyceum_qti::limits::DRAWING_REPEATED_MAX_COUNT;
    let part = |id: &str, count: usize, inside: &str| {
        format!("<g id=\"{id}\">{}</g>", inside.repeat(count))
    };
    // Each use draws 100 elements.
    let uses = |count: usize| part("a", 99, "<path/>") + &"<use href=\"#a\"/>".repeat(count);
    assert_eq!(drawing(&uses(most / 100)).matches("<use").count(), most / 100);
    assert_eq!(drawing(&uses(most / 100 + 1)).matches("<use").count(), most / 100);
    let two =
        format!("<g>{}</g></svg><svg xmlns=\"http://www.w3.org/2000/svg\">{}", uses(60), uses(60));
    assert_eq!(drawing(&two).matches("<use").count(), most / 100, "all drawings together");

    // Parts that repeat parts are counted with these.
    let levels = |name: &str, attribute: &str| -> String {
        let level = |n: usize| {
            let inside = format!("<rect {attribute}=\"url(#m{})\"/>", n + 1).repeat(10);
            format!("<{name} id=\"m{n}\">{inside}</{name}>")
        };
        (0..5).map(level).collect::<String>() + "<rect id=\"m5\"/>"
    };
    for (name, attribute) in
        [("mask", "mask"), ("pattern", "fill"), ("marker", "marker-end"), ("clipPath", "clip-path")]
    {
        let html = drawing(&format!("<path {attribute}=\"url(#m0)\"/>{}", levels(name, attribute)));
        assert!(html.contains("<path></path>"), "{name}: {html}");
        let html = drawing(&format!("<path {attribute}=\"url(#m4)\"/>{}", levels(name, attribute)));
        assert!(html.contains(&format!("<path {attribute}=\"url(#qti-1-m4)\">")), "{name}: {html}");
    }
    let line = |points: usize| {
        let points = "0 0 ".repeat(points);
        let marker = format!("<marker id=\"m\">{}</marker>", "<path/>".repeat(99));
        drawing(&format!("{marker}<polyline points=\"{points}\" marker-mid=\"url(#m)\"/>"))
    };
    assert!(line(10).contains("marker-mid=") && !line(1000).contains("marker-mid="));
}
