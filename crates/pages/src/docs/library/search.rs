//! Searches the sections of the documentation by words.

use super::DocsPage;

/// The most sections that a search returns.
const FOUND_MAX_COUNT: usize = 20;
/// The most words of a query that are used.
const WORDS_MAX_COUNT: usize = 8;
/// The number of characters that a snippet shows on each side of the found word.
const AROUND_CHARS: usize = 70;

/// The search index of all sections.
pub(super) struct SearchIndex(Vec<SearchEntry>);

struct SearchEntry {
    page: usize,
    section: usize,
    title: String,
    words: String,
}

/// A section that was found.
pub(crate) struct FoundSection<'l> {
    /// The page that contains the section.
    pub page: &'l DocsPage,
    /// The anchor on the page.
    pub anchor: &'l str,
    /// The heading.
    pub title: &'l str,
    /// The text before the first found word, the word, and the text after it.
    pub snippet: [String; 3],
}

impl SearchIndex {
    pub(super) fn new(pages: &[DocsPage]) -> Self {
        let sections = pages.iter().enumerate().flat_map(|(number, page)| {
            page.rendered.sections.iter().enumerate().map(move |(section, found)| SearchEntry {
                page: number,
                section,
                title: found.title.to_lowercase(),
                words: found.words.to_lowercase(),
            })
        });
        Self(sections.collect())
    }

    /// Finds the sections that contain each word, either in the section or in the page's title. Best matches come
    /// first.
    pub(super) fn search<'l>(&self, pages: &'l [DocsPage], query: &str) -> Vec<FoundSection<'l>> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query
            .split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c))
            .filter(|word| !word.is_empty())
            .take(WORDS_MAX_COUNT)
            .collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, &SearchEntry)> = self
            .0
            .iter()
            .filter_map(|entry| Some((entry.rank(&pages[entry.page], &words)?, entry)))
            .collect();
        found.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        found.truncate(FOUND_MAX_COUNT);
        found.into_iter().map(|(_, entry)| entry.found(&pages[entry.page], &words)).collect()
    }
}

impl SearchEntry {
    /// The score of the section; `None` if a word is missing.
    fn rank(&self, page: &DocsPage, words: &[&str]) -> Option<usize> {
        let page_title = page.title.to_lowercase();
        let mut rank = 0;
        for word in words {
            let in_title = usize::from(self.title.contains(word));
            let in_page = usize::from(page_title.contains(word));
            let in_words = self.words.matches(word).take(3).count();
            if in_title + in_page + in_words == 0 {
                return None;
            }
            rank += 20 * in_title + 6 * in_page + 2 * in_words;
        }
        // Pages about usage rank before decisions.
        let weight = if page.group == super::DECISIONS { 1 } else { 3 };
        Some(rank * weight)
    }

    fn found<'l>(&self, page: &'l DocsPage, words: &[&str]) -> FoundSection<'l> {
        let section = &page.rendered.sections[self.section];
        FoundSection {
            page,
            anchor: &section.id,
            title: &section.title,
            snippet: snippet(&section.words, words),
        }
    }
}

/// The text around the first found word; the beginning of the text if no word is in it.
fn snippet(text: &str, words: &[&str]) -> [String; 3] {
    let chars: Vec<char> = text.chars().collect();
    // Compare character by character, because lower case can have more bytes than upper case.
    let lower: Vec<char> = chars.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let hit = words
        .iter()
        .filter_map(|word| {
            let word: Vec<char> = word.chars().collect();
            let at = lower.windows(word.len()).position(|window| window == word)?;
            Some((at, word.len()))
        })
        .min();
    let (at, length) = hit.unwrap_or((0, 0));
    let from = at.saturating_sub(AROUND_CHARS);
    let to = (at + length + AROUND_CHARS).min(chars.len());
    let part = |from: usize, to: usize| chars[from..to].iter().collect::<String>();
    let before = if from > 0 { "…" } else { "" };
    let after = if to < chars.len() { "…" } else { "" };
    [
        format!("{before}{}", part(from, at)),
        part(at, at + length),
        format!("{}{after}", part(at + length, to)),
    ]
}
