//! Phrases that make readers decode a sentence, and what to write instead.

use crate::{Source, refuse, sources};

/// Where texts are checked: the beginning of a path, and the ending of a file. Of Rust files, comments and texts in
/// quotes are checked.
const CHECKED: &[(&str, &str)] = &[("", "md"), ("xtask/", "rs")];

/// Paths below those that are not checked: this list, and what is generated from code.
const LEFT_OUT: &[&str] = &["xtask/tests/it/words.rs", "docs/limits.md"];

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
const FINE: &[&str] = &["there is no", "is no longer"];

#[test]
fn texts_use_plain_words() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| is_checked(source)) {
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
fn the_rule_sees_phrases() {
    let phrases = |text: &str| found(text).map(|(_, (phrase, _))| *phrase).collect::<Vec<_>>();
    assert_eq!(phrases("whoever sends it, mends it."), ["whoever", "mends"]);
    assert_eq!(phrases("the text is no json"), ["is no"]);
    assert_eq!(phrases("there is no course, and the class is no longer active"), [""; 0]);
    assert_eq!(phrases("recommended amendments"), [""; 0]);
    let markdown = Source { path: "a.md".into(), text: "see `mend`\n```\nmend\n```\nMend".into() };
    assert_eq!(prose(&markdown), ["see  ", "", "", "", "mend"]);
    let rust = Source { path: "a.rs".into(), text: "mend(\"Do\"); // Mend".into() };
    assert_eq!(prose(&rust), ["do mend"]);
}

fn is_checked(source: &Source) -> bool {
    let is_in = |(folder, extension): &(&str, &str)| {
        source.path.starts_with(folder) && source.has_extension(extension)
    };
    CHECKED.iter().any(is_in) && !LEFT_OUT.iter().any(|path| source.path.starts_with(path))
}

/// The words of each line that people read, in lower case: Markdown without code, comments and texts of Rust.
fn prose(source: &Source) -> Vec<String> {
    let is_markdown = source.has_extension("md");
    let mut in_block = false;
    let words = |line: &str| {
        if !is_markdown {
            let (code, comment) = line.split_once("// ").unwrap_or((line, ""));
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
