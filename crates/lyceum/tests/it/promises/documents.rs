//! The rows of the platform's documents, by their section and their first words.
//!
//! A row is a row of a table, a numbered or bulleted rule, or a text in backticks: a path, an option, a
//! variable, a value, the name of a field.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::served::{root, variable};

/// The columns of a table whose cells are rows themselves.
const PROMISED_COLUMNS: [&str; 2] = ["Alias", "Default"];

/// The document of that name; none where it is not beside the repository.
pub(super) fn document(name: &str) -> Option<String> {
    let folder =
        variable("LYCEUM_SPEC").map_or_else(|| root().join("../shared/spec"), PathBuf::from);
    std::fs::read_to_string(Path::new(&folder).join(name)).ok()
}

/// The rows of a document, each as section and row.
pub(super) fn rows(document: &str) -> BTreeSet<(String, String)> {
    let mut reader = Reader::default();
    document.lines().for_each(|line| reader.read(line.trim_end()));
    reader.rows
}

#[derive(Default)]
struct Reader {
    rows: BTreeSet<(String, String)>,
    section: String,
    /// The columns of the table that is being read; none outside of tables.
    columns: Vec<String>,
    /// The number of rules in the section so far.
    rules: usize,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim();
            heading.split(" (").next().unwrap_or_default().clone_into(&mut self.section);
            self.rules = 0;
        }
        match line.strip_prefix('|') {
            Some(cells) => self.read_table_row(cells.trim_end_matches('|')),
            None => {
                self.columns.clear();
                self.read_prose(line);
            }
        }
    }

    fn read_table_row(&mut self, cells: &str) {
        let cells: Vec<_> = cells.split('|').map(str::trim).collect();
        if self.columns.is_empty() {
            self.columns = cells.into_iter().map(str::to_owned).collect();
            return;
        }
        if cells.iter().all(|cell| cell.chars().all(|letter| letter == '-')) {
            return;
        }
        let named = if self.columns.starts_with(&["Method".into(), "Path".into()]) { 2 } else { 1 };
        let row = cells[..named].join(" ").replace('`', "");
        self.add(row.clone());
        for (column, cell) in self.columns.clone().iter().zip(&cells).skip(named) {
            if PROMISED_COLUMNS.contains(&column.as_str()) && !cell.is_empty() {
                self.add(format!("{row}: {cell}"));
            }
            self.add_quoted(cell, &format!("{row}: "));
        }
    }

    fn read_prose(&mut self, line: &str) {
        let number = line.split_once(". ").map(|(number, _)| number.parse::<usize>());
        let is_rule = matches!(number, Some(Ok(_))) || line.starts_with("- ");
        if is_rule {
            self.rules += 1;
            self.add(self.rules.to_string());
        }
        let prefix = if is_rule { format!("{}: ", self.rules) } else { String::new() };
        if !line.starts_with('#') {
            self.add_quoted(line, &prefix);
        }
    }

    fn add_quoted(&mut self, text: &str, prefix: &str) {
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| !is_placeholder(quoted)) {
            self.add(format!("{prefix}{quoted}"));
        }
    }

    fn add(&mut self, row: String) {
        self.rows.insert((self.section.clone(), row));
    }
}

/// Whether it stands for something that differs from place to place, such as `{base_url}`.
fn is_placeholder(quoted: &str) -> bool {
    let inner = quoted.trim_matches(['{', '}', '<', '>']);
    inner.len() + 2 == quoted.len()
        && inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[test]
fn rows_of_tables_rules_and_quoted_texts_are_found() {
    let document = "# All of it\n\nAt `{base_url}`, with `--flag`.\n\n### Course (wrapper key `course`)\n\n\
                    | Field | Notes | Default |\n|---|---|---|\n| title | `a` or `b` | |\n| `size` | | 3 |\n\n\
                    Rules:\n\n1. First.\n2. Second, `x`.\n\n| Method | Path |\n|---|---|\n| GET | /courses |\n";
    let rows = rows(document);
    let found: Vec<_> = rows.iter().map(|(section, row)| format!("{section} | {row}")).collect();
    let expected = [
        "All of it | --flag",
        "Course | 1",
        "Course | 2",
        "Course | 2: x",
        "Course | GET /courses",
        "Course | size",
        "Course | size: 3",
        "Course | title",
        "Course | title: a",
        "Course | title: b",
    ];
    assert_eq!(found, expected);
}
