//! `core::limits` and `docs/limits.md` say the same.

use crate::{read, refuse, root};

const CODE: &str = "crates/core/src/limits.rs";
/// What stands in files of its own; `limits.rs` has the rest.
const PARTS: [&str; 6] = [
    "crates/core/src/limits/bindings.rs",
    "crates/core/src/limits/connections.rs",
    "crates/core/src/limits/console.rs",
    "crates/core/src/limits/hosting.rs",
    "crates/core/src/limits/people.rs",
    "crates/core/src/limits/postgres.rs",
];
const PAGE: &str = "docs/limits.md";

/// One limit as the page shows it: name, value, what it bounds.
fn row(name: &str, value: u128, meaning: &str) -> String {
    format!("| `{name}` | {} | {meaning} |", grouped(value))
}

/// Reads the constants of the code with their docstrings.
fn rows_of_the_code() -> Vec<String> {
    let mut rows = Vec::new();
    let mut meaning = Vec::new();
    let code = [CODE].iter().chain(&PARTS).map(|file| read(file)).collect::<String>();
    // A value may stand on the line after its name.
    for line in code.replace("=\n", "= ").lines() {
        if let Some(doc) = line.strip_prefix("///") {
            meaning.push(doc.trim());
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            let (name, rest) = constant.split_once(':').unwrap();
            let expression = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            let value = product(expression).unwrap_or_else(|| {
                panic!("{CODE}: '{name}' is not a product of whole numbers: {expression}")
            });
            rows.push(row(name, value, &meaning.join(" ")));
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
    let code = rows_of_the_code();
    assert!(code.len() > 10, "{CODE} holds only {} limits", code.len());
    let page = read(PAGE);
    let documented: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    if documented == code {
        return;
    }
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        let head = page.lines().take_while(|line| !line.starts_with("| `"));
        let lines: Vec<&str> = head.chain(code.iter().map(String::as_str)).collect();
        std::fs::write(root().join(PAGE), lines.join("\n") + "\n").unwrap();
        return;
    }
    let missing = code.iter().filter(|row| !documented.contains(&row.as_str()));
    let stale = documented.iter().filter(|row| !code.iter().any(|own| own == *row));
    let mut breaches: Vec<String> = missing.map(|row| format!("missing: {row}")).collect();
    breaches.extend(stale.map(|row| format!("stale: {row}")));
    if breaches.is_empty() {
        breaches.push("the order of the rows".into());
    }
    refuse(
        &breaches,
        "docs/limits.md lists every constant of core::limits, in its order, with its value and text",
        "operators read the page, not the code",
        "run `LYCEUM_BLESS=1 cargo test -p xtask limit` and commit the page",
    );
}

#[test]
fn every_limit_carries_its_unit() {
    let units = [
        "BYTES",
        "RECORDS",
        "DEPTH",
        "MEMBERS",
        "CLAUSES",
        "MS",
        "S",
        "MIN",
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
    let breaches: Vec<String> = rows_of_the_code()
        .into_iter()
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
