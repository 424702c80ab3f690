//! Messages after common mistakes, and that their advice works: `tests/mistakes.md`.
//!
//! `LYCEUM_BLESS=1` writes what was printed into the file.

use std::fs;
use std::path::Path;

use crate::served::variable;
use crate::walkthrough::{Step, walk};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes.md");

#[test]
#[ignore = "rest"]
fn each_mistake_is_explained_and_the_remedy_works() {
    let text = fs::read_to_string(FILE).unwrap();
    let (introduction, sections) = text.split_once("\n## ").unwrap();
    let mut written = introduction.to_owned();
    let mut mistakes = 0;
    for section in sections.split("\n## ") {
        let (title, _) = section.split_once('\n').unwrap();
        let steps = walk(title, section, &[], &[]);
        let failed = steps.iter().filter(|step| step.block.info.starts_with("sh fails")).count();
        assert_eq!(failed, 1, "{title}: one block 'sh fails'");
        assert!(steps.last().unwrap().block.info.starts_with("sh"), "{title}: no remedy");
        written = written + "\n## " + &with_output(section, &steps);
        mistakes += 1;
    }
    assert!(mistakes >= 30, "{mistakes} mistakes");
    if variable("LYCEUM_BLESS").is_some() {
        fs::write(FILE, &written).unwrap();
    }
    let path = Path::new(FILE).display();
    assert!(
        text == written,
        "other texts are printed; run this test with LYCEUM_BLESS=1 and read what changed in {path}"
    );
}

/// The section with what was printed in place of what it expects; a text that matches stays as it is.
fn with_output(section: &str, steps: &[Step<'_>]) -> String {
    let at = steps.iter().position(|step| step.block.info.starts_with("sh fails")).unwrap();
    let (step, expected) = (&steps[at], &steps[at + 1].block);
    let output = format!("{}\n", step.output.trim_end());
    if expected.info == "text" && expected.follows {
        if matches(&expected.text, &output) {
            return section.to_owned();
        }
        return section.replace(&expected.text, &output);
    }
    let command = format!("```{}\n{}```\n", step.block.info, step.block.text);
    section.replace(&command, &format!("{command}\n```text\n{output}```\n"))
}

/// Whether the text is the pattern, in which `…` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('…');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}
