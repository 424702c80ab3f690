//! Every text that a page shows goes through the catalogue, and the catalogue has exactly these texts.

mod messages;
mod source;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use source::{Literal, literals};

/// The macros whose arguments are keys of the catalogue, with the places of these arguments.
const MACROS: &[(&str, &[usize])] = &[
    ("t!", &[0]),
    ("plural!", &[1, 2]),
    ("rich!", &[0]),
    ("rich_plural!", &[1, 2]),
    ("phrase!", &[0]),
];

/// The functions of views that translate constant arguments, with the places of these arguments.
const FUNCTIONS: &[(&str, &[usize])] = &[
    ("Column::text", &[1]),
    ("Column::number", &[1]),
    ("Column::buttons", &[0]),
    ("Tab::new", &[0]),
    ("tab", &[0]),
    ("List::new", &[0]),
    ("List::of_items", &[0]),
    ("List::of_shown", &[0]),
    ("List::of_matching", &[0]),
    ("List::page", &[0]),
    (".or_else", &[0]),
    (".searches", &[0]),
    ("ListFilter::of", &[1]),
    ("screen", &[0, 2]),
];

/// Calls whose texts no page shows as they are: those of developers, and messages, which are translated by their own part
/// of the catalogue.
const OTHER_READERS: &[&str] = &[
    "Area",
    "AuditChange",
    "HeaderValue::from_static",
    "Problem::internal",
    "Problem::invalid",
    "Problem::new",
    "Problem::not_found",
    "ProblemText::of",
    "Tabs::new",
    "assets::address",
    "expect",
    "include_str!",
    "message",
    "message!",
    "of_list",
    "panic!",
    "refused",
    "tabs",
    "template",
    "tracing::warn!",
    "view::tabs",
    ".answers",
    ".answers_as",
    ".answers_empty",
    ".description",
    ".expect",
    ".header",
    ".param",
];

/// Variables that hold the message of a problem.
const MESSAGES: &[&str] = &["message", "no_project", "rule", "unknown"];

/// Names and markup that are the same in every language, or that no person reads.
const SAME_EVERYWHERE: &[&str] = &[
    "'self'",
    "max-age",
    "attachment; ",
    "class code in a browser",
    "data: ",
    "device code of",
    "export LYCEUM_API_KEY",
    "lyceum admin user create",
    "lyceum client create",
    "lyceum import",
    "lyceum trigger",
    "Lyceum {}",
    "PostgreSQL",
    "SQLite",
];

/// The folders and files whose code fills pages, and parts of them that do not.
const PAGES: &[&str] =
    &["console/src/", "http/src/language.rs", "http/src/render/page.rs", "pages/src/"];
/// The documentation is in English; `links` and `assets` make addresses.
const NOT_PAGES: &[&str] =
    &["console/src/assets.rs", "console/src/language.rs", "console/src/links.rs", "pages/src/docs"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The Rust files of all crates below their `src`, by their path from the folder of the crates. Tests are left out.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for one in fs::read_dir(crates()).unwrap() {
        collect(&one.unwrap().path().join("src"), "rs", &mut found);
    }
    assert!(found.len() > 300, "the crates have sources");
    found
}

fn collect(folder: &Path, ending: &str, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, ending, found);
        } else if path.extension().is_some_and(|known| known == ending) {
            let name = path.strip_prefix(crates()).unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let end = text.find("#[cfg(test)]").into_iter().chain(text.find("#[test]")).min();
            let text = text[..end.unwrap_or(text.len())].to_owned();
            found.insert(name, text);
        }
    }
}

fn templates() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(&crates().join("console/templates"), "html", &mut found);
    collect(&crates().join("pages/src"), "html", &mut found);
    assert!(found.len() > 60, "the console has templates");
    found
}

fn fills_pages(path: &str) -> bool {
    let is_below = |known: &[&str]| known.iter().any(|start| path.starts_with(start));
    is_below(PAGES) && !is_below(NOT_PAGES)
}

fn is_key(literal: &Literal, fills_pages: bool) -> bool {
    let Some((name, place)) = literal.calls.last() else { return false };
    let has = |known: &[(&str, &[usize])]| {
        known.iter().any(|(call, places)| call == name && places.contains(place))
    };
    has(MACROS) || fills_pages && (has(FUNCTIONS) || is_fact(literal))
}

/// Whether the text is the name of a fact: `FactList::new(vec![("Name", …), …])`.
fn is_fact(literal: &Literal) -> bool {
    let names: Vec<&str> = literal.calls.iter().map(|(name, _)| name.as_str()).collect();
    names.ends_with(&["FactList::new", "vec!", ""]) && literal.calls.last().unwrap().1 == 0
}

