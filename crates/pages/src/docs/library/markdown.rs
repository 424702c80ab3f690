//! Renders Markdown as HTML. Headings get anchors, and links between files become links between pages. Wide tables and
//! code scroll separately from the page. Raw HTML is shown as text.

use std::collections::HashSet;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::Files;

/// A rendered page.
pub(super) struct RenderedPage {
    pub(super) title: String,
    /// The text of the first paragraph.
    pub(super) about: String,
    pub(super) html: String,
    /// A section for each heading.
    pub(super) sections: Vec<Section>,
}

/// A heading and the words below it, up to the next heading.
#[derive(Default)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) level: u8,
    pub(super) words: String,
}

/// Parses and renders a page.
pub(super) fn render(text: &str) -> RenderedPage {
    let events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let (sections, about) = sections(&events);
    let mut headings = sections.iter();
    let mut html = String::with_capacity(text.len() * 2);
    html::push_html(
        &mut html,
        events.into_iter().map(|event| add_heading_id(event, &mut headings)),
    );
    // The security policy of pages forbids inline styles. A table can be wider than the screen, so it scrolls in a box
    // that can be focused with the keyboard.
    let html = html
        .replace(" style=\"text-align: right\"", " class=\"end\"")
        .replace(
            "<table>",
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>",
        )
        .replace("</table>", "</table></div>");
    let title = sections.first().map(|first| first.title.clone()).unwrap_or_default();
    RenderedPage { title, about, html, sections }
}

/// Adapts a Markdown event to our pages.
fn add_heading_id<'t>(event: Event<'t>, headings: &mut std::slice::Iter<'_, Section>) -> Event<'t> {
    match event {
        Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
            let id = headings.next().map(|section| section.id.clone().into());
            Event::Start(Tag::Heading { level, id, classes, attrs })
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = address(&dest_url).map_or(dest_url, Into::into);
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = picture(&dest_url).map_or(dest_url, Into::into);
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
            let language = info.split_whitespace().next().unwrap_or("text");
            Event::Html(format!("<pre tabindex=\"0\"><code class=\"language-{language}\">").into())
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
            Event::Html("<pre tabindex=\"0\"><code>".into())
        }
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        other => other,
    }
}

/// Files from which a page is generated, and the slug of that page.
const MADE: [(&str, &str); 4] = [
    ("config.default.toml", "settings"),
    ("cli.rs", "commands"),
    ("config/file.rs", "project-config"),
    ("openapi.json", "api"),
];

/// Turns a link between files of the documentation into a link between pages: `../limits.md#bodies` becomes
/// `/docs/limits#bodies`.
fn address(link: &str) -> Option<String> {
    if let Some((_, page)) = MADE.iter().find(|(file, _)| link.ends_with(&format!("/{file}"))) {
        return Some(format!("/docs/{page}"));
    }
    let (file, anchor) =
        link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let file = file.strip_suffix(".md").filter(|file| !file.contains("://"))?;
    let slug = match file.strip_suffix("/README").or((file == "README").then_some("decisions")) {
        Some(folder) => folder,
        None => file,
    };
    let slug = slug.rsplit('/').next().unwrap_or(slug);
    Some(format!("/docs/{slug}{}", anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default()))
}

/// An address that contains the picture, such as `pictures/scale.svg`.
fn picture(link: &str) -> Option<String> {
    let file = Files::get(link.trim_start_matches("../"))?;
    let svg = str::from_utf8(&file.data).ok()?;
    Some(format!("data:image/svg+xml,{}", svg.replace('%', "%25").replace('#', "%23")))
}

/// The sections of a page, and the text of its first paragraph.
fn sections(events: &[Event<'_>]) -> (Vec<Section>, String) {
    let mut sections: Vec<Section> = Vec::new();
    let mut known = HashSet::new();
    let (mut about, mut is_about) = (String::new(), false);
    let mut is_heading = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                sections.push(Section { level: depth(*level), ..Section::default() });
                is_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => {
                is_heading = false;
                let section = sections.last_mut().expect("a heading begins before it ends");
                section.id = anchor(&section.title, &mut known);
            }
            Event::Start(Tag::Paragraph) => is_about = about.is_empty() && !sections.is_empty(),
            Event::End(TagEnd::Paragraph) => is_about = false,
            _ => {}
        }
        let words = match event {
            Event::Text(text) | Event::Code(text) => text.as_ref(),
            // Without a space, the last word of a line, block or cell would merge with the first word of the next.
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(
                TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock,
            ) => " ",
            _ => continue,
        };
        if is_about {
            about.push_str(words);
        }
        if let Some(section) = sections.last_mut() {
            if is_heading { &mut section.title } else { &mut section.words }.push_str(words);
        }
    }
    (sections, about)
}

const fn depth(level: HeadingLevel) -> u8 {
    level as u8
}

/// The anchor of a heading: its words in lower case, joined by hyphens, with a number if the anchor is already used.
fn anchor(title: &str, known: &mut HashSet<String>) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let plain = words.join("-");
    let mut id = plain.clone();
    let mut number = 2;
    while !known.insert(id.clone()) {
        id = format!("{plain}-{number}");
        number += 1;
    }
    id
}
