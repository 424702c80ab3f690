//! The documentation: guides, references and decisions as pages, with a full-text search.
//!
//! The pages are embedded Markdown files of this repository. The pages about commands, config files and
//! settings are generated from the code, so that they cannot become outdated. Raw HTML is shown as text.

mod markdown;
mod search;
mod settings;
mod view;

use std::fmt::Write;

use rust_embed::RustEmbed;

pub(super) use search::FoundSection;
pub(crate) use view::{DocumentPage, ExplorerPage, SearchFragment, SearchPage};

use markdown::RenderedPage;
use search::SearchIndex;

/// Markdown files that the table of contents lists, in this order.
const PLACED: [(&str, &str); 14] = [
    ("Guides", "guides/start.md"),
    ("Guides", "guides/operators.md"),
    ("Guides", "scale.md"),
    ("Guides", "guides/administrators.md"),
    ("Guides", "guides/teachers.md"),
    ("Guides", "guides/students.md"),
    ("Guides", "guides/create-an-app.md"),
    ("Guides", "guides/app-developers.md"),
    ("Guides", "guides/integrators.md"),
    ("Guides", "guides/sandbox.md"),
    ("Guides", "verifying-credentials.md"),
    ("Reference", "http-status-codes.md"),
    ("Reference", "limits.md"),
    ("Reference", "compatibility.md"),
];
const REFERENCE: &str = "Reference";
const DECISIONS: &str = "Decisions";
/// The slug of the page that `/docs` shows.
pub(super) const FIRST: &str = "start";

#[derive(RustEmbed)]
#[folder = "../../docs"]
#[include = "*.md"]
#[include = "*.svg"]
struct Files;

/// A page of the documentation.
pub(super) struct DocsPage {
    /// The last segment of the path below `/docs`, such as `integrators`.
    pub slug: String,
    /// The group in the table of contents.
    pub group: &'static str,
    /// The Markdown source.
    pub text: String,
    /// The first heading.
    pub title: String,
    rendered: RenderedPage,
}

/// All pages and their search index.
pub(super) struct Library {
    pages: Vec<DocsPage>,
    index: SearchIndex,
}

impl Library {
    /// Loads the pages of this build. `project_config` is the reference of projects' config files as Markdown, and
    /// `commands` that of the command line, if the program that runs the server has one.
    pub(super) fn new(commands: Option<&str>, project_config: &str) -> Self {
        let mut pages: Vec<DocsPage> = PLACED
            .iter()
            .map(|&(group, file)| DocsPage::new(stem(file), group, &embedded(file)))
            .collect();
        pages.extend(commands.map(|text| DocsPage::new("commands", REFERENCE, text)));
        pages.push(DocsPage::new("project-config", REFERENCE, project_config));
        pages.push(DocsPage::new("settings", REFERENCE, &settings::reference()));
        let mut decisions: Vec<_> = Files::iter()
            .filter(|file| file.starts_with("decisions/") && !file.ends_with("README.md"))
            .collect();
        decisions.sort();
        pages.push(DocsPage::new("decisions", DECISIONS, &embedded("decisions/README.md")));
        pages.extend(
            decisions.iter().map(|file| DocsPage::new(stem(file), DECISIONS, &embedded(file))),
        );
        let index = SearchIndex::new(&pages);
        Self { pages, index }
    }

    /// Finds a page by its slug.
    pub(super) fn page(&self, slug: &str) -> Option<&DocsPage> {
        self.pages.iter().find(|page| page.slug == slug)
    }

    /// The sections that contain every word of the query, best first.
    pub(super) fn search(&self, query: &str) -> Vec<FoundSection<'_>> {
        self.index.search(&self.pages, query)
    }

    /// The overview for language models (llmstxt.org): each page with its address and a summary.
    pub(super) fn overview(&self, base_url: &str) -> String {
        let mut text = String::from(
            "# Lyceum\n\n> An open platform for education in one binary: OneRoster, QTI, Caliper, Open Badges, CLR and CASE, \
             adaptive lessons, exact analytics, games and hosting.\n\n\
             Append `.md` to the address of a page to get its Markdown. The API document is \
             OpenAPI 3.1.\n",
        );
        for group in ["Guides", REFERENCE, DECISIONS] {
            let _ = write!(text, "\n## {group}\n\n");
            for page in self.pages.iter().filter(|page| page.group == group) {
                let (title, about) = (&page.title, &page.rendered.about);
                let _ = writeln!(text, "- [{title}]({base_url}/docs/{}.md): {about}", page.slug);
            }
            if group == REFERENCE {
                let description = "every operation with its schemas";
                let _ = writeln!(text, "- [OpenAPI]({base_url}/openapi.json): {description}");
            }
        }
        text
    }
}

impl DocsPage {
    fn new(slug: &str, group: &'static str, text: &str) -> Self {
        let rendered = markdown::render(text);
        Self {
            slug: slug.to_owned(),
            group,
            text: text.to_owned(),
            title: rendered.title.clone(),
            rendered,
        }
    }
}

fn stem(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file).trim_end_matches(".md")
}

fn embedded(file: &str) -> String {
    let found = Files::get(file).expect("the table names files of this repository");
    String::from_utf8(found.data.into_owned()).expect("documents are UTF-8")
}