/// All keys with the first file that has each.
fn keys() -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    for (path, text) in sources() {
        if path == "console/src/language.rs" || path == "core/src/language.rs" {
            continue;
        }
        let found = literals(&text).into_iter().filter(|one| is_key(one, fills_pages(&path)));
        keys.extend(found.filter(|one| has_letters(&one.text)).map(|one| (one.text, path.clone())));
    }
    for (path, text) in templates() {
        let expressions = template::expressions(&text);
        let found = expressions.iter().flat_map(|one| literals(one));
        keys.extend(found.filter(|one| is_key(one, false)).map(|one| (one.text, path.clone())));
    }
    assert!(keys.len() > 500, "the pages have texts");
    keys
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// A part of the Spanish catalogue.
fn catalogue(part: &str) -> BTreeMap<String, String> {
    let file = fs::read_to_string(crates().join("console/locales/es.json")).unwrap();
    let json: Map<String, Value> = serde_json::from_str(&file).unwrap();
    let texts = json[part].as_object().unwrap();
    let lines = file.lines().filter(|line| line.starts_with("    \"")).count();
    let all: usize = json.values().map(|part| part.as_object().unwrap().len()).sum();
    assert_eq!(lines, all, "no key of the catalogue is there twice");
    texts.iter().map(|(key, text)| (key.clone(), text.as_str().unwrap().to_owned())).collect()
}

/// The names between braces, without the asterisk of a word that is translated.
fn parameters(text: &str) -> BTreeSet<&str> {
    let parts = text.split('{').skip(1);
    parts.map(|part| part.split('}').next().unwrap().trim_start_matches('*')).collect()
}

#[test]
fn the_catalogue_has_the_texts_of_the_pages_and_no_others() {
    let (keys, spanish) = (keys(), catalogue("texts"));
    let missing: Vec<_> = keys.iter().filter(|(key, _)| !spanish.contains_key(*key)).collect();
    assert!(missing.is_empty(), "add these texts to locales/es.json: {missing:#?}");
    let from_scripts = script_texts();
    let is_unused = |key: &&String| !keys.contains_key(*key) && !from_scripts.contains(*key);
    let unused: Vec<_> = spanish.keys().filter(is_unused).collect();
    assert!(
        unused.is_empty(),
        "no page has these texts; remove them from locales/es.json: {unused:#?}"
    );
}

/// The texts that scripts of pages translate: `t("…")` below `web/console/src`.
fn script_texts() -> BTreeSet<String> {
    let mut files = Vec::new();
    scripts(&crates().join("../web/console/src"), &mut files);
    let texts = files.iter().flat_map(|text| literals(text));
    texts
        .filter(
            |one| matches!(one.calls.last(), Some((name, _)) if name == "t" || name == "plural"),
        )
        .map(|one| one.text)
        .collect()
}

fn scripts(folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("js") => found.push(fs::read_to_string(&path).unwrap()),
            None => scripts(&path, found),
            _ => {}
        }
    }
}

#[test]
fn translations_have_the_same_parameters() {
    for part in ["texts", "messages"] {
        for (english, spanish) in catalogue(part) {
            assert_eq!(parameters(&english), parameters(&spanish), "{english}: {spanish}");
            assert!(!spanish.trim().is_empty(), "{english}");
        }
    }
}

#[test]
fn templates_have_no_text_outside_of_the_catalogue() {
    // Documentation and the file in an export are in English.
    let others = ["docs_", "api.html", "person_export.html"];
    let mut breaches = Vec::new();
    for (path, text) in templates() {
        let name = path.rsplit('/').next().unwrap();
        if !others.iter().any(|other| name.starts_with(other)) {
            breaches
                .extend(template::texts(&text).into_iter().map(|text| format!("{path}: {text}")));
        }
    }
    assert!(breaches.is_empty(), "write {{{{ t!(\"…\") }}}} around these texts: {breaches:#?}");
}

#[test]
fn code_of_pages_has_no_text_outside_of_the_catalogue() {
    let mut breaches = Vec::new();
    for (path, text) in sources().iter().filter(|(path, _)| fills_pages(path)) {
        let others = literals(text).into_iter().filter(|one| !is_key(one, true) && is_prose(one));
        breaches.extend(others.map(|one| format!("{path}:{}: {}", one.line, one.text)));
    }
    assert!(breaches.is_empty(), "write t!(…) around these texts: {breaches:#?}");
}

/// Whether a text looks like words for a person: several words, or one with a capital letter.
fn is_prose(literal: &Literal) -> bool {
    let is_for_others =
        literal.calls.iter().any(|(name, _)| OTHER_READERS.contains(&name.as_str()))
            || literal.variable.as_ref().is_some_and(|name| MESSAGES.contains(&name.as_str()))
            || SAME_EVERYWHERE.iter().any(|same| literal.text.contains(same));
    let text = without_braces(&literal.text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &&str| {
        word.len() > 1
            && word
                .trim_end_matches([',', '.', ':', ';', '?', '!'])
                .chars()
                .all(char::is_alphabetic)
    };
    let has_words =
        words.windows(2).any(|pair| is_word(&pair[0]) && pair[1].starts_with(char::is_alphabetic));
    let is_capitalized = |word: &str| {
        word.starts_with(char::is_uppercase) && word.chars().nth(1).is_some_and(char::is_lowercase)
    };
    let is_name = words.first().is_some_and(|word| is_capitalized(word) && is_word(word));
    !is_for_others && (has_words || is_name) && !text.trim_start().starts_with('<')
}

fn without_braces(text: &str) -> String {
    let parts = text.split('{').enumerate();
    parts
        .map(
            |(at, part)| {
                if at == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) }
            },
        )
        .collect()
}
