//! Phrases that make readers decode a sentence, and what to write instead.

use crate::{Source, refuse, rust_sources, sources};

/// The file that is not checked: this list.
const LIST: &str = "xtask/tests/it/words.rs";

/// Phrases, in lower case, and what to write instead.
const BANNED: &[(&str, &str)] = &[
    ("whoever", "the actor: the client, the caller, anyone who"),
    ("who may call", "the client; which pages have access"),
    ("mend", "fix, correct"),
    ("mends", "fixes, corrects"),
    ("mended", "fixed, corrected"),
    ("is no", "is not a"),
    ("is none", "is missing, is empty, is not a"),
    ("are none", "are missing"),
    ("that there is not", "that does not exist, unknown"),
    ("there is nothing at", "no route has the path"),
    ("not for you", "you don't have access"),
    ("of ours", "of this server"),
    ("anew", "again; recreate"),
    ("but for", "except"),
    ("to be had", "available"),
    ("still to come", "not built yet"),
    ("looks whether", "checks that"),
];

/// Idiomatic phrases that contain a banned one.
const FINE: &[&str] = &["there is no", "is no longer", "there is none", "there are none"];

/// Words with which a docstring does not begin, because they do not say what the item is.
const RIDDLES: &[&str] =
    &["What", "Which", "Who", "Whoever", "Whose", "That", "Those", "One", "None"];

#[test]
fn texts_use_plain_words() {
    let mut breaches = Vec::new();
    let is_checked = |source: &&Source| {
        source.path != LIST && ["md", "rs"].iter().any(|extension| source.has_extension(extension))
    };
    for source in sources().iter().filter(is_checked) {
        let lines = prose(source);
        for (number, line) in lines.iter().enumerate() {
            // A phrase may begin on this line and end on the next one.
            let next = lines.get(number + 1).map_or("", String::as_str);
            let text = format!("{line} {next}");
            breaches.extend(found(&text).filter(|(at, _)| *at < line.len()).map(
                |(_, (phrase, instead))| {
                    format!("{}:{}: '{phrase}': {instead}", source.path, number + 1)
                },
            ));
        }
    }
    refuse(
        &breaches,
        "texts use plain words",
        "a reader has to decode these phrases; STYLE.md says how texts are written",
        "write it as the list says, and check the rest of the sentence",
    );
}

#[test]
fn docstrings_begin_with_what_they_describe() {
    let mut breaches = Vec::new();
    for source in rust_sources() {
        let mut is_in_docstring = false;
        for (number, line) in source.text.lines().enumerate() {
            let text =
                ["//! ", "/// "].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
            let word = text.filter(|_| !is_in_docstring).and_then(|text| text.split(' ').next());
            if word.is_some_and(|word| RIDDLES.contains(&word.trim_end_matches(['.', ',', ':']))) {
                breaches.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
            }
            is_in_docstring = line.trim_start().starts_with("//");
        }
    }
    refuse(
        &breaches,
        "a docstring does not begin with a clause such as \"What is sent\" or \"One of those\"",
        "a reader has to decode it, while \"The number of …\" or \"The rows that …\" says what the item is",
        "begin with a noun or a verb for the item",
    );
}

#[test]
fn the_rule_sees_phrases() {
    let phrases = |text: &str| found(text).map(|(_, (phrase, _))| *phrase).collect::<Vec<_>>();
    assert_eq!(phrases("whoever sends it, mends it."), ["whoever", "mends"]);
    assert_eq!(phrases("the text is no json"), ["is no"]);
    assert_eq!(phrases("there is no course, and the class is no longer active"), [""; 0]);
    assert_eq!(phrases("recommended amendments"), [""; 0]);
    let markdown = Source { path: "a.md".into(), text: "see `mend`\n```\nmend\n```\nMend".into() };
    assert_eq!(prose(&markdown), ["see  ", "", "", "", "mend"]);
    let rust = Source { path: "a.rs".into(), text: "//! Fix\nmend(\"Do\"); // Mend".into() };
    assert_eq!(prose(&rust), ["fix", "do mend"]);
}

/// The words of each line that people read, in lower case: Markdown without code, comments and texts of Rust.
fn prose(source: &Source) -> Vec<String> {
    let is_markdown = source.has_extension("md");
    let mut in_block = false;
    let words = |line: &str| {
        if !is_markdown {
            let comment = ["//! ", "// "].iter().find_map(|mark| line.split_once(mark));
            let (code, comment) = comment.unwrap_or((line, ""));
            let texts: Vec<&str> = code.split('"').skip(1).step_by(2).chain([comment]).collect();
            return texts.join(" ");
        }
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            return String::new();
        }
        if in_block {
            return String::new();
        }
        line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
    };
    source.text.lines().map(words).map(|line| line.to_lowercase()).collect()
}

/// The banned phrases in a text, each with its place, as whole words.
fn found(text: &str) -> impl Iterator<Item = (usize, &'static (&'static str, &'static str))> {
    BANNED.iter().flat_map(move |banned| {
        text.match_indices(banned.0).filter_map(move |(at, phrase)| {
            let (before, after) = (&text[..at], &text[at + phrase.len()..]);
            let is_whole = !before.ends_with(char::is_alphabetic)
                && !after.starts_with(|next: char| next.is_alphabetic() || next == '-');
            let is_fine = FINE.iter().any(|fine| {
                let lead = fine.find(phrase);
                lead.is_some_and(|lead| {
                    at >= lead
                        && text.is_char_boundary(at - lead)
                        && text[at - lead..].starts_with(fine)
                })
            });
            (is_whole && !is_fine).then_some((at, banned))
        })
    })
}
