//! The data of the console's screen about badges and learner records: one query function for each page.

pub mod badges;
pub mod issuing;
pub mod records;

use std::collections::HashMap;

use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use serde_json::Value;

use crate::issued::Page;
use crate::limits;

/// As many as a page can show.
const MOST: u64 = limits::CONSOLE_CREDENTIALS_MAX_COUNT;

/// The learner of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learner {
    /// The sourcedId.
    pub id: String,
    /// First and last name; the sourcedId where the user was purged.
    pub name: String,
}

/// The names of users, by their sourcedIds. One statement.
struct UserNames(HashMap<String, String>);

impl UserNames {
    fn of<'i>(tx: &mut Tx<'_>, ids: impl Iterator<Item = &'i str>) -> Result<Self> {
        let users = fields::of_all(tx, &USER, ids)?.into_iter();
        Ok(Self(users.map(|(id, user)| (id, fields::full_name(&user))).collect()))
    }

    fn learner(&self, id: &str) -> Learner {
        Learner { id: id.to_owned(), name: self.0.get(id).map_or(id, String::as_str).to_owned() }
    }
}

/// The newest within the reach of a list that begins with the oldest, as many as a page can show.
fn newest<T>(reach: &Reach, mut list: impl FnMut(Page) -> Result<(Vec<T>, u64)>) -> Result<Vec<T>> {
    let page = Page { reach: reach.clone(), ..Page::default() };
    let (_, total) = list(page.clone())?;
    let offset = total.saturating_sub(MOST);
    let (mut found, _) = list(Page { limit: MOST, offset, ..page })?;
    found.reverse();
    Ok(found)
}

/// A text, or the first of a text in several languages.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(languages) => {
            languages.values().find_map(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// The title of a credential.
pub fn title(credential: &Value) -> String {
    let achievement = &credential["credentialSubject"]["achievement"]["name"];
    let titles = [text(&credential["name"]), text(achievement)];
    titles.into_iter().find(|title| !title.is_empty()).unwrap_or_default()
}
