//! The search over people, classes, courses and screens: a page, and a list for the dialog of the frame.

use std::collections::BTreeSet;

use askama::Template;
use lyceum_console::Frame;
use lyceum_console::frame::{Screen, screens};
use lyceum_console::language::translated;
use lyceum_core::phrase;
use lyceum_core::text::is_named;

/// The results of one sort.
#[derive(Debug)]
pub(crate) struct SearchGroup {
    /// The heading in English, which the page translates.
    pub title: &'static str,
    /// The results.
    pub found: Vec<SearchResult>,
    /// Whether there are more results than these.
    pub is_cut: bool,
}

/// A result.
#[derive(Debug)]
pub(crate) struct SearchResult {
    /// The name.
    pub name: String,
    /// The difference to others of the same name.
    pub about: String,
    /// The page to which it leads.
    pub href: String,
}

/// The screens, and the own account, that the words name; all of them if there are no words.
pub(crate) fn screens_named(seen: Vec<&'static Screen>, words: &BTreeSet<String>) -> SearchGroup {
    let known = seen.into_iter().chain([&screens::PROFILE]);
    let named = known.filter(|screen| is_named(&screen.title(), words));
    let found = named.map(|screen| SearchResult {
        name: screen.title(),
        about: translated(screen.group),
        href: screen.path.to_owned(),
    });
    SearchGroup { title: phrase!("Pages"), found: found.collect(), is_cut: false }
}

/// The page of a search.
#[derive(Template)]
#[template(path = "console/search/search.html")]
pub(crate) struct SearchPage {
    /// The frame.
    pub frame: Frame,
    /// The text that was entered.
    pub query: String,
    /// Whether the query is too short to search people, classes and courses.
    pub is_too_short: bool,
    /// The results; groups without results are left out.
    pub groups: Vec<SearchGroup>,
}

/// The results alone, as options of the dialog's list.
#[derive(Template)]
#[template(path = "console/search/search_options.html")]
pub(crate) struct SearchOptions {
    /// As of [`SearchPage`].
    pub is_too_short: bool,
    /// As of [`SearchPage`].
    pub groups: Vec<SearchGroup>,
}

/// The number of results, in words.
fn count(groups: &[SearchGroup]) -> String {
    let count: usize = groups.iter().map(|group| group.found.len()).sum();
    plural!(count, "{n} result", "{n} results")
}
