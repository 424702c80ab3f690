//! The documentation's pages as HTML.

use askama::Template;

use super::{FoundSection, Library, Page};

/// A page of the documentation.
#[derive(Template)]
#[template(path = "docs_page.html")]
pub struct Document<'l> {
    /// All pages, for the contents.
    pub library: &'l Library,
    /// The page.
    pub page: &'l Page,
}

/// What a search found, as a page.
#[derive(Template)]
#[template(path = "docs_search.html")]
pub struct Search<'l> {
    /// All pages, for the contents.
    pub library: &'l Library,
    /// What was looked for.
    pub query: &'l str,
    /// The sections, best first.
    pub found: Vec<FoundSection<'l>>,
}

/// What a search found, as the part of a page that is shown while somebody types.
#[derive(Template)]
#[template(path = "docs_found.html")]
pub struct Snippet<'l> {
    /// What was looked for.
    pub query: &'l str,
    /// The sections, best first.
    pub found: Vec<FoundSection<'l>>,
}

/// The page with the API's explorer.
#[derive(Template)]
#[template(path = "docs_api.html")]
pub struct Explorer<'l> {
    /// All pages, for the contents.
    pub library: &'l Library,
    /// Whether this build has the explorer.
    pub is_built: bool,
}

impl Document<'_> {
    fn is_here(&self, slug: &str) -> bool {
        self.page.slug == slug
    }
}

impl Search<'_> {
    #[expect(clippy::unused_self, reason = "the frame asks every page")]
    fn is_here(&self, _: &str) -> bool {
        false
    }
}

impl Explorer<'_> {
    #[expect(clippy::unused_self, reason = "the frame asks every page")]
    fn is_here(&self, slug: &str) -> bool {
        slug == "api"
    }
}

/// What stands in the contents: a heading with its pages.
struct Group<'l> {
    name: &'static str,
    pages: Vec<&'l Page>,
}

impl Library {
    /// The contents, without the decisions themselves: they have a page of contents of their own.
    fn groups(&self) -> Vec<Group<'_>> {
        ["Guides", super::REFERENCE, super::DECISIONS]
            .into_iter()
            .map(|name| Group {
                name,
                pages: self
                    .pages
                    .iter()
                    .filter(|page| page.group == name && !page.is_a_decision())
                    .collect(),
            })
            .collect()
    }
}

impl Page {
    /// Whether it is one of many that the page of decisions lists.
    fn is_a_decision(&self) -> bool {
        self.group == super::DECISIONS && self.slug != "decisions"
    }

    /// Its body as HTML, made from this repository's own Markdown.
    fn html(&self) -> &str {
        &self.rendered.html
    }

    /// The headings of its second level, where there are enough to be worth a list.
    fn headings(&self) -> Vec<(&str, &str)> {
        let second = self.rendered.sections.iter().filter(|section| section.level == 2);
        let all: Vec<_> =
            second.map(|section| (section.id.as_str(), section.title.as_str())).collect();
        if all.len() > 2 { all } else { Vec::new() }
    }
}
