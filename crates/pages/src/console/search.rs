//! Search: people, classes, courses and screens by the words of their names, as far as the person sees them.

pub(crate) mod view;

use std::collections::BTreeSet;
use std::time::Duration;

use lyceum_access::Role;
use lyceum_access::screens::search as accounts;
use lyceum_api::{Context, Route};
use lyceum_console::{Screen, links, screens};
use lyceum_core::text::{name_words, searched_text};
use lyceum_core::{Reach, Result, phrase};
use lyceum_http::answer::Answer;
use lyceum_roster::repository::NameSearch;
use lyceum_roster::screens::search::{self as roster, FoundRecord};
use lyceum_store::Tx;

use super::{Visitor, page, screens_of, sees, show_page};
use crate::console::search::view::{
    SearchGroup, SearchOptions, SearchPage, SearchResult, screens_named,
};
use crate::limits::{CONSOLE_SEARCH_MAX_MS, SEARCH_LIST_MAX_RECORDS, SEARCH_PAGE_MAX_RECORDS};

pub(super) fn routes() -> Vec<Route> {
    vec![page("/search", &screens::SEARCH, show).within_reach()]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = context.query_value("q").unwrap_or_default();
    let query = searched_text(&query).to_owned();
    let is_part = context.query_value("part").is_some();
    let search = Search {
        words: name_words(&query),
        role: visitor.person.role,
        reach: context.reach(),
        most: if is_part { SEARCH_LIST_MAX_RECORDS } else { SEARCH_PAGE_MAX_RECORDS },
    };
    let finds_records = RECORD_SCREENS.iter().any(|screen| sees(search.role, screen));
    let is_too_short = finds_records && !search.words.iter().any(|word| is_long_enough(word));
    let mut groups = vec![screens_named(screens_of(search.role), &search.words)];
    if finds_records && !is_too_short {
        let limit = Duration::from_millis(CONSOLE_SEARCH_MAX_MS);
        let read = move |tx: &mut Tx<'_>| search.read(tx);
        groups.extend(context.app.db.scan(limit, read).await?);
    }
    groups.retain(|group| !group.found.is_empty());
    match is_part {
        true => show_page(&SearchOptions { is_too_short, groups }),
        false => {
            let frame = visitor.frame(screens::SEARCH.title());
            show_page(&SearchPage { frame, query, is_too_short, groups })
        }
    }
}

/// The screens of the records that a search finds.
const RECORD_SCREENS: [&Screen; 4] =
    [&screens::STUDENTS, &screens::CLASSES, &screens::COURSES, &screens::PEOPLE];

/// Whether few enough names have a word that begins so. One letter begins too many. One Chinese, Japanese or Korean
/// character, from U+2E80 on, is a syllable or a word.
fn is_long_enough(word: &str) -> bool {
    word.chars().count() > 1 || word.starts_with(|letter| letter >= '\u{2e80}')
}

struct Search {
    words: BTreeSet<String>,
    role: Role,
    reach: Reach,
    most: usize,
}

impl Search {
    /// The results on the screens that the role sees.
    fn read(&self, tx: &mut Tx<'_>) -> Result<Vec<SearchGroup>> {
        // One more than is shown tells whether there are more.
        let most = self.most + 1;
        let name_search = NameSearch {
            words: &self.words,
            reach: &self.reach,
            most: i64::try_from(most).unwrap_or(i64::MAX),
        };
        let mut groups = Vec::new();
        if sees(self.role, &screens::STUDENTS) {
            let found = roster::users(tx, name_search, true)?;
            groups.push(self.records(phrase!("Students"), found, links::student));
        }
        if sees(self.role, &screens::CLASSES) {
            let found = roster::classes(tx, name_search)?;
            groups.push(self.records(phrase!("Classes"), found, links::class));
        }
        if sees(self.role, &screens::COURSES) {
            let found = roster::courses(tx, name_search)?;
            groups.push(self.records(phrase!("Courses"), found, links::course));
        }
        if sees(self.role, &screens::PEOPLE) {
            let account = |person: lyceum_access::Person| SearchResult {
                href: links::account(&person.id),
                about: person.account_name().to_owned(),
                name: person.name,
            };
            let found = accounts::staff(tx, &self.words, most)?.into_iter().map(account);
            groups.push(self.group(phrase!("Accounts"), found.collect()));
            let found = roster::users(tx, name_search, false)?;
            groups.push(self.records(
                phrase!("Staff and guardians in the roster"),
                found,
                links::person,
            ));
        }
        Ok(groups)
    }

    fn records(
        &self,
        title: &'static str,
        found: Vec<FoundRecord>,
        link: fn(&str) -> String,
    ) -> SearchGroup {
        let result = |one: FoundRecord| SearchResult {
            href: link(&one.id),
            name: one.name,
            about: one.about.join(" · "),
        };
        self.group(title, found.into_iter().map(result).collect())
    }

    fn group(&self, title: &'static str, mut found: Vec<SearchResult>) -> SearchGroup {
        let is_cut = found.len() > self.most;
        found.truncate(self.most);
        SearchGroup { title, found, is_cut }
    }
}
