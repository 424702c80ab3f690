//! `limits.rs` of each crate and `docs/limits.md` say the same.

use crate::{read, refuse, root};

const PAGE: &str = "docs/limits.md";
const COLUMNS: &str = "| limit | value | what it bounds |\n|---|---:|---|\n";

/// One limit as the page shows it: name, value, what it bounds.
fn row(name: &str, value: u128, meaning: &str) -> String {
    format!("| `{name}` | {} | {meaning} |", grouped(value))
}

/// The crates with limits, and the rows of each: its constants with their docstrings.
fn rows_by_crate() -> Vec<(String, Vec<String>)> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let mut names: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.retain(|name| root().join(file_of(name)).exists());
    names.into_iter().map(|name| (name.clone(), rows_of(&name))).collect()
}

fn file_of(name: &str) -> String {
    format!("crates/{name}/src/limits.rs")
}

fn rows_of(name: &str) -> Vec<String> {
    let (mut rows, mut meaning) = (Vec::new(), Vec::new());
    let code = read(&file_of(name));
    // A value may stand on the line after its name.
    for line in code.replace("=\n", "= ").lines() {
        if let Some(doc) = line.strip_prefix("///") {
            meaning.push(doc.trim());
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            let (constant, rest) = constant.split_once(':').unwrap();
            let expression = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            let value = product(expression).unwrap_or_else(|| {
                panic!("{name}: '{constant}' is not a product of whole numbers: {expression}")
            });
            rows.push(row(constant, value, &meaning.join(" ")));
            meaning.clear();
        } else {
            meaning.clear();
        }
    }
    rows
}

/// `4 * 1024 * 1024` as a number.
fn product(expression: &str) -> Option<u128> {
    expression
        .split('*')
        .map(|factor| factor.trim().replace('_', "").parse::<u128>().ok())
        .product()
}

/// Digits in groups of three.
fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[test]
fn every_limit_is_documented() {
    let crates = rows_by_crate();
    assert!(crates.len() > 10, "only {} crates have limits", crates.len());
    let page = read(PAGE);
    let (head, _) = page.split_once("\n## ").unwrap();
    let section = |(name, rows): &(String, Vec<String>)| {
        format!("\n## {name}\n\n{COLUMNS}{}\n", rows.join("\n"))
    };
    let expected: String = std::iter::once(format!("{}\n", head.trim_end()))
        .chain(crates.iter().map(section))
        .collect();
    if page == expected {
        return;
    }
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        std::fs::write(root().join(PAGE), expected).unwrap();
        return;
    }
    let differing = page.lines().zip(expected.lines()).find(|(page, code)| page != code);
    let breach = match differing {
        Some((page, code)) => format!("the page has `{page}`, and the code `{code}`"),
        None => "the page is longer or shorter than the code".to_owned(),
    };
    refuse(
        &[breach],
        "docs/limits.md lists the constants of limits.rs of each crate, in their order, with value and text",
        "operators read the page, not the code",
        "run `LYCEUM_BLESS=1 cargo test -p xtask limit` and commit the page",
    );
}

#[test]
fn every_limit_ends_in_a_unit() {
    let units = [
        "BYTES",
        "RECORDS",
        "PAGES",
        "SEGMENTS",
        "DEPTH",
        "MEMBERS",
        "CLAUSES",
        "MS",
        "S",
        "MIN",
        "MINUTES",
        "H",
        "DAYS",
        "ENTRIES",
        "FILES",
        "FAULTS",
        "NODES",
        "LEVELS",
        "RATIO",
        "CONNECTIONS",
        "THREADS",
        "REQUESTS",
        "STATEMENTS",
        "ATTEMPTS",
        "ROWS",
        "COUNT",
        "PERMILLE",
        "PERCENT",
        "CHARS",
        "KEYS",
        "VALUES",
        "WRITES",
        "JOBS",
        "CLIENTS",
        "SCOPES",
        "ORIGINS",
    ];
    let breaches: Vec<String> = rows_by_crate()
        .into_iter()
        .flat_map(|(_, rows)| rows)
        .filter(|row| {
            let name = row.split('`').nth(1).unwrap();
            !units.iter().any(|unit| name.rsplit('_').next() == Some(unit))
        })
        .collect();
    refuse(
        &breaches,
        "the last word of a limit's name is its unit",
        "a number without a unit is misread sooner or later",
        "rename it, or add the unit to the list in xtask/tests/it/limits.rs",
    );
}
