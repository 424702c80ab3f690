//! The views of the documentation's pages.

use askama::Template;

use super::{DocsPage, FoundSection, Library};

/// A page of the documentation.
#[derive(Template)]
#[template(path = "docs/docs_page.html")]
pub(crate) struct DocumentPage<'l> {
    /// All pages, for the table of contents.
    pub library: &'l Library,
    /// The page.
    pub page: &'l DocsPage,
}

/// The search results as a page.
#[derive(Template)]
#[template(path = "docs/docs_search.html")]
pub(crate) struct SearchPage<'l> {
    /// All pages, for the table of contents.
    pub library: &'l Library,
    /// The search text.
    pub query: &'l str,
    /// The sections that were found, best first.
    pub found: Vec<FoundSection<'l>>,
}

/// The search results as a fragment, which a script shows while the reader types.
#[derive(Template)]
#[template(path = "docs/docs_found.html")]
pub(crate) struct SearchFragment<'l> {
    /// The search text.
    pub query: &'l str,
    /// The sections that were found, best first.
    pub found: Vec<FoundSection<'l>>,
}

/// The page with the API explorer.
#[derive(Template)]
#[template(path = "docs/docs_api.html")]
pub(crate) struct ExplorerPage<'l> {
    /// All pages, for the table of contents.
    pub library: &'l Library,
    /// Whether this build includes the explorer.
    pub is_built: bool,
}

impl DocumentPage<'_> {
    fn is_here(&self, slug: &str) -> bool {
        self.page.slug == slug
    }
}

impl SearchPage<'_> {
    #[expect(clippy::unused_self, reason = "the frame asks every page")]
    fn is_here(&self, _: &str) -> bool {
        false
    }
}

impl ExplorerPage<'_> {
    #[expect(clippy::unused_self, reason = "the frame asks every page")]
    fn is_here(&self, slug: &str) -> bool {
        slug == "api"
    }
}

/// A group in the table of contents: a heading with its pages.
struct ContentsGroup<'l> {
    name: &'static str,
    pages: Vec<&'l DocsPage>,
}

impl Library {
    /// The table of contents. Single decisions are left out, because the page "Decisions" lists them.
    fn groups(&self) -> Vec<ContentsGroup<'_>> {
        ["Guides", super::REFERENCE, super::DECISIONS]
            .into_iter()
            .map(|name| ContentsGroup {
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

impl DocsPage {
    /// Whether the page is a single decision, which the page "Decisions" lists.
    fn is_a_decision(&self) -> bool {
        self.group == super::DECISIONS && self.slug != "decisions"
    }

    /// The body as HTML. It needs no sanitizing, because the Markdown comes from this repository.
    fn html(&self) -> &str {
        &self.rendered.html
    }

    /// The headings of the second level; empty if there are too few for a list.
    fn headings(&self) -> Vec<(&str, &str)> {
        let second = self.rendered.sections.iter().filter(|section| section.level == 2);
        let all: Vec<_> =
            second.map(|section| (section.id.as_str(), section.title.as_str())).collect();
        if all.len() > 2 { all } else { Vec::new() }
    }
}
