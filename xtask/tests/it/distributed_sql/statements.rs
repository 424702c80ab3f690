//! The SQL in the sources of the server: texts in quotes, and migrations.

use std::collections::BTreeSet;

use crate::{Source, sources};

/// A statement, or a part of one that code puts together.
pub(super) struct Statement {
    pub(super) file: String,
    pub(super) sql: String,
}

/// A text with one of these words is SQL.
const MARKS: [&str; 27] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "FROM",
    "WHERE",
    "JOIN",
    "ORDER",
    "GROUP",
    "VALUES",
    "SET",
    "CONFLICT",
    "RETURNING",
    "SHARE",
    "LOCK",
    "SAVEPOINT",
    "LISTEN",
    "NOTIFY",
    "COPY",
    "BEGIN",
    "CREATE",
    "ALTER",
    "VACUUM",
    "COLLATE",
    "CAST",
    "LATERAL",
    "EXISTS",
];
/// A text with one of these words is for SQLite alone.
const SQLITE: [&str; 12] = [
    "PRAGMA",
    "GLOB",
    "IMMEDIATE",
    "ATTACH",
    "TRIGGER",
    "sqlite_schema",
    "json_each",
    "json_extract",
    "json_type",
    "unixepoch",
    "instr",
    "pragma_",
];

/// All statements for PostgreSQL.
pub(super) fn statements() -> impl Iterator<Item = Statement> {
    sources().into_iter().flat_map(|source| {
        let texts = match () {
            () if is_migration(&source) => vec![without_comments(&source.text)],
            () if has_sql(&source) => texts_in_quotes(&source.text),
            () => Vec::new(),
        };
        let is_sql = |sql: &String| {
            let words = words(sql);
            MARKS.iter().any(|mark| words.contains(*mark))
                && !SQLITE.iter().any(|word| sql.contains(word))
        };
        let file = source.path;
        let statements = texts.into_iter().filter(is_sql);
        statements.map(|sql| Statement { file: file.clone(), sql }).collect::<Vec<_>>()
    })
}

fn is_migration(source: &Source) -> bool {
    source.path.contains("/migrations/")
        && source.has_extension("sql")
        && !source.path.contains("/tests/")
}

/// The store and modules for SQL; other files have none (`sql.rs`). Projects have databases of their own, on SQLite.
fn has_sql(source: &Source) -> bool {
    let path = source.path.as_str();
    let is_module = |part: &str| part.starts_with("sql") || part.starts_with("repository");
    let is_of_sqlite = [
        "crates/store/src/sqlite",
        "crates/project/",
        "crates/replica/",
        "crates/hosting/src/bindings",
    ]
    .iter()
    .any(|folder| path.starts_with(folder));
    source.has_extension("rs")
        && path.starts_with("crates/")
        && path.contains("/src/")
        && !is_of_sqlite
        && (path.starts_with("crates/store/") || path.split('/').any(is_module))
}

fn without_comments(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").replace("WITHOUT ROWID", "").replace("POSTGRES ", "")
}

/// The texts in quotes of Rust code, without those of its own tests.
fn texts_in_quotes(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let (mut texts, mut rest) = (Vec::new(), code);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let from = &rest[at..];
        rest = if from.starts_with("//") {
            from.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(rest) = from.strip_prefix("'\"'") {
            rest
        } else if rest[..at].ends_with("r#") {
            let (text, rest) = from[1..].split_once("\"#").unwrap_or((&from[1..], ""));
            texts.push(text.to_owned());
            rest
        } else if let Some(text) = from.strip_prefix('"') {
            let end = end_of_text(text);
            texts.push(unescaped(&text[..end]));
            &text[end + 1..]
        } else {
            &from[1..]
        };
    }
    texts
}

/// Where the closing quote is.
fn end_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, letter)| {
        let is_end = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len() - 1, |(at, _)| at)
}

/// The text without the ends of its lines.
fn unescaped(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start()).replace("\\\"", "\"")
}

/// The keywords in capitals, and the functions, such as `lower(`. Values in quotes, placeholders, and the names that a
/// statement gives its own lists are left out.
pub(super) fn words(sql: &str) -> BTreeSet<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut found, mut names_follow) = (BTreeSet::new(), false);
    for part in without_values(sql).split_inclusive(|letter: char| !is_word(letter)) {
        let word = part.trim_end_matches(|letter: char| !is_word(letter));
        let is_keyword =
            word.len() > 1 && word.starts_with(|letter: char| letter.is_ascii_uppercase());
        if is_keyword && !word.contains(|letter: char| letter.is_ascii_lowercase()) {
            found.insert(word.to_owned());
        } else if part.ends_with('(')
            && word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && !names_follow
        {
            found.insert(part.to_owned());
        }
        if !word.is_empty() {
            names_follow = ["AS", "WITH", "RECURSIVE"].contains(&word);
        }
    }
    found
}

/// The SQL without texts in single quotes and without placeholders in braces.
fn without_values(sql: &str) -> String {
    let outside: String = sql.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    let mut depth = 0;
    outside
        .chars()
        .filter(|letter| {
            depth += i32::from(*letter == '{');
            let is_outside = depth == 0;
            depth -= i32::from(*letter == '}');
            is_outside
        })
        .collect()
}
