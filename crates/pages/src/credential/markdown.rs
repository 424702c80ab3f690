//! Texts of issuers, which are Markdown (Open Badges 3.0, narrative). The page loads nothing from other servers and runs
//! nothing, so a picture becomes its description, HTML is shown as text, and links lead only to web pages.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// A text as HTML.
pub(super) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut links = Vec::new();
    let events = Parser::new_ext(text, Options::empty()).filter_map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        Event::Start(Tag::HtmlBlock | Tag::Image { .. })
        | Event::End(TagEnd::HtmlBlock | TagEnd::Image) => None,
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
            links.push(is_web);
            is_web.then_some(event)
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or_default().then_some(event),
        event => Some(event),
    });
    html::push_html(&mut out, events);
    out.replace("<a href=", "<a rel=\"nofollow noopener\" href=")
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn markdown_loads_and_runs_nothing() {
        for (text, html) in [
            ("Answer **every** question", "<p>Answer <strong>every</strong> question</p>\n"),
            ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"),
            (
                "[a](https://a.example)",
                "<p><a rel=\"nofollow noopener\" href=\"https://a.example\">a</a></p>\n",
            ),
            ("[a](javascript:x)", "<p>a</p>\n"),
            ("![a map](https://a.example/map.png)", "<p>a map</p>\n"),
            ("<script>x()</script>", "&lt;script&gt;x()&lt;/script&gt;"),
            ("a <b onclick='x()'>b</b>", "<p>a &lt;b onclick='x()'&gt;b&lt;/b&gt;</p>\n"),
        ] {
            assert_eq!(markdown(text), html, "{text}");
        }
    }
}
