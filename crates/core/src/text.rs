//! Helpers for text: hexadecimal digits, whole numbers, percent-encoding, the form of ids, similar words.
//!
//! Lists of names are sorted in memory by [`folded`]: the two stores would order them differently.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use uuid::Uuid;

use crate::limits::{NAME_WORD_MAX_BYTES, NAME_WORDS_MAX_COUNT, SEARCH_MAX_BYTES};
use crate::message;
use crate::problem::{Problem, Result};

/// Characters that need no encoding in a path segment or query value (RFC 3986, 2.3).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The bytes as hexadecimal digits in lower case.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The whole number in a query parameter such as `limit`. Errors: `Invalid` unless it is between `least` and the largest
/// `i64`.
pub fn whole_number(name: &str, text: &str, least: u64) -> Result<u64> {
    match text.parse::<u64>() {
        Ok(number) if number >= least && i64::try_from(number).is_ok() => Ok(number),
        _ => Err(Problem::invalid(name, message!("must be a whole number of at least {least}"))),
    }
}

/// The known name that is most similar to a misspelled one; `None` if no name is similar enough.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_lowercase());
    let best = known.into_iter().map(|known| (distance(known), known)).min()?;
    // A name that shares no character is not similar, however short it is.
    (best.0 <= 1 + name.len() / 4 && best.0 < name.chars().count()).then_some(best.1)
}

/// Percent-encodes a text for a path segment or a query value.
pub fn segment(text: &str) -> impl Display {
    utf8_percent_encode(text, UNRESERVED)
}

/// Whether a text is a UUID in its usual form: `8-4-4-4-12` hexadecimal digits of either case.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && Uuid::try_parse(text).is_ok()
}

/// Whether a text has the form of an absolute IRI (RFC 3987): a scheme, a colon and something behind it. `_:` begins a
/// blank node of JSON-LD.
pub fn is_iri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (named || scheme == "_")
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Whether a text has the form of an absolute URI (RFC 3986). Letters of other scripts are accepted.
pub fn is_uri(text: &str) -> bool {
    is_iri(text) && !text.starts_with('_') && !text.contains(|c: char| "<>\"{}|\\^`".contains(c))
}

/// A text as people search and order it: in lower case and without accents, so that `zoe` finds Zoë, and Ávila stands
/// beside Avila. Lists of names are sorted by it.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let bare: String = text.nfd().filter(|letter| !is_combining_mark(*letter)).collect();
    bare.to_lowercase()
}

/// The words of a name without regard to case and accents, each once. Only the first [`NAME_WORDS_MAX_COUNT`] words
/// count, and of each its first [`NAME_WORD_MAX_BYTES`] bytes, because an index holds them.
pub fn name_words(name: &str) -> BTreeSet<String> {
    let folded = folded(name);
    let words = folded.split(|letter: char| !letter.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).take(NAME_WORDS_MAX_COUNT);
    words.map(|word| word[..word.floor_char_boundary(NAME_WORD_MAX_BYTES)].to_owned()).collect()
}

/// The text that a person searches for: the typed text, trimmed and cut to [`SEARCH_MAX_BYTES`].
pub fn searched_text(typed: &str) -> &str {
    let text = typed.trim();
    &text[..text.floor_char_boundary(SEARCH_MAX_BYTES)]
}

/// Whether each of the words begins a word of the name. The words are those of [`name_words`].
pub fn is_named(name: &str, words: &BTreeSet<String>) -> bool {
    let own = name_words(name);
    words.iter().all(|word| own.range(word.clone()..).next().is_some_and(|it| it.starts_with(word)))
}

/// Each of the texts once and in the order of people, without the empty one: what a filter can be set to.
pub fn distinct(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for text in texts {
        // Only a text that is new is copied: a network has few schools and many students.
        if !text.as_ref().is_empty() && !found.contains(text.as_ref()) {
            found.insert(text.as_ref().to_owned());
        }
    }
    let mut texts: Vec<String> = found.into_iter().collect();
    texts.sort_by_cached_key(|text| folded(text));
    texts
}

/// How many typing errors a word of that many letters may have: one in four letters, two in eight. With more, one
/// short name would match another.
pub(crate) fn slips(letters: usize) -> usize {
    (letters / 4).min(2)
}

/// The name that was probably meant. The written one differs from it by case, separators or a typing error, has only
/// some of its words (`user` for `userId`) or more words (`sortBy` for `sort`), or is short for it (`tz` for `timezone`).
pub fn near_miss<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let sought = plain(written);
    let words = words(written);
    let slips = slips(sought.chars().count());
    let difference = |name: &str| {
        let known = plain(name);
        // A client may send a name of any length, so only names of similar length are compared.
        let typed = (known.len().abs_diff(sought.len()) <= 4 * slips)
            .then(|| strsim::damerau_levenshtein(&sought, &known))
            .filter(|distance| *distance <= slips);
        let by_words = || differing_words(&words, &self::words(name)).map(|count| (1, count));
        let is_short = || is_short_for(&sought, &known).then_some((2, known.len()));
        typed.map(|distance| (0, distance)).or_else(by_words).or_else(is_short)
    };
    names
        .filter_map(|name| Some((difference(name)?, name)))
        .min_by_key(|(difference, _)| *difference)
        .map(|(_, name)| name)
}

/// The letters and digits of a name in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name such as `startDate` or `start_date`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        let word = words.last_mut().expect("there is a word from the beginning");
        word.extend(letter.to_lowercase().filter(|letter| letter.is_alphanumeric()));
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The number of words that only one of two names has, if all words of the other are among its own, in order. A written
/// name with more words must begin like the known one: `utm_source` is another word than `source`.
fn differing_words(written: &[String], known: &[String]) -> Option<usize> {
    let is_within = |part: &[String], whole: &[String]| {
        let mut rest = whole.iter();
        !part.is_empty() && part.iter().all(|word| rest.any(|other| other == word))
    };
    let is_part = is_within(written, known);
    let is_longer = || written.first() == known.first() && is_within(known, written);
    (is_part || is_longer()).then(|| written.len().abs_diff(known.len()))
}

/// Whether the written name consists of the first letter of the known one and later consonants, in order.
fn is_short_for(written: &str, known: &str) -> bool {
    let mut rest = known.chars();
    written.len() > 1
        && written.chars().next() == known.chars().next()
        && written
            .chars()
            .all(|letter| !"aeiou".contains(letter) && rest.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::near_miss;

    #[test]
    fn a_typing_error_is_a_near_miss_and_another_word_is_not() {
        let names = ["limit", "offset", "filter", "orderBy", "q", "userId", "timezone", "source"];
        for (written, expected) in [
            ("Limit", Some("limit")),
            ("limits", Some("limit")),
            ("fliter", Some("filter")),
            ("order_by", Some("orderBy")),
            ("ORDER-BY", Some("orderBy")),
            ("filter[]", Some("filter")),
            ("order", Some("orderBy")),
            ("user", Some("userId")),
            ("user_sourced_id", Some("userId")),
            ("filterBy", Some("filter")),
            ("tz", Some("timezone")),
            ("page", None),
            ("utm_source", None),
            ("ts", None),
            ("_", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(near_miss(written, names.into_iter()), expected, "{written}");
        }
    }
}
