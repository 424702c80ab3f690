//! The words by which a search finds an item: those of its code, its statements and its labels, and its
//! grades. Both stores look words up by their beginnings in the same index.

use std::collections::BTreeSet;

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use serde_json::{Map, Value};

use crate::limits;

/// Where words come from.
const TEXTS: [&str; 5] = [
    "humanCodingScheme",
    "fullStatement",
    "abbreviatedStatement",
    "alternativeLabel",
    "CFItemType",
];

/// The words of an item, and its grades as [`grade`] writes them.
pub(crate) fn of_item(item: &Map<String, Value>) -> Vec<String> {
    let lists =
        ["conceptKeywords", "subject"].iter().filter_map(|name| item.get(*name)?.as_array());
    let listed = lists.flatten().filter_map(Value::as_str);
    let texts = TEXTS.iter().filter_map(|name| item.get(*name)?.as_str());
    let mut words: BTreeSet<String> =
        texts.chain(listed).flat_map(chunks).flat_map(|chunk| endings(&chunk)).collect();
    let levels = item.get("educationLevel").and_then(Value::as_array);
    words.extend(levels.into_iter().flatten().filter_map(Value::as_str).map(grade));
    words.into_iter().take(limits::CASE_ITEM_MAX_ENTRIES).collect()
}

/// The words that are looked for, each a beginning of a word. Errors: `BadFilter`.
pub(crate) fn of_search(text: &str) -> Result<Vec<String>> {
    let words: Vec<String> = chunks(text).map(|chunk| cut(&chunk).to_owned()).collect();
    let most = limits::CASE_SEARCH_MAX_ENTRIES;
    match words.len() {
        0 => Err(refused("the search text must have at least one word".into())),
        n if n > most => Err(refused(message!("the search text has at most {most} words"))),
        _ => Ok(words),
    }
}

fn refused(message: Message) -> Problem {
    Problem::new(ProblemKind::BadFilter, message)
}

/// Texts between blanks in small letters, without signs at their ends.
fn chunks(text: &str) -> impl Iterator<Item = String> + '_ {
    let trimmed = text.split_whitespace().map(|word| word.trim_matches(|c| !is_letter(c)));
    trimmed.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
}

/// The chunk from each of its words on: `3.nf.a` is found by `3.nf`, `nf.a` and `a`.
fn endings(chunk: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, c) in chunk.char_indices() {
        if is_letter(c) && !inside {
            found.push(cut(&chunk[at..]).to_owned());
        }
        inside = is_letter(c);
    }
    found
}

/// As much of a word as is kept.
fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(limits::CASE_WORD_MAX_BYTES)]
}

/// An education level as it is compared: whole numbers by value, kindergarten as 0.
pub(crate) fn grade(text: &str) -> String {
    let text = text.trim().to_lowercase();
    match (text.as_str(), text.parse::<i32>()) {
        ("k" | "kg", _) => "#0".to_owned(),
        ("pk", _) => "#-1".to_owned(),
        (_, Ok(number)) => format!("#{number}"),
        _ => format!("#{}", cut(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_from_each_of_their_parts() {
        assert_eq!(endings("ccss.3.nf-1"), ["ccss.3.nf-1", "3.nf-1", "nf-1", "1"]);
        assert_eq!(of_search(" (Two-Dimensional) 3.NF. ").unwrap(), ["two-dimensional", "3.nf"]);
        assert!(of_search(" - ").is_err());
    }

    #[test]
    fn grades_compare_by_value() {
        assert_eq!(grade("03"), grade("3"));
        assert_eq!(grade("KG"), grade("00"));
        assert_eq!(grade("PK"), grade("-1"));
    }
}
