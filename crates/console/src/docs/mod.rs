//! The documentation: guides, references and decisions as pages, found by words.
//!
//! The pages are Markdown files of this repository, embedded; what the code knows better (commands,
//! settings) is made from the code. Raw HTML in them is shown as text.

mod markdown;
mod search;
mod view;

use std::fmt::Write;

use rust_embed::RustEmbed;

pub use search::FoundSection;
pub use view::{Document, Explorer, Search, Snippet};

use markdown::Rendered;
use search::Index;

/// Markdown files with a place of their own in the contents, in their order.
const PLACED: [(&str, &str); 9] = [
    ("Guides", "guides/start.md"),
    ("Guides", "guides/administrators.md"),
    ("Guides", "guides/teachers.md"),
    ("Guides", "guides/app-developers.md"),
    ("Guides", "guides/integrators.md"),
    ("Guides", "guides/sandbox.md"),
    ("Guides", "verifying-credentials.md"),
    ("Reference", "http-status-codes.md"),
    ("Reference", "limits.md"),
];
const REFERENCE: &str = "Reference";
const DECISIONS: &str = "Decisions";
/// The page that `/docs` shows.
pub const FIRST: &str = "start";

#[derive(RustEmbed)]
#[folder = "../../docs"]
struct Files;

/// A page.
pub struct Page {
    /// Its place below `/docs`: `integrators`.
    pub slug: String,
    /// The heading in the contents under which it stands.
    pub group: &'static str,
    /// Its Markdown.
    pub text: String,
    /// Its first heading.
    pub title: String,
    rendered: Rendered,
}

/// All pages, and what they are found by.
pub struct Library {
    pages: Vec<Page>,
    index: Index,
}

impl Library {
    /// The pages of this build; `commands` is the command line's reference as Markdown, where the
    /// program that runs the server gives one.
    pub fn new(commands: Option<&str>) -> Self {
        let mut pages: Vec<Page> = PLACED
            .iter()
            .map(|&(group, file)| Page::new(stem(file), group, &embedded(file)))
            .collect();
        let settings = format!(
            "# Settings\n\nEvery setting with its default. Layers, each over the one before: these defaults, the file of \
             `--config`, variables such as `LYCEUM_SERVER__LISTEN=0.0.0.0:4321`, flags. `lyceum config` prints what is in \
             force and where each value came from.\n\n```toml\n{}```\n",
            lyceum_core::config::DEFAULTS
        );
        pages.extend(commands.map(|text| Page::new("commands", REFERENCE, text)));
        pages.push(Page::new("settings", REFERENCE, &settings));
        let mut decisions: Vec<_> = Files::iter()
            .filter(|file| file.starts_with("decisions/") && !file.ends_with("README.md"))
            .collect();
        decisions.sort();
        pages.push(Page::new("decisions", DECISIONS, &embedded("decisions/README.md")));
        pages
            .extend(decisions.iter().map(|file| Page::new(stem(file), DECISIONS, &embedded(file))));
        let index = Index::new(&pages);
        Self { pages, index }
    }

    /// A page by its place below `/docs`.
    pub fn page(&self, slug: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.slug == slug)
    }

    /// All pages, in the order of the contents.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The sections that hold every word of the query, best first.
    pub fn search(&self, query: &str) -> Vec<FoundSection<'_>> {
        self.index.search(&self.pages, query)
    }

    /// What a program that reads the documentation begins with (llmstxt.org): each page with its address
    /// and what it is about.
    pub fn overview(&self, base_url: &str) -> String {
        let mut text = String::from(
            "# Lyceum\n\n> An open platform for education in one binary: OneRoster, QTI, Caliper, Open Badges, CLR and CASE, \
             adaptive lessons, exact analytics, games and hosting.\n\n\
             Each page is Markdown at its address with `.md` behind it. The API's document is \
             OpenAPI 3.1.\n",
        );
        for group in ["Guides", REFERENCE, DECISIONS] {
            let _ = write!(text, "\n## {group}\n\n");
            for page in self.pages.iter().filter(|page| page.group == group) {
                let (title, about) = (&page.title, &page.rendered.about);
                let _ = writeln!(text, "- [{title}]({base_url}/docs/{}.md): {about}", page.slug);
            }
            if group == REFERENCE {
                let says = "every operation with its schemas";
                let _ = writeln!(text, "- [OpenAPI]({base_url}/openapi.json): {says}");
            }
        }
        text
    }
}

impl Page {
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
