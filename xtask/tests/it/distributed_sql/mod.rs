//! Each SQL feature that the server uses on PostgreSQL is compared with the documented limits of distributed databases,
//! and `docs/distributed-sql.md` says the result. A statement with a word that the catalogue does not have fails.

mod catalogue;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::{read, refuse, root};
use catalogue::{DATABASES, FEATURES, Feature, PLAIN, SOURCES, Support};
use statements::{Statement, statements, words};

const PAGE: &str = "docs/distributed-sql.md";

impl Feature {
    fn is_in(&self, statement: &Statement) -> bool {
        let words = words(&statement.sql);
        self.words.iter().any(|word| words.contains(*word))
            || self.phrases.iter().any(|phrase| {
                phrase
                    .split(" … ")
                    .try_fold(statement.sql.as_str(), |sql, part| {
                        sql.split_once(part).map(|(_, rest)| rest)
                    })
                    .is_some()
            })
    }
}

#[test]
fn every_word_of_sql_is_in_the_catalogue() {
    let known: BTreeSet<&str> = FEATURES
        .iter()
        .flat_map(|feature| feature.words.iter().copied())
        .chain(PLAIN.iter().flat_map(|line| line.split(' ')))
        .collect();
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    for statement in statements() {
        for word in words(&statement.sql) {
            if !known.contains(word.as_str()) {
                unknown.entry(word).or_insert(statement.file.clone());
            }
        }
    }
    let breaches: Vec<String> =
        unknown.into_iter().map(|(word, file)| format!("{file}: {word}")).collect();
    refuse(
        &breaches,
        "the catalogue of SQL features has every keyword and function of the server's statements",
        "a feature that distributed databases lack must not enter without being listed",
        "add the word to PLAIN or to a feature in xtask/tests/it/distributed_sql/catalogue.rs, after reading what the \
         documentation of the three databases says about it",
    );
}

#[test]
fn the_page_lists_the_features_and_their_files() {
    let statements: Vec<Statement> = statements().collect();
    assert!(statements.len() > 500, "only {} statements were found", statements.len());
    let page = read(PAGE);
    let (head, _) = page.split_once("\n## Features").unwrap();
    let expected = format!("{head}{}", generated(&statements));
    if page == expected {
        return;
    }
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        std::fs::write(root().join(PAGE), expected).unwrap();
        return;
    }
    let differing = page.lines().zip(expected.lines()).find(|(page, code)| page != code);
    refuse(
        &[format!("{differing:?}")],
        "docs/distributed-sql.md shows the catalogue, and the files that use each feature",
        "operators choose a database by it",
        "run `LYCEUM_BLESS=1 cargo test -p xtask distributed` and read the difference",
    );
}

/// The page from its first table on.
fn generated(statements: &[Statement]) -> String {
    let mut page = format!(
        "\n## Features\n\n| feature | {} | {} | {} |\n|---|---|---|---|\n",
        DATABASES[0], DATABASES[1], DATABASES[2]
    );
    for feature in FEATURES {
        let cells = feature.support.map(cell).join(" | ");
        let _ = writeln!(page, "| {} | {cells} |", feature.name);
    }
    page += "\n## Statements to change\n\nThe files below use features that a database supports only in part, or not at all.\n";
    for feature in FEATURES.iter().filter(|feature| feature.needs_change()) {
        let files: BTreeSet<&str> = statements
            .iter()
            .filter(|statement| feature.is_in(statement))
            .map(|statement| place(&statement.file))
            .collect();
        assert!(
            !files.is_empty(),
            "no statement uses {}: remove it from the catalogue",
            feature.name
        );
        let _ = writeln!(page, "\n### {}\n\n{}\n", capitalized(feature.name), feature.change);
        for file in files {
            let _ = writeln!(page, "- `{file}`");
        }
    }
    page += "\n## Sources\n\nThe documentation as it was on 26 November 2026:\n\n";
    for (letter, address) in SOURCES {
        let _ = writeln!(page, "- [{letter}] <{address}>");
    }
    page
}

/// A file, or the folder of a migration: they are many, and never change.
fn place(file: &str) -> &str {
    file.find("/migrations/").map_or(file, |at| &file[..at + "/migrations".len()])
}

fn cell(support: Support) -> String {
    match support {
        Support::Full => "yes".to_owned(),
        Support::Partial(how, source) => format!("{how} [{source}]"),
        Support::Missing(source) => format!("no [{source}]"),
        Support::Undocumented => "not documented".to_owned(),
    }
}

fn capitalized(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn the_words_of_a_statement_are_found() {
    let found = |sql: &str| words(sql).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(
        found("SELECT lower(name) FROM t WHERE a = 'UPDATE' LIMIT {MOST}"),
        "FROM LIMIT SELECT WHERE lower("
    );
    assert_eq!(found("WITH RECURSIVE days(day) AS (SELECT 1)"), "AS RECURSIVE SELECT WITH");
    let feature = |name: &str| FEATURES.iter().find(|feature| feature.name == name).unwrap();
    let statement = |sql: &str| Statement { file: String::new(), sql: sql.to_owned() };
    assert!(feature("foreign keys").is_in(&statement("a TEXT REFERENCES b (id)")));
    let inserted = feature("`INSERT` from a query");
    assert!(inserted.is_in(&statement("INSERT INTO a (b) SELECT b FROM c")));
    assert!(!inserted.is_in(&statement("SELECT b FROM c")));
}
